"""`ftrace` on a kernel that has its tracers: its output, against perf and against what programs are known to do; tracefs as
before."""
import os
import re
import signal
import subprocess
import time
import unittest
from pathlib import Path

from inside import LIMIT_S, PERF, SONDE, GuestTest

TRACING = Path("/sys/kernel/tracing")
FUNCTION = "__x64_sys_umask"
CALLS = 50
# Preparing all of the kernel's functions for tracing takes an emulated machine minutes; these are enough.
FEW = ["-T", "*umask*", "-T", "vfs_*", "-T", "ksys_*"]
WORKLOAD = ["perl", "-e", f"umask 18 for 1..{CALLS}"]
SETTINGS = ["current_tracer", "tracing_on", "set_ftrace_filter", "set_ftrace_notrace", "set_ftrace_pid", "set_graph_function",
            "set_graph_notrace", "max_graph_depth", "tracing_thresh", "tracing_cpumask", "trace_options"]


def settings():
    texts = {name: (TRACING / name).read_text(encoding="ascii") for name in SETTINGS}
    texts["instances"] = sorted(path.name for path in (TRACING / "instances").iterdir())
    return texts


def calls_in(histogram):
    return sum(int(count) for count in re.findall(r"\| +(\d+) \|", histogram))


def wait_until(holds):
    end = time.monotonic() + LIMIT_S
    while not holds():
        if time.monotonic() > end:
            raise AssertionError("waited too long")
        time.sleep(0.1)


