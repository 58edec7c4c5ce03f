#!/usr/bin/env python3
"""record --call-graph dwarf: stacks become call chains while recording. Needs root and a C compiler."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from own_directory import OwnDirectoryTest

SONDE = os.environ["SONDE"]
PERF = shutil.which("perf")
PATIENCE_S = 240

# Every sample in `leaf` has the same callers. Frames differ in size, none has a frame pointer, and the work is done by a library
# that is loaded late, in a child, or in a thread, depending on the first argument.
PROGRAM = r"""
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef long (*Work)(long rounds, int depth);
static long rounds;
static int depth;
static Work work;

__attribute__((noinline)) static void middle(void) {
  volatile char room[200];
  room[0] = (char)work(rounds, depth);
}
static void* in_thread(void* unused) {
  middle();
  return unused;
}
int main(int count, char** words) {
  if (count < 5) return 2;
  rounds = atol(words[3]);
  depth = atoi(words[4]);
  void* library = dlopen(words[2], RTLD_NOW);
  if (!library) return 3;
  work = (Work)dlsym(library, "entry");
  if (strcmp(words[1], "fork") == 0) {
    if (fork() == 0) {
      middle();
      _exit(0);
    }
    return wait(0) > 0 ? 0 : 4;
  }
  if (strcmp(words[1], "thread") == 0) {
    pthread_t thread;
    pthread_create(&thread, 0, in_thread, 0);
    return pthread_join(thread, 0);
  }
  middle();
  return 0;
}
"""
LIBRARY = r"""
__attribute__((noinline)) static long leaf(long rounds) {
  volatile long sum = 0;
  for (long i = 0; i < rounds; ++i) sum += i;
  return sum;
}
__attribute__((noinline)) static long descend(long rounds, int depth) {
  volatile char room[40];
  room[0] = (char)depth;
  return (depth == 0 ? leaf(rounds) : descend(rounds, depth - 1)) + room[0];
}
long entry(long rounds, int depth) { return descend(rounds, depth) + 1; }
"""
ROUNDS = 80_000_000
STARTS = {"fork": ["middle", "main"], "plain": ["middle", "main"], "thread": ["middle", "in_thread"]}


def compile_c(directory, name, source, *flags):
    (directory / f"{name}.c").write_text(source)
    subprocess.run(["cc", "-O1", *flags, "-o", directory / name, directory / f"{name}.c", "-ldl", "-lpthread"], check=True)
    return str(directory / name)


class UnwindTest(OwnDirectoryTest):
    @classmethod
    def setUpClass(cls):
        made = tempfile.TemporaryDirectory()
        cls.addClassCleanup(made.cleanup)
        cls.made = Path(made.name)
        bare = ["-fomit-frame-pointer", "-fno-optimize-sibling-calls"]
        cls.program = compile_c(cls.made, "program", PROGRAM, *bare)
        cls.library = compile_c(cls.made, "library.so", LIBRARY, *bare, "-shared", "-fPIC")
        cls.framed = compile_c(cls.made, "framed.so", LIBRARY, "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls",
                               "-shared", "-fPIC")

    def run_tool(self, tool, *arguments, check=True, **more):
        run = subprocess.run([tool, *map(str, arguments)], cwd=self.path, capture_output=True, text=True, timeout=PATIENCE_S,
                             env={**os.environ, "HOME": str(self.path)}, check=False, **more)
        if check:
            self.assertEqual(run.returncode, 0, run.stderr)
        return run

    def record(self, *arguments, how="plain", graph="dwarf", depth=3, library=None, launcher=()):
        return self.run_tool(SONDE, "record", "-e", "cpu-clock:u", "-F", "1000", "--call-graph", graph, *arguments, "-o",
                             "perf.data", "--", *launcher, self.program, how, library or self.library, ROUNDS, depth)

    def chains(self, tool=SONDE, file="perf.data"):
        """Names of the frames, leaf first, of each sample in `leaf`."""
        text = self.run_tool(tool, "script", "--no-inline", "-i", file, "-F", "ip,sym").stdout
        all_chains = [[line.split(None, 1)[1] for line in block.strip().splitlines()] for block in text.split("\n\n")
                      if block.strip()]
        return [chain for chain in all_chains if chain[0] == "leaf"]

    def assert_whole(self, chains, how, depth=3):
        self.assertGreater(len(chains), 5)
        expected = ["leaf"] + ["descend"] * (depth + 1) + ["entry"] + STARTS[how]
        for chain in chains:
            self.assertEqual(chain[:len(expected)], expected)
            # libc's start_thread and clone3 have names only if its symbols are installed.
            self.assertRegex(chain[-1], r"^_start|clone|\[unknown\]$" if how == "thread" else "^_start")
            self.assertEqual(len(chain) - len(expected), 2 if how == "thread" else 3)

    def stored(self):
        """What the samples in the file contain."""
        return self.run_tool(SONDE, "script", "-D", "-i", "perf.data").stdout

    def test_every_way_in_which_code_comes_to_run(self):
        for how in STARTS:
            for launcher in ((), ("sh", "-c", 'true; exec "$0" "$@"')):
                with self.subTest(how=how, launcher=launcher):
                    run = self.record(how=how, launcher=launcher)
                    self.assertNotIn("stored as copies", run.stderr)
                    self.assert_whole(self.chains(), how)
                    if PERF:
                        self.assert_whole(self.chains(PERF), how)

    def test_a_process_that_runs(self):
        with subprocess.Popen([self.program, "thread", self.library, str(10**12), "3"]) as process:
            try:
                # A thread that begins just while the others are opened would not be recorded.
                deadline = time.monotonic() + PATIENCE_S
                while len(os.listdir(f"/proc/{process.pid}/task")) < 2 and time.monotonic() < deadline:
                    time.sleep(0.01)
                # Until it has run for a while, however busy the machine is: the 14th field is its time in user code.
                ticks = f"$(cut -d ' ' -f 14 /proc/{process.pid}/stat)"
                has_run = f'since={ticks}; until [ {ticks} -ge $((since + 30)) ]; do sleep 0.05; done'
                self.run_tool(SONDE, "record", "-e", "cpu-clock:u", "-F", "1000", "--call-graph", "dwarf", "-p", process.pid,
                              "-o", "perf.data", "--", "sh", "-c", has_run)
            finally:
                process.kill()
        self.assert_whole(self.chains(), "thread")

    def test_no_copies_are_stored_and_the_file_is_small(self):
        self.record()
        self.assertNotRegex(self.stored(), r"ustack: size [1-9]")
        small = (self.path / "perf.data").stat().st_size
        samples = len(self.chains())
        self.record(graph="dwarf,raw")
        copies = re.findall(r"ustack: size (\d+)", self.stored())
        self.assertGreater(max(map(int, copies)), 1000)
        self.assert_whole(self.chains(), "plain")
        large = (self.path / "perf.data").stat().st_size
        # Without samples either file has some 20 KB of features.
        self.assertGreater(large / len(self.chains()), 5 * small / samples)

    def test_copies_are_converted_later(self):
        self.record(graph="dwarf,raw")
        self.run_tool(SONDE, "inject", "--convert-callchain", "-i", "perf.data", "-o", "converted.data")
        chains = self.chains()
        self.assert_whole(chains, "plain")
        self.assertEqual(self.chains(file="converted.data"), chains)
        if PERF:
            self.assertEqual(self.chains(PERF, "converted.data"), chains)
        dump = self.run_tool(SONDE, "script", "-D", "-i", "converted.data").stdout
        self.assertNotRegex(dump, r"ustack: size [1-9]")

    def test_compression_can_be_left_out(self):
        self.record("-z0")
        self.assertNotIn("# compressed", self.run_tool(SONDE, "report", "--header-only", "-i", "perf.data").stdout)
        self.assert_whole(self.chains(), "plain")

    def test_through_a_pipe(self):
        with open(self.path / "perf.data", "wb") as output:
            subprocess.run([SONDE, "record", "-q", "-e", "cpu-clock:u", "-F", "1000", "--call-graph", "dwarf", "-o", "-", "--",
                            self.program, "plain", self.library, str(ROUNDS), "3"], stdout=output, timeout=PATIENCE_S,
                           check=True)
        with open(self.path / "perf.data", "rb") as recording:
            text = self.run_tool(SONDE, "script", "-i", "-", "-F", "ip,sym", stdin=recording).stdout
        self.assertRegex(text, r"leaf\n\s+[0-9a-f]+ descend\n")

    def test_frame_pointers_reach_beyond_the_copy(self):
        """200 frames of 64 bytes and more, and a copy of 2 KiB: the rest is known only with frame pointers."""
        run = self.record(graph="dwarf,2048", depth=100, library=self.framed)
        chains = self.chains()
        self.assertGreater(len(chains), 5)
        for chain in chains:
            self.assertEqual(chain.count("descend"), 101)
        run = self.record(graph="dwarf,2048", depth=100)
        self.assertRegex(run.stderr, r"call chains end where the copied piece of stack ends \(\d+\.\d % of those")
        report = self.run_tool(SONDE, "report", "--stdio", "-i", "perf.data")
        self.assertRegex(report.stderr, r"call chains end where the copied piece of stack ends \(\d+\.\d % of those")
        self.assertTrue(all(chain.count("descend") < 101 for chain in self.chains()))

    def test_registers_that_were_asked_for_stay(self):
        self.record("--user-regs=ip,sp")
        self.assertRegex(self.stored(), r"\.\.\. user regs: mask 0x[0-9a-f]+ ABI 64-bit")
        self.assert_whole(self.chains(), "plain")

    def test_where_it_cannot_be_the_reason_is_said(self):
        for flag, reason in (("--threads", "--threads"), ("--tail-synthesize", "described at the end"),
                             ("--no-timestamp", "no time")):
            run = self.record(flag)
            self.assertRegex(run.stderr, f"Stacks are stored as copies, for the report to unwind: .*{reason}")

    def test_an_event_may_ask_for_it(self):
        self.run_tool(SONDE, "record", "-e", "cpu-clock/call-graph=dwarf,freq=1000/u", "-o", "perf.data", "--", self.program,
                      "plain", self.library, ROUNDS, 3)
        self.assertNotRegex(self.stored(), r"ustack: size [1-9]")
        self.assert_whole(self.chains(), "plain")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
