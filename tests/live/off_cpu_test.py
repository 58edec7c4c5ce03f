#!/usr/bin/env python3
"""`record --off-cpu` on this kernel: waits of known length and kind, and the tools that read them. Needs root."""
import os
import re
import shutil
import signal
import subprocess
import sys
import unittest
from pathlib import Path

from own_directory import OwnDirectoryTest

SONDE = os.environ["SONDE"]
# A process per kind of wait, each with a name of its own.
LOAD = """
import os, sys, threading, time
from pathlib import Path
def process(name, work):
    pid = os.fork()
    if pid == 0:
        Path("/proc/self/comm").write_text(name)
        work()
        os._exit(0)
    return pid
def lock():
    lock = threading.Lock()
    lock.acquire()
    threading.Timer(0.3, lock.release).start()
    lock.acquire()
def data():
    ends = os.pipe()
    process("x-writer", lambda: (time.sleep(0.3), os.write(ends[1], b"x")))
    os.read(ends[0], 1)
    os.wait()
children = [process("x-sleeper", lambda: [time.sleep(0.1) for _ in range(3)]), process("x-locker", lock), process("x-reader", data)]
for child in children: os.waitpid(child, 0)
if sys.argv[1:]: process("x-lasting", lambda: (os.closerange(0, 3), time.sleep(60)))
time.sleep(0.2)
"""
# Sleeps at the end of 512 call chains.
TREE = """
#include <unistd.h>
static void leaf(void) { usleep(100); usleep(100); }
static void left(int), right(int);
static void left(int depth) { if (depth) { left(depth - 1); right(depth - 1); } else leaf(); }
static void right(int depth) { if (depth) { left(depth - 1); right(depth - 1); } else leaf(); }
int main(void) { left(8); right(8); return 0; }
"""


