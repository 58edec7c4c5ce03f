"""Turns at the kernel's tracepoints: recorders that run at the same time lose each other's events.

    with kernel_turn.taken():
        subprocess.run([PERF, "record", ...])

For oracles that record for a second and then compare for a minute: only the recording waits. Tests that use the kernel all the
time have the turn from beginning to end (cmake/tests.cmake). Outside of ctest there is nobody to wait for.
"""
import contextlib
import fcntl
import os


@contextlib.contextmanager
def taken():
    path = os.environ.get("SONDE_KERNEL_TURN")
    if path is None:
        yield
        return
    with open(path, "w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
