#!/usr/bin/env python3
"""Unwinding while recording against unwinding the copies afterwards, on the same records.

Real programs are recorded with stack copies; $SONDE_TOOLS/unwound_dump rewrites each recording as if the stacks had been unwound
while recording. Every sample must then have the chain that report unwinds from its copy, and perf must read chains of the same
lengths. Some programs are started by launchers and forks: there perf's own unwinding uses the parent's mappings.

  SONDE=build/release/sonde SONDE_TOOLS=build/release/tests tests/oracle/live_unwind_oracle.py
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SONDE, TOOLS = os.environ["SONDE"], os.environ["SONDE_TOOLS"]
PERF = shutil.which("perf")
FEWEST = 500  # samples with user frames, for a meaningful comparison

THREADS = """
import hashlib, json, threading, zlib
def work(rounds):
    for i in range(rounds):
        hashlib.sha256(b"x" * 300000).digest(); zlib.compress(b"abcd" * 20000); json.dumps(list(range(500)))
all = [threading.Thread(target=work, args=(60,)) for _ in range(3)]
for one in all: one.start()
for one in all: one.join()
"""
LAUNCHED = """
for i in 1 2 3 4 5 6; do sh -c 'exec xz -0 -c "$0"' "$1" >/dev/null; done
( ( sha256sum "$1"; /usr/bin/python3 -c 'import decimal; decimal.Decimal(2) ** 70000' ) & wait ) >/dev/null
"""


def workloads(directory):
    data = directory / "input"
    data.write_bytes(pathlib.Path(SONDE).read_bytes()[:3_000_000])
    yield "threads", ["/usr/bin/python3", "-c", THREADS]
    yield "launched", ["sh", "-c", LAUNCHED, "sh", str(data)]


def chains(tool, recording):
    """{thread and time: [address, ...]} leaf first."""
    text = subprocess.run([tool, "script", "--no-inline", "-i", recording, "-F", "tid,time,ip"], capture_output=True,
                          text=True, check=True, timeout=600).stdout
    found, last = {}, None
    for line in text.splitlines():
        if line.startswith("\t"):
            found[last].append(line.split()[0])
        elif line.strip():
            last = line.strip()
            found[last] = []
    return found


def compare(name, copies, directory):
    unwound = directory / f"{name}.unwound"
    subprocess.run([pathlib.Path(TOOLS) / "unwound_dump", copies, unwound], check=True, timeout=600)
    before, after = chains(SONDE, copies), chains(SONDE, unwound)
    problems = []
    if before.keys() != after.keys():
        problems.append(f"{name}: {len(before)} samples became {len(after)}")
    wrong = [who for who in before if before[who] != after.get(who)]
    problems += [f"{name} {who}:\n  afterwards      {' '.join(before[who])}\n  while recording {' '.join(after.get(who, []))}"
                 for who in wrong[:2]]
    if PERF:
        by_perf = chains(PERF, unwound)
        # perf looks addresses up where the fork's parent had its objects: it may print other addresses for them.
        unread = [who for who in after if len(after[who]) != len(by_perf.get(who, []))]
        problems += [f"{name} {who}: perf reads {len(by_perf.get(who, []))} frames, we {len(after[who])}" for who in unread[:2]]
    print(f"{name}: {len(before) - len(wrong)} of {len(before)} chains equal, "
          f"{copies.stat().st_size} bytes became {unwound.stat().st_size}")
    # Copies take 8 KB each; what both have (mappings, build ids) is most of a short recording.
    if copies.stat().st_size - unwound.stat().st_size < 4096 * len(before):
        problems.append(f"{name}: the recording did not get smaller")
    return problems, len(before)


def main():
    failures, compared = [], 0
    with tempfile.TemporaryDirectory(dir=os.environ.get("SONDE_TMP")) as made:
        directory = pathlib.Path(made)
        for name, command in workloads(directory):
            copies = directory / f"{name}.copies"
            subprocess.run([SONDE, "record", "-q", "-F", "2000", "-e", "cpu-clock:u", "-N", "--call-graph", "dwarf,raw", "-o",
                            copies, "--", *command], stdout=subprocess.DEVNULL, check=True, timeout=600)
            wrong, count = compare(name, copies, directory)
            failures += wrong
            compared += count
    if compared < FEWEST:
        failures.append(f"only {compared} samples were recorded")
    print("\n".join(failures))
    print(f"{compared} passed, 0 failed" if not failures else f"{compared - len(failures)} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
