#!/usr/bin/env python3
"""`kwork record`, `timechart record` and `kvm stat record` with this kernel, and what their reports show for the recording."""
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

    ITEMS = 7
    # Each time it is read every CPU runs a work item of that function, once (mm/vmstat.c).
    COUNTED = ["taskset", "-c", "0", "sh", "-c", "for i in 1 2 3 4 5 6 7; do cat /proc/sys/vm/stat_refresh; done"]

    def counts(self, table):
        """By CPU, from the rows of a table."""
        counts = {}
        for cpu, count in re.findall(r"\(w\)refresh_vm_stats +\| (\d+) \| +[\d.]+ ms \| +(\d+) \|", table):
            counts[int(cpu)] = counts.get(int(cpu), 0) + int(count)
        return counts

    def test_measured_in_the_kernel(self):
        cpus = os.sched_getaffinity(0)
        if 0 not in cpus: self.skipTest("CPU 0 is not ours to run on")
        choice = ("-k", "workqueue", "-n", "refresh_vm_stats")
        measured = self.counts(self.run_in("kwork", *choice[:2], "report", "-b", *choice[2:], "--", *self.COUNTED))
        self.run_in("kwork", *choice[:2], "record", "-m", "4096", "-o", "perf.data", "--", *self.COUNTED)
        recorded = self.counts(self.run_in("kwork", "report", *choice[2:]))
        self.assertEqual(set(measured.values()), {self.ITEMS}, measured)
        self.assertEqual(measured, recorded)
        # Only items that a CPU queues for itself: those that it queues for others begin elsewhere.
        waited = self.run_in("kwork", *choice[:2], "latency", "-b", *choice[2:], "--", *self.COUNTED)
        self.assertEqual(self.counts(waited), {0: self.ITEMS}, waited)
        text = self.run_in("kwork", "report", "-b", "-S", "--", *LOAD)
        self.assertRegex(text, r"\(s\)(TIMER|RCU|SCHED|BLOCK):\d +\| \d{4} \| +\d+\.\d{3} ms")
        self.assertGreater(float(re.search(r"Total time span \(msec\) : +([\d.]+)", text)[1]), 160)

    def test_whom_the_time_went_to_now(self):
        text = self.run_in("kwork", "top", "-b", "--", *LOAD)
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

    def test_guests_now(self):
        """There are no guests that this test could start: screens come, it ends cleanly, and what is not seen is reported."""
        live = subprocess.Popen([SONDE, "kvm", "stat", "live", "-a", "-d", "0.2"], cwd=self.directory, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        text = ""
        while text.count("Analyze events for all VMs, all VCPUs:") < 2:
            line = live.stdout.readline()
            if not line:
                self.fail(live.stderr.read())
            text += line
        live.terminate()
        rest, said = live.communicate()
        self.assertEqual(live.returncode, 0, said)
        self.assertIn("VM-EXIT", text + rest)
        samples = sum(int(count) for count in re.findall(r"Total Samples:(\d+)", text + rest))
        self.assertTrue(samples > 0 or "nothing was seen of any guest" in said or "Lost" in rest, said)


if __name__ == "__main__":
    unittest.main(argv=["kernel_work_test"])
