"""Starts a guest and runs in it the tests of tests/guest/ARCH/, which compare Sonde with the perf in the guest."""
import os
import pathlib
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(os.environ["SONDE_SOURCE"])
STATUS_CANNOT_BE_MADE = 77
TIME_LIMIT_S = 1500
SILENCE_LIMIT_S = 700  # more than a test may take (inside.py): then the guest itself hangs


def fresh_share():
    """The directory that both sides see: /share in the guest."""
    share = pathlib.Path.cwd() / "share"
    shutil.rmtree(share, ignore_errors=True)
    share.mkdir()
    return share


def run_tests(architecture, share):
    """The status of the guest's tests; their output is ours. Ends the program if no guest can run here."""
    tests = f"tests/guest/{architecture}"
    command = f"PYTHONPATH=tests:tests/guest:tests/oracle PYTHONDONTWRITEBYTECODE=1 python3 -m unittest discover -v -s {tests} -t {tests} -p '*_test.py'"
    done = subprocess.run([SOURCE / "dev", "guest", architecture, "--time-limit", str(TIME_LIMIT_S), "--silence-limit", str(SILENCE_LIMIT_S),
                           "--share", share, command],
                          cwd=SOURCE, stdin=subprocess.DEVNULL, check=False)
    if done.returncode == STATUS_CANNOT_BE_MADE:
        print(f"SKIPPED: there is no {architecture} guest on this machine; the reason stands above")
        sys.exit(STATUS_CANNOT_BE_MADE)
    return done.returncode
