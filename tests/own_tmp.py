"""A /tmp of its own for a test whose programs leave files there, whatever one does: the JVM, node's JIT, killed perfs.

    if __name__ == "__main__":
        own_tmp.take()
        unittest.main(...)

It vanishes with the test. What is in it then and is none of those programs' is a fault: Sonde, or the test, left it.
"""
import ctypes
import os
import re
import sys
from pathlib import Path

CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 1 << 18
LEFT_BY_OTHERS = re.compile(r"perf-\d+\.map|jit-\d+\.dump|perf-vdso\.so-\w{6}|\.java_pid\d+|hsperfdata_\w+")


def take():
    """Returns in a child process; this one waits for it, and exits as it does. Without root all stays as it is, and so it does for
    a checkout below /tmp."""
    needed = (os.getcwd(), os.environ["SONDE"], os.environ["SONDE_SOURCE"])
    if os.geteuid() != 0 or any(Path(path).resolve().is_relative_to("/tmp") for path in needed) or not own_mount():
        return
    child = os.fork()
    if child == 0:
        return
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    left = sorted(path.name for path in Path("/tmp").iterdir() if not LEFT_BY_OTHERS.fullmatch(path.name))
    if left:
        print(f"left in /tmp: {', '.join(left)}", file=sys.stderr)
    sys.exit(1 if left and status in (0, 77) else 128 - status if status < 0 else status)


def own_mount():
    libc = ctypes.CDLL(None, use_errno=True)
    return (libc.unshare(CLONE_NEWNS) == 0 and libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None) == 0 and
            libc.mount(b"tmpfs", b"/tmp", b"tmpfs", 0, b"mode=1777") == 0)
