#!/usr/bin/env python3
"""Heat maps of recordings with known latencies, and of text: what each box stands for, and what is reported about unmatched
events."""
import os
import re
import subprocess
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

from own_directory import OwnDirectoryTest
import tracepoints

SONDE = os.environ["SONDE"]
SOURCE = Path(os.environ.get("SONDE_SOURCE", "."))
FIXTURES = Path(os.environ.get("SONDE_FIXTURES", SOURCE / "../shared/fixtures"))
REQUEST = [("dev_t", "dev"), ("sector_t", "sector"), ("unsigned int", "bytes")]
BLOCK = {"block:block_rq_issue": REQUEST, "block:block_rq_complete": REQUEST}
MS = 1_000_000


class HeatMapTest(OwnDirectoryTest):
    def heatmap(self, *arguments, text=None, status=0):
        """Boxes as (title, class), and the messages."""
        done = subprocess.run([SONDE, "heatmap", *map(str, arguments)], input=text, capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stderr)
        if status:
            return None, done.stderr
        picture = xml.fromstring(done.stdout.partition("\n")[2])
        self.picture = picture
        cells = next(group for group in picture.iter("{http://www.w3.org/2000/svg}g") if group.get("id") == "cells")
        return [box[0].text for box in cells], done.stderr

    def words(self):
        return [text.text for text in self.picture.iter("{http://www.w3.org/2000/svg}text")]

    def disk(self):
        recording = tracepoints.Recording(BLOCK)
        issue, complete = BLOCK
        recording.add(complete, 100 * MS, dev=8, sector=1)                   # issued before the recording
        recording.add(issue, 110 * MS, dev=8, sector=100, bytes=4096)
        recording.add(issue, 111 * MS, dev=9, sector=100, bytes=512)         # another disk
        recording.add(complete, 115 * MS, dev=8, sector=100, cpu=1, tid=0)   # 5 ms
        recording.add(complete, 141 * MS, dev=9, sector=100)                 # 30 ms
        recording.add(issue, 150 * MS, dev=8, sector=100)                    # the sector again, twice
        recording.add(issue, 160 * MS, dev=8, sector=100)
        recording.add(complete, 165 * MS, dev=8, sector=100)                 # 5 ms
        recording.add(issue, 170 * MS, dev=8, sector=300)                    # still in progress at the end
        recording.add(issue, 171 * MS, dev=8, sector=400, cut=10)            # damaged
        return recording.write(self.path / "disk.data")

    def test_pairs(self):
        boxes, said = self.heatmap("-i", self.disk(), "--from", "block:block_rq_issue", "--to", "block:block_rq_complete",
                                   "--key", "dev,sector", "--scale", "linear", "--steplat", "10ms", "--stepsec", "0.01")
        self.assertEqual(boxes, ["0 to 10 ms, 0 to 10 ms: 1 event, 100.0 % of this time's, 100.0 % up to here",
                                 "20 ms to 30 ms, 20 ms to 30 ms: 1 event, 100.0 % of this time's, 100.0 % up to here",
                                 "50 ms to 60 ms, 0 to 10 ms: 1 event, 100.0 % of this time's, 100.0 % up to here"])
        self.assertEqual(said, "1 begun without an end; 1 ended without a begin; 1 begun again before their end; "
                               "1 samples without these fields\n")
        self.assertIn("3 pairs; " + said.strip(), self.words())

    def test_known_pairs_need_no_options(self):
        boxes, _ = self.heatmap(self.disk(), "--scale", "linear", "--steplat", "10ms", "--stepsec", "1")
        self.assertEqual(boxes, ["0 to 1 s, 0 to 10 ms: 2 events, 66.7 % of this time's, 66.7 % up to here",
                                 "0 to 1 s, 20 ms to 30 ms: 1 event, 33.3 % of this time's, 100.0 % up to here"])

    def test_keys_that_differ_in_name(self):
        recording = tracepoints.SchedulerRecording()
        a, b = ("a", 10), ("b", 11)
        recording.waking(1 * MS, 0, b, a)
        recording.switch(3 * MS, 0, b, 1, a)
        path = recording.write(self.path / "sched.data")
        pair = ["-i", path, "--from", "sched:sched_waking", "--to", "sched:sched_switch", "--scale", "linear", "--steplat", "1000"]
        for key in (["--key", "pid=next_pid"], []):
            boxes, said = self.heatmap(*pair, *key)
            self.assertEqual(boxes, ["0 to 1 s, 1 ms to 2 ms: 1 event, 100.0 % of this time's, 100.0 % up to here"])
            self.assertEqual(said, "")

    def test_calls_of_a_function(self):
        recording = tracepoints.Recording({"probe_x:f": [("unsigned long", "ip")], "probe_x:f__return": [("unsigned long", "ip")]})
        for time, event in ((0, "f"), (10, "f"), (13, "f__return"), (40, "f__return")):
            recording.add(f"probe_x:{event}", (time + 1) * MS, tid=5)
        recording.add("probe_x:f__return", 50 * MS, tid=6)
        path = recording.write(self.path / "calls.data")
        pair = ["-i", path, "--from", "probe_x:f", "--to", "probe_x:f__return", "--scale", "linear", "--steplat", "5ms",
                "--stepsec", "10"]
        boxes, said = self.heatmap(*pair, "--nested")
        self.assertEqual([box.partition(":")[0] for box in boxes], ["0 to 10 s, 0 to 5 ms", "0 to 10 s, 35 ms to 40 ms"])
        self.assertEqual(said, "1 ended without a begin\n")
        boxes, said = self.heatmap(*pair)
        self.assertEqual([box.partition(":")[0] for box in boxes], ["0 to 10 s, 0 to 5 ms"])
        self.assertEqual(said, "2 ended without a begin; 1 begun again before their end\n")

    def test_values_of_a_field(self):
        boxes, _ = self.heatmap("-i", self.disk(), "-e", "block:block_rq_issue", "--field", "bytes", "--steplat", "1000",
                                "--unitslatency", " B", "--time", "0.1,0.12")
        self.assertEqual(len(boxes), 2)
        self.assertIn("4000 B to 5000 B: 1 event", boxes[0])
        self.assertIn("0 B to 1000 B: 1 event", boxes[1])

    def test_offsets_in_seconds(self):
        recording = tracepoints.Recording(BLOCK)
        for time in (5_000_000_000, 5_019_999_999, 5_020_000_000, 7_999_999_999):
            recording.add("block:block_rq_issue", time)
        recording.add("block:block_rq_complete", 6_000_000_000)
        path = recording.write(self.path / "seconds.data")
        boxes, _ = self.heatmap("--subsecond", "-i", path, "-e", "block:block_rq_issue")
        self.assertEqual(boxes, ["5 s and 0 to 20 ms: 2 events", "5 s and 20 ms to 40 ms: 1 event",
                                 "7 s and 980 ms to 1 s: 1 event"])
        boxes, _ = self.heatmap("--subsecond", "-i", path, "--rows", "2")
        self.assertEqual(boxes, ["5 s and 0 to 500 ms: 3 events", "6 s and 0 to 500 ms: 1 event",
                                 "7 s and 500 ms to 1 s: 1 event"])

    def test_the_flame_graph_of_a_range(self):
        recording = tracepoints.Recording(BLOCK, stacks=True)
        recording.name(1, "writer")
        for time in (5_000_000_000, 5_999_999_999, 6_000_000_000):
            recording.add("block:block_rq_issue", time, chain=[0x1000, 0x2000])
        path = recording.write(self.path / "stacks.data")
        drawn = subprocess.run([SONDE, "heatmap", "--subsecond", "-i", path, "--range", "5.0,6.0"], capture_output=True, text=True)
        self.assertEqual(drawn.returncode, 0, drawn.stderr)
        self.assertIn("<title>writer (2 samples, 100.00%)</title>", drawn.stdout)  # what begins with the stop is not in it
        for wrong in ("7,8", "6,5", "x"):
            said = subprocess.run([SONDE, "heatmap", "--subsecond", "-i", path, "--range", wrong], capture_output=True, text=True)
            self.assertNotEqual(said.returncode, 0)
            self.assertEqual(said.stdout, "")

    def test_text(self):
        boxes, said = self.heatmap("--unitstime", "us", "--unitslatency", "us", "--minlat", "100", "--maxlat", "300", "--steplat",
                                   "100", "--stepsec", "2", "--maxcol", "3", "--grid", "--title", "<&\">'",
                                   text="TIME LAT\n1000000 100\n2000000 150\n2999999 300\n3000000 99\n3000000 301\n"
                                        "5000000 200\n9000000 200\nnothing\n")
        self.assertEqual(boxes, ["0 to 2 s, 100 µs to 200 µs: 2 events, 66.7 % of this time's, 66.7 % up to here",
                                 "0 to 2 s, 200 µs to 300 µs: 1 event, 33.3 % of this time's, 100.0 % up to here",
                                 "4 s to 6 s, 200 µs to 300 µs: 1 event, 100.0 % of this time's, 100.0 % up to here"])
        self.assertEqual(said, "1 lines without a time and a latency (the first is line 9)\n")
        self.assertIn("<&\">'", self.words())
        note = next(words for words in self.words() if words and words.startswith("7 events"))
        self.assertTrue(note.endswith("1 below the axis; 1 above the axis; 1 behind the last column"), note)

    def test_every_line_of_a_real_trace_is_in_a_box(self):
        trace = FIXTURES / "heatmap/example-trace-head.txt"
        if not trace.exists():
            self.skipTest(f"{trace} is not here")
        lines = [line.split() for line in trace.read_text().splitlines()[1:]]
        for scale in ("linear", "log"):
            boxes, _ = self.heatmap(trace, "--unitstime", "us", "--unitslatency", "us", "--scale", scale)
            counts = sum(int(re.search(r": ([\d,]+) event", box)[1].replace(",", "")) for box in boxes)
            self.assertEqual(counts, len([line for line in lines if len(line) >= 2]))

    def test_what_makes_no_sense_is_said(self):
        disk = self.disk()
        pair = ["-i", disk, "--from", "block:block_rq_issue", "--to", "block:block_rq_complete"]
        for arguments, status, words in (
                (["--from", "a:b"], 129, "--from and --to go together"),
                (["-i", disk, "--from", "a:b", "--to", "block:block_rq_complete"], 129,
                 "there is no event 'a:b'.* it has block:block_rq_issue"),
                ([*pair, "--key", "sektor"], 129, "has no field 'sektor'; there are .*sector"),
                (["-i", disk, "-e", "block:block_rq_issue"], 129, "--field names a field"),
                ([*pair, "--maxlat", "5 parsecs"], 129, "--maxlat takes a number"),
                ([*pair, "--minlat", "1s"], 255, "--minlat 1000000000 lies above all values"),
                ([*pair, "--time", "7,8"], 255, "nothing to draw: no pairs"),
                (["--unitstime", "parsecs"], 129, "'parsecs' is no unit of time: s, ms"),
                (["--", self.path / "none"], 255, "none: No such file"),
                (["--minlat", "3ms"], 129, "--minlat takes a number, not")):
            _, said = self.heatmap(*arguments, text="1 2\n", status=status)
            self.assertRegex(said, words)
        _, said = self.heatmap("--stepsec", "1", text="0 1\n1000000 1\n", status=255)
        self.assertRegex(said, "too many.*--unitstime")
        _, said = self.heatmap(text="no numbers\n", status=255)
        self.assertRegex(said, "no lines of a time and a latency")


if __name__ == "__main__":
    unittest.main(argv=["heatmap_test"])
