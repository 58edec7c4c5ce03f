#!/usr/bin/env python3
"""Folding: real `perf script` text, with each option of the collapsing script, against that script's output for it; and that it
makes no difference how a profile arrives: as a recording or as text, compressed, through a pipe."""
import gzip
import os
import subprocess
import sys
import unittest
from pathlib import Path

from own_directory import OwnDirectoryTest

SONDE = os.environ["SONDE"]
SOURCE = Path(os.environ["SONDE_SOURCE"])
FIXTURES = Path(os.environ.get("SONDE_FIXTURES", SOURCE / "../shared/fixtures")) / "folded"
OPTIONS = ("addrs", "all", "jit", "kernel", "pid", "tid")

RECORDING = """\
feature ARCH: "x86_64"
event : name = cpu-clock, type = 1, size = 128, config = 0, { sample_period, sample_freq } = 4000, \\
  sample_type = IP|TID|TIME|CPU|CALLCHAIN|PERIOD, read_format = ID, mmap = 1, comm = 1, freq = 1, task = 1, sample_id_all = 1
MMAP mode=kernel pid=-1 tid=0 start=0xffffffff81000000 length=0x1000000 offset=0xffffffff81000000 path="[kernel.kallsyms]_text" time=0
COMM pid=10 tid=10 comm="my app" time=0
FORK pid=10 ppid=10 tid=11 ptid=10 time=0
MMAP2 mode=user pid=10 tid=10 start=0x400000 length=0x1000 offset=0 path="/nowhere/app" protection=5 time=1
MMAP2 mode=user pid=10 tid=10 start=0x500000 length=0x1000 offset=0 path="/tmp/perf-10.map" protection=5 time=1
SAMPLE mode=user ip=0x400100 pid=10 tid=10 cpu=0 time=300 period=250000 chain=user,0x400100,0x400200
SAMPLE mode=user ip=0x400100 pid=10 tid=11 cpu=1 time=350 period=250000 chain=user,0x400100,0x400200
SAMPLE mode=user ip=0x600100 pid=10 tid=11 cpu=1 time=370 period=10 chain=user,0x600100
SAMPLE mode=kernel ip=0xffffffff81000100 pid=10 tid=10 cpu=0 time=400 period=7 chain=kernel,0xffffffff81000100,user,0x500300,0x400200
"""


