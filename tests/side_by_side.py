"""The output of two tools for the same recordings, compared line by line, for scripts of tests/oracle:

    both = side_by_side.Comparison("kmem")
    both.lines("slab.data: kmem --caller", Said(lines, status), Said(lines, status), least=6)
    both.finish()

`finish` ends the script: differences are printed, and its status says whether there were any."""
import difflib
import shutil
import subprocess
import sys
from typing import NamedTuple

SHOWN = 12  # lines of a difference that are printed


class Said(NamedTuple):
    lines: list
    status: int = 0


def needed_perf():
    """The installed perf. If there is none, the script ends as skipped."""
    perf = shutil.which("perf")
    if not perf:
        print("perf is not installed: nothing to compare with")
        sys.exit(77)
    return perf


def ask(*command):
    """The standard output of a command, whatever its bytes."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    return Said(done.stdout.splitlines(), done.returncode)


class Comparison:
    def __init__(self, subject):
        self.subject = subject
        self.passed = 0
        self.failures = []

    def lines(self, title, theirs, ours, least=1, status=None):
        """Both printed the same: as Said, at least `least` lines. `status`: what both must have ended with; None: anything, but
        the same."""
        ended_well = ours.status == theirs.status and status in (None, ours.status)
        if ours.lines == theirs.lines and ended_well and len(ours.lines) >= least:
            self.passed += 1
            return
        difference = list(difflib.unified_diff(theirs.lines, ours.lines, "perf", "sonde", lineterm="", n=0))
        self.failed(f"{title} ({ours.status}, perf {theirs.status}, {len(ours.lines)} lines)\n" + "\n".join(difference[:SHOWN]))

    def expect(self, holds, title):
        if holds:
            self.passed += 1
        else:
            self.failed(title)

    def failed(self, title):
        self.failures.append(f"--- {title}")

    def finish(self):
        print(f"{self.subject} oracle: {self.passed} comparisons hold, {len(self.failures)} do not")
        print("\n".join(self.failures))
        sys.exit(bool(self.failures))
