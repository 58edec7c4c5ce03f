"""Kernel probes created through tracefs, kernel breakpoints and modules, counting system calls: on Debian's kernel."""
import bisect
import re
import subprocess
import unittest
from pathlib import Path

from inside import LIMIT_S, PERF, SONDE, GuestTest, meaningful, without_numbers

TRACING = Path("/sys/kernel/tracing")
KALLSYMS = Path("/proc/kallsyms").read_text(encoding="ascii")
PROBES = [
    "p:probe/open_path do_sys_openat2 flags=+0($arg3):x64 path=+0($arg2):ustring",
    "r:probe/open_result do_sys_openat2 result=$retval:s32",
]
# Opens a nonexistent file three times; it does the same each time.
WORKLOAD = ["perl", "-e", "open(F, '<', '/nonexistent') for 1..3"]


def define(lines):
    (TRACING / "kprobe_events").write_text("".join(line + "\n" for line in lines), encoding="ascii")


class KprobeTest(GuestTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        define(PROBES)

    @classmethod
    def tearDownClass(cls):
        define([])

    def test_probes_are_counted(self):
        for tool in (PERF, SONDE):
            counts = self.counts(tool, "probe:open_path,probe:open_result,syscalls:sys_enter_openat", *WORKLOAD)
            values = {value for value, _ in counts.values()}
            self.assertEqual(len(values), 1, f"{tool}: {counts}")
            self.assertGreater(values.pop(), 3)

    def test_filters_hold(self):
        for tool in (PERF, SONDE):
            done = self.run_tool(tool, "stat", "-x,", "-e", "probe:open_path", "--filter", 'path == "/nonexistent"', "--", *WORKLOAD)
            self.assertTrue(done.stderr.startswith("3,"), done.stderr)

    def test_probes_are_recorded_and_read_by_both(self):
        for recorder in (PERF, SONDE):
            self.run_tool(recorder, "record", "-o", "probe.data", "-e", "probe:open_*", "-g", "--", *WORKLOAD)
            lines = self.same_text("script", "-i", "probe.data", "-F", "comm,tid,cpu,time,event,trace", change=without_unread_paths)
            self.assertEqual(len([line for line in lines if 'path="/nonexistent"' in line]), 3)
            self.assertGreaterEqual(len([line for line in lines if "result=-2" in line and "<-" in line]), 3)
            self.same_text("report", "--stdio", "-i", "probe.data", "-g", "none", "-s", "comm,sym")
            self.same_text("evlist", "-i", "probe.data", "--trace-fields")

    def test_probes_are_listed(self):
        self.same_text("list", "probe:*")
        self.assertIn("probe:open_path", self.text(SONDE, "list", "tracepoint"))


class KernelTest(GuestTest):
    def test_lists_agree(self):
        for words in ([], ["sw"], ["pmu"], ["syscalls:*"]):
            self.same_text("list", *words, change=without_what_one_lacks)

    def test_system_calls_are_counted_by_number_as_by_tracepoints(self):
        # Few enough for perf, which takes long to close them; Sonde counts all with one BPF program.
        events = "syscalls:sys_enter_*at,syscalls:sys_exit_*at"
        theirs, ours = (self.counts(tool, events, *WORKLOAD) for tool in (PERF, SONDE))
        self.assertGreater(len(ours), 20)
        self.assertEqual(ours, theirs)

    def test_the_fast_way_of_counting_works_on_this_kernel(self):
        done = self.run_tool(SONDE, "stat", "-v", "-x,", "-e", "syscalls:sys_enter_*", "--", *WORKLOAD)
        self.assertIn("BPF", done.stderr)
        self.assertRegex(done.stderr, r"(?m)^[1-9]\d*,,syscalls:sys_enter_openat,")

    def test_breakpoints_in_the_kernel(self):
        address = re.search(r"^([0-9a-f]+) T __x64_sys_getppid$", KALLSYMS, re.M).group(1)
        program = ["perl", "-e", "getppid() for 1..5"]
        theirs, ours = (self.counts(tool, f"mem:0x{address}:x", *program) for tool in (PERF, SONDE))
        self.assertEqual(ours, theirs)
        self.assertEqual({value for value, _ in ours.values()}, {5})

    def test_format_of_stat_is_perfs(self):
        for words in ([], ["-d"], ["-a"], ["-j"], ["-x,"], ["--per-core", "-a"]):
            theirs, ours = (self.run_tool(tool, "stat", *words, "--", "true").stderr for tool in (PERF, SONDE))
            self.assertEqual(without_numbers(ours), without_numbers(theirs), words)

    def test_samples_have_names_in_kernel_and_modules(self):
        # Reading files that are not cached goes through the modules of this machine's root file system.
        command = ["sh", "-c", "echo 1 > /proc/sys/vm/drop_caches; cat /usr/bin/perl /usr/bin/bash"]
        for recorder in (PERF, SONDE):
            self.run_tool(recorder, "record", "-o", "clock.data", "-F", "250", "-e", "cpu-clock", "-a", "--call-graph", "fp", "--", *command)
            self.check_frames()
            self.check_rows()

    def check_frames(self):
        """Where perf has a name it is ours; a name of the kernel's or a module's is what /proc/kallsyms says."""
        words = ("script", "-i", "clock.data", "-F", "comm,tid,cpu,time,event,ip,sym,symoff")
        ours, theirs = (meaningful(self.text(tool, *words)) for tool in (SONDE, PERF))
        self.assertEqual(len(ours), len(theirs))
        symbols = KernelSymbols()
        named = 0
        for own, other in zip(ours, theirs):
            frame = re.fullmatch(r"\s+([0-9a-f]+) (\S+)", own)
            address = int(frame[1], 16) if frame else 0
            if not symbols.may_lack_name(address, other):
                self.assertEqual(own, other)
            if not frame or frame[2] == "[unknown]" or address < symbols.first:
                continue
            named += 1
            self.assertIn(re.sub(r"\+0x0$", "", frame[2]), symbols.names_at(address), own)
        self.assertGreater(named, 50)

    def check_rows(self):
        words = ("report", "--stdio", "-i", "clock.data", "--no-children", "-g", "none", "-s", "sym")
        ours, theirs = ([line for line in meaningful(self.text(tool, *words)) if "[k]" in line] for tool in (SONDE, PERF))
        self.assertGreater(len(ours), 5)
        # perf does not find the name of each address of a module in each run.
        if not any(re.search(r"\[k\] 0?x?[0-9a-f]{12,}", line) for line in theirs):
            self.assertEqual(ours, theirs)


class KernelCodeTest(GuestTest):
    """annotate of the kernel's and its modules' code in memory: /proc/kcore, and record --kcore's copy of it."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # What is not cached goes through the modules of this machine's root file system.
        command = ["sh", "-c", "echo 3 > /proc/sys/vm/drop_caches; ls -l /usr/bin /usr/lib/*-linux-gnu; cat /usr/bin/perl /usr/bin/bash; "
                   "dd if=/dev/zero of=/dev/null count=20000"]
        for words in (["-o", "code.data"], ["-o", "copied.data", "--kcore"]):
            for _ in range(5):  # until a sample hits one of them
                done = subprocess.run([SONDE, "record", "-F", "500", "-e", "cpu-clock:k", *words, "--", *command], cwd=cls.path,
                                      text=True, timeout=LIMIT_S, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
                if done.returncode != 0:
                    raise AssertionError(done.stderr)
                if cls.functions(True, words[1]):
                    break

    @classmethod
    def functions(cls, of_module, file):
        """Names of sampled functions of the kernel itself or of modules, the hottest first."""
        words = ["report", "--stdio", "-i", file, "-g", "none", "-s", "dso,sym", "-F", "overhead,dso,sym"]
        done = subprocess.run([SONDE, *words], cwd=cls.path, text=True, timeout=LIMIT_S, stdout=subprocess.PIPE, check=True)
        rows = meaningful(done.stdout)
        found = [re.search(r"% +(\S+) +\[k\] (\S+)", row) for row in rows]
        return [row[2] for row in found if row and (row[1] != "[kernel.kallsyms]") == of_module]

    def hottest(self, of_module, file="code.data"):
        names = self.functions(of_module, file)
        self.assertGreater(len(names), 0)
        return names[0]

    def instructions(self, tool, function, file="code.data"):
        """(percent, address, text): without the names of targets, which perf does not know and writes as numbers."""
        text = self.text(tool, "annotate", "--stdio", "-i", file, function)
        found = re.findall(r"^ +([\d.]+) : +([0-9a-f]+): +(.*)$", text, re.M)
        return [(percent, address, re.sub(r"( *#)? <.*>$", "", re.sub(r"^((?:j\w+|call) +|.* # )0x", r"\1", line)).rstrip())
                for percent, address, line in found]

    def test_the_kernels_own_functions(self):
        function = self.hottest(of_module=False)
        ours = self.instructions(SONDE, function)
        self.assertAlmostEqual(sum(float(percent) for percent, _, _ in ours), 100, delta=1)
        theirs = self.instructions(PERF, function)
        self.assertEqual(ours[:len(theirs)], theirs)
        # perf leaves out a last instruction that is only padding up to the next function.
        self.assertEqual([text for _, _, text in ours[len(theirs):] if not text.startswith(("nop", "int3", "xchg", "cs nop", "data16 "))], [])
        self.assertEqual(int(ours[0][1], 16), int(re.search(rf"^([0-9a-f]+) \w {function}$", KALLSYMS, re.M).group(1), 16))

    def test_functions_of_modules(self):
        ours = self.instructions(SONDE, self.hottest(of_module=True))
        self.assertAlmostEqual(sum(float(percent) for percent, _, _ in ours), 100, delta=1)
        self.assertNotIn("(bad)", " ".join(text for _, _, text in ours))

    def test_copies_are_read_first(self):
        for of_module in (False, True):
            function = self.hottest(of_module, "copied.data")
            copied = self.instructions(SONDE, function, "copied.data")
            self.assertAlmostEqual(sum(float(percent) for percent, _, _ in copied), 100, delta=1)

    def test_targets_of_calls_have_names(self):
        text = self.text(SONDE, "annotate", "--stdio", "-i", "code.data", "--percent-limit", "1")
        calls = re.findall(r": +call +([0-9a-f]{16})(?: <(\w+))?", text)
        self.assertGreater(len(calls), 0)
        self.assertGreaterEqual(len([name for _, name in calls if name]), 0.9 * len(calls))


def without_unread_paths(lines):
    """A path whose page is not present when the probe is hit has no length; perf prints what is behind it in memory."""
    return [re.sub(r'path="[^/"]*"', 'path=""', line) for line in lines]


class KernelSymbols:
    """/proc/kallsyms."""

    def __init__(self):
        self.at = {}
        for line in KALLSYMS.splitlines():
            address, _, name = line.split()[:3]
            self.at.setdefault(int(address, 16), []).append(name)
        self.addresses = sorted(self.at)
        self.first = self.addresses[bisect.bisect(self.addresses, 1 << 63)]
        self.discarded = [next(address for address in self.addresses if name in self.at[address]) for name in ("_sinittext", "_einittext")]

    def names_at(self, address):
        start = self.addresses[bisect.bisect(self.addresses, address) - 1]
        offset = f"+{address - start:#x}" if address > start else ""
        return [name + offset for name in self.at[start]]

    def may_lack_name(self, address, line):
        """perf names calls through a PLT only sometimes, and from /proc/kcore, which covers more than the kernel's mapping in a
        recording, code that the kernel discarded after boot (idle tasks' chains end there)."""
        return "[unknown]" in line or "@plt" in line or self.discarded[0] <= address < self.discarded[1]


def without_what_one_lacks(lines):
    """Metrics are perf's, and one PMU is Sonde's."""
    lines = [line for line in lines if not line.startswith("  sonde_step//")]
    for heading in ("Metric Groups:", "Metrics:"):
        if heading in lines:
            lines = lines[: lines.index(heading)]
    return lines


if __name__ == "__main__":
    unittest.main()