def sonde(*words, status=0, **more):
    run = subprocess.run([SONDE, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **more)
    assert run.returncode == status, run.stderr.decode(errors="replace")
    return run


def without_roots(folded):
    """Sums by stack, ignoring the names of processes and threads."""
    sums = {}
    for line in folded.splitlines():
        stack, _, value = line.rpartition(" ")
        stack = stack.partition(";")[2]
        sums[stack] = sums.get(stack, 0) + float(value)
    return sums


class WorldTest(unittest.TestCase):
    """Line by line, and in the same order."""

    def test_collapsed(self):
        texts = sorted(path for path in FIXTURES.glob("*.txt") if "-collapsed-" not in path.name)
        self.assertTrue(texts)
        compared = 0
        for text in texts:
            for option in OPTIONS:
                with self.subTest(text=text.name, option=option):
                    expected = text.with_name(f"{text.stem}-collapsed-{option}.txt")
                    self.assertEqual(sonde("fold", f"--{option}", text).stdout, expected.read_bytes())
                    compared += 1
        print(f"folded: {compared} texts of the world")


class WaysTest(OwnDirectoryTest):
    def setUp(self):
        super().setUp()
        (self.path / "recording.txt").write_text(RECORDING)
        self.data = self.path / "perf.data"
        sonde("assemble", self.path / "recording.txt", self.data)
        self.text = sonde("script", "-f", "-i", self.data).stdout

    def test_recording(self):
        kernel = self.path / "kallsyms"
        kernel.write_text("ffffffff81000000 T _text\nffffffff81000080 T do_read\nffffffff81000200 T do_write\n")
        self.assertEqual(sonde("fold", "--all", "--kallsyms", kernel, self.data).stdout.decode(),
                         "my_app;[app];[app] 500000\n"
                         "my_app;[app];[perf-10.map]_[j];do_read_[k] 7\n"
                         "my_app;[unknown] 10\n")

    def test_text_of_script(self):
        for options in ([], ["--all"], ["--samples"], ["--merge-recursion"], ["-C", "1"]):
            with self.subTest(options=options):
                expected = sonde("fold", *options, self.data).stdout
                self.assertTrue(expected)
                self.assertEqual(sonde("fold", "-", *options, input=self.text).stdout, expected)

    def test_text_with_both_ids(self):
        text = sonde("script", "-f", "-i", self.data, "-F", "+pid").stdout
        for option in ("--pid", "--tid"):
            self.assertEqual(sonde("fold", "-", option, input=text).stdout, sonde("fold", option, self.data).stdout)

    def test_packed(self):
        packed = self.path / "script.gz"
        half = len(self.text) // 2
        packed.write_bytes(gzip.compress(self.text[:half]) + gzip.compress(self.text[half:]))
        expected = sonde("fold", self.data).stdout
        self.assertEqual(sonde("fold", packed).stdout, expected)
        self.assertEqual(sonde("fold", "-", input=gzip.compress(self.data.read_bytes())).stdout, expected)
        cut = self.path / "cut.gz"
        cut.write_bytes(gzip.compress(self.text)[:-20])
        self.assertIn(b"cut.gz", sonde("fold", cut, status=255).stderr)

    def test_other_tools(self):
        direct = sonde("fold", self.data).stdout.decode()
        pprof, speedscope = self.path / "profile.pb.gz", self.path / "profile.json"
        sonde("export", "--to", "pprof", "-o", pprof, self.data)
        self.assertEqual(sonde("import", pprof).stdout.decode(), direct)
        self.assertEqual(sonde("fold", "-", input=gzip.decompress(pprof.read_bytes())).stdout.decode(), direct)
        sonde("export", "--to", "speedscope", "-o", speedscope, self.data)
        self.assertEqual(without_roots(sonde("import", speedscope).stdout.decode()), without_roots(direct))
        again = sonde("import", "--to", "speedscope", pprof).stdout
        self.assertEqual(without_roots(sonde("fold", "-", input=again).stdout.decode()), without_roots(direct))
        self.assertIn("unknown format", sonde("import", "--to", "png", pprof, status=129).stderr.decode())
        self.assertIn("it has cpu-clock", sonde("import", "-e", "x", pprof, status=129).stderr.decode())

    def test_folded_again(self):
        folded = sonde("fold", "--all", self.data).stdout
        self.assertEqual(sonde("fold", "-", input=folded).stdout, folded)

    def test_difference(self):
        before, after = self.path / "before", self.path / "after"
        before.write_text("a;at 0x12 4\na;b 6\n")
        after.write_text("a;at 0x34 2\na;b 2\na;c 1\n")
        fold = lambda *options: sonde("fold", "--diff", *options, before, after).stdout.decode()
        self.assertEqual(fold(), "a;at 0x12 4 0\na;at 0x34 0 2\na;b 6 2\na;c 0 1\n")
        self.assertEqual(fold("-s"), "a;at 0x... 4 2\na;b 6 2\na;c 0 1\n")
        self.assertEqual(fold("-n", "-s"), "a;at 0x... 2 2\na;b 3 2\na;c 0 1\n")
        self.assertEqual(sonde("fold", "-", input=fold("-s").encode()).stdout.decode(), fold("-s"))
        both = sonde("fold", "--diff", before, self.data).stdout.decode()
        self.assertIn("a → my_app;b 6 0\n", both)
        self.assertIn("a → my_app;[app];[app] 0 500000\n", both)
        both = sonde("fold", "--diff", "--by-name", before, self.data).stdout.decode()
        self.assertIn("a;b 6 0\n", both)
        self.assertIn("my_app;[app];[app] 0 500000\n", both)

    def test_refusals(self):
        folded = self.path / "folded"
        folded.write_text("a;b 1\n")
        binary = self.path / "binary"
        binary.write_bytes(b"\0\1\2\3" * 100)
        for words, said in ((["--diff", folded], "two files"), (["-n", folded], "-n is for --diff"),
                            (["--by-name", folded], "--by-name is for --diff"), ([folded, folded], "too many")):
            run = sonde("fold", *words, status=129)
            self.assertIn(said, run.stderr.decode().splitlines()[0], words)
        for words, said in ((["-C", "1", folded], "added up"), (["--time", "10%", folded], "only samples of a recording")):
            self.assertIn(said, sonde("fold", *words, status=255).stderr.decode(), words)
        self.assertIn("it has cpu-clock", sonde("fold", "-e", "faults", self.data, status=129).stderr.decode())
        self.assertIn("neither a recording", sonde("fold", binary, status=255).stderr.decode())

    def test_output(self):
        out = self.path / "out.folded"
        run = sonde("fold", "-o", out, self.data)
        self.assertEqual(run.stdout, b"")
        self.assertEqual(out.read_bytes(), sonde("fold", self.data).stdout)


def main():
    world = FIXTURES.is_dir()
    cases = [WaysTest] + ([WorldTest] if world else [])
    suite = unittest.TestSuite(unittest.defaultTestLoader.loadTestsFromTestCase(case) for case in cases)
    if not unittest.TextTestRunner(verbosity=1).run(suite).wasSuccessful():
        return 1
    if not world:
        print("folded: no texts of the world beside the project; only our own were folded")
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main())
