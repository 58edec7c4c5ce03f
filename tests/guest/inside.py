"""What tests inside a guest have in common: both tools, a directory to write in, texts made comparable."""
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SHARE = Path("/share")
PERF = shutil.which("perf")
SONDE = shutil.which("sonde")
LEAF = 0x500000  # where programs/tree.c has its function of that name
LIMIT_S = 600  # emulation is slow, and the machine below may be busy


class GuestTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # Not on a shared directory: rings cannot be mapped to files there.
        cls.path = Path(tempfile.mkdtemp(dir="/run"))

    def run_tool(self, tool, *words, status=0):
        done = subprocess.run([tool, *map(str, words)], cwd=self.path, text=True, errors="replace", timeout=LIMIT_S,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, status, f"{tool} {words}: {done.stdout}{done.stderr}")
        return done

    def text(self, tool, *words):
        return self.run_tool(tool, *words).stdout

    def same_text(self, *words, change=lambda text: text):
        """Both tools' output of the same words, line by line; what one has to say of it is left out."""
        theirs, ours = (change(meaningful(self.text(tool, *words))) for tool in (PERF, SONDE))
        self.assertEqual(ours, theirs, f"{words}: first ours, then perf's")
        self.assertGreater(len(ours), 0)
        return ours

    def counts(self, tool, events, *command):
        """Event -> (value, share of the time in which it was counted in percent) of `stat -x,`."""
        text = self.run_tool(tool, "stat", "-x,", "-e", events, "--", *command).stderr
        rows = [line.split(",") for line in text.splitlines() if line.count(",") > 4]
        return {row[2]: (int(row[0]), float(row[4])) for row in rows}


def meaningful(text):
    """Without perf's tips and comments, and without blanks at ends of lines."""
    lines = [line.rstrip() for line in text.splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


def without_doubles(lines):
    """Without the caller that perf puts before itself, an address less, where the sampled function has a frame."""

    def address(line):
        found = re.match(r"\s+([0-9a-f]+)\b(?!\.)", line)
        return int(found.group(1), 16) if found else None

    addresses = [address(line) for line in lines] + [None]
    return [line for i, line in enumerate(lines)
            if addresses[i] is None or addresses[i + 1] is None or addresses[i] + 1 != addresses[i + 1]]


def without_numbers(text):
    text = re.sub(r"\b[KMG]/sec", "/sec", text)
    text = re.sub(r"\d+\.\d+|\d+", "N", text)
    text = re.sub(r" *\( \+- *N% \)", "", text)  # an error of exactly 0 isn't shown
    return [re.sub(r" +", " ", line).strip() for line in text.splitlines()]


def samples(path, tool, *words):
    """What `script` says of a recording, a line a sample."""
    done = subprocess.run([tool, "script", "-i", path, *words], text=True, stdout=subprocess.PIPE, timeout=LIMIT_S, check=True,
                          stderr=sys.stderr)
    return meaningful(done.stdout)


