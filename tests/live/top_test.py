#!/usr/bin/env python3
"""`top` on this kernel: in a pipe, on a terminal with its keys, of a process, by tracepoints; and how it ends. Needs root."""
import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import termios
import time
import unittest
from pathlib import Path

from probe_events import remove_probes

SONDE = os.environ["SONDE"]
LONGEST = 90  # how many seconds to wait for anything

BUSY = """
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
volatile long sum;
__attribute__((noinline)) void the_hot_function(void) { for (long i = 0; i < 1000000; ++i) sum += i; }
__attribute__((noinline)) void the_other_function(void) { for (long i = 0; i < 100000; ++i) sum -= i; }
char* page;
volatile int was_asked;
__attribute__((noinline)) void the_faulting_function(void) {
  for (int i = 0; i < 10; ++i) madvise(page, 4096, MADV_DONTNEED), *page = 1;
}
void on_signal(int number) { was_asked = number; }
int main(int argc, char** argv) {
  page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  signal(SIGUSR1, on_signal);
  for (;;) {
    the_hot_function();
    the_other_function();
    if (argc > 1 && !strcmp(argv[1], "calls")) getppid();
    if (argc > 1 && !strcmp(argv[1], "faults")) the_faulting_function();
    if (was_asked) was_asked = 0, getppid();
  }
}
"""


class Output:
    """A program's output, read while it runs."""
    def __init__(self, fd):
        self.fd = fd
        self.text = ""

    def wait_for(self, pattern, since=0):
        """Waits until the text after `since` has a match, near its end."""
        end = time.monotonic() + LONGEST
        while not (match := re.search(pattern, self.text[max(since, len(self.text) - 20000):], re.M)):
            if time.monotonic() > end:
                raise AssertionError(f"{pattern!r} did not come; last:\n{self.text[-2000:]}")
            if select.select([self.fd], [], [], 1)[0]:
                try:
                    data = os.read(self.fd, 65536)
                except OSError:
                    data = b""
                if not data:
                    raise AssertionError(f"it ended before {pattern!r} came:\n{self.text[-2000:]}")
                self.text += data.decode(errors="replace")
        return match


class TopTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.program = Path(cls.folder.name) / "busybody"
        source = cls.program.with_suffix(".c")
        source.write_text(BUSY)
        subprocess.run(["cc", "-O1", "-o", cls.program, source], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def setUp(self):
        self.running = []

    def tearDown(self):
        for process in self.running:
            if process.poll() is None:
                process.kill()
            process.wait()
            if process.stdout:
                process.stdout.close()

    def start(self, command, **how):
        process = subprocess.Popen([str(word) for word in command], **how)
        self.running.append(process)
        return process

    def busy(self, *arguments):
        return self.start([self.program, *arguments])

    def top(self, *arguments, **how):
        process = self.start([SONDE, "top", "--stdio", *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             cwd=self.folder.name, **how)
        return process, Output(process.stdout.fileno())

    def end(self, process, number=signal.SIGINT):
        process.send_signal(number)
        process.communicate(timeout=LONGEST)  # it may be in the middle of a screen
        return process.returncode

    def test_in_a_pipe_the_hot_function_stands_first(self):
        busy = self.busy()
        top, out = self.top("-e", "cpu-clock", "-p", busy.pid, "-d", "0.3")
        out.wait_for(r"PerfTop: +[1-9]\d* irqs/sec .*\n-+\n\n +(?:[5-9]\d|100)\.\d\d%  busybody +\[\.\] the_hot_function")
        out.wait_for(r"target_pid: %d" % busy.pid)
        out.wait_for(r"\[\.\] the_other_function")
        self.assertNotIn("\033", out.text)
        self.assertEqual(self.end(top), 0)

    def test_screens_follow_one_another(self):
        self.busy()
        top, out = self.top("-e", "cpu-clock", "-F", "199", "-d", "0.2", "-ns", "comm,dso", "-E", "5")
        for _ in range(4):
            # Any program and object: five others may be busier.
            out.wait_for(r"PerfTop:.*\n-+\n\n +\d+\.\d\d% +[1-9]\d*  \S+ +\S+\n", since=len(out.text))
        for screen in out.text.split("PerfTop:")[1:-1]:
            self.assertLessEqual(len([line for line in screen.splitlines()[3:] if line.strip()]), 5)
        self.assertEqual(self.end(top), 0)

    def test_calls_by_name(self):
        self.busy("calls")
        top, out = self.top("-e", "raw_syscalls:sys_enter", "-ns", "comm", "-d", "0.3")
        match = out.wait_for(r"^ +\d+\.\d\d% +(\d+)  busybody")
        self.assertGreater(int(match[1]), 0)
        self.assertEqual(self.end(top, signal.SIGTERM), 0)

    def test_by_a_value_of_an_event(self):
        """The program calls getppid, whose number is 110 on x86-64 and 173 on arm64."""
        number = {"x86_64": "110", "aarch64": "173"}[os.uname().machine]
        busy = self.busy("calls")
        for by, rows in ((["raw_syscalls:sys_enter:id"], rf"100\.00% +[1-9]\d* +{number}\n"),
                         (["raw_syscalls:sys_enter"], r"100\.00% +[1-9]\d* +busybody\n"),
                         (["raw_syscalls:sys_enter:id", "--by", "raw_syscalls:sys_enter:comm"], rf"100\.00% +[1-9]\d* +{number} +busybody\n"),
                         (["cpu-clock:u:dso", "-F", "999"], r"\d+\.\d\d% +[1-9]\d* +busybody\n")):
            with self.subTest(by):
                top, out = self.top("--by", *by, "-p", busy.pid, "-d", "0.3")
                out.wait_for(r"PerfTop:.*\n-+\n\n +" + rows)
                self.assertEqual(self.end(top), 0)
        for by, said in (("raw_syscalls:sys_enter:nothing", "has no field 'nothing'; it has id args"), ("page-faults:u:nothing", "sort keys work"),
                         ("sched:nosuch:x", "nosuch")):
            done = subprocess.run([SONDE, "top", "--stdio", "--by", by], stdin=subprocess.DEVNULL, capture_output=True, text=True)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(said, done.stderr)

    def test_calls_of_a_probed_function(self):
        group = f"livetop{os.getpid()}"
        subprocess.run([SONDE, "probe", "-q", "-x", self.program, f"{group}:hot=the_hot_function"], check=True)
        self.addCleanup(remove_probes, SONDE, f"{group}:*")
        self.busy()
        top, out = self.top("-e", f"{group}:hot", "-ns", "comm,sym", "-d", "0.3")
        match = out.wait_for(r"^ +100\.00% +(\d+)  busybody +\[\.\] the_hot_function")
        self.assertGreater(int(match[1]), 0)
        self.assertEqual(self.end(top), 0)

    def test_call_graphs_and_hierarchies(self):
        busy = self.busy()
        for options, pattern in ((["-g"], r"the_hot_function\n(?:.*\n)*?.*---|--.*the_hot_function"),
                                 (["--hierarchy", "-s", "comm,sym"], r"busybody *\n +\d+\.\d\d% +.*the_hot_function")):
            top, out = self.top("-e", "cpu-clock", "-p", busy.pid, "-d", "0.3", *options)
            out.wait_for(pattern)
            self.assertEqual(self.end(top), 0)

    def test_options_of_rows_and_columns(self):
        busy = self.busy()
        hot = r"^ +\d+\.\d\d% .*\[\.\] the_hot_function"
        for options, pattern, never in (
                (["--dsos", "busybody", "--fields", "overhead,symbol"], r"^ +\d+\.\d\d%  \[\.\] the_hot_function", "[k]"),
                (["--symbols", "the_hot_function", "--percentage", "relative"], r"^ +100\.00% ", "the_other_function"),
                (["--comms", "nobody"], r"PerfTop:.*\n-+\n(?:\s*\n)*   PerfTop", "busybody"),
                (["--show-total-period", "--column-widths", "12,40"], r"^ +\d+\.\d\d% {10,}\d+  busybody", "nothing"),
                (["--percent-limit", "50", "-z", "--tui"], hot, "nothing"),
                (["--call-graph", "fp,caller", "--no-children"], r"the_hot_function\n +\|\n +---the_hot_function", "nothing"),
                (["--children", "-g", "--ignore-callees", "nothing"], r"^ +\d+\.\d\d% +\d+\.\d\d%  busybody", "nothing"),
                (["--all-cgroups", "--raw-trace", "--no-bpf-event", "--num-thread-synthesize", "2", "--proc-map-timeout", "100",
                  "--ignore-vmlinux", "--demangle-kernel", "--asm-raw", "--source", "--prefix", "/x", "--prefix-strip", "1",
                  "--objdump", "x"], hot, "nothing")):
            with self.subTest(options=options):
                top, out = self.top("-e", "cpu-clock", "-F", "500", "-p", busy.pid, "-d", "0.2", *options)
                out.wait_for(pattern)
                self.assertNotIn(never, out.text)
                if "--percent-limit" in options:  # of a screen with one sample or two, any function may have half
                    shares = [float(share) for share in re.findall(r"^ +(\d+\.\d\d)% ", out.text, re.M)]
                    self.assertFalse([share for share in shares if share < 50], out.text)
                self.assertEqual(self.end(top), 0)

    def test_groups_stand_side_by_side(self):
        busy = self.busy("faults")
        first = r"PerfTop.*\n-+\n\n# anon group .*\n +\d+\.\d\d% +\d+\.\d\d%  busybody +\[\.\] FUNCTION"
        for options, function in ((["--group", "-e", "cpu-clock,page-faults"], "the_hot_function"),
                                  (["-e", "{cpu-clock,page-faults}", "--group-sort-idx", "1"], "the_faulting_function"),
                                  (["-e", "{cpu-clock,page-faults}", "--group-sort-idx", "7"], "the_hot_function")):
            with self.subTest(options=options):
                top, out = self.top("-p", busy.pid, "-K", "-d", "0.3", *options)
                out.wait_for(first.replace("FUNCTION", function))
                # Hardly any other function faults.
                share = out.wait_for(r"^ +\d+\.\d\d% +(\d+\.\d\d)%  busybody +\[\.\] the_faulting_function")
                self.assertGreater(float(share[1]), 90)
                self.assertEqual(self.end(top), 0)

    def test_the_most_recent_samples(self):
        """Of a program that began afterwards, too: its mappings are in another ring, which nothing overwrites."""
        fast = min(20000, int(Path("/proc/sys/kernel/perf_event_max_sample_rate").read_text()))
        top, out = self.top("-e", "cpu-clock", "-F", str(fast), "--overwrite", "-m", "64", "-d", "0.3")
        out.wait_for("PerfTop")
        self.busy()
        out.wait_for(r"^ +\d+\.\d\d%  busybody +\[\.\] the_hot_function")
        self.assertEqual(self.end(top), 0)

    def test_from_one_event_on(self):
        for option, before in (("--switch-on", False), ("--switch-off", True)):
            busy = self.busy()
            top, out = self.top("-e", "cpu-clock,syscalls:sys_enter_getppid", "-p", busy.pid, "-z", "-d", "0.2", option,
                                "syscalls:sys_enter_getppid", "--show-on-off-events")
            if before:
                out.wait_for("the_hot_function")
            for _ in range(3):
                out.wait_for("PerfTop", since=len(out.text))
            self.assertEqual("the_hot_function" in out.text, before)
            busy.send_signal(signal.SIGUSR1)
            out.wait_for(r"100\.00%.*getppid" if option == "--switch-on" else r"sys_enter_getppid\n[^\n]*100\.00%")
            since = len(out.text)
            for _ in range(3):
                out.wait_for("PerfTop", since=len(out.text))
            if before:
                screens = out.text[since:].split("PerfTop")[2:]
                self.assertFalse([screen for screen in screens if "the_hot_function" in screen])
            else:
                out.wait_for("the_hot_function", since)
            self.assertEqual(self.end(top), 0)
            busy.kill()

    def test_the_code_of_a_function(self):
        busy = self.busy()
        top, out = self.top("-e", "cpu-clock", "-p", busy.pid, "-d", "0.3", "--sym-annotate", "the_hot_function")
        out.wait_for(r"Percent.*Disassembly of busybody for cpu-clock")
        shares = out.wait_for(r"<the_hot_function>:\n((?: +[\d.]* *:.*\n)+)")[1]
        percents = [float(share) for share in re.findall(r"^ +(\d+\.\d\d) +:", shares, re.M)]
        self.assertAlmostEqual(sum(percents), 100, delta=0.1 + 0.01 * len(percents))
        self.assertEqual(self.end(top), 0)
        top, out = self.top("-e", "cpu-clock", "-p", busy.pid, "-d", "0.2", "--sym-annotate", "nosuch")
        out.wait_for("no recent sample fell on nosuch")
        self.assertEqual(self.end(top), 0)

    def test_symbols_at_the_end(self):
        busy = self.busy()
        top, out = self.top("-e", "cpu-clock", "-p", busy.pid, "-d", "0.2", "-D", stderr=subprocess.PIPE, text=True)
        out.wait_for("the_hot_function")
        top.send_signal(signal.SIGINT)
        text = top.communicate(timeout=LONGEST)[1]
        self.assertRegex(text, r"(?m)^dso: busybody \(.*/busybody, loaded, [0-9a-f]*\)$")
        told = {name: (int(start, 16), int(end, 16)) for start, end, name in
                re.findall(r"^ ([0-9a-f]+)-([0-9a-f]+) g (the_\w+)$", text, re.M)}
        known = subprocess.run(["nm", "-S", self.program], capture_output=True, text=True, check=True).stdout
        wanted = {name: (int(start, 16), int(start, 16) + int(size, 16)) for start, size, name in
                  re.findall(r"^(\w+) (\w+) T (the_\w+)$", known, re.M)}
        self.assertEqual(told, wanted)
        self.assertEqual(len(wanted), 3)

    def test_kernel_and_user_can_be_left_out(self):
        self.busy()
        top, out = self.top("-e", "cpu-clock", "-K", "-d", "0.3", "-E", "50")
        out.wait_for(r"the_hot_function(?:.*\n)*.*PerfTop(?:.*\n)*.*the_hot_function")
        self.assertNotIn("[k]", out.text)
        self.assertEqual(self.end(top), 0)

    def test_it_ends_with_its_target(self):
        busy = self.busy()
        top, out = self.top("-e", "cpu-clock", "-p", busy.pid, "-d", "0.2")
        out.wait_for("the_hot_function")
        busy.kill()
        self.assertEqual(top.wait(LONGEST), 0)

    def test_it_ends_with_its_reader(self):
        self.busy()
        top, out = self.top("-e", "cpu-clock", "-d", "0.2")
        out.wait_for("PerfTop")
        top.stdout.close()
        top.stdout = None
        top.wait(LONGEST)

    def test_on_a_terminal_keys_are_obeyed(self):
        busy = self.busy()
        ours, theirs = pty.openpty()
        before = termios.tcgetattr(theirs)
        top = self.start([SONDE, "top", "--stdio", "-e", "cpu-clock", "-p", busy.pid, "-d", "0.3"], stdin=theirs, stdout=theirs,
                         stderr=theirs, cwd=self.folder.name)
        out = Output(ours)
        out.wait_for(r"\033\[H.*PerfTop(?:.*\n)+.*the_hot_function")
        out.wait_for("q quit")

        def press(keys, pattern):
            since = len(out.text)
            os.write(ours, keys.encode())
            return out.wait_for(pattern, since)

        press("d", "Delay between refreshes")
        press("0.2\n", "q quit")
        press("dx\n", "is no delay")
        press("U", "user symbols are hidden")
        press("U", "user symbols are shown")
        press("z", "each screen starts anew")
        press("p", "paused")
        press("p", "goes on")
        press("e", "Entries to display")
        press("1\n", r"PerfTop[^P]*the_hot_function")
        saved = press("w", r"perf.data: the last [\d.]+ s, (\d+) samples")
        os.write(ours, b"q")
        self.assertEqual(top.wait(LONGEST), 0)
        self.assertEqual(termios.tcgetattr(theirs), before)
        os.close(ours)
        os.close(theirs)
        report = subprocess.run([SONDE, "report", "--stdio", "-n", "-s", "sym", "-i", "perf.data"], cwd=self.folder.name,
                                capture_output=True, text=True, check=True).stdout
        rows = {line.split()[-1]: int(line.split()[1]) for line in report.splitlines() if re.match(r" +\d", line)}
        self.assertEqual(sum(rows.values()), int(saved[1]))
        self.assertGreater(rows["the_hot_function"], sum(rows.values()) / 2)

    def test_refusals(self):
        for options, words in ((["ls"], "starts no command"), (["--stitch-lbr"], "--stitch-lbr must be used with --call-graph lbr"),
                               (["--stitch-lbr", "--call-graph", "lbr", "-e", "cpu-clock"], "doesn't support branch stack"),
                               (["--switch-on", "nosuch", "-e", "cpu-clock"], "switch-on event not found (nosuch)"),
                               (["-d", "0"], "shortest delay"),
                               (["-j", "any,u", "-e", "cpu-clock"], "doesn't support branch stack sampling"),
                               (["-e", "cpu-clock", "-G", "/", "-p", "1"], "-G counts what a cgroup does on CPUs"),
                               (["-s", "nonsense"], "Unknown --sort key")):
            done = subprocess.run([SONDE, "top", "--stdio", *options], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  timeout=LONGEST)
            self.assertNotEqual(done.returncode, 0, options)
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("needs root")
        sys.exit(77)
    unittest.main(argv=["top"])
