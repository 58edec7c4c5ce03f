#!/usr/bin/env python3
"""`kwork record`, `timechart record` and `kvm stat record` with this kernel, and what their views say of the recording."""
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

SONDE = os.environ["SONDE"]
LOAD = ["sh", "-c", "for i in 1 2 3 4 5 6 7 8; do ls -R /usr/share/doc | sort | tail -1; sleep 0.02; done"]


class KernelWorkTest(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.directory = Path(kept.name)

    def run_in(self, *arguments):
        done = subprocess.run([SONDE, *arguments], capture_output=True, text=True, cwd=self.directory, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_softirqs_have_names_and_times(self):
        self.run_in("kwork", "record", "-o", "perf.data", "--", *LOAD)
        self.assertRegex(self.run_in("kwork", "report", "-S"), r"\(s\)(TIMER|RCU|SCHED|BLOCK):\d +\| \d{4} \| +\d+\.\d{3} ms")
        self.assertRegex(self.run_in("kwork", "latency"), r"\(s\)\w+:\d +\|")
        self.assertRegex(self.run_in("kwork", "timehist"), r"\[\d{4}\]  \(s\)\w+:\d +\d+\.\d{3} +\d+\.\d{3} ")

    def test_whom_the_time_went_to(self):
        self.run_in("kwork", "-k", "sched,irq,softirq", "record", "-o", "perf.data", "--", *LOAD)
        text = self.run_in("kwork", "top")
        self.assertRegex(text, r"%Cpu\(s\): +\d+\.\d\d% id")
        self.assertRegex(text, r" \d+ +\d+\.\d\d +\d+\.\d{3} ms  (ls|sort|sh|tail)\n")

    def test_charts(self):
        self.run_in("timechart", "record", "-o", "perf.data", *LOAD)
        self.run_in("timechart", "-n", "1000")
        self.assertRegex((self.directory / "output.svg").read_text(), r">(ls|sort) \d+</text>")
        self.run_in("timechart", "record", "-I", "-o", "perf.data", *LOAD)
        self.run_in("timechart", "-n", "1000", "-o", "io.svg")
        picture = (self.directory / "io.svg").read_text()
        self.assertTrue(re.search(r">(ls|sort) \d+</text>", picture))
        self.assertIn("disk read", picture)

    def test_guests(self):
        self.run_in("kvm", "stat", "record", "-a", "--", "true")
        self.assertTrue((self.directory / "perf.data.guest").exists())
        names = self.run_in("evlist", "-i", "perf.data.guest")
        for event in ("kvm:kvm_entry", "kvm:kvm_exit", "kvm:kvm_mmio", "kvm:kvm_pio"):
            self.assertIn(event, names)


if __name__ == "__main__":
    unittest.main(argv=["kernel_work_test"])
