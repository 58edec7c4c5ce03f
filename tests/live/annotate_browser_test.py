#!/usr/bin/env python3
"""The browser of `annotate`, and the code that `report` opens with `a`, in tmux: percentages and instructions are those of
--stdio."""
import os
import re
import subprocess
import sys
import unittest

import tmux

SONDE = os.environ["SONDE"]
HEAD, FOOT = 2, 1

PROGRAM = r"""
#include <math.h>
volatile double sum;
__attribute__((noinline)) void spin(int n) {
  for (int i = 1; i < n; ++i) {
    sum += sqrt((double)i) / i;
    if (i % 3 == 0) sum -= 1;
  }
}
__attribute__((noinline)) void other(int n) { for (int i = 0; i < n; ++i) sum += i; }
int main(void) { for (int i = 0; i < 300; ++i) { spin(300000); other(50000); } }
"""


class AnnotateBrowserTest(tmux.TmuxTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        program = cls.home / "specimen"
        program.with_suffix(".c").write_text(PROGRAM)
        subprocess.run(["cc", "-O1", "-g", "-o", program, program.with_suffix(".c"), "-lm"], check=True)
        subprocess.run([SONDE, "record", "-N", "-F", "999", "-e", "cpu-clock", "-o", cls.home / "perf.data", program], check=True,
                       capture_output=True)
        text = subprocess.run([SONDE, "annotate", "--stdio", "spin"], cwd=cls.home, check=True, capture_output=True,
                              text=True).stdout
        # (percent, address) of instructions that were hit
        cls.hits = [(percent, address) for percent, address in re.findall(r"^ +(\d+\.\d\d) : +([0-9a-f]+):", text, re.M)
                    if percent != "0.00"]
        cls.instructions = re.findall(r"^ +\d+\.\d\d : +([0-9a-f]+):", text, re.M)

    @staticmethod
    def shown_hits(lines):
        return [match.groups() for line in lines[HEAD:-FOOT] if (match := re.match(r" +(\d+\.\d\d)[ ┌│└─→]+([0-9a-f]+):", line))]

    def test_code_of_a_function(self):
        for size in ((80, 60), (200, 60)):
            terminal = self.terminal(*size, [SONDE, "annotate", "spin"], cwd=self.home)
            terminal.wait_for(r"^ spin  specimen")
            lines = terminal.wait_until(lambda lines: self.shown_hits(lines) == self.hits, f"the hits {self.hits}")
            self.assertRegex("\n".join(lines), r"\d+ +sum \+= sqrt")
            terminal.press("s")
            lines = terminal.wait_gone("sum \\+= sqrt")
            self.assertEqual(re.findall(r"^[^:]*?([0-9a-f]+): ", "\n".join(lines[HEAD:-FOOT]), re.M), self.instructions)
            terminal.press("q")
            terminal.wait_for("^ Functions with samples")
            terminal.press("q")
            terminal.wait_for("^left with 0$")

    def test_jumps_and_hottest(self):
        terminal = self.terminal(100, 30, [SONDE, "annotate", "spin"], cwd=self.home)
        terminal.wait_for(r"^ spin  specimen")
        terminal.press("/")
        terminal.type("j")
        terminal.press("Enter")
        lines = terminal.wait_for("[┌└]─")
        place = lines[-1].split()[-1]
        terminal.press("Enter")
        terminal.wait_until(lambda lines: lines[-1].split()[-1] != place, "the target of the jump")
        terminal.press("b")
        terminal.wait_until(lambda lines: lines[-1].split()[-1] == place, "the jump")
        terminal.press("t")
        terminal.wait_for("percent: local hits")
        terminal.press("C-c")
        terminal.wait_for("^left with 0$")

    def test_functions_then_code(self):
        terminal = self.terminal(80, 24, [SONDE, "annotate"], cwd=self.home)
        terminal.wait_for(r"\d\d\.\d\d% +\d+  specimen +spin$")
        terminal.press("Enter")
        terminal.wait_for(r"^ spin  specimen")
        terminal.press("Escape")
        terminal.wait_for("^ Functions")
        terminal.press("C-c")
        terminal.wait_for("^left with 0$")

    def test_from_a_report(self):
        terminal = self.terminal(80, 60, [SONDE, "report", "-s", "sym"], cwd=self.home)
        terminal.wait_for(r"\] spin")
        terminal.press("a")
        lines = terminal.wait_for(r"^ spin  specimen")
        self.assertEqual(self.shown_hits(lines), self.hits)
        terminal.press("Escape")
        terminal.wait_for("^ Samples: ")
        terminal.press("q")
        terminal.wait_for("^left with 0$")

    def test_small_and_without_the_binary(self):
        terminal = self.terminal(20, 5, [SONDE, "annotate", "spin"], cwd=self.home)
        terminal.wait_for("^ spin")
        terminal.press("Down", "C-c")
        terminal.wait_for("^left with 0$")
        hidden = self.home / "away"
        (self.home / "specimen").rename(hidden)
        self.addCleanup(lambda: hidden.exists() and hidden.rename(self.home / "specimen"))
        terminal = self.terminal(80, 24, [SONDE, "report", "-s", "dso,sym"], cwd=self.home)
        terminal.wait_for("Samples: ")
        terminal.press("a")
        terminal.wait_for("Couldn't annotate|has no symbol")
        terminal.press("q")
        terminal.wait_for("^left with 0$")
        hidden.rename(self.home / "specimen")


if __name__ == "__main__":
    unittest.main(argv=["annotate_browser", *sys.argv[2:]], verbosity=2 if len(sys.argv) > 2 else 1)
