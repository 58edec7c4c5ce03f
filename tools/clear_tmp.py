#!/usr/bin/env python3
"""Removes from /tmp what programs that tests ran and that have ended left there under names that others look for: maps and dumps of
generated code, the sockets and counters of Java's virtual machines, perf's copies of the vdso.

  clear_tmp.py FILE      only what is newer than FILE, and of processes that are no more
"""
import re
import sys
from pathlib import Path

NAMES = re.compile(r"(?:perf-(\d+)\.map|jit-(\d+)\.dump|\.java_pid(\d+)|(\d+)|perf-vdso\.so-\w{6})")
FOLDERS = ("/tmp", "/tmp/hsperfdata_root")


def left_by(path, since):
    """Whether a program left it that has ended."""
    name = NAMES.fullmatch(path.name)
    if not name or path.lstat().st_mtime < since or path.is_dir():
        return False
    pid = next((number for number in name.groups() if number), None)
    return pid is None or not Path("/proc", pid).exists()


def main():
    since = Path(sys.argv[1]).stat().st_mtime
    for folder in map(Path, FOLDERS):
        for path in folder.glob("*") if folder.is_dir() else ():
            if left_by(path, since):
                path.unlink(missing_ok=True)
    java = Path(FOLDERS[1])
    if java.is_dir() and java.stat().st_mtime >= since and not any(java.iterdir()):
        java.rmdir()


if __name__ == "__main__":
    main()
