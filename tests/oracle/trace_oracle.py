#!/usr/bin/env python3
"""The installed perf's `trace -i` and ours on the same recordings, made by either: lines except for the text of arguments, which
is our own; summary tables to the character.

    tests/oracle/trace_oracle.py [BUILD_DIR]      $SONDE is the binary
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SONDE = os.environ.get("SONDE") or str(Path(sys.argv[1] if len(sys.argv) > 1 else "build/release") / "sonde")
PERF = shutil.which("perf")
# Threads that cut each other's lines off, errors, waits, a signal handler, a program that is killed while it waits.
PROGRAM = """
ls /nonexistent /usr/lib > /dev/null 2>&1
for i in 1 2 3; do (cat /dev/null | sort) & done
sleep 0.01
(trap true USR1; kill -USR1 $BASHPID)
wait
"""
# Results that perf decodes (fcntl's flags), or looks up among threads and then leaves out.
SPELT = {"fcntl", "getpid", "getppid", "gettid", "getpgid", "getpgrp", "getsid", "clone", "vfork", "fork"}
LINE = re.compile(r"^( *[\d.?]+ )\(( *[\d.]+ ms| +)\): ((?:.{0,14}/)?\d+ )( \.\.\. \[continued\]: )?(\w+)\((.*)$")


def run(tool, *words, **more):
    done = subprocess.run([tool, *map(str, words)], capture_output=True, text=True, errors="replace", timeout=120,
                          stdin=subprocess.DEVNULL, **more)
    return done


def parts(line):
    """Time, duration, thread, whether it is a continuation, the call, and its result."""
    match = LINE.match(line)
    if not match:
        return line
    rest = match[6]
    if rest.endswith(" ..."):
        outcome = "..."
    else:
        outcome = rest.rsplit(" = ", 1)[1] if " = " in rest else rest
        value = re.match(r"-1 \w+ \(.*\)|\?|-?(0x[0-9a-f]+|\d+)", outcome)
        outcome = value[0] if value else outcome
        if match[5] in SPELT and not outcome.startswith("-1 "):
            outcome = "spelt"
        elif value and not outcome.startswith(("-1 ", "?")):
            outcome = int(outcome, 0)
    return (match[1], match[2], match[3], bool(match[4]), match[5], outcome)


class TraceOracle(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.path = Path(cls.directory.name)
        cls.recordings = {}
        for name, tool in (("theirs", PERF), ("ours", SONDE)):
            made = run(tool, "trace", "record", "-o", cls.path / name, "--", "bash", "-c", PROGRAM)
            assert made.returncode == 0, made.stderr
            cls.recordings[name] = cls.path / name

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def texts(self, *words):
        """What both tools print for each recording."""
        for name, path in self.recordings.items():
            both = [run(tool, "trace", "-i", path, *words) for tool in (PERF, SONDE)]
            self.assertEqual(both[1].returncode, 0, both[1].stderr)
            yield name, both[0].stderr, both[1].stderr

    def test_lines(self):
        for name, theirs, ours in self.texts():
            theirs = [parts(line) for line in theirs.splitlines()]
            ours = [parts(line) for line in ours.splitlines()]
            # Calls still in progress at the end, or when their thread dies, are lines of ours alone.
            known = set(theirs)
            ours = [line for line in ours if line in known or not (isinstance(line, tuple) and line[5] == "...")]
            self.assertGreater(len(theirs), 500)
            for their, our in zip(theirs, ours):
                self.assertEqual(our, their, name)
            self.assertEqual(len(ours), len(theirs), name)

    def test_choices_of_lines(self):
        for words in (["-T"], ["--failure"], ["--duration", "1"], ["--no-comm"]):
            for name, theirs, ours in self.texts(*words):
                theirs = [parts(line) for line in theirs.splitlines()]
                ours = [parts(line) for line in ours.splitlines()]
                known = set(theirs)
                ours = [line for line in ours if line in known or not (isinstance(line, tuple) and line[5] == "...")]
                self.assertEqual(ours, theirs, (name, words))

    def test_a_number_of_lines(self):
        """perf does not count the lines of a recording."""
        for path in self.recordings.values():
            all_lines = run(SONDE, "trace", "-i", path).stderr.splitlines()
            self.assertEqual(run(SONDE, "trace", "-i", path, "--max-events", 20).stderr.splitlines()[:20], all_lines[:20])
            self.assertLess(len(run(SONDE, "trace", "-i", path, "--max-events", 20).stderr.splitlines()), 30)

    def test_tables(self):
        for words in (["-s"], ["-s", "--errno-summary"], ["--errno-summary"]):
            for name, theirs, ours in self.texts(*words):
                self.assertIn("Summary of events", theirs)
                self.assertEqual(ours, theirs, (name, words))

    def test_tables_stand_behind_the_lines(self):
        for name, theirs, ours in self.texts("-S"):
            mark = "Summary of events"
            self.assertEqual(ours[ours.index(mark):], theirs[theirs.index(mark):], name)
            self.assertGreater(ours.index(mark), 1000)


if __name__ == "__main__":
    if PERF is None:
        print("no perf to compare with", file=sys.stderr)
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
