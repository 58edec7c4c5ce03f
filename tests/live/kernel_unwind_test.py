#!/usr/bin/env python3
"""record --call-graph bpf: stacks are unwound in the kernel. The programs and their chains are those of the tests of copied stacks
(unwind_test.py, live_unwind_test.py), so the two ways are compared with the same facts. Needs root and a C compiler."""
import os
import re
import signal
import subprocess
import sys
import unittest

import live_unwind_test
import stop_cases
import unwind_test

SONDE = os.environ["SONDE"]
WALKER = "walk_stack"


def incomplete(run):
    """How many chains the recorder says are incomplete."""
    said = re.search(r"(\d+) of \d+ user call chains are incomplete", run.stderr)
    return int(said.group(1)) if said else 0


class KernelStopTest(unwind_test.StopTest):
    """Signal frames, PLT entries, the vdso, other stacks, code without information, each instruction of a prologue."""

    test_gdb_sees_the_same = None

    def chains(self, recorder, addresses):
        found = {}
        for part in stop_cases.in_parts(addresses):
            recording = self.path / "stops.data"
            stop_cases.record(recorder, part, recording, [*unwind_test.STILL, self.program], "--call-graph", "bpf")
            text = subprocess.run([SONDE, "script", "-i", recording, "-F", "event,ip,sym"], text=True, stdout=subprocess.PIPE,
                                  check=True).stdout
            seen = stop_cases.chains(text)
            found |= {address: seen[f"mem:{address:#x}:x"] for address in part}
        return found

    def recorders(self):
        return [SONDE]


