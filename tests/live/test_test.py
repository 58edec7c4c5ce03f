#!/usr/bin/env python3
"""`test`: its checks hold here and agree with what perf can do; its workloads have the profile that their names promise, by perf's
reading. Needs root."""
import os
import re
import shutil
import subprocess
import unittest
import xml.etree.ElementTree as ElementTree

from own_directory import OwnDirectoryTest

SONDE = os.environ["SONDE"]
PERF = shutil.which("perf")
# Workload, arguments, the functions that must have nearly all samples, and the thread's name.
PROFILES = [
    ("noploop", ["0.4"], {"noploop"}, "perf-noploop"), ("thloop", ["0.4", "2"], {"test_loop"}, "perf-thloop"),
    ("leafloop", ["0.4"], {"leaf"}, "perf-leafloop"), ("sqrtloop", ["0.4"], {"sqrtloop"}, "perf-sqrtloop"),
    ("datasym", ["0.4"], {"datasym"}, "perf-datasym"), ("inlineloop", ["0.4"], {"parent"}, "perf-inlineloop"),
    ("brstack", ["20000000"], {"brstack_bench", "brstack_foo", "brstack_bar", "run_brstack"}, "perf-brstack"),
    ("code_with_type", ["0.4"], {"count_typed", "run_code_with_type"}, "perf-code_type"),
    ("traploop", ["0.4"], {"trap_bench", "run_traploop"}, "perf-traploop"),
]


class TestTest(OwnDirectoryTest):
    def run_in(self, *words, status=0):
        done = subprocess.run(list(map(str, words)), cwd=self.path, text=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=300,
                              check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def test_all_checks_hold(self):
        done = self.run_in(SONDE, "test", "-v", "-j", "results.xml")
        lines = re.findall(r"^ *(\d+): (.*?) *: (Ok|Skip|FAILED!)(?: \((.*)\))?$", done.stdout, re.M)
        self.assertEqual([int(line[0]) for line in lines], list(range(1, len(lines) + 1)), done.stdout)
        self.assertGreater(len(lines), 15)
        self.assertTrue(all(reason for _, _, result, reason in lines if result == "Skip"), done.stdout)
        suite = ElementTree.parse(self.path / "results.xml").getroot()
        self.assertEqual(int(suite.get("tests")), len(lines))
        self.assertEqual(int(suite.get("skipped")), len([line for line in lines if line[2] == "Skip"]))
        self.assertEqual(int(suite.get("failures")), 0)
        self.assertEqual(os.listdir(self.path), ["results.xml"])  # nothing is left behind
        listed = self.run_in(SONDE, "test", "list").stdout
        self.assertEqual(re.findall(r"^ *\d+: (.*)$", listed, re.M), [line[1] for line in lines])
        # What is skipped for want of counters is so for perf, too.
        counters = "<not supported>" not in self.run_in("perf", "stat", "-e", "cycles:u", "true").stderr if PERF else True
        state = {line[1]: line[2] for line in lines}["Counts of hardware events"]
        self.assertEqual(state == "Ok", counters)

    def test_checks_are_chosen(self):
        done = self.run_in(SONDE, "test", "-s", "1", "1", "pipe").stdout
        self.assertRegex(done, r"^ *1: .* : Skip \(user override\)\n *\d+: Recording through a pipe +: Ok\n\Z")
        self.assertIn("test list", self.run_in(SONDE, "test", "no such check", status=129).stderr)

    @unittest.skipUnless(PERF, "perf is not installed")
    def test_workloads_have_their_profile(self):
        for name, arguments, functions, comm in PROFILES:
            self.run_in(PERF, "record", "-q", "-F", "997", "-e", "cpu-clock:u", "-o", "perf.data", "--", SONDE, "test", "-w", name, *arguments)
            rows = self.run_in(PERF, "report", "--stdio", "-i", "perf.data", "-s", "comm,sym", "--no-children", "-g", "none").stdout
            found = re.findall(r"^ +(\d+\.\d+)% +(\S+) +\[\.\] (.*?) *$", rows, re.M)
            share = sum(float(percent) for percent, thread, symbol in found
                        if thread == comm and any(symbol == f or f"::{f}" in symbol for f in functions))
            self.assertGreater(share, 30, f"{name}: {rows}")

    @unittest.skipUnless(PERF, "perf is not installed")
    def test_chains_and_switches_of_workloads(self):
        self.run_in(PERF, "record", "-q", "-g", "-F", "997", "-e", "cpu-clock:u", "-o", "perf.data", "--", SONDE, "test", "-w", "leafloop", "0.3")
        chains = self.run_in(PERF, "script", "-i", "perf.data", "-F", "ip,sym").stdout
        self.assertIn("leaf parent leafloop", " ".join(line.split()[-1] for line in chains.splitlines() if line))
        counted = self.run_in(PERF, "stat", "-x,", "-e", "cs", "--", SONDE, "test", "-w", "context_switch_loop", "200").stderr
        self.assertGreaterEqual(int(counted.split(",")[0]), 100, counted)
        traced = self.run_in("strace", "-f", "-e", "trace=landlock_add_rule", SONDE, "test", "-w", "landlock").stderr
        self.assertIn("landlock_add_rule(11, LANDLOCK_RULE_PATH_BENEATH", traced)

    def test_an_unknown_workload_is_said(self):
        self.assertIn("test -w list", self.run_in(SONDE, "test", "-w", "nothing", status=255).stderr)
        listed = self.run_in(SONDE, "test", "-w", "list").stdout
        self.assertLessEqual({name for name, *_ in PROFILES}, {line.split()[0] for line in listed.splitlines()})


if __name__ == "__main__":
    unittest.main(argv=["test"])
