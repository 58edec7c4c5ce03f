#!/usr/bin/env python3
"""`timeline --itrace`, `fold --itrace` and `view --itrace` of a stepped recording show the calls that the program logged
(programs/calls.c), nested and in order, and no time is lost or counted twice. Needs a compiler, and an x86-64 machine where
processes may be traced."""
import json
import os
import platform
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

import debug_registers
from own_directory import OwnDirectoryTest

SONDE = os.environ["SONDE"]
SOURCE = Path(__file__).resolve().parent.parent / "programs" / "calls.c"
FUNCTIONS = {"leaf", "fibonacci", "throws", "catches", "handler", "work"}


def entered_and_left(calls, functions):
    """The calls of a thread, by start and depth, as a log."""
    log, running = [], []
    for _, _, depth, function, _ in calls:
        while len(running) > depth:
            log.append("< " + running.pop())
        running.append(functions[function][0])
        log.append("> " + running[-1])
    return log + ["< " + name for name in reversed(running)]


@debug_registers.needed
class CallTimelineTest(OwnDirectoryTest):
    def sonde(self, *words):
        done = subprocess.run([SONDE, *words], cwd=self.path, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def record(self, *flags):
        """Returns the program's log."""
        subprocess.run(["gcc", "-O1", *flags, "-o", "calls", SOURCE], cwd=self.path, check=True)
        return self.sonde("record", "-N", "-o", "perf.data", "-e", "sonde_step//", "--filter", "start main", "--",
                          "./calls").splitlines()

    def timeline(self, *words):
        return json.loads(self.sonde("timeline", "--itrace", "--to", "json", *words))

    def test_calls_are_those_of_the_program(self):
        for flags in (), ("-static",), ("-fcf-protection=none", "-z", "now"):
            with self.subTest(flags):
                log = self.record(*flags)
                self.assertEqual(len([line for line in log if line == "> throws"]), 10)
                timeline = self.timeline()
                [thread] = timeline["threads"]
                seen = [line for line in entered_and_left(thread["slices"], timeline["functions"]) if line[2:] in FUNCTIONS]
                self.assertEqual([line for line in seen if line != "< throws"], log)

    def test_calls_are_nested_and_their_times_add_up(self):
        self.record()
        timeline = self.timeline()
        [thread] = timeline["threads"]
        running = []
        for start, length, depth, _, _ in thread["slices"]:
            self.assertLessEqual(depth, len(running))
            del running[depth:]
            if running:
                self.assertLessEqual(running[-1][0], start)
                self.assertLessEqual(start + length, running[-1][1])
            running.append((start, start + length))
        outermost = sum(length for _, length, depth, _, _ in thread["slices"] if depth == 0)
        folded = sum(int(line.rsplit(" ", 1)[1]) for line in self.sonde("fold", "--itrace").splitlines())
        self.assertEqual(folded, outermost)
        self.assertEqual(thread["state_ns"][0], outermost)

    def test_part_of_the_time(self):
        self.record()
        whole = self.timeline()
        middle = (whole["start_ns"] + whole["end_ns"]) // 2
        seconds = f"{middle // 10**9}.{middle % 10**9:09}"
        part = self.timeline("--time", f"{seconds},")
        self.assertEqual(part["start_ns"], middle)
        count = sum(start + length > middle - whole["start_ns"] for start, length, *_ in whole["threads"][0]["slices"])
        self.assertEqual(len(part["threads"][0]["slices"]), count)

    def test_pictures_name_the_functions(self):
        self.record()
        self.assertIn(">fibonacci<", self.sonde("timeline", "--itrace"))
        self.assertIn("fibonacci", self.sonde("flamegraph", "--itrace", "-o", "-"))
        self.sonde("view", "--itrace", "-o", "page.html")
        self.assertGreater((self.path / "page.html").stat().st_size, 50_000)


if __name__ == "__main__":
    if platform.machine() != "x86_64" or shutil.which("gcc") is None:
        print("SKIPPED: needs an x86-64 machine and gcc", file=sys.stderr)
        sys.exit(77)
    unittest.main(argv=["call_timeline_test"])
