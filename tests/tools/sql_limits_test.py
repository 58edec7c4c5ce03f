#!/usr/bin/env python3
"""A query that never ends is ended by Ctrl-C, and one whose memory grows without bound by its limit, which is one line; none leaves a
file anywhere."""
import os
import resource
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

SONDE = os.environ["SONDE"]
ENDLESS = "with recursive t(x) as (select 1 union all select x + 1 from t) select count(*) from t"
GROWING = "with recursive t(x) as (select 1 union all select x + 1 from t) select x || printf('%0900d', x) y from t order by y"
RECORDING = """\
event : name = cpu-clock, id = { 7 }, type = 1, { sample_period, sample_freq } = 4000, sample_type = IP|TID|TIME|IDENTIFIER, freq = 1
SAMPLE id=7 mode=user ip=0x310 pid=10 tid=10 time=1000000
"""


class SqlLimitsTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.path = Path(directory.name)
        (self.path / "text").write_text(RECORDING)
        subprocess.run([SONDE, "assemble", "text", "perf.data"], cwd=self.path, check=True)
        self.before = sorted(self.path.iterdir())
        self.environment = {**os.environ, "TMPDIR": str(self.path), "SQLITE_TMPDIR": str(self.path)}

    def tearDown(self):
        self.assertEqual(sorted(self.path.iterdir()), self.before)

    def start(self, query, **more):
        return subprocess.Popen([SONDE, "sql", query], cwd=self.path, env=self.environment, text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, **more)

    def test_ctrl_c_ends_a_query(self):
        process = self.start(ENDLESS)
        deadline = time.monotonic() + 60
        # It has begun when it works: its processor time grows beyond what opening takes.
        while sum(map(int, Path(f"/proc/{process.pid}/stat").read_text().rpartition(") ")[2].split()[11:13])) < 20:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=30)
        self.assertIn(process.returncode, (-signal.SIGINT, 128 + signal.SIGINT))
        self.assertEqual(out, "")

    def test_memory_has_a_limit(self):
        space = 1 << 30  # so that the test ends soon: SQLite's own limit is half of the machine's memory
        process = self.start(GROWING, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (space, space)))
        _, said = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 255, said)
        lines = [line for line in said.splitlines() if line.startswith("sql: ")]
        self.assertEqual(len(lines), 1, said)
        self.assertIn("memory", lines[0])


if __name__ == "__main__":
    unittest.main(argv=[__file__])
