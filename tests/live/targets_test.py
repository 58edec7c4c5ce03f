#!/usr/bin/env python3
"""Lists of processes and threads: every command that takes one names those that are gone, and only those, and does not begin
without them; an empty name does not make a thread one that is gone. Needs root."""
import ctypes
import os
import subprocess
import tempfile
import threading
import unittest

SONDE = os.environ["SONDE"]
GONE = 2**22 - 2  # above the kernel's limit, unless somebody asked for the largest one
COMMANDS = [["record", "-o", "x", "-e", "cpu-clock"], ["record", "-o", "x", "-e", "cpu-clock", "--per-thread"], ["stat", "-e", "cs"],
            ["top", "--stdio", "-e", "cpu-clock"], ["trace"], ["trace", "-s"], ["lock", "contention", "-b"],
            ["ftrace", "trace"], ["histogram", "sched:sched_switch", "prev_prio"]]
NO_SHORT_TID = ("lock", "ftrace")


class TargetsTest(unittest.TestCase):
    def sonde(self, *words):
        with tempfile.TemporaryDirectory() as directory:
            return subprocess.run([SONDE, *map(str, words)], cwd=directory, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  stdin=subprocess.DEVNULL, timeout=120)

    def check(self, words, what, ids, gone):
        done = self.sonde(*words, ids, *([] if words[0] == "top" else ["--", "sleep", "0.01"]))
        said = done.stdout + done.stderr
        self.assertNotEqual(done.returncode, 0, (words, said))
        self.assertIn(f"No such {what}: {gone}", said, words)
        self.assertNotRegex(said.replace(ids, ""), rf"\b{os.getpid()}\b", words)

    def test_every_command_names_who_is_gone(self):
        here = os.getpid()
        for words in COMMANDS:
            tid = "--tid" if words[0] in NO_SHORT_TID else "-t"
            with self.subTest(words=words):
                self.check([*words, "-p"], "process", f"{here},{GONE}", GONE)
                self.check([*words, "-p"], "process", f"{GONE - 1},{here},{GONE}", f"{GONE - 1}, {GONE}")
                self.check([*words, tid], "thread", f"{here},{GONE}", GONE)

    def test_a_thread_may_have_an_empty_name(self):
        ready, done, tids = threading.Event(), threading.Event(), []

        def nameless():
            set_name = 15
            ctypes.CDLL(None).prctl(set_name, b"", 0, 0, 0)
            tids.append(threading.get_native_id())
            ready.set()
            done.wait()

        thread = threading.Thread(target=nameless)
        thread.start()
        ready.wait()
        run = self.sonde("stat", "-e", "cs", "-t", f"{os.getpid()},{tids[0]}", "sleep", "0.01")
        done.set()
        thread.join()
        self.assertEqual(run.returncode, 0, run.stderr)


if __name__ == "__main__":
    unittest.main(argv=[__file__])
