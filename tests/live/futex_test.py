#!/usr/bin/env python3
"""`lock contention --futex` on this kernel: waits of a program that knows how many there are (programs/futexes.c). Needs root and
a compiler."""
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SONDE = os.environ["SONDE"]
SOURCE = Path(__file__).resolve().parent.parent / "programs" / "futexes.c"
ROUNDS = 8
# The child is still waiting for a lock, which it will not get, when the command ends.
LASTING = """
import os, threading, time
child = os.fork()
if child == 0:
    os.closerange(0, 3)
    lock = threading.Lock()
    lock.acquire()
    lock.acquire(timeout=10)
    os._exit(0)
while open(f"/proc/{child}/syscall").read().split()[0] not in ("202", "98"): time.sleep(0.01)
time.sleep(0.1)
"""


class FutexTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.path = Path(directory.name)
        cls.program = cls.path / "futexes"
        subprocess.run(["gcc", "-g", "-O1", "-fno-omit-frame-pointer", "-pthread", "-o", cls.program, SOURCE], check=True)

    def lock(self, *arguments, status=0):
        done = subprocess.run([SONDE, "lock", *map(str, arguments)], cwd=self.path, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def rows(self, *arguments, load=()):
        """What the program prints about itself, rows as lists, and the text below the table."""
        done = self.lock("contention", "--futex", "-x", ";", *arguments, *(["--", *load] if load else []))
        lines = done.stdout.splitlines()
        told = {}
        if lines and lines[0].startswith("plain="):
            told = {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", lines.pop(0))}
        self.assertTrue(lines[0].startswith("# output:"), lines)
        return told, [[cell.strip() for cell in line.split(";")] for line in lines[1:]], done.stderr

    def load(self):
        return [self.program, ROUNDS]

    def counts(self, rows, key):
        counts = {}
        for row in rows:
            counts[key(row)] = counts.get(key(row), 0) + int(row[0])
        return counts

    def record(self, *options):
        done = self.lock("record", "--futex", *options, "-o", "futex.data", "--", *self.load())
        return {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", done.stdout)}

    def check_locks(self, told, rows):
        """Rows by lock."""
        counts = self.counts(rows, lambda row: row[5].split(" ")[0].split("+")[0])
        self.assertEqual(counts["plain_lock"], told["plain"], rows)
        self.assertEqual(counts["heir_lock"], told["heir"], rows)
        self.assertGreaterEqual(counts["condition"], told["turns"], rows)
        for row in rows:
            self.assertGreaterEqual(int(row[1]), int(row[2]))
            self.assertGreaterEqual(int(row[2]), int(row[3]))

    def test_measured_by_lock(self):
        told, rows, said = self.rows("-b", "-l", load=self.load())
        self.check_locks(told, rows)
        timed_out = re.search(r"(\d+) waits of .* their time was over", said)
        self.assertEqual(int(timed_out.group(1)), told["timeouts"], said)

    def test_measured_by_thread_and_owner(self):
        told, rows, _ = self.rows("-b", "-t", "-L", "plain_lock", load=self.load())
        self.assertEqual([int(row[0]) for row in rows], [ROUNDS] * 3)
        self.assertEqual({row[5] for row in rows}, {"futexes"})
        # While the first waiter sleeps the main thread owns the lock, and so it does while the others sleep: they come in one
        # after the other.
        told, rows, _ = self.rows("-b", "-o", "-L", "plain_lock", "-L", "heir_lock", load=self.load())
        self.assertEqual([(int(row[0]), int(row[4])) for row in rows], [(told["plain"] + told["heir"], told["pid"])], rows)

    def test_recorded_calls(self):
        told = self.record()
        _, rows, said = self.rows("-i", "futex.data")
        counts = self.counts(rows, lambda row: (row[4], row[5].split("+")[0]))
        self.assertEqual(counts[("mutex", "take_plain")], told["plain"], rows)
        self.assertEqual(counts[("pi-mutex", "take_heir")], told["heir"], rows)
        self.assertGreaterEqual(counts[("cond", "await_turn")], told["turns"], rows)
        self.assertIn(f"{told['timeouts']} waits", said)
        self.check_locks(told, self.rows("-i", "futex.data", "-l")[1])
        mutexes = self.rows("-i", "futex.data", "-Y", "pi-mutex")[1]
        self.assertEqual({row[4] for row in mutexes}, {"pi-mutex"})
        self.assertEqual({row[5].split("+")[0] for row in self.rows("-i", "futex.data", "-S", "take_")[1]}, {"take_plain", "take_heir"})
        stacks = self.lock("contention", "--futex", "-v", "-i", "futex.data", "-Y", "pi-mutex").stdout
        self.assertRegex(stacks, r"\t\t\ttake_heir\+0x\w+ \(.*/futexes\)\n\t\t\twait_for_locks")

    def test_recorded_sums(self):
        told = self.record("--use-bpf")
        self.check_locks(told, self.rows("-i", "futex.data", "-l")[1])
        script = subprocess.run([SONDE, "script", "-i", "futex.data", "-F", "event,period"], cwd=self.path, capture_output=True, text=True)
        self.assertIn("futex-wait", script.stdout, script.stderr)

    def test_what_goes_on_at_the_end(self):
        _, rows, said = self.rows("-b", load=[sys.executable, "-c", LASTING])
        self.assertIn("1 waits of", said)
        self.assertIn("went on at the end", said)
        self.assertGreater(max(int(row[2]) for row in rows), 50_000_000, rows)

    def test_refusals(self):
        self.lock("record", "-o", "kernel.data", "--", "true")
        self.assertIn("no events of futexes", self.lock("contention", "--futex", "-i", "kernel.data", status=255).stderr)
        self.assertIn("types are: futex", self.lock("contention", "--futex", "-i", "kernel.data", "-Y", "rwsem", status=129).stderr)
        self.lock("contention", "--futex", "-b", "--", "sh", "-c", "exit 3", status=3)


if __name__ == "__main__":
    unittest.main(argv=["futex"])
