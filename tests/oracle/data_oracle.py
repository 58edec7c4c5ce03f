#!/usr/bin/env python3
"""The installed perf's `data convert` and ours on the same recordings: JSON member by member, and what babeltrace reads in the
Common Trace Format line by line.

    tests/oracle/data_oracle.py [BUILD_DIR]      $SONDE is the binary
"""
import collections
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
        with kernel_turn.taken():
            for name, options in RECORDINGS.items():
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

    def test_autofdo(self):
        """Counted here from the branches that perf prints, with their offsets in files."""
        fixtures = Path(os.environ.get("SONDE_SOURCE", ".")).resolve().parent / "shared" / "fixtures" / "quipper"
        recordings = [fixtures / f"perf.data.{name}" for name in ("branch-4.14", "branch_stack_hw_index")]
        for recording in [assembled_branches(), *filter(Path.exists, recordings)]:
            with self.subTest(recording=recording.name):
                ranges, branches = branches_of(recording)
                # The object with the most; which of two with equally many is chosen does not matter.
                taken = {path: sum(counts.values()) for path, counts in branches.items() if path.startswith("/")}
                path = max(taken, key=taken.get)
                text = run(SONDE, "data", "convert", "-i", recording, "--to-autofdo", "-", "--dso", path).stdout.decode()
                lines = iter(text.splitlines())
                tables = [[next(lines) for _ in range(int(next(lines)))] for _ in range(3)]
                self.assertEqual(sorted(tables[0]), sorted(f"{a:x}-{b:x}:{n}" for (a, b), n in ranges[path].items()))
                self.assertEqual(tables[1], [])
                self.assertEqual(sorted(tables[2]), sorted(f"{a:x}->{b:x}:{n}" for (a, b), n in branches[path].items()))
                self.assertIn(f"// {path}", lines)

    def test_a_file_that_exists_is_kept(self):
        Path("kept.json").write_text("mine")
        done = subprocess.run([SONDE, "data", "convert", "--to-json", "kept.json", "-i", "clock.data"], capture_output=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(b"kept.json exists", done.stderr)
        self.assertEqual(Path("kept.json").read_text(), "mine")


def assembled_branches():
    """Branches inside of two objects, between them, from the kernel, and two that cannot follow each other."""
    stacks = ["0x400110:0x400200 0x400310:0x400100 0x7f0020:0x400300 0x400380:0x7f0010",
              "0x400110:0x400200 0x400310:0x400100 0x400310:0x400100", "0x400110:0x400200 0xffffffff81000010:0x400100",
              "0x400110:0x400200 0x400310:0x400180"]
    lines = ["event : name = cycles, id = { 7 }, { sample_period, sample_freq } = 4000, \\",
             "  sample_type = IP|TID|TIME|CPU|PERIOD|BRANCH_STACK|IDENTIFIER, freq = 1, sample_id_all = 1, branch_sample_type = ANY",
             "feature BRANCH_STACK:", 'COMM pid=20 tid=20 comm="tool" time=1000 cpu=0 event=0',
             'MMAP mode=kernel pid=-1 tid=0 start=0xffffffff81000000 length=0x1000000 offset=0xffffffff81000000 '
             'path="[kernel.kallsyms]_text" time=0 cpu=0 event=0']
    for start, path in ((0x400000, "/opt/nowhere/tool"), (0x7f0000, "/opt/nowhere/lib.so")):
        lines.append(f'MMAP2 mode=user pid=20 tid=20 start={start:#x} length=0x1000 offset=0x2000 path="{path}" protection=5 flags=2 '
                     "time=1000 cpu=0 event=0")
    for i, stack in enumerate(stacks):
        branches = ",".join(f"{branch.replace(':', ',')},0x22" for branch in stack.split())
        lines.append(f"SAMPLE id=7 mode=user ip=0x400110 pid=20 tid=20 time={1000000 + i} cpu=0 period=1 branches={branches}")
    Path("branches.txt").write_text("\n".join(lines) + "\n")
    run(SONDE, "assemble", "branches.txt", "branches.data")
    return Path("branches.data")


def branches_of(recording):
    """{path: {(first, last): count}} of ranges and of branches."""
    ranges, branches = collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter)
    entry = re.compile(r"0x([0-9a-f]+)\((.*?)\)/0x([0-9a-f]+)\((.*?)\)/\S+")
    longest = 1 << 20
    for line in run("perf", "script", "-F", "brstackoff,dso", "-i", recording).stdout.decode().splitlines():
        after = None
        for start, source, end, target in entry.findall(line):
            start, end = int(start, 16), int(end, 16)
            branches[source][start, end if source == target else 0] += 1
            if after and after[1] == target and 0 <= after[0] - end <= longest:
                ranges[target][end, after[0]] += 1
            after = start, source
    return ranges, branches


def without_plt_names(sample):
    """perf and Sonde find different names for some PLT entries, and perf none for others."""
    return {**sample, "callchain": [{**frame, "symbol": re.sub(".*@plt", "", frame.get("symbol", ""))}
                                    for frame in sample.get("callchain", [])]}


def without_distance(lines):
    """babeltrace's lines without "(+0.000123456)", the time since the previous line."""
    return [line[:line.index(" (+")] + line[line.index(")", line.index(" (+")) + 1:] for line in lines]


if __name__ == "__main__":
    program = unittest.main(argv=sys.argv[:1], verbosity=1, exit=False)
    for _, reason in program.result.skipped:
        print(f"SKIPPED: {reason}")
    sys.exit(0 if program.result.wasSuccessful() else 1)
