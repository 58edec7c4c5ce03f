#!/usr/bin/env python3
"""`sched` on recordings with a known course: waits, delays, migrations, forks and lost events give the expected figures."""
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from tracepoints import SchedulerRecording

SONDE = os.environ["SONDE"]
IDLE = SchedulerRecording.IDLE
READER, WRITER = ("reader", 10), ("writer", 20)
SLEEPS, DISK, PREEMPTED = 1, 2, 0x100
MS = 1_000_000


class SchedTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def sched(self, *arguments, status=0):
        done = subprocess.run([SONDE, "sched", *map(str, arguments)], capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stderr)
        self.said = done.stderr
        return [line.rstrip() for line in done.stdout.splitlines()]

    def known_course(self, stacks=False, lost=0):
        """reader runs 20 ms, sleeps 30, waits 2, runs 10, is preempted for 5, runs 3; writer runs 50 and 15 ms, with 4 ms on disk
        between them, and moves from CPU 1 to 0."""
        recording = SchedulerRecording(stacks, every_event=True)
        recording.cpus(2)
        recording.name(10, "reader")
        recording.name(20, "writer", 19)
        recording.name(5, "kworker")
        recording.switch(100 * MS, 0, IDLE, 0, READER)
        recording.switch(110 * MS, 1, IDLE, 0, WRITER)
        recording.runtime(120 * MS, 0, READER, 20 * MS)
        recording.switch(120 * MS, 0, READER, SLEEPS, IDLE, chain=[0x1000, 0x2000])
        recording.waking(150 * MS, 1, WRITER, READER)
        recording.switch(152 * MS, 0, IDLE, 0, READER)
        recording.switch(160 * MS, 1, WRITER, DISK, IDLE)
        recording.switch(162 * MS, 0, READER, PREEMPTED, ("kworker", 5))
        recording.waking(164 * MS, 1, IDLE, WRITER)
        recording.migrate(164 * MS, 1, IDLE, WRITER, 1, 0)
        recording.switch(167 * MS, 0, ("kworker", 5), SLEEPS, READER)
        recording.switch(170 * MS, 0, READER, SLEEPS, WRITER)
        recording.switch(185 * MS, 0, WRITER, SLEEPS, IDLE)
        if lost:
            recording.lost(190 * MS, 1, lost)
        recording.switch(195 * MS, 1, ("stranger", 99), SLEEPS, IDLE)
        return recording.write(self.directory / "perf.data")

    def test_timehist(self):
        lines = self.sched("timehist", "-i", self.known_course())
        self.assertIn("the recording has no call chains", self.said)
        self.assertEqual(lines[0], "           time    cpu  task name                       wait time  sch delay   run time")
        times = [(line.split()[0], line.split()[2], *line.split()[-3:]) for line in lines[3:]]
        self.assertEqual(times, [
            ("0.100000", "<idle>", "0.000", "0.000", "0.000"), ("0.110000", "<idle>", "0.000", "0.000", "0.000"),
            ("0.120000", "reader[10]", "0.000", "0.000", "20.000"), ("0.152000", "<idle>", "20.000", "0.000", "32.000"),
            ("0.160000", "writer[20/19]", "0.000", "0.000", "50.000"), ("0.162000", "reader[10]", "32.000", "2.000", "10.000"),
            ("0.167000", "kworker[5]", "0.000", "0.000", "5.000"), ("0.170000", "reader[10]", "5.000", "0.000", "3.000"),
            ("0.185000", "writer[20/19]", "10.000", "6.000", "15.000"), ("0.195000", ":99[99]", "0.000", "0.000", "35.000")])

    def test_waits_by_reason(self):
        lines = self.sched("timehist", "-s", "--state", "-i", self.known_course())
        rows = {line.split("[")[0].strip(): line.split()[3:] for line in lines if "[" in line and "tid" not in line}
        # run time, sleep, iowait, preempt, delay
        self.assertEqual(rows["reader"], ["33.000", "32.000", "0.000", "5.000", "2.000"])
        self.assertEqual(rows["writer"], ["65.000", "0.000", "10.000", "0.000", "6.000"])
        self.assertIn("    CPU  0 idle for     32.000  msec  ( 33.68%)", lines)
        self.assertIn("    CPU  1 idle entire time window", [line.replace("for      0.000  msec  (  0.00%)", "entire time window")
                                                            for line in lines])
        self.assertIn("    Total scheduling time (msec): 95.000  (x 2)", lines)

    def test_state_letters(self):
        lines = self.sched("timehist", "--state", "-i", self.known_course())
        self.assertEqual([line.split()[-1] for line in lines[3:]], list("IISIDRSSSS"))

    def test_migrations_and_wakeups(self):
        lines = self.sched("timehist", "-MwV", "-i", self.known_course())
        self.assertEqual([line.split("]", 1)[1].split() for line in lines if "migrated" in line],
                         [["m", "swapper", "migrated:", "writer[20/19]", "cpu", "1", "=>", "0"]])
        self.assertEqual([line.split("awakened: ")[1] for line in lines if "awakened" in line], ["reader[10]", "writer[20/19]"])

    def test_parts(self):
        path = self.known_course()
        lines = self.sched("timehist", "-i", path, "--time", "0.155,0.165")
        self.assertEqual([line.split()[0] for line in lines[3:]], ["0.160000", "0.162000", "0.165000", "0.165000"])
        self.assertEqual([line.split()[-1] for line in lines[-2:]], ["3.000", "5.000"])  # cut where the window ends
        self.assertEqual({line.split()[2] for line in self.sched("timehist", "-i", path, "-p", 10)[3:]}, {"reader[10]"})
        self.assertEqual({line.split()[1] for line in self.sched("timehist", "-i", path, "-C", 1)[3:]}, {"[0001]"})
        self.sched("timehist", "-i", path, "--time", "10%", status=129)
        self.assertIn("--time expects start,stop in seconds", self.said)
        self.sched("timehist", "-i", path, "-s", "-w", status=129)

    def test_stacks(self):
        lines = self.sched("timehist", "-i", self.known_course(stacks=True))
        self.assertEqual([line.split("20.000")[1].strip() for line in lines if "0.120000" in line], ["[unknown] <- [unknown]"])

    def test_latency(self):
        lines = self.sched("latency", "-p", "-s", "runtime", "-i", self.known_course(lost=7))
        rows = {line.split("|")[0].strip(): [cell.strip() for cell in line.split("|")[1:]] for line in lines if "avg:" in line}
        # A first switch to a task counts as a delay of nothing, the preemption of 5 ms as one.
        self.assertEqual(rows["reader:10"], ["20.000 ms", "3", "avg:   2.333 ms", "max:   5.000 ms", "max start:     0.162000 s",
                                             "max end:     0.167000 s"])
        self.assertEqual(rows["writer:20"][1:4], ["2", "avg:   3.000 ms", "max:   6.000 ms"])
        self.assertTrue(any(line.startswith("  INFO: ") and "lost events (7 out of" in line for line in lines))
        self.assertTrue(any("context switch bugs (1 out of 2) (due to lost events?)" in line for line in lines), lines)
        self.assertIn("7 events were lost", self.said)
        self.sched("latency", "-s", "colour", status=129)
        self.assertIn("Unknown --sort key: `colour'", self.said)

    def test_latency_by_name(self):
        recording = SchedulerRecording(every_event=True)
        for tid in (10, 11):
            recording.name(tid, "twin")
            recording.waking(100 * MS, 0, IDLE, ("twin", tid))
        recording.switch(101 * MS, 0, IDLE, 0, ("twin", 10))
        recording.switch(105 * MS, 0, ("twin", 10), SLEEPS, ("twin", 11))
        path = recording.write(self.directory / "perf.data")
        row = next(line for line in self.sched("latency", "-i", path) if "twin" in line)
        self.assertEqual(row.split("|")[0].strip(), "twin:(2)")
        self.assertIn("avg:   3.000 ms | max:   5.000 ms", row)

    def test_map(self):
        path = self.known_course()
        self.assertEqual(self.sched("map", "-i", path), [
            "  *A0           0.100000 secs A0 => reader:10", "   A0 *B0       0.110000 secs B0 => writer:20",
            "  *.   B0       0.120000 secs .  => swapper:0", "  *A0  B0       0.152000 secs", "   A0 *.        0.160000 secs",
            "  *C0  .        0.162000 secs C0 => kworker:5", "  *A0  .        0.167000 secs", "  *B0  .        0.170000 secs",
            "  *.   .        0.185000 secs", "   .  *.        0.195000 secs"])
        self.assertEqual(self.sched("map", "-i", path, "--task-name", "writer"), [
            "   -  *A0       0.110000 secs A0 => writer:20", "   -  *-        0.160000 secs", "  *A0  .        0.170000 secs",
            "  *-   .        0.185000 secs"])
        self.assertEqual(self.sched("map", "-i", path, "--task-name", "writ", "--fuzzy-name"),
                         self.sched("map", "-i", path, "--task-name", "writer"))
        self.assertEqual(self.sched("map", "-i", path, "--task-name", "writ"), [])

    def test_names_at_their_time(self):
        recording = SchedulerRecording(every_event=True)
        recording.name(10, "sh")
        recording.switch(100 * MS, 0, ("sh", 10), SLEEPS, IDLE)
        recording.comm(10, "make", 150 * MS)
        recording.fork(160 * MS, 10, 30)
        recording.switch(200 * MS, 0, ("make", 30), SLEEPS, ("make", 10))
        recording.switch(210 * MS, 0, ("make", 10), SLEEPS, IDLE)
        lines = self.sched("timehist", "-S", "-i", recording.write(self.directory / "perf.data"))
        self.assertEqual([line.split()[2] for line in lines[3:6]], ["sh[10]", "make[30]", "make[10]"])
        self.assertTrue(any(line.split()[:2] == ["make[30]", "10"] for line in lines))  # its parent

    def test_refusals(self):
        self.sched(status=129)
        self.sched("nosuch", status=129)
        self.assertIn("no subcommand 'nosuch'", self.said)
        recording = SchedulerRecording()
        recording.lines = [line for line in recording.lines if "sched_switch" not in line]
        path = recording.write(self.directory / "perf.data")
        self.sched("timehist", "-i", path, status=255)
        self.assertIn("no sched:sched_switch events", self.said)
        recording = SchedulerRecording(every_event=True)
        recording.switch(100 * MS, 0, IDLE, 0, READER)
        recording.switch(120 * MS, 0, READER, SLEEPS, IDLE)
        recording.every(3)
        path = recording.write(self.directory / "third.data")
        self.sched("latency", "-i", path)
        self.assertEqual(self.sched("latency", "--wall-clock", "-i", path, status=255), [])
        self.assertIn("only one in 3 of sched:sched_switch was recorded", self.said)


if __name__ == "__main__":
    unittest.main(argv=["sched_test"])
