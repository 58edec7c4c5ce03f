#!/usr/bin/env python3
"""`record --aggregate`: samples counted in the kernel, against the same program's samples one by one. Needs root."""
import os
import re
import signal
import struct
import subprocess
import sys
import time
import unittest

from own_directory import OwnDirectoryTest

SONDE = os.environ["SONDE"]
AS_NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
# Touches new pages, a known number in each function: one page fault for each.
PAGES = """
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
enum { PAGE = 4096 };
#ifndef FRAME
#define FRAME volatile void* frame __attribute__((unused)) = __builtin_frame_address(0)
#endif
static char* fresh(long pages) {
  char* at = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED || madvise(at, pages * PAGE, MADV_NOHUGEPAGE) != 0) exit(1);
  return at;
}
__attribute__((noinline)) void touch_few(volatile char* at) { FRAME; for (long i = 0; i < 400; i++) at[i * PAGE] = 1; }
__attribute__((noinline)) void touch_many(volatile char* at) { FRAME; for (long i = 0; i < 3000; i++) at[i * PAGE] = 1; }
__attribute__((noinline)) void round_of_both(void) { touch_few(fresh(400)); touch_many(fresh(3000)); }
int main(int argc, char** argv) {
  for (int i = 0; i < atoi(argv[1]); i++) { round_of_both(); usleep(atoi(argv[2]) * 1000); }
  return 0;
}
"""
# Each of 2^17 call chains has one page fault.
MANY_CHAINS = """
#include <sys/mman.h>
static volatile char* page;
__attribute__((noinline)) static void touch(void) { madvise((void*)page, 4096, MADV_DONTNEED); page[0] = 1; }
__attribute__((noinline)) static void descend(int depth) {
  if (depth == 0) { touch(); return; }
  descend(depth - 1);
  __asm__ volatile("");
  descend(depth - 1);
  __asm__ volatile("");
}
int main(void) {
  page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  descend(17);
  return 0;
}
"""
# A fault in a page of its own, so many frames deep.
DEEP = """
#include <sys/mman.h>
static volatile char* page;
__attribute__((noinline)) static int descend(int depth) {
  if (depth == 0) return page[0];
  int found = descend(depth - 1);
  __asm__ volatile("");
  return found + depth;
}
int main(void) {
  page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return descend(300) == 0;
}
"""
PYTHON = """
def spin(rounds):
    found = 0
    for i in range(rounds):
        found += i * i
    return found
spin(6000000)
"""
WHOLE_STACKS = ("--call-graph", "bpf")


