#!/usr/bin/env python3
"""The browser of `c2c report`, driven in tmux: its lines and rows are those of --stdio."""
import os
import subprocess
import unittest

import memory_recordings
import tmux

SONDE = os.environ["SONDE"]


class C2cBrowserTest(tmux.TmuxTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        memory_recordings.make(SONDE, cls.home / "perf.data", seed=8, samples=400, kernel=False)

    def text(self, *options):
        done = subprocess.run([SONDE, "c2c", "report", "--stdio", *options], cwd=self.home, check=True, capture_output=True, text=True)
        return [line.rstrip() for line in done.stdout.splitlines()]

    def shown(self, terminal):
        return [line.rstrip() for line in terminal.screen()]

    def test_lines_and_their_rows(self):
        text = self.text()
        table = text.index("           Shared Data Cache Line Table")
        titles = text[table + 3:table + 6]
        first = text[table + 7]
        terminal = self.terminal(260, 30, [SONDE, "c2c", "report"], cwd=self.home)
        terminal.wait_for("Shared Data Cache Line Table")
        self.assertEqual(self.shown(terminal)[1:5], [*titles, first])
        terminal.press("Enter")
        terminal.wait_for("Cacheline 0x")
        rule = text.index("  " + "-" * 70)
        self.assertEqual(self.shown(terminal)[1:10], [*text[rule - 4:rule - 1], *text[rule:rule + 6]])
        terminal.press("n")
        terminal.wait_for(r"Node\{cpus %hitms %stores\}")
        shares = self.text("-N")
        row = shares[shares.index("  " + "-" * 70) + 3]
        self.assertIn(row, self.shown(terminal))
        terminal.press("q")
        terminal.wait_for("Shared Data Cache Line Table")
        terminal.press("s")
        terminal.wait_for("Trace Event Information")
        terminal.press("q")
        terminal.wait_for("Shared Data Cache Line Table")
        terminal.press("q")
        terminal.wait_for("left with 0")

    def test_it_moves_and_scrolls(self):
        terminal = self.terminal(60, 10, [SONDE, "c2c", "report", "--tui"], cwd=self.home)
        terminal.wait_for("Shared Data Cache Line Table")
        last = [line for line in self.text() if line.startswith("      ") and "0x" in line and "%" in line and "N/A" not in line]
        terminal.press("End", "Right")
        terminal.wait_for("Rmt|Node")
        terminal.press("Home", "Left", "?")
        terminal.wait_for("c2c: keys")
        terminal.press("q")
        terminal.press("Escape")
        terminal.wait_for("left with 0")
        self.assertTrue(last)


if __name__ == "__main__":
    unittest.main(argv=["c2c_browser_test"])