class KernelUnwindTest(live_unwind_test.UnwindTest):
    """Forks, execs, threads, libraries that are loaded late, processes that run already."""

    test_a_process_that_runs = None
    test_an_event_may_ask_for_it = None
    test_compression_can_be_left_out = None
    test_copies_are_converted_later = None
    test_frame_pointers_reach_beyond_the_copy = None
    test_no_copies_are_stored_and_the_file_is_small = None
    test_registers_that_were_asked_for_stay = None
    test_through_a_pipe = None
    test_where_it_cannot_be_the_reason_is_said = None

    def record(self, *arguments, how="plain", graph="bpf", depth=3, library=None, launcher=()):
        return super().record(*arguments, how=how, graph=graph, depth=depth, library=library, launcher=launcher)

    def assert_whole_but_told(self, run, how, tool=SONDE, depth=3):
        """Until an object's table is loaded, samples in it have their stack, for the reader to unwind. What is incomplete was told."""
        chains = self.chains(tool)
        whole = [chain for chain in chains if len(chain) > 1]
        self.assertLessEqual(len(chains) - len(whole), incomplete(run))
        self.assertGreater(len(whole), 9 * len(chains) / 10)
        self.assert_whole(whole, how, depth)

    def test_every_way_in_which_code_comes_to_run(self):
        for how in live_unwind_test.STARTS:
            for launcher in ((), ("sh", "-c", 'true; exec "$0" "$@"')):
                with self.subTest(how=how, launcher=launcher):
                    run = self.record(how=how, launcher=launcher)
                    self.assert_whole_but_told(run, how)
                    if live_unwind_test.PERF:
                        self.assert_whole_but_told(run, how, live_unwind_test.PERF)

    def test_on_the_whole_machine_with_kernel_parts(self):
        run = self.run_tool(SONDE, "record", "-a", "-e", "cpu-clock", "-F", "1000", "--call-graph", "bpf", "-o", "perf.data",
                            "--", self.program, "thread", self.library, live_unwind_test.ROUNDS, 3)
        # Samples of the kernel, too, as of timer interrupts; those begin elsewhere.
        self.assert_whole_but_told(run, "thread")

    def test_deeper_than_a_stack_copy(self):
        run = self.record(depth=300)
        self.assertEqual(incomplete(run), sum(len(chain) == 1 for chain in self.chains()))
        whole = [chain for chain in self.chains() if len(chain) > 1]
        self.assertGreater(len(whole), 5)
        text = self.run_tool(SONDE, "script", "--no-inline", "--max-stack", "1000", "-i", "perf.data", "-F", "ip,sym").stdout
        self.assertIn(301, {block.count(" descend") for block in text.split("\n\n")})

    def test_where_a_copy_ends_the_chain_goes_on(self):
        self.record(depth=300, graph="bpf,1024,raw")
        words = ["script", "--no-inline", "--max-stack", "1000", "-i", "perf.data", "-F", "ip,sym"]
        counts = {block.count(" descend") for block in self.run_tool(SONDE, *words).stdout.split("\n\n")}
        self.assertEqual(max(counts), 301)

    def test_nothing_of_it_is_left_and_nothing_stored_in_vain(self):
        self.record()
        self.assertNotIn(WALKER, self.run_tool("bpftool", "prog", "list").stdout)
        # The events that carry the chains to the recorder are none of the recording.
        self.assertEqual(self.run_tool(SONDE, "evlist", "-i", "perf.data").stdout.split(), ["cpu-clock:u"])
        recorder = subprocess.Popen([SONDE, "record", "-q", "-a", "-e", "cpu-clock", "-F", "99", "--call-graph", "bpf", "-o",
                                     self.path / "killed.data"])
        try:
            while WALKER not in self.run_tool("bpftool", "prog", "list").stdout:
                self.assertIsNone(recorder.poll())
        finally:
            recorder.kill()
            recorder.wait()
        deadline = live_unwind_test.time.monotonic() + live_unwind_test.PATIENCE_S
        while WALKER in self.run_tool("bpftool", "prog", "list").stdout:
            self.assertLess(live_unwind_test.time.monotonic(), deadline)

    def test_what_is_not_possible_is_said(self):
        for words, reason in ((["-e", "sched:sched_switch"], "sched:sched_switch: the walker runs on sampling events"),
                              (["--overwrite"], "cannot be combined with --overwrite"),
                              (["--per-thread"], "cannot be combined with --per-thread"),
                              (["--kernel-callchains"], "cannot be combined with --kernel-callchains")):
            run = self.run_tool(SONDE, "record", "--call-graph", "bpf", *words, "-o", "perf.data", "--", "true", check=False)
            self.assertNotEqual(run.returncode, 0, words)
            self.assertIn(reason, run.stderr)
        run = self.run_tool(SONDE, "trace", "--call-graph", "bpf", check=False)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("only record and top unwind in the kernel", run.stderr)

    def test_what_no_table_is_loaded_for_is_copied(self):
        """Neither does the program say that it needs the library, nor is it a word of the command: its first sample asks for its table."""
        run = self.run_tool(SONDE, "record", "-v", "-e", "cpu-clock:u", "-F", "1000", "--call-graph", "bpf", "-o", "perf.data", "--",
                            "sh", "-c", f"exec {self.program} plain {self.library} {live_unwind_test.ROUNDS} 3")
        self.assertEqual(incomplete(run), 0, run.stderr)
        copies = int(re.search(r"(\d+) of \d+ stacks are copies", run.stderr).group(1))
        dump = self.run_tool(SONDE, "script", "-D", "-i", "perf.data").stdout
        self.assertEqual(len(re.findall(r"ustack: size [1-9]", dump)), copies)
        self.assert_whole(self.chains(), "plain")

    def test_on_the_screen(self):
        target = subprocess.Popen([self.program, "plain", self.library, str(10**12), "3"])
        top = subprocess.Popen([SONDE, "top", "--stdio", "-e", "cpu-clock:u", "-p", str(target.pid), "-d", "0.3", "--no-children",
                                "--call-graph", "bpf,caller"], text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
        try:
            seen = ""
            for line in top.stdout:
                seen += line
                if seen.count("descend") >= 3 and "main" in seen:
                    break
            self.assertIn("main", seen)
        finally:
            top.send_signal(signal.SIGINT)
            top.communicate()
            target.kill()
            target.wait()
        self.assertEqual(top.returncode, 0)


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("BPF programs on events need root")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
