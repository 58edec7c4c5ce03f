#!/usr/bin/env python3
"""The installed perf's `data convert` and ours on the same recordings: JSON member by member, and what babeltrace reads in the
Common Trace Format line by line.

    tests/oracle/data_oracle.py [BUILD_DIR]      $SONDE is the binary
"""
import json
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

import kernel_turn

BUILD = Path(sys.argv[1] if len(sys.argv) > 1 else "build/release").resolve()
SONDE = os.environ.get("SONDE") or str(BUILD / "sonde")
PROGRAM = "for i in 1 2; do gzip -c /usr/bin/perf | head -c 200000 > /dev/null; ls / > /dev/null; done; sync"

RECORDINGS = {
    "clock": "-e cpu-clock -F 500",
    "chains": "-e cpu-clock -F 500 -g -d",
    "several": "--sample-cpu -e cpu-clock -F 300 -e page-faults -g",
    "traces": "-e sched:sched_switch -e sched:sched_process_exec -e raw_syscalls:sys_enter -e kmem:kmalloc "
              "-e syscalls:sys_enter_openat -e block:block_rq_issue",
    "copies": "-e cpu-clock -F 300 --call-graph dwarf,4096",
    "wallclock": "-e cpu-clock -F 300 -k CLOCK_MONOTONIC",
}


def run(*command):
    return subprocess.run(command, check=True, capture_output=True)


class DataConvert(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for name, options in RECORDINGS.items():
            with kernel_turn.taken():
                run("perf", "record", "-o", f"{name}.data", *options.split(), "--", "sh", "-c", PROGRAM)

    def convert(self, tool, recording, *options):
        done = run(tool, "data", "convert", "--force", "-i", f"{recording}.data", *options)
        return done.stderr.decode()

    def test_json(self):
        for name in RECORDINGS:
            with self.subTest(recording=name):
                documents = []
                for tool in ("perf", SONDE):
                    self.convert(tool, name, "--to-json", "out.json")
                    documents.append(json.loads(Path("out.json").read_text()))
                theirs, ours = documents
                self.assertEqual(ours["headers"], theirs["headers"])
                self.assertEqual(ours["linux-perf-json-version"], theirs["linux-perf-json-version"])
                self.assertEqual(len(ours["samples"]), len(theirs["samples"]))
                self.assertGreater(len(ours["samples"]), 10)
                for our, their in zip(ours["samples"], theirs["samples"]):
                    self.assertEqual(without_plt_names(our), without_plt_names(their))

    def read_traces(self, name, *options):
        texts = []
        for tool in ("perf", SONDE):
            shutil.rmtree("trace", ignore_errors=True)
            self.convert(tool, name, "--to-ctf", "trace", *options)
            texts.append(run("babeltrace", "--clock-gmt", "--clock-date", "trace").stdout.decode(errors="replace").splitlines())
        return texts

    def compare_traces(self, name, *options):
        theirs, ours = self.read_traces(name, *options)
        self.assertGreater(len(theirs), 10)
        # Events with the same time on several CPUs come in any order.
        self.assertEqual(sorted(without_distance(ours)), sorted(without_distance(theirs)))

    @unittest.skipUnless(shutil.which("babeltrace"), "babeltrace is not here: ./dev deps")
    def test_ctf(self):
        for name in RECORDINGS:
            with self.subTest(recording=name):
                self.compare_traces(name)

    @unittest.skipUnless(shutil.which("babeltrace"), "babeltrace is not here: ./dev deps")
    def test_ctf_with_other_records(self):
        for name in ("clock", "several"):
            with self.subTest(recording=name):
                self.compare_traces(name, "--all")

    @unittest.skipUnless(shutil.which("babeltrace"), "babeltrace is not here: ./dev deps")
    def test_wall_clock(self):
        self.compare_traces("wallclock", "--tod")

    def test_refusals(self):
        for options in (("--to-json", "a", "--to-ctf", "b"), (), ("--to-json", "a", "--tod"), ("--to-json", "a", "--all"),
                        ("--to-ctf", "trace", "--tod", "-i", "clock.data")):
            statuses = [subprocess.run([tool, "data", "convert", *options], capture_output=True).returncode
                        for tool in ("perf", SONDE)]
            self.assertNotEqual(statuses[0], 0, options)
            self.assertNotEqual(statuses[1], 0, options)

    def test_a_file_that_exists_is_kept(self):
        Path("kept.json").write_text("mine")
        done = subprocess.run([SONDE, "data", "convert", "--to-json", "kept.json", "-i", "clock.data"], capture_output=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(b"kept.json exists", done.stderr)
        self.assertEqual(Path("kept.json").read_text(), "mine")


def without_plt_names(sample):
    """perf and Sonde find different names for some PLT entries."""
    return {**sample, "callchain": [{**frame, "symbol": re.sub(".*@plt", "@plt", frame.get("symbol", ""))}
                                    for frame in sample.get("callchain", [])]}


def without_distance(lines):
    """babeltrace's lines without "(+0.000123456)", the time since the previous line."""
    return [line[:line.index(" (+")] + line[line.index(")", line.index(" (+")) + 1:] for line in lines]


if __name__ == "__main__":
    program = unittest.main(argv=sys.argv[:1], verbosity=1, exit=False)
    for _, reason in program.result.skipped:
        print(f"SKIPPED: {reason}")
    sys.exit(0 if program.result.wasSuccessful() else 1)
