"""Probes that tests leave in tracefs until they remove them."""
import subprocess
import time


def remove_probes(sonde, pattern):
    """Removes those that match, if there are any. The kernel may use a probe a little longer than the program that recorded it runs."""
    deadline = time.monotonic() + 60
    while True:
        done = subprocess.run([sonde, "probe", "-q", "-d", pattern], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode == 0 or "is in use" not in done.stderr:
            return
        if time.monotonic() > deadline:
            raise AssertionError(done.stderr)
        time.sleep(0.01)
