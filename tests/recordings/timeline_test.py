#!/usr/bin/env python3
"""Timelines of scheduler recordings with a known course: as data, as stacks, and as a picture."""
import json
import os
import subprocess
import unittest
import xml.etree.ElementTree as xml

from own_directory import OwnDirectoryTest
import tracepoints
from tracepoints import SchedulerRecording

SONDE = os.environ["SONDE"]
IDLE = SchedulerRecording.IDLE
READER, WRITER = ("reader", 10), ("writer", 20)
SLEEPS, DISK, PREEMPTED = 1, 2, 0x100
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

    def test_events_that_are_missing_are_said(self):
        recording = SchedulerRecording()
        recording.switch(1 * MS, 0, IDLE, 0, READER)
        recording.switch(2 * MS, 0, WRITER, SLEEPS, IDLE)
        self.timeline("-i", recording.write(self.path / "gap.data"))
        self.assertIn("1 of 2 switches do not follow", self.said)

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
