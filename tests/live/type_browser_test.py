#!/usr/bin/env python3
"""Data types in the browsers, in tmux: the fields of a type that `report` opens with `T`, and the types next to instructions."""
import os
import re
import subprocess
import sys
import unittest

import tmux

SONDE = os.environ["SONDE"]
SIZES = [(80, 24), (200, 60)]
PROGRAM = r"""
struct inner { int first, second; };
struct item { long key; struct inner used; struct inner unused; double weight; };
struct item items[64];
#define FOUR at->used.second = i; at->used.second = i; at->used.second = i; at->used.second = i;
__attribute__((noinline)) void walk(volatile struct item* at, int n) {
  for (int i = 0; i < n; ++i) { FOUR FOUR FOUR FOUR }  // wherever a sample falls, this is what it finds
}
int main(int argc, char** argv) { for (int i = 0; i < 100 || argc > 1; ++i) walk(items, 1000000); }
"""


class TypeBrowserTest(tmux.TmuxTest):
    touched = r"# struct item \+0xc \(used\.second\)"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        source = cls.home / "shelf.c"
        source.write_text(PROGRAM)
        subprocess.run(["cc", "-O2", "-g", "-o", cls.home / "shelf", source], check=True)
        subprocess.run([SONDE, "record", "-F", "999", "-e", "cpu-clock:u", "-o", cls.home / "perf.data", cls.home / "shelf"], check=True,
                       capture_output=True)
        cls.text = subprocess.run([SONDE, "annotate", "--data-type=item", "-q"], cwd=cls.home, check=True, capture_output=True,
                                  text=True).stdout

    def to_row(self, terminal, name):
        """Filters by the name, so that the current row has it."""
        terminal.press("/")
        terminal.type(name)
        terminal.press("Enter")
        return terminal.wait_for(rf"filter '{name}'")

    def test_the_type_of_a_row(self):
        samples = re.search(r"\((\d+) samples\)", self.text)[1]
        for size in SIZES:
            with self.subTest(size=size):
                terminal = self.terminal(*size, [SONDE, "report", "-s", "type"], cwd=self.home)
                terminal.wait_for("struct item")
                self.to_row(terminal, "struct item")
                terminal.press("T")
                lines = terminal.wait_for(rf"^ struct item .*shelf.*, {samples} samples" if size[0] > 80 else "^ struct item ")
                screen = "\n".join(lines)
                # The cursor is on the hottest field, fields that were not touched are collapsed.
                self.assertRegex(screen, r"100\.00 +0 +0x20 +- struct item \{")
                self.assertRegex(screen, r"100\.00 +0x8 +0x8 +- struct inner used \{")
                self.assertRegex(screen, r"100\.00 +0xc +0x4 +int second")
                self.assertRegex(screen, r" +0x10 +0x8 +\+ struct inner unused \{ \.\.\. \}")
                terminal.press("e")
                terminal.wait_for(r"0x14 +0x4 +int second")
                terminal.press("c")
                terminal.wait_gone("int second")
                terminal.press("t")
                terminal.wait_for(rf"^ +{samples} +0 +0x20")
                terminal.press("h")
                terminal.wait_for("type of data: keys")
                terminal.press("Escape")
                terminal.wait_for("^ struct item ")
                terminal.press("q")
                terminal.wait_for("^ Samples: ")
                terminal.press("C-c")
                terminal.wait_for("^left with 0$")

    def test_what_has_no_type_says_so(self):
        terminal = self.terminal(80, 24, [SONDE, "report", "-s", "type"], cwd=self.home)
        terminal.wait_for("unknown")
        self.to_row(terminal, "unknown")
        terminal.press("a")
        terminal.wait_for("no type of data is known|no types of data")
        terminal.press("C-c")
        terminal.wait_for("^left with 0$")

    def test_types_behind_instructions(self):
        for size in SIZES:
            with self.subTest(size=size):
                terminal = self.terminal(*size, [SONDE, "annotate", "walk"], cwd=self.home)
                terminal.wait_for("^ walk  shelf")
                terminal.press("T")
                lines = terminal.wait_for(self.touched)
                self.assertIn("[Type]", lines[1])
                terminal.press("T")
                terminal.wait_gone("# struct")
                terminal.press("C-c")
                terminal.wait_for("^left with 0$")

    def test_types_behind_instructions_in_top(self):
        shelf = subprocess.Popen([self.home / "shelf", "forever"])
        self.addCleanup(shelf.wait)
        self.addCleanup(shelf.kill)
        terminal = self.terminal(80, 24, [SONDE, "top", "-e", "cpu-clock:u", "-p", shelf.pid, "-d", "0.2"], cwd=self.home)
        terminal.wait_for(r"^ +9\d\.\d\d%  shelf +\[\.\] walk$|100\.00%  shelf +\[\.\] walk$")
        for _ in range(2):  # each time of recent samples
            terminal.press("a")
            terminal.wait_for("^ walk")
            terminal.press("T")
            terminal.wait_for(self.touched)
            terminal.press("Escape")
            terminal.wait_for("samples/s")
        terminal.press("a")
        terminal.wait_for("^ walk")
        terminal.press("T")
        terminal.press("C-c")  # maybe while they are being looked up
        terminal.wait_for("^left with 0$")

    def test_types_from_the_start(self):
        terminal = self.terminal(80, 24, [SONDE, "annotate", "--code-with-type", "walk"], cwd=self.home)
        terminal.wait_for(self.touched)
        terminal.press("C-c")
        terminal.wait_for("^left with 0$")


if __name__ == "__main__":
    unittest.main(argv=["type_browser", *sys.argv[2:]], verbosity=2 if len(sys.argv) > 2 else 1)
