#!/usr/bin/env python3
"""Samples before the record that names their task: tables have the name, as perf's do, which names anew what it has not shown yet;
lines, which are printed before that record is read, have the task's number."""
import os
import subprocess
import sys
import unittest

from own_directory import OwnDirectoryTest

SONDE = os.environ["SONDE"]
HEAD = """\
feature ARCH: "x86_64"
event : name = cpu-clock, id = { 7 }, type = 1, { sample_period, sample_freq } = 4000, \\
  sample_type = IP|TID|TIME|CPU|PERIOD|IDENTIFIER, freq = 1, sample_id_all = 1
MMAP mode=kernel pid=-1 tid=0 start=0xffffffff81000000 length=0x1000000 offset=0xffffffff81000000 \
path="[kernel.kallsyms]_text" time=0 cpu=0 event=0
"""
# 20 is named late, and again; 30 never; 40 was another task until the fork; 50 is named by its exec.
RECORDS = ("sample 20", "sample 30", "comm 20 client", "sample 20", "comm 20 later", "sample 20", "sample 40", "fork 40 20", "sample 40",
           "comm 40 child", "sample 40", "sample 50", "exec 50 execd", "sample 50", "sample 30")
LINES = {"sample": "SAMPLE id=7 mode=kernel ip=0xffffffff81000110 pid={0} tid={0} time={time} cpu=0 period=10",
         "comm": 'COMM pid={0} tid={0} comm="{1}" time={time} cpu=0 event=0',
         "exec": 'COMM exec=1 pid={0} tid={0} comm="{1}" time={time} cpu=0 event=0',
         "fork": "FORK pid={0} ppid={1} tid={0} ptid={1} time={time} cpu=0 event=0"}


class LateNamesTest(OwnDirectoryTest):
    def sonde(self, *words):
        done = subprocess.run([SONDE, *words], cwd=self.path, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def setUp(self):
        super().setUp()
        text = HEAD
        for number, record in enumerate(RECORDS, 1):
            kind, *words = record.split()
            text += LINES[kind].format(*words, time=1000000 * number) + "\n"
        (self.path / "text").write_text(text)
        self.sonde("assemble", "text", "perf.data")

    def test_tables_have_the_name_that_comes_later(self):
        rows = [line.split() for line in self.sonde("report", "--stdio", "-q", "-F", "sample,comm", "-s", "comm").splitlines()
                if line.strip() and not line.startswith("#")]
        self.assertEqual({comm: int(samples) for samples, comm in rows},
                         {"client": 2, "later": 2, ":30": 2, ":40": 1, "child": 1, "execd": 2})
        rows = self.sonde("report", "--stdio", "-q", "-s", "comm", "-c", "client").splitlines()
        self.assertEqual([line.split() for line in rows if line.strip() and not line.startswith("#")], [["20.00%", "client"]])

    def test_lines_have_what_was_known(self):
        self.assertEqual(self.sonde("script", "-F", "comm").split(),
                         [":20", ":30", "client", "later", ":40", "later", "child", ":50", "execd", ":30"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