class AggregateTest(OwnDirectoryTest):
    def setUp(self):
        super().setUp()
        (self.path / "pages.c").write_text(PAGES)
        self.run_in("cc", "-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-o", "pages", "pages.c")

    def run_in(self, *command, status=0):
        done = subprocess.run(list(map(str, command)), cwd=self.path, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def record(self, *options, output="perf.data", rounds=(1, 0)):
        return self.run_in(SONDE, "record", "-N", "-e", "page-faults:u", "-c", "1", "-o", output, *options, "--", "./pages", *rounds).stderr

    def chains(self, file, tool=SONDE):
        """Page faults by call chain within the program."""
        faults = {}
        lines = self.run_in(tool, "script", "-i", file, "-F", "period,ip,sym,dso", "--show-mmap-events").stdout
        for sample in re.split(r"\n\s*\n", lines):
            functions = [word.split("+")[0] for word in re.findall(r"\b(touch_\w+|round_of_both|main)\b", sample)]
            period = re.search(r"^\s*(\d+)", sample, re.M)
            if functions and period:
                faults[tuple(functions)] = faults.get(tuple(functions), 0) + int(period[1])
        return faults

    def own_faults(self, file):
        """Those of the program's data. How often its code and libraries' fault depends on what is in memory, and differs between runs."""
        return {chain: faults for chain, faults in self.chains(file).items() if chain[0].startswith("touch_")}

    def test_sums_are_those_of_the_samples(self):
        said = self.record("--aggregate", output="sums.data")
        self.record("--call-graph", "fp", output="samples.data")
        sums = self.own_faults("sums.data")
        self.assertEqual(sums, self.own_faults("samples.data"))
        self.assertEqual(sums[("touch_many", "round_of_both", "main")], 3000)
        self.assertEqual(self.chains("sums.data"), self.chains("sums.data", tool="perf"))
        counted, rows = map(int, re.search(r"(\d+) samples counted in (\d+) sums", said).groups())
        self.assertGreater(counted, 3400)
        self.assertLess(rows, counted / 4)

    def test_sums_are_compressed(self):
        """Unless the option forbids it, and so that perf reads them."""
        self.record("--aggregate", output="packed.data")
        self.record("--aggregate", "--no-compression-level", output="plain.data")
        sample, compressed = 9, 81  # PERF_RECORD_SAMPLE, PERF_RECORD_COMPRESSED
        packed, plain = (self.record_types(self.path / name) for name in ("packed.data", "plain.data"))
        self.assertEqual((packed.count(sample), plain.count(compressed)), (0, 0))
        self.assertGreater(packed.count(compressed), 0)
        self.assertGreater(plain.count(sample), 0)
        self.assertEqual(self.own_faults("packed.data"), self.own_faults("plain.data"))
        self.assertEqual(self.chains("packed.data"), self.chains("packed.data", tool="perf"))

    @staticmethod
    def record_types(file):
        """Of the records as they are in the file: the header says where they begin, and how many bytes they are."""
        content = file.read_bytes()
        at, size = struct.unpack_from("<QQ", content, 40)
        end, types = at + size, []
        while at < end:
            kind, _, length = struct.unpack_from("<IHH", content, at)
            types.append(kind)
            at += length
        return types

    def test_windows(self):
        """Of a second each; the records of several are in order, for perf too."""
        self.record("--aggregate=1", rounds=(4, 800))
        dump = self.run_in("perf", "report", "-D", "-i", "perf.data")
        self.assertGreaterEqual(len(re.findall("PERF_RECORD_FINISHED_ROUND", dump.stdout)), 3)
        self.assertNotIn("out of order", dump.stderr.lower())
        self.assertEqual(self.chains("perf.data")[("touch_many", "round_of_both", "main")], 4 * 3000)
        times = [float(word) for word in self.run_in(SONDE, "script", "-F", "time", "-i", "perf.data").stdout.replace(":", "").split()]
        self.assertEqual(times, sorted(times))
        self.assertGreater(times[-1] - times[0], 2)

    def test_of_the_machine(self):
        self.run_in(SONDE, "record", "-N", "--aggregate", "--off-cpu", "-a", "-e", "cpu-clock", "-F", "99", "-o", "perf.data", "--", "./pages", "3", "200")
        report = self.run_in(SONDE, "report", "--stdio", "--no-children", "-g", "none", "--comm", "pages", "-F", "period,comm,sym").stdout
        self.assertIn("of event 'offcpu-time'", report)
        waited = max(int(word) for word in re.findall(r"^\s*(\d+)  ", report.split("offcpu-time")[1], re.M))
        self.assertGreater(waited, 0.59e9)
        perf = self.run_in("perf", "report", "--stdio", "-g", "none", "-F", "period,comm")
        self.assertIn("cpu-clock", perf.stdout)

    def build(self, name, source, *options):
        (self.path / f"{name}.c").write_text(source)
        self.run_in("cc", "-O1", "-fno-optimize-sibling-calls", *options, "-o", name, f"{name}.c")

    def test_whole_stacks(self):
        """Of a program without frame pointers."""
        self.build("pages", PAGES, "-fomit-frame-pointer", "-DFRAME=")
        said = self.record("--aggregate", *WHOLE_STACKS, output="sums.data")
        self.record(*WHOLE_STACKS, output="samples.data")
        sums = self.own_faults("sums.data")
        self.assertEqual(sums, {("touch_few", "round_of_both", "main"): 400, ("touch_many", "round_of_both", "main"): 3000})
        self.assertEqual(sums, self.own_faults("samples.data"))
        self.assertEqual(self.chains("sums.data"), self.chains("sums.data", tool="perf"))
        counted, rows = map(int, re.search(r"(\d+) samples counted in (\d+) sums", said).groups())
        self.assertGreater(counted, 3400)
        self.assertLess(rows, counted / 4)

    def test_whole_stacks_of_several_events(self):
        self.build("pages", PAGES, "-fomit-frame-pointer", "-DFRAME=")
        self.record("--aggregate", *WHOLE_STACKS, "-e", "minor-faults:u", "-c", "1")
        report = self.run_in(SONDE, "report", "--stdio", "--no-children", "-g", "none", "-F", "period,sym").stdout
        for event in ("page-faults:u", "minor-faults:u"):
            part = report.split(f"of event '{event}'")[1].split("# Samples:")[0]
            self.assertRegex(part, r"(?m)^ +3000 +\[\.\] touch_many")

    def test_deep_stacks(self):
        self.build("deep", DEEP, "-fomit-frame-pointer")
        self.run_in(SONDE, "record", "-N", "-e", "page-faults:u", "-c", "1", "--aggregate", *WHOLE_STACKS, "-o", "perf.data", "--", "./deep")
        script = self.run_in(SONDE, "script", "--no-inline", "--max-stack", "1000", "-F", "ip,sym").stdout
        self.assertIn(301, {sample.count(" descend") for sample in script.split("\n\n")})

    def test_what_finds_no_room_is_written(self):
        """More chains than there are sums: none is lost."""
        self.build("many", MANY_CHAINS, "-fno-omit-frame-pointer")
        for how in (("-g",), WHOLE_STACKS):
            with self.subTest(how):
                said = self.run_in(SONDE, "record", "-N", "-m", "64M", "-e", "page-faults:u", "-c", "1", "--aggregate", *how, "-o", "perf.data", "--", "./many")
                counted, rows = map(int, re.search(r"(\d+) samples counted in (\d+) sums", said.stderr).groups())
                report = self.run_in(SONDE, "report", "--stdio", "--no-children", "-g", "none", "-F", "period,sym").stdout
                self.assertEqual(int(re.search(r"(\d+) +\[\.\] touch\b", report)[1]), 2**17, said.stderr)
                self.assertLessEqual(rows, counted)

    def test_functions_of_python(self):
        (self.path / "spin.py").write_text(PYTHON)
        self.run_in(SONDE, "record", "-N", "-e", "cpu-clock:u", "-F", "999", "--aggregate", *WHOLE_STACKS, "-o", "perf.data", "--", "/usr/bin/python3", "spin.py")
        if self.run_in("/usr/bin/python3", "-c", "import sys; print(sys.version_info >= (3, 11))").stdout.strip() != "True":
            self.skipTest("frames of this CPython cannot be read")
        report = self.run_in(SONDE, "report", "--stdio", "--children", "-g", "none", "-F", "overhead_children,sym").stdout
        self.assertGreater(float(re.search(r"([\d.]+)% +\[\.\] spin\b", report)[1]), 50, report)

    def test_what_a_sum_cannot_say(self):
        for options, words in ((["-e", "sched:sched_switch"], "--aggregate counts samples taken by time or by the processor, not sched:"),
                               (["-d"], "differs from one to the next"), (["--call-graph", "dwarf"], "cannot be combined with --call-graph dwarf"),
                               (["--call-graph", "bpf,raw"], "differs from one to the next"),
                               (["-e", "cpu-clock", "--filter", "cpu == 0"], "the kernel runs one BPF program per event"), (["--latency"], "cannot be combined with --latency"), (["--threads"], "cannot be combined with --threads"), (["--aggregate=0"], "1 to 86400 seconds")):
            with self.subTest(options):
                self.assertIn(words, self.run_in(SONDE, "record", "--aggregate", *options, "--", "true", status=255).stderr)

    def test_without_privilege(self):
        os.chmod(self.path, 0o777)
        said = self.run_in(*AS_NOBODY, SONDE, "record", "-N", "--aggregate", "-e", "cpu-clock:u", "--", "true", status=255).stderr
        self.assertRegex(said, "cannot (open|load) the BPF program that counts samples: (Operation not permitted|Permission denied)"
                               "; this needs root, or CAP_BPF and CAP_PERFMON$")
        self.assertEqual(said.count("\n"), 1, said)

    def test_nothing_is_left_behind(self):
        # Of samples, or of their stacks.
        loaded = lambda: len(re.findall("name sum_(?:sample|stack)", self.run_in("bpftool", "prog", "show").stdout))
        before = loaded()
        recorder = subprocess.Popen([SONDE, "record", "-N", "--aggregate", "-a", "-e", "cpu-clock", "-o", "perf.data"], cwd=self.path, stdin=subprocess.DEVNULL,
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while loaded() == before:
                self.assertIsNone(recorder.poll())
                time.sleep(0.05)
        finally:
            recorder.send_signal(signal.SIGKILL)
            recorder.wait()
        for _ in range(200):  # the kernel frees it a moment later
            if loaded() == before:
                return
            time.sleep(0.05)
        self.fail("a program is still loaded")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])  # ctest passes the build directory, which is not a test
