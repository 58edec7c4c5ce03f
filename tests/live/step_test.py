#!/usr/bin/env python3
"""`record -e sonde_step//`: perf and Sonde decode a stepped recording to exactly the instructions that the stepper saw, for every
way in which control can go (programs/steps.c). Needs perf, a compiler, and an x86-64 machine where processes may be traced."""
import collections
import os
import platform
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

import debug_registers
from own_directory import OwnDirectoryTest

SONDE = os.environ["SONDE"]
SOURCE = Path(__file__).resolve().parent.parent / "programs" / "steps.c"
# fibonacci(8) calls itself 67 times: 2 * fibonacci(9) - 1.
CALLS = 67


def by_thread(text):
    """TID ADDRESS lines as thread -> addresses, in order"""
    threads = collections.defaultdict(list)
    for line in text.splitlines():
        tid, address = line.split()
        threads[int(tid)].append(int(address, 16))
    return dict(threads)


class StepTest(OwnDirectoryTest):
    def setUp(self):
        super().setUp()
        self.program = self.path / "steps"
        self.build("-static")  # a dynamic linker is a hundred thousand steps
        self.file = self.path / "perf.data"
        self.log = self.path / "log"

    def build(self, *flags):
        subprocess.run(["gcc", "-O1", "-pthread", "-w", *flags, "-o", self.program, SOURCE], check=True)

    def command(self, *words):
        return [SONDE, "record", "-N", "-o", self.file, "-e", "sonde_step//", *words]

    def record(self, *words, status=3):
        done = subprocess.run(self.command(*words), capture_output=True, text=True, timeout=300,
                              env={**os.environ, "SONDE_STEP_LOG": str(self.log)})
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def decoded(self, fields="tid,ip", tool="perf"):
        """What perf makes of it, or we: each instruction, and no errors."""
        done = subprocess.run([tool, "script", "-i", self.file, "--itrace=i1ie", "-F", fields], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("error", done.stdout + done.stderr)
        return done.stdout

    def same(self, threads):
        """perf's instructions are those of the log, in the same order, and so are ours; so many threads have some."""
        seen, decoded = by_thread(self.log.read_text()), by_thread(self.decoded())
        self.assertEqual(by_thread(self.decoded(tool=SONDE)), decoded)
        self.assertEqual(len(seen), threads)
        self.assertEqual(seen.keys(), decoded.keys())
        for tid, addresses in seen.items():
            self.assertTrue(addresses == decoded[tid], f"thread {tid}: {len(addresses)} steps, {len(decoded[tid])} decoded")
        return decoded

    def test_one_thread(self):
        for part, result in (("recursion", 21), ("indirect", 660), ("signals", 3), ("longjumps", 4), ("strings", 1)):
            with self.subTest(part):
                done = self.record("--", self.program, part)
                self.assertEqual(done.stdout, f"{part} {result}\n")
                self.assertIn("record: Stepped", done.stderr)
                self.same(threads=1)

    def test_shared_objects(self):
        self.build()
        self.record("--", self.program, "recursion")
        self.same(threads=1)

    @unittest.skipIf(debug_registers.fire(), "hardware breakpoints fire here")
    def test_filters_are_refused_if_breakpoints_never_fire(self):
        done = self.record("--filter", "filter fibonacci", "--", self.program, "recursion", status=255)
        self.assertRegex(done.stderr, r"^sonde_step//: --filter needs hardware breakpoints, .*\n$")
        self.assertFalse(self.file.exists())

    @debug_registers.needed
    def test_filters_in_shared_objects(self):
        self.build()
        self.record("--filter", "filter puts @ libc.so.6, filter fibonacci", "--", self.program, "recursion", status=255)
        libc = next(line.split()[2] for line in subprocess.run(["ldd", self.program], capture_output=True, text=True).stdout.splitlines()
                    if "libc.so" in line)
        self.record("--filter", f"filter printf @ {libc}, filter fibonacci", "--", self.program, "recursion")
        self.same(threads=1)
        names = {line.split()[-1] for line in self.decoded("ip,sym").splitlines()}
        self.assertEqual(names, {"fibonacci", "printf"})

    def test_threads_and_children(self):
        self.assertEqual(self.record("--", self.program, "threads").stdout, "threads 899\n")
        self.same(threads=4)
        self.assertEqual(self.record("--", self.program, "children").stdout, "children 5\n")
        self.same(threads=3)
        self.record("-i", "--", self.program, "children")
        self.same(threads=1)

    @debug_registers.needed
    def test_filters_trace_a_function_only(self):
        self.record("--filter", "filter fibonacci", "--", self.program, "recursion")
        [addresses] = self.same(threads=1).values()
        symbols = subprocess.run(["nm", self.program], capture_output=True, text=True, check=True).stdout
        entry = next(int(line.split()[0], 16) for line in symbols.splitlines() if line.endswith(" fibonacci"))
        self.assertEqual(sum(address % 4096 == entry % 4096 for address in addresses), CALLS)
        self.assertEqual({line.split()[-1] for line in self.decoded("ip,sym").splitlines()}, {"fibonacci"})
        self.record("--filter", "start main,stop fibonacci", "--", self.program, "recursion")
        names = {line.split()[-1] for line in self.decoded("ip,sym").splitlines()}
        self.assertIn("main", names)
        self.assertNotIn("fibonacci", names)
        self.same(threads=1)

    def test_what_cannot_be_recorded_is_refused(self):
        done = self.record("--", self.program, "generated", status=255)
        self.assertRegex(done.stderr, r"^sonde_step//: code at 0x[0-9a-f]+ was generated at run time, .* -e cpu-clock\n$")
        self.same(threads=1)  # up to there
        self.assertIn("cannot run '/nonexistent/program': No such file or directory", self.record("--", "/nonexistent/program", status=255).stderr)
        for words, reason in ((["-a"], "only a command"), (["-e", "cpu-clock"], "no other event"), (["-g"], "leave out -g"), (["-F", "99"], "leave out -F"),
                              (["-m", "8"], "no ring buffer"), (["-D", "5"], "use --filter"), (["--jit", "auto"], "leave out --jit"),
                              (["-z"], "one file"), (["--filter", "filter nowhere"], "has no function nowhere"),
                              (["--filter", "uid == 0"], "is not filter, start or stop")):
            with self.subTest(words):
                status = 129 if words[-1] == "uid == 0" else 255
                self.assertIn(reason, self.record(*words, "--", self.program, "recursion", status=status).stderr)

    def test_a_limit_on_the_file_is_kept(self):
        self.build()  # 12 KiB
        done = self.record("--max-size", "8K", "--", self.program, "recursion", status=0)
        self.assertIn("size limit reached", done.stderr)
        self.assertLess(self.file.stat().st_size, 64 * 1024)
        self.same(threads=1)

    def wait_for(self, condition):
        deadline = time.monotonic() + 100
        while not condition():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)

    def test_stops_and_ends(self):
        recorder = subprocess.Popen(self.command("--", self.program, "stopped"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        children = Path(f"/proc/{recorder.pid}/task/{recorder.pid}/children")
        self.wait_for(lambda: children.read_text().split())
        child = int(children.read_text().split()[0])
        self.wait_for(lambda: Path(f"/proc/{child}/comm").read_text() == "steps\n")
        # Ready to be continued when it is in the group stop that it asked for, where no step is to be waited for.
        self.wait_for(lambda: self.is_stopped(child))
        os.kill(child, signal.SIGCONT)
        self.assertEqual(recorder.communicate(timeout=100)[0], "stopped 1\n")
        self.assertEqual(recorder.returncode, 3)

    @staticmethod
    def is_stopped(pid):
        """Stopped, and not to make a step: without CPU time for a while."""
        def state():
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            return fields[0] in "tT", fields[11:13], Path(f"/proc/{pid}/status").read_text().split("voluntary_ctxt_switches:")[1]
        before = state()
        time.sleep(0.5)
        return before[0] and state() == before

    def test_an_interrupt_ends_the_recording_and_the_command(self):
        recorder = subprocess.Popen(self.command("--", self.program, "waiting"), stderr=subprocess.PIPE, text=True)
        children = Path(f"/proc/{recorder.pid}/task/{recorder.pid}/children")
        self.wait_for(lambda: children.read_text().split())
        child = int(children.read_text().split()[0])
        self.wait_for(lambda: Path(f"/proc/{child}/syscall").read_text().split()[0] == "34")  # pause
        recorder.send_signal(signal.SIGINT)
        recorder.communicate(timeout=100)
        self.assertEqual(recorder.returncode, -signal.SIGINT)
        self.assertFalse(Path(f"/proc/{child}").exists())
        self.assertGreater(len(self.decoded().splitlines()), 1000)


if __name__ == "__main__":
    if platform.machine() != "x86_64" or not shutil.which("perf") or not shutil.which("gcc"):
        print("SKIPPED: needs x86-64, perf and gcc", file=sys.stderr)
        sys.exit(77)
    unittest.main(argv=["step_test"])
