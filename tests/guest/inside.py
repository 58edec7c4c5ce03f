"""Shared by tests inside a guest: both tools, a directory to write in, texts made comparable."""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

SHARE = Path("/share")
PERF = shutil.which("perf")
SONDE = shutil.which("sonde")
LEAF = 0x500000  # where programs/tree.c has its function of that name
LIMIT_S = 300  # for a test: emulation is slow, and the host may be busy
STUCK_FILES = ("wchan", "stack", "syscall")


class GuestTest(unittest.TestCase):
    limit_s = LIMIT_S

    @classmethod
    def setUpClass(cls):
        # Not on a shared directory: rings cannot be mapped to files there.
        cls.path = Path(tempfile.mkdtemp(dir="/run"))
        # By this name its text is perf's.
        cls.as_perf = Path(tempfile.mkdtemp(dir="/run")) / "perf"
        cls.as_perf.symlink_to(SONDE)

    def run(self, result=None):
        """With a time limit for the test; when it expires, reports what the test's processes are waiting for."""
        def over(*_):
            raise AssertionError(f"{self.id()} did not end in {self.limit_s} s; {what_is_waited_for()}")
        before = signal.signal(signal.SIGALRM, over)
        signal.alarm(self.limit_s)
        start = time.monotonic()
        try:
            return super().run(result)
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)
            print(f"{time.monotonic() - start:6.1f} s  {self.id()}", file=sys.stderr, flush=True)

    def run_tool(self, tool, *words, status=0):
        done = subprocess.run([tool, *map(str, words)], cwd=self.path, text=True, errors="replace",
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, status, f"{tool} {words}: {done.stdout}{done.stderr}")
        return done

    def text(self, tool, *words):
        return self.run_tool(tool, *words).stdout

    def same_text(self, *words, change=lambda text: text):
        """Both tools' output for the same arguments, line by line; what only one of them prints is left out."""
        theirs, ours = (change(meaningful(self.text(tool, *words))) for tool in (PERF, self.as_perf))
        self.assertEqual(ours, theirs, f"{words}: first ours, then perf's")
        self.assertGreater(len(ours), 0)
        return ours

    def counts(self, tool, events, *command):
        """Event -> (value, percentage of the time in which it was counted) of `stat -x,`."""
        text = self.run_tool(tool, "stat", "-x,", "-e", events, "--", *command).stderr
        rows = [line.split(",") for line in text.splitlines() if line.count(",") > 4]
        return {row[2]: (int(row[0]), float(row[4])) for row in rows}


def what_is_waited_for():
    """Each descendant of this process, what it waits for in the kernel, and the exit counts of virtual machines."""
    parents = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            pass
    lines = []
    for pid in parents:
        above, ancestors = pid, set()
        while above in parents and above not in ancestors:
            ancestors.add(above)
            above = parents[above]
        if os.getpid() in ancestors and pid != os.getpid():
            lines.append(f"process {pid}: {read_text(f'/proc/{pid}/cmdline')}")
            lines += [f"  {name}: {read_text(f'/proc/{pid}/{name}')}" for name in STUCK_FILES]
            lines += [f"  {line}" for line in read_text(f"/proc/{pid}/status").split("\n") if line.startswith(("State", "SigPnd"))]
    lines += [f"{path}: {read_text(path)}" for path in sorted(Path("/sys/kernel/debug/kvm").glob("*"))
              if path.is_file() and read_text(path) not in ("", "0")]
    return "its processes:\n" + "\n".join(lines)


def read_text(path):
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").replace("\0", " ").strip()
    except OSError as error:
        return str(error)


def meaningful(text):
    """Without perf's tips and comments, and without trailing blanks."""
    lines = [line.rstrip() for line in text.splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


def without_doubles(lines):
    """Without the caller that perf adds if the sampled function has a frame: the next one again, one address less, or the sampled
    function itself, where the link register still has the return address of a call that it made."""

    def frame(line):
        found = re.match(r"\s+([0-9a-f]+)\b(?!\.)(?: (\w+)\+)?", line)
        return (int(found.group(1), 16), found.group(2)) if found else None

    frames = [*map(frame, lines), None]
    kept, last = [], None
    for line, here, after in zip(lines, frames, frames[1:]):
        if here and ((after and here[0] + 1 == after[0]) or (last and here[1] and last[1] == here[1])):
            continue
        kept.append(line)
        last = here
    return kept


def without_numbers(text):
    text = re.sub(r"\b[KMG]/sec", "/sec", text)
    text = re.sub(r"\d+\.\d+|\d+", "N", text)
    text = re.sub(r" *\( \+- *N% \)", "", text)  # an error of exactly 0 isn't shown
    return [re.sub(r" +", " ", line).strip() for line in text.splitlines()]


def samples(path, tool, *words):
    """`script`'s output for a recording, a line per sample."""
    done = subprocess.run([tool, "script", "-i", path, *words], text=True, stdout=subprocess.PIPE, timeout=LIMIT_S, check=True,
                          stderr=sys.stderr)
    return meaningful(done.stdout)


