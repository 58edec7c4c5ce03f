#!/usr/bin/env python3
"""The benchmarks start, and measure both tools: the smallest comparison, once."""
import json
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

SONDE = os.environ["SONDE"]
SOURCE = Path(os.environ["SONDE_SOURCE"])


class BenchTest(unittest.TestCase):
    def test_a_comparison_has_both_sides(self):
        name = "report of a tiny file"
        out = Path("bench.json").resolve()
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run([sys.executable, SOURCE / "bench/bench.py", "--sonde", SONDE, "--only", name, "--runs", "1", "--json", out],
                              env=environment, text=True, capture_output=True, check=False)
        self.assertIn(done.returncode, (0, 1), done.stderr)  # 1: slower than its goal, which is no matter here
        self.assertNotIn("Traceback", done.stderr)
        self.assertIn(name, done.stdout)
        text = out.read_text()
        self.assertIn(name, text)
        json.loads(text)


if __name__ == "__main__":
    if shutil.which("perf") is None:
        print("bench: no perf is installed")
        sys.exit(77)
    unittest.main(argv=["bench"])
