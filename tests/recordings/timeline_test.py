#!/usr/bin/env python3
"""Timelines of scheduler recordings with a known course: as data, as stacks, and as a picture."""
import json
import os
import subprocess
import unittest
import xml.etree.ElementTree as xml

from explorer_data import unpacked
from own_directory import OwnDirectoryTest
import tracepoints
from tracepoints import SchedulerRecording

SONDE = os.environ["SONDE"]
IDLE = SchedulerRecording.IDLE
READER, WRITER = ("reader", 10), ("writer", 20)
SLEEPS, DISK, DEAD, PREEMPTED = 1, 2, 0x10, 0x100
MS = 1_000_000


class TimelineTest(OwnDirectoryTest):
    def timeline(self, *arguments, status=0):
        done = subprocess.run([SONDE, "timeline", *map(str, arguments)], capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stderr)
        self.said = done.stderr
        return done.stdout

    def two_threads(self, stacks=False):
        recording = SchedulerRecording(stacks)
        recording.name(10, "reader")
        recording.name(20, "writer")
        recording.switch(100 * MS, 0, IDLE, 0, READER)
        recording.switch(110 * MS, 1, IDLE, 0, WRITER)
        recording.switch(120 * MS, 0, READER, SLEEPS, IDLE, chain=[0x1000, 0x2000])
        recording.waking(150 * MS, 1, WRITER, READER, chain=[0x3000, 0x4000])
        recording.switch(151 * MS, 0, IDLE, 0, READER)
        recording.switch(160 * MS, 1, WRITER, DISK, IDLE, chain=[0x5000])
        recording.switch(171 * MS, 0, READER, PREEMPTED, IDLE)
        return recording.write(self.path / "perf.data")

    def test_data(self):
        data = json.loads(self.timeline("-i", self.two_threads(), "--to", "json"))
        threads = {thread["name"]: thread for thread in data["threads"]}
        self.assertEqual((data["start_ns"], data["end_ns"]), (100 * MS, 171 * MS))
        self.assertEqual(threads["reader"]["state_ns"], [40 * MS, 1 * MS, 30 * MS, 0, 0])
        self.assertEqual(threads["writer"]["state_ns"], [50 * MS, 0, 0, 0, 0])
        writer = [thread["name"] for thread in data["threads"]].index("writer")
        self.assertEqual([slice[:5] for slice in threads["reader"]["slices"]],
                         [[0, 20 * MS, 0, 0, -1], [20 * MS, 30 * MS, 2, 0, writer], [50 * MS, 1 * MS, 1, 0, writer],
                          [51 * MS, 20 * MS, 0, 0, -1]])
        self.assertEqual(threads["writer"]["slices"][-1], [60 * MS, 11 * MS, 3, 1, -1, -1, -1, 1])  # cut off
        self.assertEqual([(cpu["cpu"], cpu["busy_ns"], cpu["watched_ns"], len(cpu["runs"])) for cpu in data["cpus"]],
                         [(0, 40 * MS, 71 * MS, 2), (1, 50 * MS, 50 * MS, 1)])

    def test_parts(self):
        path = self.two_threads()
        data = json.loads(self.timeline("-i", path, "--to", "json", "--time", "0.115,0.155", "-C", "0", "-c", "reader"))
        reader = next(thread for thread in data["threads"] if thread["name"] == "reader")
        self.assertEqual(reader["state_ns"], [9 * MS, 1 * MS, 30 * MS, 0, 0])
        self.assertEqual([thread["name"] for thread in data["threads"] if thread["slices"]], ["reader"])
        self.assertEqual([cpu["cpu"] for cpu in data["cpus"]], [0])

    def test_off_cpu_stacks(self):
        path = self.two_threads(stacks=True)
        self.assertEqual(self.timeline("-i", path, "--to", "folded"),
                         f"reader;[unknown];[unknown];--;[unknown]_[w];[unknown]_[w];writer_[w] {30 * MS}\n")

    def test_picture(self):
        picture = xml.fromstring(self.timeline("-i", self.two_threads(stacks=True), "--title", "<&\">'").partition("\n")[2])
        titles = [title.text for title in picture.iter("{http://www.w3.org/2000/svg}title")]
        self.assertEqual(titles, ["CPU 0: busy for 40 ms of 71 ms (56.3 %), 2 runs", "CPU 1: busy for 50 ms of 50 ms (100.0 %), 1 runs",
                                  "writer (thread 20): 1 runs, running 50 ms",
                                  "reader (thread 10): 2 runs, running 40 ms, runnable 1 ms, sleeping 30 ms"])
        words = [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]
        self.assertIn("<&\">'", words)
        self.assertIn("71 ms from 0.100000 s on, 2 CPUs, 2 threads", words)

    def test_limits_are_said(self):
        self.timeline("-i", self.two_threads(), "--max-threads", "1")
        self.assertIn("1 of 2 threads are not drawn", self.said)
        recording = SchedulerRecording()
        for i in range(2000):
            recording.switch((1000 + 2 * i) * 1000, 0, IDLE, 0, READER)
            recording.switch((1001 + 2 * i) * 1000, 0, READER, SLEEPS, IDLE)
        path = recording.write(self.path / "many.data")
        self.timeline("-i", path, "--max-slices", "300")
        self.assertRegex(self.said, "zoomed in, slices shorter than .* are joined")
        self.assertIn("there are no wakings", self.said)

    def gap(self):
        """From 20 to 40 ms it is not known when reader left CPU 0, and when writer came."""
        recording = SchedulerRecording()
        recording.switch(10 * MS, 0, IDLE, 0, READER)
        recording.switch(15 * MS, 0, READER, SLEEPS, IDLE)
        recording.waking(19 * MS, 0, IDLE, READER)
        recording.switch(20 * MS, 0, IDLE, 0, READER)
        recording.switch(40 * MS, 0, WRITER, SLEEPS, IDLE)
        recording.switch(50 * MS, 0, IDLE, 0, READER)
        recording.switch(60 * MS, 0, READER, DEAD, IDLE)
        recording.switch(70 * MS, 0, IDLE, 0, WRITER)
        recording.switch(80 * MS, 0, WRITER, SLEEPS, IDLE)
        return recording

    def test_what_is_missing_is_left_blank(self):
        data = json.loads(self.timeline("-i", self.gap().write(self.path / "gap.data"), "--to", "json"))
        self.assertIn("1 of 8 switches do not follow from the one before on their CPU: events are missing, and what threads did there "
                      "is left blank", self.said)
        threads = {thread["name"]: thread for thread in data["threads"]}
        self.assertEqual([slice[:3] for slice in threads["reader"]["slices"]],
                         [[0, 5 * MS, 0], [5 * MS, 4 * MS, 2], [9 * MS, 1 * MS, 1], [40 * MS, 10 * MS, 0]])
        self.assertEqual([slice[:3] for slice in threads["writer"]["slices"]], [[30 * MS, 30 * MS, 2], [60 * MS, 10 * MS, 0]])
        self.assertEqual((threads["reader"]["ended"], threads["writer"]["ended"]), (50 * MS, -1))
        self.assertEqual(data["unknown"], [[10 * MS, 20 * MS, 0]])
        self.assertEqual((data["cpus"][0]["busy_ns"], data["cpus"][0]["watched_ns"]), (25 * MS, 50 * MS))
        self.assertEqual(data["partial"], "")
        part = json.loads(self.timeline("-i", self.path / "gap.data", "--to", "json", "--time", "0.035,0.075"))
        self.assertEqual(part["unknown"], [[0, 5 * MS, 0]])
        self.assertIn("not recorded", self.timeline("-i", self.path / "gap.data"), "in the legend")

    def test_a_loss_ends_what_is_known_of_waits(self):
        recording = SchedulerRecording()
        for at, cpu, leaves, state, comes in ((100, 0, IDLE, 0, READER), (110, 1, IDLE, 0, WRITER), (150, 0, READER, SLEEPS, IDLE),
                                              (200, 1, WRITER, SLEEPS, IDLE), (400, 1, IDLE, 0, WRITER), (450, 1, WRITER, SLEEPS, IDLE),
                                              (600, 0, IDLE, 0, READER), (650, 0, READER, SLEEPS, IDLE)):
            recording.switch(at * MS, cpu, leaves, state, comes)
        recording.lost(300 * MS, 1, 5)
        data = json.loads(self.timeline("-i", recording.write(self.path / "lost.data"), "--to", "json"))
        self.assertIn("the kernel dropped events 1 time: what threads did then is left blank", self.said)
        reader = next(thread for thread in data["threads"] if thread["name"] == "reader")
        self.assertEqual([slice[:3] + slice[-1:] for slice in reader["slices"]],
                         [[0, 50 * MS, 0, 0], [50 * MS, 50 * MS, 2, 1], [500 * MS, 50 * MS, 0, 0]])
        self.assertEqual(data["unknown"], [[100 * MS, 200 * MS, 1]])

    def test_of_some_cpus_only_runs_are_known(self):
        recording = SchedulerRecording()
        recording.cpus(2)
        recording.opened_for([0])
        recording.switch(100 * MS, 0, IDLE, 0, READER)
        recording.switch(120 * MS, 0, READER, SLEEPS, IDLE)
        recording.switch(150 * MS, 0, IDLE, 0, READER)
        recording.switch(160 * MS, 0, READER, SLEEPS, IDLE)
        path = recording.write(self.path / "half.data")
        data = json.loads(self.timeline("-i", path, "--to", "json"))
        self.assertEqual([slice[:3] for slice in data["threads"][0]["slices"]], [[0, 20 * MS, 0], [50 * MS, 10 * MS, 0]])
        self.assertEqual(data["partial"], "only CPU 0 of 2 was recorded")
        self.assertIn("only CPU 0 of 2 was recorded: what threads did elsewhere is not known, nor any wait; record with -a", self.said)
        self.assertIn("; only CPU 0 of 2 was recorded", self.timeline("-i", path))
        self.assertEqual(self.timeline("-i", path, "--to", "folded"), "")

    def test_recordings_of_some_switches_are_refused(self):
        def of_task(recording):
            recording.opened_for([0, 1], tids=[10])

        def every_third(recording):
            recording.every(3)

        def filtered(recording):  # prev_pid == 10
            recording.lines = [line for line in recording.lines if not line.startswith("SAMPLE")]
            for at in range(10, 60, 10):
                recording.switch(at * MS, 0, READER, SLEEPS, WRITER)
        for change, reason in ((of_task, "it has the switches of some tasks only"),
                               (every_third, "only one in 3 of sched:sched_switch was recorded"),
                               (filtered, "4 of 4 switches do not follow from the one before on their CPU")):
            recording = self.gap()
            change(recording)
            path = recording.write(self.path / "some.data")
            for command in (["timeline", "-i", path], ["timechart", "-i", path, "-o", self.path / "chart.svg"]):
                done = subprocess.run([SONDE, *map(str, command)], capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stdout), (255, ""), command)
                self.assertIn(reason, done.stderr)
                self.assertIn("record with -e sched:sched_switch,sched:sched_waking -a", done.stderr)
            self.assertFalse((self.path / "chart.svg").exists())
            subprocess.run([SONDE, "view", "-i", path, "-o", self.path / "page.html"], check=True, capture_output=True)
            page = unpacked((self.path / "page.html").read_text())
            self.assertIn(reason, page)
            self.assertNotIn("sched_state", page)

    def test_widths_that_make_no_picture_are_refused(self):
        for width in ("10", "1e9", "nan"):
            self.timeline("-i", self.two_threads(), "--width", width, status=129)
            self.assertIn("--width goes from 600 to 20000", self.said)

    def test_other_recordings_are_refused(self):
        recording = tracepoints.Recording({"sched:sched_waking": tracepoints.WAKING})
        recording.add("sched:sched_waking", 1000)
        self.timeline("-i", recording.write(self.path / "none.data"), status=255)
        self.assertRegex(self.said, "no sched:sched_switch in this recording: record with -e")


if __name__ == "__main__":
    unittest.main(argv=["timeline_test"])
