#!/usr/bin/env python3
"""script -F +srcline: functions inlined where a chain of frame pointers passes, each with its line; llvm-symbolizer is the witness."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SONDE = os.environ["SONDE"]
SYMBOLIZER = shutil.which("llvm-symbolizer") or shutil.which("llvm-symbolizer-19")
PROGRAM = """
#define INLINED static inline __attribute__((always_inline))
volatile long sum;
INLINED void innermost(int n) {
  for (int i = 0; i < n; ++i)
    sum += i;
}
INLINED void middle(int n) {
  innermost(n);
  sum -= n;
}
__attribute__((noinline)) void outside(int n) {
  volatile char needs_a_frame_pointer[n % 8 + 1];
  needs_a_frame_pointer[0] = 1;
  middle(n);
  sum *= 3;
}
INLINED void calls(int n) {
  outside(n);
  sum += 2;
}
int main(void) {
  for (int i = 0; i < 100; ++i)
    calls(1000000);
}
"""


def run(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=True, timeout=300).stdout


def chains(text):
    """Of each sample: (address, function, line, whether it is inlined) per frame."""
    frame = r"^\s+([0-9a-f]+) (\S+)( \(inlined\))?\n  (\S+)( \(inlined\))?$"
    return [[(int(ip, 16), name, line, bool(mark or other)) for ip, name, mark, line, other in re.findall(frame, sample, re.M)]
            for sample in text.split("\n\n") if sample.strip()]


class InlinedLines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if SYMBOLIZER is None:
            print("llvm-symbolizer is not installed")
            sys.exit(77)
        cls.directory = tempfile.TemporaryDirectory()
        path = Path(cls.directory.name)
        (path / "prog.c").write_text(PROGRAM)
        cls.program = path / "prog"
        run("gcc", "-g", "-O1", "-fno-omit-frame-pointer", "-pie", "-fPIE", path / "prog.c", "-o", cls.program)
        cls.data = {}
        for mode in ("fp", "dwarf"):
            cls.data[mode] = path / f"{mode}.data"
            run(SONDE, "record", "-q", "-e", "cpu-clock:u", "-F", "500", "--call-graph", mode, "-o", cls.data[mode], "--", cls.program)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def shown(self, mode, *words):
        return chains(run(SONDE, "script", "-i", self.data[mode], "-F", "ip,sym,srcline", *words))

    def witness(self, address):
        lines = run(SYMBOLIZER, "--obj", self.program, "--inlines", "--basenames", hex(address)).split()
        return [(name, line.rsplit(":", 1)[0]) for name, line in zip(lines[::2], lines[1::2])]

    def test_frames_are_those_of_the_debug_information(self):
        known = {}
        deepest = 0
        for mode in self.data:
            for chain in self.shown(mode):
                own = [frame for frame in chain if frame[1] in ("innermost", "middle", "outside", "calls", "main")]
                for address in dict.fromkeys(frame[0] for frame in own):
                    of_address = [frame for frame in own if frame[0] == address]
                    if mode == "fp" or address == own[0][0]:  # unwound callers are looked up one byte before
                        if address not in known:
                            known[address] = self.witness(address)
                        self.assertEqual([(name, line) for _, name, line, _ in of_address], known[address], hex(address))
                    self.assertEqual([inlined for *_, inlined in of_address], [True] * (len(of_address) - 1) + [False])
                    deepest = max(deepest, len(of_address))
        self.assertEqual(deepest, 3)  # innermost, middle, outside
        self.assertTrue(any(len(names) > 1 and names[0][0] == "calls" for names in known.values()))

    def test_unless_they_are_not_wanted(self):
        names = {frame[1] for chain in self.shown("fp", "--no-inline") for frame in chain}
        self.assertIn("outside", names)
        self.assertFalse(names & {"innermost", "middle", "calls"})
        self.assertNotIn("inlined", run(SONDE, "script", "-i", self.data["fp"], "-F", "ip,sym"))  # only with lines


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
