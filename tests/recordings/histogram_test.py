#!/usr/bin/env python3
"""Histograms of recordings with known values and latencies: as text, JSON and a picture, and what is reported about events that are
not in them."""
import json
import os
import subprocess
import sys
import unittest
import xml.etree.ElementTree as xml

from own_directory import OwnDirectoryTest
import tracepoints

SONDE = os.environ["SONDE"]
REQUEST = [("dev_t", "dev"), ("sector_t", "sector"), ("unsigned int", "bytes")]
ISSUE, COMPLETE, SWITCH = "block:block_rq_issue", "block:block_rq_complete", "sched:sched_switch"
BLOCK = {ISSUE: REQUEST, COMPLETE: REQUEST}
US = 1000
DISK = 8 << 20  # dev_t of 8,0


class HistogramTest(OwnDirectoryTest):
    def histogram(self, *arguments, status=0):
        done = subprocess.run([SONDE, "histogram", *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def disk(self):
        recording = tracepoints.Recording(BLOCK)
        recording.add(COMPLETE, 100 * US, dev=DISK, sector=1)                     # issued before the recording
        recording.add(ISSUE, 110 * US, dev=DISK, sector=100, bytes=4096)
        recording.add(ISSUE, 111 * US, dev=DISK + 1, sector=100, bytes=512)       # another disk
        recording.add(COMPLETE, 115 * US, dev=DISK, sector=100, cpu=1, tid=0)     # 5 us
        recording.add(COMPLETE, 141 * US, dev=DISK + 1, sector=100)               # 30 us
        recording.add(ISSUE, 150 * US, dev=DISK, sector=100, bytes=0)             # the sector again, twice
        recording.add(ISSUE, 160 * US, dev=DISK, sector=100, bytes=8192)
        recording.add(COMPLETE, 165 * US, dev=DISK, sector=100)                   # 5 us
        recording.add(ISSUE, 170 * US, dev=DISK, sector=300, bytes=4096)          # still in progress at the end
        return recording.write(self.path / "disk.data")

    PAIR = ["--from", ISSUE, "--to", COMPLETE]

    def test_pairs(self):
        done = self.histogram("-i", self.disk(), *self.PAIR, "--by", "dev", "--linear", "10us,0,40us")
        self.assertEqual(done.stdout, """time from block:block_rq_issue to block:block_rq_complete

dev 8,0: 2 events, mean 5us, p50 < 10us, p90 < 10us, p99 < 10us
             time  count  percent
    0ns ..   10us      2   100.0%  |########################################|

dev 8,1: 1 event, mean 30us, p50 < 40us, p90 < 40us, p99 < 40us
             time  count  percent
   30us ..   40us      1   100.0%  |########################################|
""")
        self.assertEqual(done.stderr, "1 begin without an end: the same key began again\n1 begin without an end so far\n"
                                      "1 end without a begin\n")

    def test_json(self):
        told = json.loads(self.histogram("-i", self.disk(), ISSUE, "bytes", "--json").stdout)
        self.assertEqual(told, {
            "title": "bytes of block:block_rq_issue", "value": "bytes", "unit": None, "events": 5, "remarks": [],
            "histograms": [{"count": 5, "sum": 16896, "buckets": [
                {"first": 0, "last": 0, "count": 1}, {"first": 512, "last": 1023, "count": 1},
                {"first": 4096, "last": 8191, "count": 2}, {"first": 8192, "last": 16383, "count": 1}]}]})

    def test_filter(self):
        told = json.loads(self.histogram("-i", self.disk(), *self.PAIR, "--filter", "bytes > 512 && bytes <= 4096", "--json").stdout)
        self.assertEqual((told["events"], told["histograms"][0]["sum"]), (1, 5 * US))
        self.assertEqual(told["remarks"], ["1 begin without an end so far"])

    def test_picture(self):
        picture = self.path / "disk.svg"
        self.histogram("-i", self.disk(), ISSUE, "bytes", "--by", "dev", "--svg", picture)
        bars = [rect.find("{http://www.w3.org/2000/svg}title").text
                for rect in xml.parse(picture).iter("{http://www.w3.org/2000/svg}rect") if rect.get("class") == "bar"]
        self.assertEqual(bars, ["bytes 0: 1 events, 25.0%", "bytes 4096 .. 8191: 2 events, 50.0%",
                                "bytes 8192 .. 16383: 1 events, 25.0%", "bytes 512 .. 1023: 1 events, 100.0%"])

    def test_errors(self):
        disk = self.disk()
        for words, said in (([ISSUE, "size"], "block:block_rq_issue has no field 'size'; there are dev, sector, bytes, tid, pid, cpu, comm"),
                            (["block:none", "x"], "there is no event 'block:none' in this recording; it has block:block_rq_issue, block:bl"),
                            ([*self.PAIR, "--key", "a,b,c,d,e"], "--key takes at most 4 fields, not 5"),
                            (["--from", ISSUE], "--from and --to go together"),
                            ([ISSUE], "which field?"),
                            ([ISSUE, "bytes", "-a"], "are for live events"),
                            ([ISSUE, "bytes", "more"], "a command follows --")):
            with self.subTest(words):
                done = subprocess.run([SONDE, "histogram", "-i", disk, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(said, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
