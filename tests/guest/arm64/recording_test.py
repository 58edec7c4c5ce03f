"""record, script and report when samples come from counter overflows: both tools record, both read what both recorded."""
import collections
import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

from inside import LEAF, LIMIT_S, PERF, SHARE, SONDE, GuestTest, meaningful, without_doubles

HERE = Path(__file__).parent
LOOP_INSTRUCTIONS = 20_000_011  # programs/loop.S
CALLS_OF_LEAF = 1000  # programs/tree.c, from each of its callers
# perf waits a second for the thread that watches for BPF programs.
QUICKLY = ["--no-bpf-event"]
RECORDINGS = {
    # QEMU checks for overflows at the kernel's clock ticks, 4 ms apart: shorter periods give no more samples.
    "period": ["-e", "instructions:u", "-c", "4000000", "--", SHARE / "loop"],
    "frequency": ["-F", "250", "-g", "--", SHARE / "tree"],
    "kernel": ["-e", "cycles:k", "-c", "50000", "-g", "--", SHARE / "calls"],
    "group": ["-e", "{cycles,instructions}:S", "-c", "4000000", "--", SHARE / "loop"],
}
FIELDS = "comm,tid,time,event,period,ip"  # what arm64_test.py reads again outside


class RecordingTest(GuestTest):
    limit_s = 2 * LIMIT_S  # a test runs every line of a file of command lines

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, words in RECORDINGS.items():
            for tool in (PERF, SONDE):
                path = cls.path / cls.file(tool, name)
                done = subprocess.run([tool, "record", *QUICKLY, "-o", path, *words], text=True, timeout=LIMIT_S, check=False,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=cls.path)
                if done.returncode != 0:
                    raise AssertionError(f"{tool} record {words}: {done.stdout}")
                lines = subprocess.run([PERF, "script", "-i", path, "-F", FIELDS], text=True, timeout=LIMIT_S, check=True,
                                       stdout=subprocess.PIPE).stdout
                shutil.copy(path, SHARE)
                Path(SHARE, f"{path.name}.script").write_text(lines, encoding="utf-8")

    @staticmethod
    def file(tool, name):
        return f"{name}.{os.path.basename(tool)}.data"

    def each(self):
        for name in RECORDINGS:
            for tool in (PERF, SONDE):
                yield name, self.file(tool, name)

    def samples(self, file, fields):
        return meaningful(self.text(SONDE, "script", "-i", file, "-F", fields))

    # The number of samples on an emulated processor depends on its clock ticks, so tests rely only on there being some.

    def test_there_are_samples_of_all(self):
        for _, file in self.each():
            self.assertGreater(len(self.samples(file, "ip")), 0, file)

    def test_a_sample_of_a_fixed_period_was_counted(self):
        for tool in (PERF, SONDE):
            count = len(self.samples(self.file(tool, "period"), "period,ip"))
            self.assertLessEqual(count * 4_000_000, LOOP_INSTRUCTIONS)

    def test_a_sample_stands_for_its_period(self):
        for tool in (PERF, SONDE):
            periods = {int(line) for line in self.samples(self.file(tool, "period"), "period")}
            self.assertEqual(periods, {4_000_000})

    def test_both_say_the_same_of_every_recording(self):
        for name, file in self.each():
            with self.subTest(file=file):
                self.same_text("script", "-i", file, "-F", "comm,tid,time,period,event,ip,sym,symoff", change=without_doubles)
                self.same_text("report", "--stdio", "-i", file, "-g", "none", "--no-children", "-s", "comm,sym")
                # A config of 0 is printed as by later perfs.
                self.same_text("evlist", "-v", "-i", file,
                               change=lambda lines: [line.replace(", config: 0,", ",") for line in lines])

    def test_callers_of_functions_without_frames_are_in_the_chains(self):
        """Wherever in leaf the sample was taken: its frame pointer is its caller's."""
        for tool in (PERF, SONDE):
            chains = self.chains(self.file(tool, "frequency"))
            in_leaf = [chain for chain in chains if chain[0] == "leaf"]
            self.assertGreater(len(in_leaf), 0, chains)
            for chain in in_leaf:
                self.assertIn(chain[1], ("left", "right"))
                self.assertEqual(chain[2:4], ["trunk", "_start"])

    def test_every_call_of_a_function_has_its_caller(self):
        """A breakpoint at leaf: there is one sample per call, and one more if an interrupt comes while the kernel steps over
        it."""
        for tool in (PERF, SONDE):
            self.run_tool(tool, "record", *QUICKLY, "-o", "calls.data", "-e", f"mem:{LEAF:#x}:x", "-c", "1", "-g", "--", SHARE / "tree")
            calls = collections.Counter(tuple(chain[:4]) for chain in self.chains("calls.data"))
            self.assertEqual(calls.keys(), {("leaf", side, "trunk", "_start") for side in ("left", "right")}, tool)
            for chain, times in calls.items():
                self.assertTrue(CALLS_OF_LEAF <= times <= 1.1 * CALLS_OF_LEAF, (tool, chain, times))

    def chains(self, file):
        """Names of functions, the sampled one first, for every sample."""
        text = self.text(SONDE, "script", "-i", file, "-F", "ip,sym")
        return [re.findall(r"^\s+[0-9a-f]+ (\S+)$", sample, re.M) for sample in text.split("\n\n") if sample.strip()]

    def test_the_kernel_has_names(self):
        for tool in (PERF, SONDE):
            for reader in (PERF, SONDE):
                text = self.text(reader, "report", "--stdio", "-i", self.file(tool, "kernel"), "--no-children", "-g", "none", "-s", "sym")
                self.assertRegex(text, r"\[k\] .*(getppid|el0_svc|invoke_syscall)", f"{reader} of {tool}'s")
                self.assertNotRegex(text, r"\[k\] 0x")

    def test_headers_agree(self):
        ours, theirs = (self.header(self.file(tool, "frequency")) for tool in (SONDE, PERF))
        for key in ("hostname", "os release", "arch", "nrcpus online", "nrcpus avail", "cpuid", "total memory"):
            self.assertEqual(ours[key], theirs[key])

    def header(self, file):
        text = self.text(SONDE, "report", "--header-only", "-i", file)
        return dict(re.findall(r"^# ([a-z ]+?) *: (.*)$", text, re.M))

    def test_command_lines_ask_the_kernel_for_the_same(self):
        oracle = HERE.parent.parent / "oracle" / "record_attr_oracle.py"
        done = subprocess.run(["python3", oracle, ".", HERE / "record_command_lines.txt"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, "SONDE": SONDE}, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
