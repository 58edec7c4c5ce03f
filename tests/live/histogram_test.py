#!/usr/bin/env python3
"""`histogram` on this kernel: what programs in the kernel add up is what a program with a known load did, and what recordings of the
same load give. Needs root and a compiler."""
import collections
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from probe_events import USDT_NOTE

SONDE = os.environ["SONDE"]
ROUNDS = 500
SLEEPS = 20
SLEEP_NS = 2_000_000
PROGRAM = USDT_NOTE + r"""
#include <fcntl.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>
struct job { long unused; int32_t size; };
static char buffer[65536];
__attribute__((noinline)) long work(struct job* job, short kind) {
  NOTE("registers", "0", "-4@%0 8@%1", "r"((int)kind), "r"((long)job->size));
  __asm__ volatile("" ::: "memory");
  return job->size * -2L;
}
__attribute__((noinline)) long nested(long depth) {
  __asm__ volatile("" ::: "memory");
  return depth == 0 ? 0 : nested(depth - 1) + 1;
}
int main(void) {
  int null = open("/dev/null", O_WRONLY);
  long sum = 0;
  for (int i = 0; i < ROUNDS; ++i) {
    struct job job = {0, i * 7 - 100};
    sum += work(&job, (short)(i % 3 - 1));
    if (write(null, buffer, (size_t)(i * 13 % 5000)) < 0) return 1;
  }
  for (int i = 0; i < SLEEPS; ++i) {
    struct timespec time = {0, SLEEP_NS};
    if (nanosleep(&time, 0) != 0) return 1;
    sum += nested(4);
  }
  return sum == 1;
}
"""
SIZES = [i * 13 % 5000 for i in range(ROUNDS)]
JOB_SIZES = [i * 7 - 100 for i in range(ROUNDS)]
# Each child writes once, and its name is its own.
FORKS = """
import os, sys
null = os.open("/dev/null", os.O_WRONLY)
for i in range(int(sys.argv[1])):
    if os.fork() == 0:
        os.write(null, b"x" * 40); os._exit(0)
    os.wait()
"""


def powers_of_two(values):
    """{first value of the bucket: how many}"""
    def first(value):
        if value == 0:
            return 0
        width = abs(value).bit_length()
        return 1 << width - 1 if value > 0 else -(1 << width) + 1
    return dict(collections.Counter(map(first, values)))


class HistogramTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.path = Path(directory.name)
        source = cls.path / "load.c"
        source.write_text(f"#define ROUNDS {ROUNDS}\n#define SLEEPS {SLEEPS}\n#define SLEEP_NS {SLEEP_NS}\n" + PROGRAM)
        cls.program = cls.path / "load"
        subprocess.run(["gcc", "-g", "-O1", "-fno-optimize-sibling-calls", "-o", cls.program, source], check=True)

    def sonde(self, *arguments, status=0):
        done = subprocess.run([SONDE, *map(str, arguments)], cwd=self.path, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def measured(self, *arguments, load=None):
        """The JSON of one run."""
        command = ["--", *(load or [self.program])] if "-i" not in arguments else []
        done = self.sonde("histogram", "--json", *arguments, *command)
        return json.loads(done.stdout)

    @staticmethod
    def buckets(histogram):
        return {bucket.get("first", "below"): bucket["count"] for bucket in histogram["buckets"]}

    def only(self, measured):
        self.assertEqual(len(measured["histograms"]), 1, measured)
        return measured["histograms"][0]

    def test_values_of_a_tracepoint(self):
        histogram = self.only(self.measured("syscalls:sys_exit_write", "ret"))
        self.assertEqual(self.buckets(histogram), powers_of_two(SIZES))
        self.assertEqual((histogram["count"], histogram["sum"]), (ROUNDS, sum(SIZES)))

    def test_recordings_give_the_same(self):
        self.sonde("record", "-q", "-N", "-e", "syscalls:sys_exit_write,syscalls:sys_enter_write", "-o", "own.data", "--", self.program)
        subprocess.run(["perf", "record", "-q", "-N", "-e", "syscalls:sys_exit_write", "-e", "syscalls:sys_enter_write",
                        "-o", "perf.data", self.program], cwd=self.path, check=True, capture_output=True)
        for question in (["syscalls:sys_exit_write", "ret"],
                         ["syscalls:sys_enter_write", "count", "--by", "comm"],
                         ["syscalls:sys_exit_write", "ret", "--linear", "500,1000,4000"],
                         ["syscalls:sys_exit_write", "ret", "--by", "ret", "--filter", "ret > 4000 || (ret < 100 && !(ret == 13))"],
                         ["syscalls:sys_enter_write", "count", "--filter", "comm == load && count & 1"],
                         ["syscalls:sys_enter_write", "count", "--by", "fd", "--filter", 'COMM != "load"']):
            with self.subTest(question):
                live = self.measured(*question)
                self.assertEqual(self.measured("-i", "own.data", *question)["histograms"], live["histograms"])
                self.assertEqual(self.measured("-i", "perf.data", *question)["histograms"], live["histograms"])

    def test_the_kernels_filter_gives_the_same(self):
        question = "ret >= 1024 && ret != 4992"
        self.sonde("record", "-q", "-N", "-e", "syscalls:sys_exit_write", "--filter", question, "-o", "filtered.data", "--", self.program)
        expected = self.only(self.measured("-i", "filtered.data", "syscalls:sys_exit_write", "ret"))
        self.assertEqual(self.only(self.measured("syscalls:sys_exit_write", "ret", "--filter", question)), expected)
        self.assertEqual(expected["count"], sum(size >= 1024 and size != 4992 for size in SIZES))

    def test_buckets_of_one_size(self):
        histogram = self.only(self.measured("syscalls:sys_exit_write", "ret", "--linear", "1000,1000,3000"))
        expected = collections.Counter("below" if size < 1000 else min(size // 1000 * 1000, 3000) for size in SIZES)
        self.assertEqual(self.buckets(histogram), dict(expected))

    def test_variables_of_a_function(self):
        histogram = self.only(self.measured("-x", self.program, "work", "job->size"))
        self.assertEqual(self.buckets(histogram), powers_of_two(JOB_SIZES))
        self.assertEqual(histogram["sum"], sum(JOB_SIZES))
        histogram = self.only(self.measured("-x", self.program, "work", "$retval:s64"))
        self.assertEqual(self.buckets(histogram), powers_of_two([size * -2 for size in JOB_SIZES]))
        by_kind = self.measured("-x", self.program, "work", "job->size", "--by", "kind", "--filter", "job->size > 0")
        expected = collections.Counter(str(i % 3 - 1) for i in range(ROUNDS) if JOB_SIZES[i] > 0)
        self.assertEqual({one["key"]: one["count"] for one in by_kind["histograms"]}, dict(expected))

    def test_usdt(self):
        histograms = self.measured(f"sdt_app:registers@{self.program}", "arg2", "--by", "arg1")["histograms"]
        expected = collections.Counter(str(i % 3 - 1) for i in range(ROUNDS))
        self.assertEqual({one["key"]: one["count"] for one in histograms}, dict(expected))
        self.assertEqual(sum(one["sum"] for one in histograms), sum(JOB_SIZES))

    def test_time_between_events(self):
        measured = self.measured("--from", "syscalls:sys_enter_*nanosleep", "--to", "syscalls:sys_exit_*nanosleep")
        histogram = self.only(measured)
        self.assertEqual(histogram["count"], SLEEPS, measured)
        self.assertGreaterEqual(histogram["sum"], SLEEPS * SLEEP_NS)
        for bucket in histogram["buckets"]:
            self.assertGreaterEqual(bucket["last"], SLEEP_NS)
        self.assertEqual(measured["remarks"], [])

    def test_time_in_a_function_that_calls_itself(self):
        measured = self.measured("-x", self.program, "nested", "--by", "comm")
        histogram = self.only(measured)
        self.assertEqual((histogram["key"], histogram["count"]), ("load", SLEEPS * 5))
        self.assertEqual(measured["remarks"], [])

    def test_full_maps_are_counted(self):
        done = self.sonde("histogram", "--json", "--map-nr-entries", 8, "syscalls:sys_exit_write", "ret", "--by", "ret", "--", self.program)
        measured = json.loads(done.stdout)
        counted = sum(one["count"] for one in measured["histograms"])
        lost = next(remark for remark in measured["remarks"] if "--map-nr-entries" in remark)
        self.assertEqual(counted + int(lost.split()[0]), ROUNDS)
        self.assertGreater(counted, 0)

    def test_thousands_of_processes(self):
        children = 1500
        measured = self.measured("syscalls:sys_exit_write", "ret", "--filter", "ret == 40",
                                 load=[sys.executable, "-c", FORKS, children])
        self.assertEqual(self.only(measured)["count"], children, measured)

    def test_intervals_add_up(self):
        done = self.sonde("histogram", "--json", "--interval", "0.02", "syscalls:sys_exit_write", "ret", "--", self.program)
        *parts, whole = map(json.loads, done.stdout.splitlines())
        self.assertEqual(whole["events"], ROUNDS)
        self.assertLessEqual(sum(part["events"] for part in parts), ROUNDS)

    def test_text(self):
        done = self.sonde("histogram", "syscalls:sys_exit_write", "ret", "--by", "comm", "--", self.program)
        self.assertIn(f"comm load: {ROUNDS} events, mean", done.stdout)
        rows = [line for line in done.stdout.splitlines() if "|" in line]
        self.assertEqual(len(rows), 14, done.stdout)  # 0, and 1 … 4096
        self.assertEqual(len(set(map(len, rows))), 1, done.stdout)

    def test_nothing_is_left_by_a_kill(self):
        running = subprocess.Popen([SONDE, "histogram", "-x", self.program, "work", "kind", "--duration", "60"], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL)
        self.addCleanup(running.wait)
        self.addCleanup(running.kill)
        deadline = time.monotonic() + 60
        used = set()  # what counts, and what follows tasks
        while len(used) < 4 and time.monotonic() < deadline:
            time.sleep(0.05)
            used = self.programs_of(running.pid)
        self.assertEqual(len(used), 4)
        running.kill()
        running.wait()
        while used & self.loaded_programs() and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(used & self.loaded_programs(), set())

    @staticmethod
    def programs_of(pid):
        """Ids of the BPF programs that a process has descriptors of."""
        ids = set()
        for info in Path(f"/proc/{pid}/fdinfo").iterdir():
            try:
                ids |= {int(line.split()[1]) for line in info.read_text().splitlines() if line.startswith("prog_id:")}
            except OSError:
                pass  # closed in the meantime
        return ids

    @staticmethod
    def loaded_programs():
        shown = subprocess.run(["/usr/sbin/bpftool", "-j", "prog", "show"], capture_output=True, text=True, check=True)
        return {program["id"] for program in json.loads(shown.stdout)}

    def test_errors(self):
        for words, said in ((["syscalls:sys_exit_write", "nothing"], "has no field 'nothing'; there are __syscall_nr, ret, tid"),
                            (["sched:sched_switch", "next_comm"], "is not a number"),
                            (["sched:sched_nothing", "x"], "sched_nothing"),
                            (["syscalls:sys_exit_write"], "which field?"),
                            (["work", "x"], "-x PROGRAM"),
                            (["syscalls:sys_exit_write", "ret", "--filter", "ret ~ 1"], "glob"),
                            (["syscalls:sys_exit_write", "ret", "--filter", "comm == 7"], "compared with a number"),
                            (["syscalls:sys_exit_write", "ret", "--linear", "3,0,10"], "multiple of STEP"),
                            (["-x", self.program, "nowhere", "x"], "nowhere")):
            with self.subTest(words):
                done = subprocess.run([SONDE, "histogram", *map(str, words), "--duration", "0.1"], capture_output=True, text=True,
                                      stdin=subprocess.DEVNULL)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(said, done.stderr)

    def test_users_without_privilege_are_told(self):
        library = next(line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if "/libc.so" in line)
        for words, said in ((["-x", library, "malloc"], "Operation not permitted"),
                            (["syscalls:sys_exit_write", "ret"], "No permission")):
            done = subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", SONDE, "histogram", *words,
                                   "--duration", "0.1"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])  # ctest passes the build directory, which is not a test
