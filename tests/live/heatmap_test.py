#!/usr/bin/env python3
"""Latency heat maps of uprobes on this kernel: of a function, from its entry to its return, and between two functions. Needs
root."""
import errno
import os
import re
import subprocess
import sys
import time
import unittest
from pathlib import Path

from own_directory import OwnDirectoryTest
from tracefs import TRACEFS

SONDE = os.environ["SONDE"]
PROGRAM = r"""
#include <time.h>
__attribute__((noinline)) void begin(int i) { __asm__ volatile("" ::"r"(i)); }
__attribute__((noinline)) void end(int i) { __asm__ volatile("" ::"r"(i)); }
__attribute__((noinline)) int work(int depth) {
  struct timespec pause = {0, 2000000};
  if (depth > 0) return work(depth - 1) + 1;
  nanosleep(&pause, 0);
  return 1;
}
int main(void) {
  int sum = 0;
  for (int i = 0; i < 5; ++i) {
    begin(i);
    sum += work(2);
    end(i);
  }
  return sum != 15;
}
"""


class HeatmapTest(OwnDirectoryTest):
    def setUp(self):
        super().setUp()
        self.group = f"heatmap_test_{os.getpid()}"
        (self.path / "app.c").write_text(PROGRAM)
        subprocess.run(["cc", "-O0", "-no-pie", "-Wl,-Ttext-segment=0x400000", "-o", "app", "app.c"],
                       cwd=self.path, check=True)
        addresses = {name: int(address, 16) - 0x400000 for address, name in
                     re.findall(r"^(\w+) T (\w+)$", self.output("nm", "app"), re.M)}
        for kind, name, function in (("p", "begin", "begin"), ("p", "end", "end"), ("p", "work", "work"), ("r", "work__return", "work")):
            self.write_probe(f"{kind}:{self.group}/{name} {self.path}/app:{addresses[function]:#x}")
            self.addCleanup(self.remove_probe, f"-:{self.group}/{name}")

    def write_probe(self, line):
        events = os.open(TRACEFS / "uprobe_events", os.O_WRONLY | os.O_APPEND)
        try:
            os.write(events, line.encode() + b"\n")
        finally:
            os.close(events)

    def remove_probe(self, line):
        """The kernel may still be releasing it."""
        deadline = time.monotonic() + 10
        while True:
            try:
                return self.write_probe(line)
            except OSError as error:
                if error.errno != errno.EBUSY or time.monotonic() > deadline:
                    raise
            time.sleep(0.05)

    def output(self, *words):
        return subprocess.run(words, cwd=self.path, check=True, capture_output=True, text=True).stdout

    def heatmap(self, begin, end, *options):
        """The text below the title, and the counts of the boxes."""
        done = subprocess.run([SONDE, "heatmap", "-i", "perf.data", "--from", f"{self.group}:{begin}", "--to", f"{self.group}:{end}",
                               *options], cwd=self.path, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        note = re.findall(r'<text [^>]*class="soft"[^>]*>([^<]*)</text>', done.stdout)[0]
        return note, [int(count) for count in re.findall(r"<title>[^<]*: (\d+) events?,", done.stdout)]

    def test_pairs_of_probes(self):
        self.output(SONDE, "record", "-q", "-e", f"{self.group}:*", "-o", "perf.data", "--", "./app")
        # The pause is part of what is measured, so nothing is shorter.
        note, boxes = self.heatmap("begin", "end", "--minlat", "2ms", "--maxlat", "60s")
        self.assertEqual((note, sum(boxes)), ("5 pairs", 5))
        # A function that calls itself: three nested calls.
        note, boxes = self.heatmap("work", "work__return", "--nested", "--minlat", "2ms", "--maxlat", "60s")
        self.assertEqual((note, sum(boxes)), ("15 pairs", 15))
        note, boxes = self.heatmap("work", "work__return")
        self.assertEqual(note, "5 pairs; 10 ended without a begin; 10 begun again before their end")
        self.assertEqual(sum(boxes), 5)


if __name__ == "__main__":
    unittest.main(argv=["heatmap_test", *sys.argv[2:]])
