#!/usr/bin/env python3
"""Which recording a command reads when none is named: standard input if that is a pipe, otherwise perf.data.

Every command that reads recordings is run with a pipe and with another recording as perf.data beside it: it prints what it prints
of `-i -`; and without the pipe, what it prints of `-i perf.data`.
"""
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

from own_directory import OwnDirectoryTest
from tracepoints import SchedulerRecording

SONDE = os.environ["SONDE"]
SOURCE = Path(os.environ["SONDE_SOURCE"])
MS = 1_000_000
PIPED, BESIDE = "tests/golden/report/samples.test", "tests/golden/report/columns.test"
COMMANDS = [["report", "--stdio"], ["script"], ["annotate", "--stdio"], ["evlist", "-v"], ["buildid-list"], ["mem", "report", "--stdio"],
            ["c2c", "report", "--stdio"], ["data", "convert", "--to-json", "-"], ["sched", "latency"], ["sched", "timehist"], ["kmem", "stat"],
            ["lock", "report"], ["lock", "contention"], ["kwork", "report"], ["timechart", "-o", "chart.svg"], ["stat", "report"],
            ["sql", "select * from samples"], ["timeline"], ["fold"], ["export", "--to", "json"], ["flamegraph"], ["view", "-o", "-"],
            ["heatmap", "--subsecond"]]
# These name their recordings otherwise: as perf does (kvm, inject), because they need a file (archive), read text as well (heatmap,
# import), or record without -i.
OTHERS = {"archive", "heatmap", "histogram", "import", "inject", "kvm", "top", "trace"}


def recording_of(golden, path):
    text = (SOURCE / golden).read_text(encoding="utf-8")
    source = path.with_suffix(".txt")
    source.write_text(re.search(r"^=== perf\.data\n(.*?)(?=^=== )", text, re.M | re.S).group(1), encoding="utf-8")
    subprocess.run([SONDE, "assemble", source, path], check=True)


class PipedTest(OwnDirectoryTest):
    def setUp(self):
        super().setUp()
        recording_of(BESIDE, self.path / "perf.data")
        recording_of(PIPED, self.path / "other.data")
        self.piped = self.as_pipe("other.data")

    def as_pipe(self, recording):
        return subprocess.run([SONDE, "inject", "-i", recording, "-o", "-"], cwd=self.path, capture_output=True, check=True).stdout

    def said(self, words, piped):
        """What a command prints: on both outputs, without the name of the recording."""
        given = {"input": self.piped} if piped else {"stdin": subprocess.DEVNULL}
        run = subprocess.run([SONDE, *words], cwd=self.path, capture_output=True, timeout=60, check=False, **given)
        return run.returncode, run.stdout, run.stderr

    def test_a_pipe_is_read_before_perf_data(self):
        for words in COMMANDS:
            with self.subTest(" ".join(words)):
                of_pipe, of_file = self.said([*words, "-i", "-"], True), self.said([*words, "-i", "perf.data"], False)
                self.assertEqual(self.said(words, True), of_pipe)
                self.assertEqual(self.said(words, False), of_file)
                self.assertNotEqual(of_pipe, of_file)
                self.assertEqual(of_pipe[0], of_file[0], of_pipe)

    def test_a_pipe_is_not_read_twice(self):
        """By commands that look at the events to decide how to read: it says what the file says."""
        recording = SchedulerRecording(stacks=True)
        idle, reader, writer = SchedulerRecording.IDLE, ("reader", 10), ("writer", 20)
        for i in range(20):
            recording.switch((100 + 10 * i) * MS, i % 2, idle, 0, reader if i % 2 else writer)
            recording.waking((104 + 10 * i) * MS, i % 2, writer, reader, chain=[0x3000])
            recording.switch((107 + 10 * i) * MS, i % 2, reader if i % 2 else writer, 1, idle, chain=[0x1000, 0x2000])
        recording.write(self.path / "switches.data")
        self.piped = self.as_pipe("switches.data")
        for words in (["sched", "timehist"], ["sched", "latency"], ["sched", "map"], ["timechart", "-o", "-"], ["timeline", "--to", "json"],
                      ["kwork", "timehist", "-k", "sched"], ["script"]):
            with self.subTest(" ".join(words)):
                of_file = self.said([*words, "-i", "switches.data"], False)
                self.assertEqual(of_file[0], 0, of_file)
                self.assertNotEqual(of_file[1], b"")
                self.assertEqual(self.said(words, True), of_file)

    def test_help_says_so(self):
        """Of every command with -i that is not one of the others, and of the subcommands above."""
        names = subprocess.run([SONDE, "--list-cmds"], capture_output=True, text=True, check=True).stdout.split()
        subcommands = [words[:2] for words in COMMANDS if words[0] in ("data", "kmem", "kwork", "lock", "mem", "c2c", "sched", "stat")]
        silent, asked = [], 0
        for words in [[name] for name in names if name not in OTHERS] + subcommands:
            run = subprocess.run([SONDE, *words, "-h"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            if found := re.search(r"-i, --input <\S+> (.*?) -\S", " ".join(run.stdout.split())):
                asked += 1
                if "standard input if that is a pipe, else perf.data" not in found[1]:
                    silent.append(f"{' '.join(words)}: {found[1]}")
        self.assertEqual(silent, [])
        self.assertGreater(asked, len(COMMANDS))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
