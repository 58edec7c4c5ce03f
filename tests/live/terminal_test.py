#!/usr/bin/env python3
"""Programs that call themselves and their files what steers terminals, watched live on a terminal. Needs root."""
import contextlib
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
import tty
import unittest

import calm
from own_directory import OwnDirectoryTest

SONDE = os.environ["SONDE"]
LONGEST_S = 60
STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
# Colours and what draws screens, as Sonde writes them.
OURS = re.compile(rb"\x1b\[(?:(?:31|32|33|34|35|41)?m|H|[JK]|\d+;1H|2J)")
# A line end in a name would begin a row.
HOSTILE = """
import ctypes, os, sys, threading, time
libc = ctypes.CDLL(None)
names = [b"\\x1b[8m\\x1b]0;PWN\\x07", b"c\\x1b]0;PWNC\\x07\\n", b"\\xc2\\x9b8m\\xe2\\x80\\xae", b"\\rFORGED\\nFORGED", b"\\x9b8m\\xff\\x7f\\x08"]
os.chdir(sys.argv[1])
while True:
    for name in names:
        if os.fork() == 0:
            libc.prctl(15, name, 0, 0, 0)
            for _ in range(3):
                try:
                    os.close(os.open(name + b"x\\x1b]0;PWNFILE\\x07\\nFORGED row", os.O_RDWR | os.O_CREAT))
                except OSError:
                    pass
                end = time.monotonic() + 0.01
                while time.monotonic() < end:
                    pass
            os._exit(0)
        os.wait()
"""


class Live(OwnDirectoryTest):
    def setUp(self):
        super().setUp()
        (self.path / "files").mkdir()
        self.program = subprocess.Popen([sys.executable, "-c", HOSTILE, self.path / "files"], start_new_session=True)
        self.addCleanup(self.end_program)

    def end_program(self):
        """With its child, which would create a file in the directory while that is removed."""
        os.killpg(self.program.pid, signal.SIGKILL)
        self.program.wait()
        with contextlib.suppress(ProcessLookupError):
            for _ in range(200):
                os.killpg(self.program.pid, 0)
                time.sleep(0.01)

    def watch(self, *words, until=()):
        """What a terminal gets, until the program ends; it is asked to when all words of `until` were shown."""
        ours, theirs = pty.openpty()
        tty.setraw(theirs)
        process = subprocess.Popen([SONDE, *map(str, words)], cwd=self.path, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs,
                                   env={**os.environ, "TERM": "dumb", "PERF_PAGER": "cat"})
        os.close(theirs)
        self.addCleanup(process.wait)
        got, awaited = bytearray(), list(until)
        end = time.monotonic() + LONGEST_S
        try:
            while select.select([ours], [], [], max(0, end - time.monotonic()))[0]:
                try:
                    more = os.read(ours, 1 << 16)
                except OSError:
                    break
                if not more:
                    break
                begin = max(0, len(got) - 20)  # a word may come in two pieces
                got += more
                left = [word for word in awaited if got.find(word, begin) < 0]
                if awaited and not left:
                    process.terminate()
                awaited = left
            else:
                process.kill()
                self.fail(f"{words} does not end, or shows nothing of the program: {bytes(got[-500:])!r}")
        finally:
            os.close(ours)
        return bytes(got)

    def check(self, *words, until=(), shows=b"PWN"):
        out = self.watch(*words, until=until)
        self.assertIn(shows, out)
        text = OURS.sub(b"", out).decode()
        found = STEERS.search(text)
        self.assertIsNone(found, found and text[max(0, found.start() - 80):found.end() + 40])
        self.assertFalse([line for line in text.splitlines() if line.strip().startswith("FORGED")])

    def test_trace(self):
        self.check("trace", "-a", "-e", "openat,exit_group", until=(b"PWNC", b"PWNFILE"))

    def test_trace_with_events_and_chains(self):
        self.check("trace", "-a", "-e", "openat", "-e", "sched:sched_process_exit", "--call-graph", "fp", until=(b"PWNC",))

    def test_trace_summary(self):
        self.check("trace", "-a", "-s", "--", "sleep", "1")

    def test_trace_by_tracepoints(self):
        self.check("trace", "-a", "-F", "all", "-e", "openat", until=(b"PWNC", b"PWNFILE"))

    def test_top(self):
        self.check("top", "--stdio", "-a", "-e", "cpu-clock", "-d", "0.5", "-s", "comm,dso,sym", until=(b"PWN",))

    def test_stat_per_thread(self):
        # Only threads that exist at its start are counted: seldom a child with a hostile name.
        self.check("stat", "-a", "--per-thread", "-e", "task-clock", "--", "sleep", "0.5", shows=b"msec")

    def test_what_was_recorded(self):
        # timechart draws nothing where the kernel left most switches out.
        for _ in calm.tries("terminal: the kernel left switches out", 5):
            subprocess.run([SONDE, "record", "-q", "-a", "-e", "sched:sched_switch,sched:sched_process_fork,cpu-clock", "-o", "perf.data",
                            "--", "sleep", "1"], cwd=self.path, check=True, capture_output=True)
            if subprocess.run([SONDE, "timechart", "-i", "perf.data", "-o", "drawn.svg"], cwd=self.path, capture_output=True).returncode == 0:
                break
        for words in ("script", "sched timehist", "sched latency", "sched map", "report --stdio -s comm", "script -F +misc,+comm,+trace",
                      "trace -i perf.data", "timechart -i perf.data -o -", "report --stdio -D"):
            with self.subTest(words):
                self.check(*words.split())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])  # ctest passes the build directory, which is not a test
