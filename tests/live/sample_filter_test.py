#!/usr/bin/env python3
"""`record --filter` of events that are not tracepoints, on this kernel: a program keeps the samples that another event of the same run
says it should, and counts the others. Needs root."""
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SONDE = os.environ["SONDE"]
# Addresses are the same in every run.
LOAD = ["setarch", "-R", "python3", "-c", "x = [bytes(5000) for i in range(500)]"]
# A fault is a page fault, and either minor or major: the kernel counts it twice.
ALL = ["-e", "minor-faults:u", "-e", "major-faults:u"]


class SampleFilterTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.path = Path(directory.name)

    def record(self, *options, load=LOAD, status=0):
        done = subprocess.run([SONDE, "record", "-N", "-o", "samples.data", *options, "--", *load], cwd=self.path,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr

    def samples(self):
        """[(event, pid, tid, cpu, time, addr, ip)]"""
        done = subprocess.run([SONDE, "script", "-i", "samples.data", "--ns", "-F", "event,pid,tid,cpu,time,addr,ip"], cwd=self.path,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
        found = []
        for line in done.stdout.splitlines():
            match = re.match(r" *(\d+)/(\d+) +\[(\d+)\] +(\d+)\.(\d+): +(\S+): +([0-9a-f]+) +([0-9a-f]+)", line)
            self.assertTrue(match, line)
            pid, tid, cpu, seconds, ns, event, addr, ip = match.groups()
            found.append((event.rstrip(":"), int(pid), int(tid), int(cpu), int(seconds) * 10**9 + int(ns), int(addr, 16), int(ip, 16)))
        return found

    def test_samples_are_kept_as_another_event_says(self):
        self.record("-q", "-d", "-T", "--sample-cpu", "-c", "1", *ALL)
        before = self.samples()
        addr = sorted(sample[5] for sample in before)[len(before) // 2]
        ip = sorted(sample[6] for sample in before)[len(before) // 2]
        for text, keeps in ((f"addr > {addr:#x}", lambda pid, tid, cpu, time, a, i: a > addr),
                            (f"ip<={ip}", lambda pid, tid, cpu, time, a, i: i <= ip),
                            (f"ip > {ip:#x} || addr <= {addr}, cpu != 1", lambda pid, tid, cpu, time, a, i: (i > ip or a <= addr) and cpu != 1),
                            (f"addr & 0x1000, period == 1, uid == 0, gid == 0, time > 0", lambda pid, tid, cpu, time, a, i: a & 0x1000),
                            ("tid == 1 || pid == 1", lambda *values: False)):
            with self.subTest(text):
                said = self.record("-d", "-T", "--sample-cpu", "-c", "1", "-e", "page-faults:u", "--filter", text, *ALL)
                samples = self.samples()
                everything = [values for event, *values in samples if not event.startswith("page-faults")]
                kept = [values[4:] for event, *values in samples if event.startswith("page-faults")]
                self.assertGreater(len(everything), 100)
                self.assertEqual(sorted(kept), sorted(values[4:] for values in everything if keeps(*values)))
                dropped = int(re.search(r"--filter '.*' dropped (\d+) samples", said)[1])
                self.assertEqual(len(kept) + dropped, len(everything))

    def test_sampling_by_frequency(self):
        said = self.record("-F", "2000", "-e", "cpu-clock", "--filter", "ip >= 0x8000000000000000",
                           load=["dd", "if=/dev/zero", "of=/dev/null", "bs=64k", "count=20000"])
        self.assertIn("dropped", said)
        done = subprocess.run([SONDE, "script", "-i", "samples.data", "-F", "ip"], cwd=self.path, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=True)
        for ip in done.stdout.split():
            self.assertGreaterEqual(int(ip, 16), 1 << 63)

    def test_errors(self):
        for words, said in ((["-e", "cpu-clock", "--filter", "perod > 1"], "expected one of pid tid"),
                            (["-e", "cpu-clock", "--filter", "addr > 1"], "does not sample 'addr': -d"),
                            (["-e", "cpu-clock", "--filter", "mem_op == load"], "'mem record'"),
                            (["-e", "cpu-clock,sched:sched_switch", "--filter", "cpu == 1"], "give them a -e each"),
                            (["-e", "cpu-clock", "--filter", "cpu == 1", "--filter", "pid == 1"], "with a comma")):
            with self.subTest(words):
                done = subprocess.run([SONDE, "record", "-o", "samples.data", *words, "--", "true"], cwd=self.path, stdin=subprocess.DEVNULL,
                                      capture_output=True, text=True)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(said, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])  # ctest passes the build directory, which is not a test