class FtraceTest(GuestTest):
    """On one CPU: when a tracer is set the kernel patches its code and makes the other CPUs wait meanwhile, and an emulated one
    may not come back from that."""
    OTHER_CPUS = [path for path in Path("/sys/devices/system/cpu").glob("cpu[1-9]*/online")]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for cpu in cls.OTHER_CPUS:
            cpu.write_text("0", encoding="ascii")
        cls.mask = (TRACING / "tracing_cpumask").read_text(encoding="ascii")
        (TRACING / "tracing_cpumask").write_text("1", encoding="ascii")  # as perf leaves it

    @classmethod
    def tearDownClass(cls):
        for cpu in cls.OTHER_CPUS:
            cpu.write_text("1", encoding="ascii")
        (TRACING / "tracing_cpumask").write_text(cls.mask, encoding="ascii")
        super().tearDownClass()

    def setUp(self):
        (TRACING / "tracing_on").write_text("1", encoding="ascii")
        self.before = settings()

    def tearDown(self):
        self.assertEqual(settings(), self.before)

    def sonde(self, *words, status=0):
        done = self.run_tool(SONDE, "ftrace", *words, status=status)
        self.assertNotIn("LOST", done.stdout)
        return done.stdout

    def test_calls_of_a_function(self):
        text = self.sonde("-T", FUNCTION, "--", *WORKLOAD)
        self.assertEqual(len(re.findall(rf" {FUNCTION} <-", text)), CALLS)
        theirs = self.text(PERF, "ftrace", "-T", FUNCTION, "--", *WORKLOAD)
        headings = [[line for line in one.splitlines() if line.startswith("#")] for one in (text, theirs)]
        self.assertEqual(*headings)
        (TRACING / "tracing_on").write_text("1", encoding="ascii")  # perf leaves it off
        (TRACING / "options/irq-info").write_text("1", encoding="ascii")

    def test_what_a_function_calls(self):
        text = self.sonde("trace", "-G", FUNCTION, *FEW, "--", *WORKLOAD)
        self.assertEqual(len(re.findall(rf"\|  {FUNCTION}\(\)", text)), CALLS)
        shallow = self.sonde("trace", "-G", "ksys_read", *FEW, "--graph-opts", "depth=1,verbose,tail", "--", *WORKLOAD)
        self.assertIn("perl-", shallow)
        self.assertEqual(re.findall(r"\|    \w", shallow), [])

    def test_stacks_of_calls(self):
        text = self.sonde("-T", FUNCTION, "--func-opts", "call-graph", "--", *WORKLOAD)
        self.assertGreaterEqual(text.count(" => do_syscall_64\n"), CALLS)

    def test_a_histogram_has_every_call_once(self):
        ours = self.sonde("latency", "-T", FUNCTION, "--", *WORKLOAD)
        self.assertEqual(calls_in(ours), CALLS)
        self.assertRegex(ours, rf"count: +{CALLS}\n")
        theirs = self.text(PERF, "ftrace", "latency", "-T", FUNCTION, "--", *WORKLOAD)
        (TRACING / "tracing_on").write_text("1", encoding="ascii")
        (TRACING / "options/irq-info").write_text("1", encoding="ascii")
        self.assertEqual(calls_in(theirs), CALLS)
        ranges = [[line.split("|")[0] for line in one.splitlines() if "|" in line] for one in (ours, theirs)]
        self.assertEqual(*ranges)

    def test_bpf_has_every_call_once(self):
        rows = None
        for words in (["-T", FUNCTION], ["-T", FUNCTION, "-n"], ["-T", FUNCTION, "-C", "0", "-a"]):
            text = self.sonde("latency", "-b", *words, "--", *WORKLOAD)
            self.assertEqual(calls_in(text), CALLS, text)
            self.assertRegex(text, rf"count: +{CALLS}\n")
            rows = rows or [line.split("|")[0] for line in text.splitlines() if "|" in line]
        ours = self.sonde("latency", "-T", FUNCTION, "--", *WORKLOAD)
        self.assertEqual([line.split("|")[0] for line in ours.splitlines() if "|" in line], rows)

    def test_bpf_of_a_process(self):
        for option in ("-p", "--tid"):
            go, done = self.path / f"go{option}", self.path / f"done{option}"
            os.mkfifo(go)
            os.mkfifo(done)
            program = f'open A, "{go}"; <A>; umask 18 for 1..{CALLS}; open B, ">{done}"; print B "x"; close B; sleep {LIMIT_S}'
            with subprocess.Popen(["perl", "-e", program]) as traced:
                # That of the shell does not count.
                text = self.sonde("latency", "-b", "-T", FUNCTION, option, str(traced.pid), "--", "sh", "-c",
                                  f"umask 1; echo > {go}; cat {done} > /dev/null")
                traced.kill()
            self.assertEqual(calls_in(text), CALLS, option)

    def test_bpf_sees_sleeps_at_their_length(self):
        for words in (["-T", "hrtimer_nanosleep"], ["-e", "syscalls:sys_enter,sys_exit"]):
            text = self.sonde("latency", "-b", "--hide-empty", *words, "--", "sleep", "0.3")
            self.assertRegex(text, r"(?m)^ +(256 - 512 |512 - 1024|\d - \S+ +s) ?(ms|s)? +\| +1 \|")

    def test_bpf_names_what_is_not_there(self):
        done = self.run_tool(SONDE, "ftrace", "latency", "-b", "-T", "no_such_function", "true", status=255)
        self.assertEqual(done.stderr, "-T no_such_function: the kernel has no such function (/proc/kallsyms lists them)\n")

    def test_a_time_stands_in_its_line(self):
        text = self.sonde("latency", "--hide-empty", "-T", "hrtimer_nanosleep", "--", "sleep", "0.3")
        self.assertRegex(text, r"(?m)^ +(256 - 512 |512 - 1024|\d - \S+ +s) ?(ms|s)? +\| +1 \|")

    def test_a_profile_counts_what_the_tree_of_the_same_run_shows(self):
        text = self.sonde("trace", "-G", "ksys_*", *FEW, "--graph-opts", "tail", "--", *WORKLOAD)
        (self.path / "trace.txt").write_text(text, encoding="ascii")
        rows = self.sonde("profile", "-s", "count", "-i", "trace.txt").splitlines()[1:]
        counts = {row.split()[4]: int(row.split()[3]) for row in rows}
        expected = {}
        for name in re.findall(r" us +\|  +(\w[\w.]*)(?: \[\w+\])?\(\);", text) + re.findall(r" us +\|  +\} /\* (\w[\w.]*)", text):
            expected[name] = expected.get(name, 0) + 1
        self.assertEqual(counts, expected)
        self.assertGreater(counts["ksys_read"], 0)
        self.assertGreaterEqual(counts["vfs_read"], counts["ksys_read"] - 1)

    def test_a_profile_counts_calls(self):
        text = self.sonde("profile", "-T", FUNCTION, "-T", "__x64_sys_brk", "--", *WORKLOAD)
        self.assertRegex(text, rf"(?m)^ +\d+\.\d{{3}} +\d+\.\d{{3}} +\d+\.\d{{3}} +{CALLS}   {FUNCTION}$")

    def test_what_cannot_be_traced_is_named(self):
        done = self.run_tool(SONDE, "ftrace", "-T", "no_such_function", "true", status=255)
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertIn("-T no_such_function", done.stderr)
        self.assertIn("options/funcgraph-retval", self.run_tool(SONDE, "ftrace", "--graph-opts", "retval", "true", status=255).stderr)
        self.assertIn(f"{FUNCTION}\n", self.sonde("-F", "*sys_umask"))

    def test_interrupts_put_everything_back(self):
        traces_all = lambda: "function_graph" in (TRACING / "current_tracer").read_text(encoding="ascii")
        has_instance = lambda: settings()["instances"] != self.before["instances"]
        with subprocess.Popen(["sleep", str(LIMIT_S)]) as traced:
            for words, is_on in ((["-G", "vfs_read", *FEW], traces_all), (["-T", "vfs_read"], has_instance)):
                for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
                    with subprocess.Popen([SONDE, "ftrace", *words, "-p", str(traced.pid)], stdout=subprocess.DEVNULL) as tracer:
                        wait_until(is_on)
                        tracer.send_signal(number)
                        status = tracer.wait(LIMIT_S)
                    self.assertEqual(status, -number if number == signal.SIGKILL else 0)
                    wait_until(lambda: settings() == self.before)
            traced.kill()

    def test_what_others_had_set_comes_back(self):
        (TRACING / "set_ftrace_filter").write_text("vfs_write", encoding="ascii")
        (TRACING / "set_graph_function").write_text("vfs_open", encoding="ascii")
        (TRACING / "max_graph_depth").write_text("3", encoding="ascii")
        self.before = settings()
        try:
            self.sonde("profile", "-G", FUNCTION, *FEW, "--", *WORKLOAD)
            self.assertEqual(settings(), self.before)
        finally:
            (TRACING / "max_graph_depth").write_text("0", encoding="ascii")
            for name in ("set_ftrace_filter", "set_graph_function"):
                (TRACING / name).write_text("", encoding="ascii")
            self.before = settings()


if __name__ == "__main__":
    unittest.main(argv=["ftrace"])
