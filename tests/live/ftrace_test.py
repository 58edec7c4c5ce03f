#!/usr/bin/env python3
"""`ftrace` on this kernel, which may refuse it: then one line says so; tracefs is left as it was in any case."""
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

    def test_bpf_works_or_says_why_not(self):
        done = self.run_it("latency", "-b", "-T", "vfs_read", "--", "cat", "/proc/self/comm")
        if done.returncode == 0:
            self.assertRegex(done.stdout, r"count: +[1-9]")
            return
        self.assertEqual(done.returncode, 255)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertRegex(done.stderr, r"^-T vfs_read: .*BPF program.*kprobes.*CONFIG_.*without -b")

    def test_bpf_between_two_events(self):
        """From each system call's entry to its exit, as many as perf counts: without the exit of the exec and the entry of the
        exit call."""
        counted = subprocess.run(["perf", "stat", "-x,", "-e", "raw_syscalls:sys_exit", "true"], capture_output=True, text=True, check=True)
        calls = int(counted.stderr.split(",")[0]) - 1
        for events in ("sys_enter,sys_exit", "raw_syscalls:sys_enter,raw_syscalls:sys_exit"):
            done = self.run_it("latency", "-b", "-e", events, "--", "true")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, rf"(?m)^ +count: +{calls}$")
            self.assertEqual(sum(int(row.split("|")[1]) for row in done.stdout.splitlines()[1:] if "|" in row), calls)

    def test_bpf_counts_in_buckets_of_one_size(self):
        done = self.run_it("latency", "-b", "-e", "sys_enter,sys_exit", "--bucket-range", "100", "--max-latency", "500", "--", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [line.split("|") for line in done.stdout.splitlines()[1:] if "|" in line]
        self.assertEqual(["0 - 1    us", "0 - 100  us", "100 - 200  us", "200 - 300  us", "300 - 400  us", "400 - 500  us",
                          "500 - ...  us"], [row[0].strip() for row in rows])
        self.assertEqual(sum(int(row[1]) for row in rows), int(done.stdout.split("count:")[1]))

    def test_bpf_refuses_what_it_cannot_do(self):
        for words, text in ((["-e", "sys_enter,sys_exit"], "-e needs -b"), (["-b", "-e", "sys_enter"], "two, not 1"),
                            (["-b", "-e", "a,b", "-T", "c"], "exclude each other"), (["-b", "-T", "a", "-i", "x"], "-i and -m"),
                            (["-b"], "one"), (["-b", "-e", "no_such,sys_exit"], "no_such")):
            done = self.run_it("latency", *words, "true")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(text, done.stderr)

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
