#!/usr/bin/env python3
"""How runs end whose command ignores that it is asked to: the results are complete at once, and a second signal ends all of it.
Needs root."""
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from own_directory import OwnDirectoryTest

SONDE = os.environ["SONDE"]
LONG = 120
GOES_ON = re.compile(r"everything is complete, but 'sh' \(process (\d+)\) goes on after SIG(TERM|INT): one more Ctrl-C or SIGTERM kills it")
# Buffers of a busy machine may run over; that is said, and makes no file incomplete.
LOST = re.compile(r"^sonde: \d+ events? (was|were) lost while recording; .*\n", re.M)
# Neither it nor what it starts listens, and each holds the writing end of a pipe.
DEAF = "trap '' TERM INT; sleep 1000 & touch started; while :; do sleep 1000; done"
BUSY = DEAF.replace("do sleep 1000", "do :")
# Output files, and what says that they are whole.
WITH_FILE = {"record": ["record", "-N", "-e", "cpu-clock", "-o", "out"], "record -a": ["record", "-N", "-e", "cpu-clock", "-a", "-o", "out"],
             "record --threads": ["record", "-N", "-e", "cpu-clock", "--threads", "-o", "out"],
             "record --aggregate": ["record", "-N", "-e", "cpu-clock", "--aggregate", "-o", "out"],
             "stat record": ["stat", "record", "-e", "task-clock", "-o", "out"], "sched record --summary": ["sched", "record", "--summary", "-o", "out"]}
# Commands that print what they measured, and a word of that.
PRINTING = {"stat": (["stat", "-e", "task-clock"], "task-clock"), "trace": (["trace", "-e", "nanosleep,clock_nanosleep,wait4"], ""), "trace -s": (["trace", "-s"], "syscall"),
            "sched latency": (["sched", "latency", "--live"], "Task"), "kwork report": (["kwork", "report", "-b"], "Kwork Name"),
            "lock contention": (["lock", "contention", "-b"], "contended"),
            "histogram": (["histogram", "sched:sched_switch", "prev_prio"], "prev_prio"), "ftrace": (["ftrace", "trace", "-t", "nop", "-a"], "")}


class RunEndTest(OwnDirectoryTest):
    def start(self, *words, command=DEAF):
        """The tool with a command that ignores signals; returns when that runs."""
        (self.path / "started").unlink(missing_ok=True)
        for name in ("out", "out.old"):
            shutil.rmtree(self.path / name, ignore_errors=True)
            (self.path / name).unlink(missing_ok=True)
        reading, writing = os.pipe()
        self.addCleanup(os.close, reading)
        self.command_gone = reading
        with open(self.path / "said", "wb") as said, open(self.path / "shown", "wb") as shown:
            run = subprocess.Popen([SONDE, *words, "--", "sh", "-c", command], cwd=self.path, stdin=subprocess.DEVNULL, stdout=shown, stderr=said,
                                   pass_fds=[writing], env={**os.environ, "HOME": str(self.path)})
        os.close(writing)
        self.addCleanup(self.clean_up, run)
        self.wait_for((self.path / "started").exists, run, "the command never started")
        return run

    def clean_up(self, run):
        run.kill()
        run.wait()
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and os.readlink(entry / "cwd") == str(self.path):
                    os.kill(int(entry.name), signal.SIGKILL)
            except OSError:
                pass

    def words(self):
        return (self.path / "said").read_text(errors="replace")

    def wait_for(self, condition, run, what):
        end = time.monotonic() + LONG
        while not condition():
            self.assertIsNone(run.poll(), f"{what}: {self.words()}")
            self.assertLess(time.monotonic(), end, f"{what}: {self.words()}")
            time.sleep(0.01)

    def assert_killed(self, run, number):
        """With the command and what that started: nobody holds the pipe any more."""
        run.wait(LONG)
        self.assertEqual(run.returncode, -number, self.words())
        self.assertEqual(os.read(self.command_gone, 1), b"")

    def end_it(self, run, first=signal.SIGTERM, second=signal.SIGTERM, meanwhile=lambda: None):
        run.send_signal(first)
        self.wait_for(lambda: GOES_ON.search(self.words()), run, "it never said that the command goes on")
        self.assertEqual(len(GOES_ON.findall(self.words())), 1)
        meanwhile()
        self.assertIsNone(run.poll())
        run.send_signal(second)
        self.assert_killed(run, second)

    def test_files_are_complete_at_once(self):
        def whole():
            read = subprocess.run([SONDE, "report", "--header-only", "-i", "out"], cwd=self.path, text=True, capture_output=True)
            said = LOST.sub("", read.stderr)
            self.assertEqual((read.returncode, said), (0, ""))
            self.assertIn("# hostname :" if "sched" not in self.id_ else "#", read.stdout)
        for name, words in WITH_FILE.items():
            with self.subTest(name):
                self.id_ = name
                self.end_it(self.start(*words), meanwhile=whole)

    def test_results_are_printed_at_once(self):
        for name, (words, expected) in PRINTING.items():
            with self.subTest(name):
                def printed():
                    text = (self.path / "shown").read_text(errors="replace") + self.words()
                    self.assertIn(expected, text)
                self.end_it(self.start(*words), first=signal.SIGINT, second=signal.SIGTERM, meanwhile=printed)

    def test_other_ends(self):
        """The file has reached its size, or the time is up."""
        run = self.start("record", "-N", "-e", "cpu-clock:u", "-F", "999", "--max-size", "64K", "-o", "out", command=BUSY)
        self.wait_for(lambda: GOES_ON.search(self.words()), run, "it never said that the command goes on")
        run.send_signal(signal.SIGINT)
        self.assert_killed(run, signal.SIGINT)
        run = self.start("stat", "-e", "task-clock", "--timeout", "200")
        self.wait_for(lambda: GOES_ON.search(self.words()), run, "it never said that the command goes on")
        self.assertIn("task-clock", self.words())
        run.send_signal(signal.SIGTERM)
        self.assert_killed(run, signal.SIGTERM)

    def test_a_repetition_is_no_second_signal(self):
        """timeout(1) signals a process, and then its group."""
        run = self.start("record", "-N", "-e", "cpu-clock", "-o", "out")
        for _ in range(3):
            run.send_signal(signal.SIGTERM)
        self.wait_for(lambda: GOES_ON.search(self.words()), run, "it never said that the command goes on")
        self.assertIn("[ sonde record: Captured and wrote", self.words())
        run.send_signal(signal.SIGTERM)
        self.assert_killed(run, signal.SIGTERM)

    def test_the_command_may_still_end_by_itself(self):
        run = self.start("record", "-N", "-e", "cpu-clock", "-o", "out")
        run.send_signal(signal.SIGTERM)
        self.wait_for(lambda: GOES_ON.search(self.words()), run, "it never said that the command goes on")
        os.kill(int(GOES_ON.search(self.words())[1]), signal.SIGKILL)
        run.wait(LONG)
        self.assertEqual(run.returncode, -signal.SIGTERM)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])  # ctest passes the build directory, which is not a test
