"""Turns at the kernel's tracepoints: recorders that run at the same time lose each other's events.

    with kernel_turn.taken():
        subprocess.run([PERF, "record", ...])

For oracles that record for a second and then compare for a minute: only the recording waits. One that makes several recordings
makes them in one turn: each further turn would wait for a whole test. Turns may be nested. Tests that use the kernel all the time
have the turn from beginning to end (cmake/tests.cmake). Outside of ctest there is nobody to wait for.
"""
import contextlib
import fcntl
import os

held = 0  # turns that this process is in, one inside another


@contextlib.contextmanager
def taken():
    global held
    with contextlib.ExitStack() as turn:
        path = os.environ.get("SONDE_KERNEL_TURN")
        if path is not None and held == 0:
            fcntl.flock(turn.enter_context(open(path, "w", encoding="utf-8")), fcntl.LOCK_EX)
        held += 1
        turn.callback(leave)
        yield


def leave():
    global held
    held -= 1