class OffCpuTest(OwnDirectoryTest):
    def setUp(self):
        super().setUp()
        (self.path / "load.py").write_text(LOAD)

    def run_in(self, *command, status=0):
        done = subprocess.run(list(map(str, command)), cwd=self.path, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def record(self, *options, load=()):
        self.said = self.run_in(SONDE, "record", "-N", "-e", "cpu-clock", "-o", "perf.data", *options, "--", sys.executable, "load.py", *load).stderr

    def waits(self):
        """ns by name and reason."""
        report = self.run_in(SONDE, "report", "--stdio", "-g", "none", "-F", "period,comm,wait", "-t", ";").stdout
        report = report.split("of event 'offcpu-time'")[1].split("of event '")[0]
        rows = [line.split(";") for line in report.splitlines() if line and not line.startswith("#")]
        return {(comm.strip(), reason.strip()): int(period) for period, comm, reason in rows}

    def check(self, waits):
        # Who waits for another process begins when it gets a processor; the other's 0.3 s may have begun long before.
        for kind, least_ns in ((("x-sleeper", "sleep"), 0.29e9), (("x-writer", "sleep"), 0.29e9), (("x-locker", "lock"), 0.05e9),
                               (("x-reader", "data"), 0.05e9)):
            self.assertGreater(waits.get(kind, 0), least_ns, (waits, self.said))
            self.assertLess(waits[kind], 3e9, waits)

    def test_added_up(self):
        self.record("--off-cpu", "--off-cpu-thresh", "60000")
        self.check(self.waits())

    def test_one_by_one(self):
        self.record("--off-cpu=50")
        self.check(self.waits())
        lines = self.run_in(SONDE, "script", "-F", "comm,time,event,period", "-c", "x-sleeper").stdout.splitlines()
        periods = [(int(period), float(time)) for time, period in re.findall(r"([\d.]+): +(\d+) +offcpu-time", "\n".join(lines))]
        long_ones = [time for period, time in periods if period >= 90e6]
        self.assertEqual(len(long_ones), 3, lines)
        for before, after in zip(long_ones, long_ones[1:]):
            self.assertGreater(after - before, 0.09)

    def test_call_chains_have_kernel_and_program(self):
        self.record("--off-cpu")
        text = self.run_in(SONDE, "script", "-c", "x-sleeper", "-F", "comm,event,ip,sym,dso").stdout
        chains = [chain for chain in text.split("\n\n") if "offcpu-time" in chain and "nanosleep" in chain]
        self.assertTrue(chains, text)
        lines = chains[0].splitlines()
        head = next(i for i, line in enumerate(lines) if "offcpu-time" in line)
        self.assertIn("__schedule", lines[head + 1])  # not the measurement itself
        self.assertTrue(any("libc" in line or "python" in line for line in lines), chains[0])

    def test_no_wait_and_no_call_chain_is_missing(self):
        # Of so many chains, a few have the same slot in the kernel's table; of so many switches, some kernels do not report all.
        (self.path / "tree.c").write_text(TREE)
        self.run_in("gcc", "-O0", "-fno-omit-frame-pointer", "-o", "tree", "tree.c")
        said = self.run_in(SONDE, "record", "-N", "-e", "sched:sched_switch", "-o", "perf.data", "--off-cpu=0", "--", "./tree").stderr
        without_chain = sum(map(int, re.findall(r"^(\d+) call chains of", said, re.M)))
        switches = self.run_in(SONDE, "script", "-F", "event,trace", "-G").stdout
        text = self.run_in(SONDE, "script", "-c", "tree", "-F", "event,ip,sym").stdout
        waits = [wait for wait in text.split("\n\n") if "offcpu-time" in wait]
        report = self.run_in(SONDE, "report", "--stdio", "-c", "tree", "-g", "none", "-F", "sample,wait", "-t", ";").stdout
        counts = re.findall(r"^ *(\d+) *;(?!runnable)", report.split("of event 'offcpu-time'")[1], re.M)
        self.assertEqual(sum(map(int, counts)), len(re.findall(r"prev_comm=tree .*prev_state=[SD]", switches)), said)
        self.assertLessEqual(len([wait for wait in waits if "main" not in wait and "nanosleep" in wait]), 2 * without_chain, said)
        self.assertGreaterEqual(len({wait for wait in waits if "main" in wait}), 512 - without_chain, said)

    def test_what_goes_on_is_told(self):
        # The recording ends with its command; the child sleeps on.
        self.record("--off-cpu", load=("lasting",))
        waits = self.waits()
        script = self.run_in(SONDE, "script", "-c", "x-lasting", "-F", "comm,pid").stdout
        os.kill(int(re.search(r"x-lasting +(\d+)", script)[1]), signal.SIGKILL)
        self.assertGreater(waits.get(("x-lasting", "sleep"), 0), 0.1e9)

    def test_the_whole_machine_and_a_process(self):
        self.record("-a", "--off-cpu")
        self.check(self.waits())
        sleeper = subprocess.Popen([sys.executable, "-c", "import time\nprint('ready', flush=True)\nwhile True: time.sleep(0.05)"],
                                   stdout=subprocess.PIPE, text=True)
        self.addCleanup(sleeper.stdout.close)
        self.assertEqual(sleeper.stdout.readline(), "ready\n")
        self.addCleanup(sleeper.wait)
        self.addCleanup(sleeper.kill)
        self.run_in(SONDE, "record", "-q", "-N", "-p", sleeper.pid, "--off-cpu", "-o", "perf.data", "--", "sleep", "0.5")
        self.assertEqual({comm for comm, reason in self.waits()}, {Path(f"/proc/{sleeper.pid}/comm").read_text().strip()})

    def test_pictures_are_of_time(self):
        self.record("--off-cpu")
        self.run_in(SONDE, "flamegraph", "-e", "offcpu-time", "-i", "perf.data", "-o", "waits.svg")
        text = (self.path / "waits.svg").read_text()
        self.assertTrue(re.search(r"nanosleep[^<]*\([\d,.]+ (µs|us),", text))

    def test_stacks_say_what_for(self):
        self.record("--off-cpu")
        plain = self.run_in(SONDE, "fold", "-e", "offcpu-time", "-i", "perf.data").stdout
        text = self.run_in(SONDE, "fold", "-e", "offcpu-time", "--waits", "-i", "perf.data").stdout
        total = lambda folded: sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines())
        self.assertEqual(total(text), total(plain))
        self.assertIn("x-locker [lock];", text)
        self.assertIn("x-sleeper [sleep];", text)
        (self.path / "plain.txt").write_text(plain)
        self.assertIn("--waits", self.run_in(SONDE, "fold", "--waits", "-i", "plain.txt", status=255).stderr)

    def test_wakers(self):
        self.record("--off-cpu-waker", "--off-cpu-thresh", "60000")
        self.check(self.waits())
        report = self.run_in(SONDE, "report", "--stdio", "-g", "none", "-F", "period,comm,wait,waker", "-t", ";").stdout
        report = report.split("of event 'offcpu-time'")[1].split("of event '")[0]
        rows = [[cell.strip() for cell in line.split(";")] for line in report.splitlines() if line and not line.startswith("#")]
        wakers = {}
        for period, comm, reason, waker in rows:
            wakers[comm, reason, waker] = wakers.get((comm, reason, waker), 0) + int(period)
        # As in check(): their waits may begin late.
        self.assertGreater(wakers.get(("x-reader", "data", "x-writer"), 0), 0.05e9, wakers)
        self.assertGreater(wakers.get(("x-locker", "lock", "x-locker"), 0), 0.05e9, wakers)
        self.assertGreater(wakers.get(("x-sleeper", "sleep", "interrupt"), 0), 0.25e9, wakers)
        folded = self.run_in(SONDE, "fold", "-e", "offcpu-time", "--waits", "-i", "perf.data").stdout
        woken = [line for line in folded.splitlines() if line.startswith("x-reader [data];") and ";--;" in line]
        self.assertTrue(any(re.search(r";--;.*pipe_write.*;x-writer \d+$", line) for line in woken), folded)

    @unittest.skipUnless(shutil.which("perf"), "perf is not installed")
    def test_perf_reads_it(self):
        self.record("--off-cpu-waker", "-g")
        text = self.run_in("perf", "report", "--stdio", "-i", "perf.data", "-s", "comm", "-g", "none").stdout
        self.assertRegex(text, r"of event 'offcpu-time'")
        self.assertIn("x-sleeper", text.split("offcpu-time")[1])
        script = self.run_in("perf", "script", "-i", "perf.data", "-F", "comm,event,period").stdout
        sums = {}
        for comm, period in re.findall(r"(x-\w+) +(\d+) +offcpu-time", script):
            sums[comm] = sums.get(comm, 0) + int(period)
        own = {}
        for (comm, reason), period in self.waits().items():
            own[comm] = own.get(comm, 0) + period
        for comm, period in sums.items():
            self.assertEqual(own.get(comm), period, (sums, own, self.said))

    def test_what_does_not_go_together(self):
        for options in (["-C", "0"], ["-k", "raw"], ["--threads"], ["--switch-output"]):
            said = self.run_in(SONDE, "record", "--off-cpu", *options, "true", status=129).stderr
            self.assertIn("--off-cpu", said)


if __name__ == "__main__":
    unittest.main(argv=["off_cpu"])
