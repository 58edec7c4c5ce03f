#!/usr/bin/env python3
"""`ftrace` on this kernel, which may refuse it: then one line says so; tracefs is as it was in any case."""
import os
import subprocess
import unittest
from pathlib import Path

SONDE = os.environ["SONDE"]
TRACING = Path("/sys/kernel/tracing")
SETTINGS = ["current_tracer", "tracing_on", "tracing_cpumask", "trace_options", "buffer_size_kb", "tracing_thresh"]


def settings():
    texts = {name: (TRACING / name).read_text(encoding="ascii") for name in SETTINGS}
    texts["instances"] = sorted(path.name for path in (TRACING / "instances").iterdir())
    return texts


class FtraceTest(unittest.TestCase):
    def setUp(self):
        self.before = settings()

    def tearDown(self):
        self.assertEqual(settings(), self.before)

    def run_it(self, *words):
        return subprocess.run([SONDE, "ftrace", *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)

    def test_works_or_says_why_not(self):
        for words in (["-G", "vfs_read"], ["-T", "vfs_read"], ["latency", "-T", "vfs_read"], ["profile", "-T", "vfs_read"]):
            done = self.run_it(*words, "--", "cat", "/proc/self/comm")
            if done.returncode == 0:
                self.assertIn("cat\n" if words[0].startswith("-") else "#", done.stdout)
                continue
            self.assertEqual(done.returncode, 255)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertRegex(done.stderr, r"the kernel refuses|this kernel has no tracer|CONFIG_|no function that can be traced")

    def test_another_tracer(self):
        done = self.run_it("-t", "nop", "--", "echo", "done")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("# tracer: nop\n", done.stdout)
        self.assertIn("done\n", done.stdout)

    def test_a_tracer_that_is_not_there(self):
        done = self.run_it("-t", "no_such_tracer", "true")
        self.assertEqual(done.returncode, 255)
        self.assertIn("no tracer 'no_such_tracer'", done.stderr)

    def test_the_status_is_the_commands(self):
        self.assertEqual(self.run_it("-t", "nop", "sh", "-c", "exit 3").returncode, 3)
        self.assertEqual(self.run_it("-t", "nop", "/no/such/program").returncode, 255)


if __name__ == "__main__":
    unittest.main(argv=["ftrace"])
