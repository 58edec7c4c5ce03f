#!/usr/bin/env python3
"""Flame graphs of programs on this kernel: recorded and drawn in one step, and from a saved recording. Needs root."""
import os
import re
import subprocess
import unittest

from own_directory import OwnDirectoryTest

SONDE = os.environ["SONDE"]
BUSY = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"

OPENING = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); : </proc/self/stat; done"


class FlamegraphTest(OwnDirectoryTest):
    def setUp(self):
        super().setUp()
        (self.path / "tmp").mkdir()

    def sonde(self, *arguments, status=0):
        run = subprocess.run([SONDE, *map(str, arguments)], cwd=self.path, text=True, capture_output=True, timeout=120,
                             stdin=subprocess.DEVNULL, env={**os.environ, "PERF_BUILDID_DIR": str(self.path / "cache"),
                                                            "TMPDIR": str(self.path / "tmp")})
        self.assertEqual(run.returncode, status, run.stderr)
        return run

    def frames(self, name):
        """For a picture: [(title, depth, total)]."""
        text = (self.path / name).read_text()
        return [(title, int(depth), float(total)) for depth, total, title in
                re.findall(r'<g data-d="(\d+)" data-x="[^"]*" data-w="([^"]*)"[^>]*><title>(.*?)</title>', text)]

    def test_a_command_is_recorded_and_drawn(self):
        run = self.sonde("flamegraph", "--", "sh", "-c", BUSY + "; echo said; exit 3", status=3)
        self.assertEqual(run.stdout, "said\n", "the command's own output")
        self.assertIn("flamegraph.svg", run.stderr)
        frames = self.frames("flamegraph.svg")
        self.assertTrue(any(title.startswith("sh (") for title, depth, _ in frames if depth == 1), frames[:5])
        self.assertGreater(max(depth for _, depth, _ in frames), 2, "stacks, not only their ends")
        self.assertEqual(sorted(each.name for each in self.path.iterdir() if each.name != "cache"), ["flamegraph.svg", "tmp"])
        self.assertEqual(list((self.path / "tmp").iterdir()), [], "the recording is gone")

    def test_how_a_command_is_recorded(self):
        self.sonde("flamegraph", "-o", "faults.svg", "-e", "page-faults", "-F", "500", "--", "sh", "-c", "exit 0")
        self.assertGreater(len(self.frames("faults.svg")), 2)
        run = self.sonde("flamegraph", "--", "/does/not/exist", status=255)
        self.assertIn("/does/not/exist", run.stderr)
        self.assertFalse((self.path / "flamegraph.svg").exists())

    def test_record_keeps_the_recording(self):
        self.sonde("record", "--flamegraph=kept.svg", "--", "sh", "-c", BUSY)
        frames = self.frames("kept.svg")
        self.assertGreater(max(depth for _, depth, _ in frames), 2, "-g goes without saying")
        folded = self.sonde("flamegraph", "-i", "perf.data")
        self.assertEqual((self.path / "kept.svg").read_text(), folded.stdout, "as drawn later")
        periods = [int(each) for each in self.sonde("script", "-F", "period", "-i", "perf.data").stdout.split()]
        self.assertEqual(frames[0][2], sum(periods), "every sample is in the picture")
        (self.path / "empty").mkdir()
        drawn = subprocess.run([SONDE, "flamegraph"], cwd=self.path / "empty", input=(self.path / "perf.data").read_bytes(),
                               capture_output=True, timeout=120)
        self.assertEqual(drawn.stdout.count(b"<rect"), folded.stdout.count("<rect"), "what is piped in is drawn")
        counted = re.search(r"<title>all \((.*) samples, 100%\)", self.sonde("flamegraph", "--samples").stdout)
        self.assertEqual(int(counted[1].replace(",", "")), len(periods))
        for arguments, why in ((["-o", "-"], "a pipe"), (["--switch-output=1s"], "--switch-output")):
            run = self.sonde("record", "--flamegraph", *arguments, "--", "true", status=255)
            self.assertIn(why, run.stderr)

    def test_samples_are_chosen(self):
        self.sonde("record", "-q", "-g", "-o", "perf.data", "--", "sh", "-c", f"{BUSY}; sleep 0; {BUSY}")
        whole = self.sonde("script", "-F", "time", "-G", "-i", "perf.data").stdout.split()
        self.sonde("flamegraph", "--samples", "-o", "half.svg", "--time", "50%-100%")
        half = self.frames("half.svg")[0][2]
        self.assertTrue(0 < half < len(whole), (half, len(whole)))
        # A program that opens a file in each iteration spends half its time in the kernel.
        self.sonde("record", "-q", "-g", "-o", "perf.data", "--", "sh", "-c", OPENING + "; sleep 0")
        self.sonde("flamegraph", "-o", "kernel.svg", "--dso", "[kernel.kallsyms]", "--comm", "sh")
        self.assertTrue(all(not title.startswith("sleep (") for title, _, _ in self.frames("kernel.svg")))
        self.assertGreater(len(self.frames("kernel.svg")), 1)
        run = self.sonde("flamegraph", "--comm", "nobody", status=255)
        self.assertEqual(run.stderr.splitlines()[0], "perf.data: no samples to draw")


if __name__ == "__main__":
    unittest.main(argv=["flamegraph_test"])
