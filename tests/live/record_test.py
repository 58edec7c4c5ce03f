#!/usr/bin/env python3
"""Recordings on this kernel: every kind of target and output, how they end, and that the installed perf (if any) reads them.
Needs root."""
import ctypes
import os
import platform
import re
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

SONDE = os.environ["SONDE"]
PERF = shutil.which("perf")
BUSY = ["sh", "-c", "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"]
# Longer than any machine takes; waiting processes end by themselves after that.
LONG = 120


def fast(hertz):
    """A value for -F that does not exceed what the kernel allows, which lowers the limit by itself on a machine where sampling
    takes long."""
    return min(hertz, int(Path("/proc/sys/kernel/perf_event_max_sample_rate").read_text()))


def load_bpf_program(name):
    """A descriptor of a BPF program that does nothing."""
    code = struct.pack("<BBhi", 0xb7, 0, 0, 0) + struct.pack("<BBhi", 0x95, 0, 0, 0)  # r0 = 0; exit
    code, licence = ctypes.create_string_buffer(code, len(code)), ctypes.create_string_buffer(b"GPL")
    socket_filter, program_load = 1, 5
    attr = struct.pack("<IIQQIIQII16s", socket_filter, 2, ctypes.addressof(code), ctypes.addressof(licence), 0, 0, 0, 0, 0,
                       name.encode())
    number = {"x86_64": 321, "aarch64": 280}[platform.machine()]
    return ctypes.CDLL(None, use_errno=True).syscall(number, program_load, attr, len(attr))


class RecordTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.path = Path(self.directory.name)

    def record(self, *arguments, status=0, timeout=2 * LONG, **more):
        # stdout is a pipe here: without -o the recording would go there.
        if "-o" not in arguments:
            arguments = ("-o", "perf.data", *arguments)
        run = subprocess.run([SONDE, "record", *map(str, arguments)], cwd=self.path, text=True, timeout=timeout,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                             env={**os.environ, "PERF_BUILDID_DIR": str(self.path / "cache")}, **more)
        self.assertEqual(run.returncode, status, run.stderr)
        return run

    def start(self, *arguments):
        return subprocess.Popen([SONDE, "record", *map(str, arguments)], cwd=self.path, text=True,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def perf(self, *arguments):
        if not PERF:
            self.skipTest("no perf to read it with")
        run = subprocess.run([PERF, *map(str, arguments)], cwd=self.path, text=True, timeout=2 * LONG,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def samples(self, text):
        found = re.search(r"\((\d+) samples\)", text)
        return int(found.group(1)) if found else 0

    def perf_samples(self, file="perf.data"):
        return sum(map(int, re.findall(r" SAMPLE events: +(\d+)", self.perf("report", "--stats", "-i", file))[:1]))

    # targets

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one CPU")
    def test_a_task_that_comes_from_a_cpu_that_is_not_recorded(self):
        here, elsewhere = sorted(os.sched_getaffinity(0))[:2]
        program = f"import os\nos.sched_setaffinity(0, {{{here}}})\nopen('/proc/self/comm', 'w').write('moved')\n" \
                  "import time\nend = time.process_time() + 0.2\nwhile time.process_time() < end: pass"
        for threads in ([], ["--threads"]):
            self.record("-C", here, "-e", "cpu-clock:u", *threads, "--", "taskset", "-c", elsewhere, sys.executable, "-c", program)
            report = subprocess.run([SONDE, "report", "-i", "perf.data", "--stdio", "-s", "comm,dso", "--comms", "moved"],
                                    cwd=self.path, text=True, stdout=subprocess.PIPE, check=True).stdout
            self.assertIn("moved", report)
            self.assertNotIn("[unknown]", report)  # where it was mapped, on the other CPU, is known
            self.directory.cleanup()
            self.path.mkdir()

    def test_command(self):
        run = self.record("-g", "-o", "perf.data", "--", *BUSY)
        self.assertRegex(run.stderr, r"The cycles event is not supported|Woken up")
        self.assertGreater(self.samples(run.stderr), 0)
        self.assertEqual(self.perf_samples(), self.samples(run.stderr))
        self.assertIn("sh", self.perf("report", "--stdio", "--no-children", "-g", "none", "-s", "comm"))
        mode = stat.S_IMODE((self.path / "perf.data").stat().st_mode)
        self.assertEqual(mode, 0o600)

    def test_previous_file_is_kept(self):
        for name in ("first", "second"):
            self.record("-e", "cs", "-o", "x.data", "true")
        self.assertTrue((self.path / "x.data.old").exists())

    def test_whole_machine_and_build_ids(self):
        # Work for the kernel and for a program: a busy machine's other work may be all of one kind.
        self.record("-e", "cpu-clock", "-F", 999, "-a", "-g", "-o", "perf.data", "--", "sh", "-c",
                    f"dd if=/dev/zero of=/dev/null bs=64k count=20000 2>/dev/null; {BUSY[2]}")
        self.assertIn("[kernel.kallsyms]", self.perf("report", "--stdio", "-g", "none", "--no-children", "-s", "dso"))
        self.assertRegex(self.perf("buildid-list"), r"(?m)^[0-9a-f]{40} /")
        self.assertTrue(list((self.path / "cache/.build-id").glob("*/*")))

    def test_process_and_its_end(self):
        target = subprocess.Popen(["sleep", str(LONG)])
        recorder = self.start("-e", "cs", "-D", "1", "-p", target.pid, "-o", "perf.data")
        self.wait_for_line(recorder, "Events enabled")
        target.kill()
        target.wait()
        recorder.communicate(timeout=LONG)
        self.assertEqual(recorder.returncode, 0)
        self.assertIn("sleep", self.perf("script", "--show-mmap-events"))

    def test_per_thread_and_no_such_process(self):
        target = subprocess.Popen(["sleep", str(LONG)])
        self.record("-e", "cpu-clock", "--per-thread", "-p", target.pid, "-o", "perf.data", "--", "sleep", "0.1")
        self.record("-u", "root", "-e", "cs", "-o", "perf.data", "--", "sleep", "0.1")
        target.kill()
        target.wait()
        run = self.record("-p", target.pid, status=255)
        self.assertIn("No such process", run.stderr)

    # events

    def test_tracepoints_groups_and_filters(self):
        self.record("-e", "sched:sched_process_exec", "--filter", 'filename ~ "*/true"', "-o", "perf.data", "--", "sh",
                    "-c", "/bin/true; /bin/ls >/dev/null")
        self.assertEqual(self.perf_samples(), 1)
        self.assertIn("filename=/bin/true", self.perf("script"))
        self.record("-e", "{cpu-clock,cs}:S", "-o", "perf.data", "--", *BUSY)
        self.assertIn("anon group", self.perf("report", "--stdio", "--group"))
        self.check_group_of_threads()
        run = self.record("-e", "sched:sched_switch", "--filter", "nosuch > 1", "true", status=255)
        self.assertIn('failed to set filter "nosuch > 1"', run.stderr)

    def check_group_of_threads(self):
        """Every thread has its own counters (Linux 6.13): the sums are what the threads did, whatever the order of their samples."""
        if tuple(map(int, re.findall(r"\d+", platform.release())[:2])) < (6, 13):
            print("groups are not inherited before Linux 6.13: not tested", file=sys.stderr)
            return
        program = "import threading, time\ndef work():\n while time.thread_time() < 0.3: pass\n" \
                  "ts = [threading.Thread(target=work) for _ in range(3)]\n[t.start() for t in ts]\n[t.join() for t in ts]"
        self.record("-F", "500", "-e", "{task-clock,cs}:S", "-o", "perf.data", "--", sys.executable, "-c", program)
        lines = subprocess.run([SONDE, "report", "--stdio", "-g", "none", "-s", "tid", "-F", "period,tid"], cwd=self.path, text=True,
                               capture_output=True, check=True).stdout.split("# Samples:")[1].splitlines()
        periods = [int(line.split()[0]) for line in lines if line and not line.startswith("#") and line.split()[0].isdigit()]
        self.assertGreaterEqual(sum(p > 250e6 for p in periods), 3, lines)
        self.assertLess(max(periods), 60e9, lines)

    def test_latency(self):
        # One process at a time: each of its samples is all of the latency, whatever else the machine does. It sleeps once: nothing
        # else takes it off its processor for certain.
        self.record("--latency", "-e", "cpu-clock", "-o", "perf.data", "--", "sh", "-c", f"{BUSY[2]}; exec sleep 0.01")
        self.assertIn("context_switch: 1", self.perf("evlist", "-v"))
        self.assertRegex(self.perf("report", "--stats"), r"SWITCH events: +[1-9]")
        run = subprocess.run([SONDE, "report", "--stdio", "-s", "parallelism", "-F", "overhead,latency,parallelism"],
                             cwd=self.path, text=True, capture_output=True, check=True)
        rows = [line.split() for line in run.stdout.splitlines() if line and not line.startswith("#")]
        self.assertEqual(rows, [["100.00%", "100.00%", "1"]])

    def test_data_sources(self):
        attrs = []
        for words in (["--sample-mem-info"], ["-d"], []):
            self.record("-e", "cpu-clock", *words, "-o", "perf.data", "true")
            attrs.append(re.search(r"sample_type: ([\w|]+)", self.perf("evlist", "-v"))[1].split("|"))
        self.assertIn("DATA_SRC", attrs[0])
        self.assertNotIn("DATA_SRC", attrs[2])
        self.assertEqual([bit for bit in attrs[0] if bit != "DATA_SRC"], attrs[2])
        self.assertIn("DATA_SRC", attrs[1])

    def test_what_is_refused_says_why(self):
        for arguments, text in ((["-S", "true"], "there is no instruction trace to take snapshots of"),
                                (["--latency", "-a", "true"], "--latency: not with whole CPUs"),
                                (["-b", "-e", "cpu-clock", "true"], "branch stack sampling"),
                                (["-e", "instructions", "true"], None),
                                (["-F", "99", "-c", "1", "true"], "give one"),
                                (["--threads", "--aio", "true"], "give one of them")):
            run = subprocess.run([SONDE, "record", *arguments], cwd=self.path, text=True, capture_output=True)
            if text:
                self.assertEqual(run.returncode, 255, arguments)
                self.assertIn(text, run.stderr)

    # how it ends

    def test_status_of_the_command(self):
        self.record("-e", "cs", "sh", "-c", "exit 3", status=3)
        self.record("-e", "cs", "sh", "-c", "kill -9 $$", status=128 + signal.SIGKILL)
        run = self.record("-e", "cs", "no-such-program", status=255)
        self.assertIn("there is no such program in PATH", run.stderr)

    def test_signals_end_it_cleanly(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            (self.path / "started").unlink(missing_ok=True)
            recorder = self.start("-e", "cpu-clock", "-a", "-o", "perf.data", *self.busy_until("n=$((n+1)); [ $n -lt 20 ] || touch started; false"))
            self.wait_for((self.path / "started").exists, "the command never started")
            recorder.send_signal(number)
            _, text = recorder.communicate(timeout=LONG)
            self.assertEqual(recorder.returncode, -number)
            self.assertGreater(self.samples(text), 0)
            self.assertEqual(self.perf_samples(), self.samples(text))

    def test_full_disk_leaves_a_readable_file(self):
        small = self.path / "small"
        small.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300k", "none", small], check=True)
        self.addCleanup(subprocess.run, ["umount", small])
        run = self.record("-e", "cpu-clock", "-F", fast(20000), "-a", "-g", "-o", "small/perf.data", "sleep", LONG,
                          status=255)
        self.assertIn("No space left on device", run.stderr)
        self.perf_samples("small/perf.data")

    def test_max_size(self):
        run = self.record("-e", "cpu-clock", "-F", fast(20000), "-a", "-g", "--max-size", "300K", "sleep", LONG)
        self.assertIn("size limit reached", run.stderr)

    # ways of output

    def test_pipe(self):
        run = subprocess.run(f"{SONDE} record -e cpu-clock -o - -- {BUSY[0]} -c '{BUSY[2]}' > pipe.data", shell=True,
                             cwd=self.path, text=True, stderr=subprocess.PIPE)
        self.assertEqual(run.returncode, 0, run.stderr)
        if PERF:
            text = subprocess.run(f"cat pipe.data | {PERF} script -i -", shell=True, cwd=self.path, text=True,
                                  stdout=subprocess.PIPE, check=True).stdout
            self.assertEqual(text.count("cpu-clock"), self.samples(run.stderr))

    def test_compressed_threads_and_asynchronous(self):
        for way in (["-z"], ["--threads"], ["--threads=0/0"], ["--aio"], ["--aio=4"], ["--affinity=cpu"]):
            run = self.record("-e", "cpu-clock", "-a", "-o", "perf.data", *way, "--", *BUSY)
            self.assertEqual(self.perf_samples(), self.samples(run.stderr), way)
            shutil.rmtree(self.path / "perf.data", ignore_errors=True)

    @unittest.skipIf(os.nice(0) != 0, "this already has a niceness, which is kept")
    def test_only_the_thread_that_empties_the_rings_goes_first(self):
        def niceness(pid):
            return {int(task.name): int((task / "stat").read_text().rpartition(")")[2].split()[16])
                    for task in Path(f"/proc/{pid}/task").iterdir()}
        recorder = self.start("-e", "cpu-clock", "--call-graph", "dwarf", "-o", "perf.data", "sleep", LONG)
        self.wait_for(lambda: niceness(recorder.pid)[recorder.pid] == -20, "the reader never went first")
        others = niceness(recorder.pid)
        del others[recorder.pid]
        self.assertGreater(len(others), 0)
        command = Path(f"/proc/{recorder.pid}/task/{recorder.pid}/children").read_text().split()
        for pid in command:
            others |= niceness(pid)
        self.assertEqual({*others.values()}, {0})
        recorder.send_signal(signal.SIGINT)
        recorder.communicate(timeout=LONG)

    def test_overwrite(self):
        self.record("-e", "cpu-clock", "--overwrite", "-m", 4, "-F", fast(10000), "-o", "perf.data", "--", *BUSY)
        self.assertGreater(self.perf_samples(), 0)

    # Workloads wait for the effect that they are to cause, never for a fixed time: machines differ in how fast they sample.

    def busy_until(self, condition):
        """A command that keeps a processor busy until the shell's `condition` holds."""
        return ["sh", "-c", f"end=$(($(date +%s) + {LONG})); until {condition} || [ $(date +%s) -ge $end ]; do i=0; "
                            "while [ $i -lt 2000 ]; do i=$((i+1)); done; done"]

    def wait_for(self, condition, what):
        end = time.monotonic() + LONG
        while not condition():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.01)

    def wait_for_line(self, recorder, text):
        for line in recorder.stderr:
            if line == text + "\n":
                return
        self.fail(f"the recording ended without saying: {text}")

    def test_switch_output_by_size(self):
        run = self.record("-e", "cpu-clock", "-F", fast(10000), "-a", "-m", 16, "--switch-output=100K", "--switch-max-files=2",
                          "-o", "s.data", "--", *self.busy_until("[ $(ls s.data.2* 2>/dev/null | wc -l) -ge 2 ]"))
        self.assertIn("Dump s.data.2", run.stderr)
        files = sorted(self.path.glob("s.data.2*"))
        self.assertLessEqual(len(files), 2)
        self.assertGreater(self.perf_samples(files[0].name), 0)

    def test_switch_output_by_signal(self):
        recorder = self.start("-e", "cpu-clock", "-a", "--switch-output", "-o", "t.data",
                              *self.busy_until("touch started; [ -e stop ]"))
        self.wait_for((self.path / "started").exists, "the command never started")
        recorder.send_signal(signal.SIGUSR2)
        self.wait_for(lambda: list(self.path.glob("t.data.2*")), "no file was dumped")
        (self.path / "stop").touch()
        recorder.communicate(timeout=LONG)
        self.assertEqual(len(list(self.path.glob("t.data.2*"))), 2)

    def test_switch_output_by_event(self):
        self.record("-e", "cpu-clock", "-a", "--switch-output-event", "sched:sched_process_exec", "-o", "u.data", "--",
                    *self.busy_until("/bin/true; ls u.data.2* 2>/dev/null"))
        self.assertGreater(len(list(self.path.glob("u.data.2*"))), 1)

    def test_delay_and_control(self):
        recorder = self.start("-e", "cpu-clock", "-D", "10-20,30-40", "-o", "perf.data", "--",
                              *self.busy_until("[ -e stop ]"))
        for _ in range(2):
            self.wait_for_line(recorder, "Events enabled")
        (self.path / "stop").touch()
        recorder.communicate(timeout=LONG)
        control, ack = self.path / "control", self.path / "ack"
        os.mkfifo(control)
        os.mkfifo(ack)
        recorder = self.start("-e", "cs", "-a", "-D", "-1", f"--control=fifo:{control},{ack}", "-o", "perf.data")
        answers = os.open(ack, os.O_RDWR)
        with open(control, "w") as commands:
            for word in ("ping", "enable", "disable", "evlist", "stop"):
                commands.write(word + "\n")
                commands.flush()
                self.assertEqual(os.read(answers, 16), b"ack\n", word)
        _, text = recorder.communicate(timeout=LONG)
        self.assertEqual(recorder.returncode, 0)
        self.assertIn("Events enabled", text)

    def test_many_tracepoints(self):
        self.record("-e", "syscalls:sys_enter_[a-f]*", "true")
        self.assertGreater(self.perf("evlist").count("syscalls:sys_enter_"), 20)

    # what the kernel brings

    def test_kcore(self):
        if not Path("/proc/kcore").exists():
            run = self.record("--kcore", "true", status=255)
            self.assertEqual(run.stderr, "ERROR: kcore is not readable: /proc/kcore: No such file or directory (this kernel was "
                                         "built without CONFIG_PROC_KCORE)\n")
            return
        self.record("--kcore", "-e", "cpu-clock", "-a", "--", *BUSY)
        self.assertEqual({file.name for file in (self.path / "perf.data/kcore_dir").iterdir()}, {"kallsyms", "modules", "kcore"})
        self.assertIn("[kernel.kallsyms]", self.perf("report", "--stdio", "-s", "dso,sym"))

    def test_symbols_of_a_copied_kernel(self):
        """A directory as --kcore creates it, but with symbols that can only come from it."""
        self.record("-e", "cpu-clock:k", "-F", 999, "dd", "if=/dev/zero", "of=/dev/null", "bs=64k", "count=20000")
        copy = self.path / "d.data/kcore_dir"
        copy.mkdir(parents=True)
        (self.path / "perf.data").rename(self.path / "d.data/data")
        text = next(line.split()[0] for line in Path("/proc/kallsyms").read_text().splitlines() if line.endswith(" _text"))
        (copy / "kallsyms").write_text(f"{text} T _text\n{text} T _stext\n{int(text, 16) + 64:x} T the_whole_kernel\n"
                                       f"{int(text, 16) + (1 << 28):x} T _etext\n")
        (copy / "modules").write_text("")
        report = ["report", "--stdio", "-s", "sym", "-i", "d.data"]
        ours = subprocess.run([SONDE, *report], cwd=self.path, text=True, capture_output=True, check=True).stdout
        self.assertIn("100.00%  [k] the_whole_kernel\n", re.sub(" +\n", "\n", ours))
        self.assertIn("[k] the_whole_kernel", self.perf(*report))

    def test_bpf_programs_that_are_loaded_meanwhile(self):
        recorder = self.start("-e", "cs", "-a", "-o", "perf.data", *self.busy_until("touch started; [ -e stop ]"))
        self.wait_for((self.path / "started").exists, "the command never started")
        program = load_bpf_program("sonde_test")
        self.addCleanup(os.close, program)
        self.assertGreater(program, 0)
        number = re.search(r"prog_id:\s+(\d+)", Path(f"/proc/self/fdinfo/{program}").read_text())[1]
        (self.path / "stop").touch()
        recorder.communicate(timeout=LONG)
        self.assertRegex(self.perf("report", "--header-only", "-I"), rf"(?m)^# bpf_prog_info {number}: .*_sonde_test ")

    def test_dry_run(self):
        self.record("--dry-run", "-e", "cs", "true")
        self.assertFalse((self.path / "perf.data").exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])  # ctest passes the build directory, which is not a test
