#!/usr/bin/env python3
"""`stat` on this kernel: targets, how runs end, control, repetition, files. Numbers are compared with what the counted programs
are known to do. Needs root."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from own_directory import OwnDirectoryTest

SONDE = os.environ["SONDE"]
BUSY = ["sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"]


def perf_event_cgroups():
    """Where the hierarchy is mounted that events can belong to."""
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    for kind, option in (("cgroup", "perf_event"), ("cgroup2", "")):
        for mount in mounts:
            if mount[2] == kind and option in mount[3].split(",") + [""]:
                return Path(mount[1])
    return None


def open_files(pid):
    """What the descriptors of a process refer to."""
    links = []
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        try:
            links.append(os.readlink(entry))
        except OSError:
            pass  # closed meanwhile
    return links


class StatTest(OwnDirectoryTest):
    def stat(self, *arguments, status=0, timeout=120, **more):
        run = subprocess.run([SONDE, "stat", *map(str, arguments)], cwd=self.path, text=True, timeout=timeout,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
        self.assertEqual(run.returncode, status, run.stderr)
        return run.stderr

    def start(self, *arguments, **more):
        return subprocess.Popen([SONDE, "stat", *map(str, arguments)], cwd=self.path, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **more)

    def document(self, *arguments, **more):
        return json.loads(self.stat("--json=2", *arguments, **more))

    def values(self, document):
        return {count["event"]: count["value"] for count in document["counts"]}

    def wait_for(self, condition):
        deadline = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), deadline, "what was waited for did not come")
            time.sleep(0.01)

    # what is counted

    def test_a_table_without_any_number_is_an_error(self):
        # AMD's and Intel's counters have no such event; nor has a machine without counters.
        event = "stalled-cycles-backend"
        if "<not supported>" not in self.stat("-e", f"{event},cs", "--", "true"):
            self.skipTest(f"this machine counts {event}")
        error = self.stat("-e", event, "--", "true", status=255)
        self.assertIn(f"No supported events found: this machine does not count {event};", error)

    def test_events_of_one_pmu(self):
        shown = self.stat("--pmu-filter", "software", "-e", "software/config=3/,cs", "--", "true")
        self.assertEqual(2, len(re.findall(r"(?m)^ +\d+ +(?:software/config=3/|cs) ", shown)), shown)
        self.stat("--pmu-filter", "other", "-e", "software/config=3/", "--", "true", status=255)

    def test_counts_what_the_program_does(self):
        counts = self.values(self.document("-e", "syscalls:sys_enter_execve,syscalls:sys_enter_exit_group", "--", "sh",
                                           "-c", "/bin/true; /bin/true; /bin/true"))
        # The counters begin with the shell's own execve; its three children's are counted.
        self.assertEqual(counts["syscalls:sys_enter_execve"], 3)
        self.assertEqual(counts["syscalls:sys_enter_exit_group"], 4)

    def test_without_inheritance_children_are_left_out(self):
        counts = self.values(self.document("-i", "-e", "syscalls:sys_enter_exit_group", "--", "sh", "-c",
                                           "/bin/true; /bin/true; true"))
        self.assertEqual(counts["syscalls:sys_enter_exit_group"], 1)

    def test_a_filter_keeps_what_it_says(self):
        counts = self.values(self.document("-e", "sched:sched_process_exec", "--filter", 'filename ~ "*/true"', "--",
                                           "sh", "-c", "/bin/true; /bin/false; /bin/true; exit 0"))
        self.assertEqual(counts["sched:sched_process_exec"], 2)

    def test_many_tracepoints_at_a_time(self):
        text = self.stat("-x,", "-e", "syscalls:sys_enter_*", "--", "true")
        self.assertGreater(text.count("syscalls:sys_enter_"), 200)
        self.assertTrue(re.search(r"(?m)^1,,syscalls:sys_enter_exit_group,", text), "counted as alone")

    def test_system_calls_are_counted_by_one_program_as_by_an_event_each(self):
        command = ["sh", "-c", "cat /etc/passwd | cat; for i in 1 2 3; do /bin/true; done"]
        events = ",".join(f"syscalls:sys_{way}_{call}" for way in ("enter", "exit")
                          for call in ("execve", "openat", "close", "read", "write", "exit_group", "newfstat"))
        together = self.stat("-v", "-x,", "-e", events, "--", *command)
        refusal = re.search(r"cannot \w+ the BPF program.*(Operation not permitted|Permission denied).*", together)
        if refusal:
            self.skipTest("this machine forbids BPF: " + refusal.group())
        self.assertIn("One BPF program counts 14 system call events", together)
        # --control needs each event separately.
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        self.addCleanup(os.close, writer)
        alone = self.stat("-v", "-x,", f"--control=fd:{reader}", "-e", events, "--", *command, pass_fds=[reader])
        self.assertNotIn("BPF", alone)

        def counts(text):
            return {fields[2]: fields[0] for fields in (line.split(",") for line in text.splitlines()) if len(fields) > 4}
        self.assertEqual(counts(together), counts(alone))
        self.assertEqual(counts(together)["syscalls:sys_exit_exit_group"], "0")

    def test_system_calls_of_the_whole_machine_and_of_a_process(self):
        events = "syscalls:sys_enter_read,syscalls:sys_enter_write,syscalls:sys_enter_getpid,syscalls:sys_enter_getppid"
        for target in (["-a"], ["-a", "-A"], ["-C", "0"]):
            self.assertGreater(self.stat("-x,", *target, "-e", events, "--", *BUSY).count("syscalls:sys_enter_read"), 0)
        child = subprocess.Popen([sys.executable, "-c", "import os\nprint('ready', flush=True)\nwhile True: os.getppid()"],
                                 stdout=subprocess.PIPE, text=True)
        self.addCleanup(child.stdout.close)
        self.assertEqual(child.stdout.readline(), "ready\n")
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        counts = self.values(self.document("-p", child.pid, "-e", events, "--", *BUSY))
        self.assertGreater(counts["syscalls:sys_enter_getppid"], 0)
        self.assertEqual(counts["syscalls:sys_enter_getpid"], 0)

    def test_a_killed_stat_leaves_no_program_behind(self):
        def programs():
            listed = subprocess.run(["bpftool", "prog", "list", "-j"], text=True, capture_output=True)
            return {each["id"] for each in json.loads(listed.stdout) if each.get("name") in ("on_enter", "on_exit")}
        if not shutil.which("bpftool"):
            self.skipTest("no bpftool to see programs with")
        if "One BPF program" not in self.stat("-v", "-e", "syscalls:sys_enter_*", "true"):
            self.skipTest("this machine forbids BPF")
        before = programs()
        counter = self.start("-a", "-e", "syscalls:sys_enter_*")
        self.wait_for(lambda: programs() - before)
        counter.kill()
        counter.communicate()
        self.wait_for(lambda: not programs() - before)

    def test_a_program_at_task_switches_counts_as_counters_of_tasks(self):
        command = ["sh", "-c", "for i in 1 2 3 4; do cat /etc/passwd > /dev/null & done; wait; exit 0"]
        events = "syscalls:sys_enter_read,syscalls:sys_enter_openat,page-faults,task-clock"
        text = self.stat("-v", "--json=2", "--bpf-counters", "-e", events, "--", *command)
        refusal = re.search(r".*counted without a BPF program", text)
        if refusal:
            self.skipTest("this machine forbids BPF: " + refusal.group())
        self.assertIn("One BPF program counts 4 events at switches of tasks\n", text)
        by_program = self.values(json.loads(text[text.index("{"):]))
        plainly = self.values(self.document("-e", events, "--", *command))
        for event in ("syscalls:sys_enter_read", "syscalls:sys_enter_openat"):
            self.assertEqual(by_program[event], plainly[event])
        self.assertLess(abs(by_program["page-faults"] - plainly["page-faults"]), 0.5 * plainly["page-faults"])
        self.assertGreater(by_program["task-clock"], 0)

    def test_a_program_counts_tasks_that_run_already(self):
        busy = subprocess.Popen([sys.executable, "-c", "import os\nprint('ready', flush=True)\nwhile True: os.getppid()"],
                                stdout=subprocess.PIPE, text=True)
        self.addCleanup(busy.stdout.close)
        self.addCleanup(busy.wait)
        self.addCleanup(busy.kill)
        self.assertEqual(busy.stdout.readline(), "ready\n")
        started = time.monotonic()
        document = self.document("--bpf-counters", "-p", busy.pid, "-e",
                                 "syscalls:sys_enter_getppid,syscalls:sys_enter_getpid,task-clock", "--", *BUSY)
        counts = self.values(document)
        self.assertGreater(counts["syscalls:sys_enter_getppid"], 0)
        self.assertEqual(counts["syscalls:sys_enter_getpid"], 0)
        # What it did before is not counted.
        self.assertLessEqual(counts["task-clock"], 1000 * (time.monotonic() - started))

    def test_events_may_ask_for_a_program_one_by_one(self):
        text = self.stat("-v", "-e", "minor-faults:b,{page-faults:b,cs:b},minor-faults", "--", *BUSY)
        if "counted without a BPF program" in text:
            self.skipTest("this machine forbids BPF")
        self.assertIn("One BPF program counts 3 events at switches of tasks\n", text)
        self.assertIn("CPUs are counted as a whole without a BPF program",
                      self.stat("-v", "-a", "--bpf-counters", "-e", "page-faults", "true"))

    def shared(self, script, **more):
        """A shell script in which bpffs is mounted at ./bpffs, and `count EVENTS COMMAND` counts with the map ./bpffs/map."""
        (self.path / "bpffs").mkdir(exist_ok=True)
        head = f'mount -t bpf bpf bpffs || exit 77\ncount() {{ {SONDE} stat -v --json=2 --bpf-counters --bpf-attr-map bpffs/map -e "$@"; }}\n'
        run = subprocess.run(["unshare", "-m", "sh", "-c", head + script], cwd=self.path, text=True, timeout=120,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
        if run.returncode == 77 or "forbids" in run.stderr or "need root" in run.stderr:
            self.skipTest("this machine forbids bpffs or BPF: " + run.stderr)
        return run

    def test_tools_share_their_counters(self):
        program = "import os\nfor i in range(1234): os.getppid()"
        (self.path / "program.py").write_text(program)
        command = f"{sys.executable} -S program.py"
        events = "syscalls:sys_enter_getppid,syscalls:sys_enter_getpgid,page-faults"
        # The first lives until the second has begun, and the second counts on after it has gone.
        run = self.shared(f"""
mkfifo begun ended
(count {events} -- cat begun 2> first) &
first=$!
until bpftool map dump pinned bpffs/map 2> /dev/null | grep -q 'Found 3 elements'; do sleep 0.05; done
(count {events} -- sh -c 'echo > begun; read line < ended; {command}' 2> second) &
second=$!
wait $first || exit 1
echo > ended
wait $second
""")
        self.assertEqual(run.returncode, 0, run.stderr)
        first, second = ((self.path / name).read_text() for name in ("first", "second"))
        self.assertRegex(first, r"counts 3 events at switches of tasks\n")
        self.assertRegex(second, r"counts 3 events at switches of tasks, 3 of them with counters that another tool has opened\n")
        counts = self.values(json.loads(second[second.index("{"):]))
        plainly = self.values(self.document("-e", events, "--", "sh", "-c", command))
        self.assertGreaterEqual(counts["syscalls:sys_enter_getppid"], 1234)
        self.assertEqual(counts["syscalls:sys_enter_getppid"], plainly["syscalls:sys_enter_getppid"])
        self.assertEqual(counts["syscalls:sys_enter_getpgid"], plainly["syscalls:sys_enter_getpgid"])

    def test_more_events_than_the_shared_table_has_room_for(self):
        kinds = "page-faults minor-faults major-faults cs migrations alignment-faults emulation-faults cpu-clock task-clock dummy"
        names = [f"{name}:{mode}" for name in kinds.split() for mode in "uk"] + ["page-faults"]
        run = self.shared(f"count {','.join(names)} -- true; bpftool map dump pinned bpffs/map | tail -1")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stdout, "Found 16 elements\n")
        counts = self.values(json.loads(run.stderr[run.stderr.index("{"):]))
        self.assertGreater(counts["page-faults"], 0)
        self.assertEqual(counts["page-faults:u"] + counts["page-faults:k"], counts["page-faults"])

    def test_other_maps_are_not_taken_for_the_table(self):
        run = self.shared("bpftool map create bpffs/map type array key 4 value 4 entries 1 name other; count cs true")
        self.assertEqual(run.returncode, 255)
        self.assertRegex(run.stderr, r"bpffs/map is not a map from attrs of \d+ bytes to ids: .*; remove it or give another --bpf-attr-map")
        run = self.shared(f"{SONDE} stat --bpf-counters --bpf-attr-map map -e cs true")
        self.assertRegex(run.stderr, "cannot make the map map: .*: the directory must be a mounted bpffs")

    def test_a_group_is_one(self):
        document = self.document("-e", "{page-faults,minor-faults,major-faults}", "--", *BUSY)
        counts = self.values(document)
        self.assertEqual(counts["page-faults"], counts["minor-faults"] + counts["major-faults"])
        self.assertEqual(len({count["enabled_ns"] for count in document["counts"]}), 1, "read at one moment")

    def test_a_group_with_a_member_that_is_missing_counts(self):
        document = self.document("-e", "{page-faults,r1ffff}", "--", "true")
        self.assertGreater(self.values(document)["page-faults"], 0)

    def test_modes_exclude_the_other(self):
        counts = self.values(self.document("-e", "page-faults:u,page-faults:k,page-faults", "--", "true"))
        self.assertEqual(counts["page-faults:u"] + counts["page-faults:k"], counts["page-faults"])

    def test_times_of_the_tool(self):
        document = self.document("-e", "duration_time,user_time,system_time", "--", *BUSY)
        counts = self.values(document)
        self.assertAlmostEqual(counts["duration_time"] * 1e-9, document["elapsed_s"]["mean"], places=6)
        self.assertGreater((counts["user_time"] or 0) + (counts["system_time"] or 0), 0)

    # targets

    def test_a_running_process(self):
        with subprocess.Popen(["sh", "-c", "while :; do /bin/true; done"]) as busy:
            try:
                counts = self.values(self.document("-p", busy.pid, "-e", "page-faults", "--", "sleep", "0.3"))
            finally:
                busy.kill()
        self.assertGreater(counts["page-faults"], 0)

    def test_ends_with_the_process_that_it_watches(self):
        with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as cat:
            run = self.start("-p", cat.pid, "-e", "task-clock")
            self.wait_for(lambda: "anon_inode:[perf_event]" in open_files(run.pid))
            cat.stdin.close()
            cat.wait()
            _, text = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 0, text)
        self.assertIn(f"for process id '{cat.pid}'", text)

    def test_threads_apart(self):
        program = "import os,threading\nfor i in range(2): threading.Thread(target=os.read, args=(0, 1)).start()"
        with subprocess.Popen(["python3", "-c", program], stdin=subprocess.PIPE) as process:
            self.wait_for(lambda: len(os.listdir(f"/proc/{process.pid}/task")) == 3)
            document = self.document("--per-thread", "-p", process.pid, "-e", "task-clock", "--", "sleep", "0.1")
        self.assertEqual(len(document["counts"]), 3)
        self.assertEqual(len({count["thread"]["tid"] for count in document["counts"]}), 3)

    def test_every_grouping_sums_to_the_whole(self):
        cpus = os.cpu_count()
        for mode in ("-A", "--per-core", "--per-cluster", "--per-die", "--per-socket", "--per-node", "--per-cache"):
            started = time.monotonic()
            document = self.document("-a", mode, "-e", "cpu-clock", "--", "sleep", "0.1")
            # Counters run a little longer than the command, and shorter than the tool.
            total = sum(count["value"] for count in document["counts"]) / 1000
            self.assertGreater(total, 0.5 * cpus * document["elapsed_s"]["mean"], mode)
            self.assertLess(total, cpus * (time.monotonic() - started), mode)
            if mode != "-A":
                self.assertEqual(sum(count["cpus"] for count in document["counts"]), cpus)

    def test_one_cpu(self):
        self.assertIn("for 'CPU(s) 0'", self.stat("-C", "0", "-e", "cpu-clock", "--", "true"))
        self.assertIn("CPU 9999 is not online", self.stat("-C", "9999", "--", "true", status=255))

    def test_cgroups(self):
        mount = perf_event_cgroups()
        if not mount:
            self.skipTest("no cgroup hierarchy for events")
        groups = [mount / "sonde_stat_a", mount / "sonde_stat_b"]
        for group in groups:
            group.mkdir(exist_ok=True)
            self.addCleanup(group.rmdir)
        command = ["sh", "-c", f"echo $$ > {groups[0]}/cgroup.procs; {BUSY[2]}; echo $$ > {mount}/cgroup.procs"]
        document = self.document("-a", "-e", "task-clock", "--for-each-cgroup", "sonde_stat_[ab]", "--", *command)
        self.assertEqual([count["cgroup"] for count in document["counts"]], ["sonde_stat_a", "sonde_stat_b"])
        self.assertEqual([count["status"] for count in document["counts"]], ["counted", "not counted"])
        text = self.stat("-a", "-e", "task-clock", "-G", "sonde_stat_a", "--", *command)
        self.assertRegex(text, r"msec task-clock +sonde_stat_a # ")

    # how it ends

    def test_status_is_the_commands(self):
        self.stat("-e", "cs", "--", "sh", "-c", "exit 7", status=7)
        self.stat("-e", "cs", "--", "sh", "-c", "kill -TERM $$", status=-signal.SIGTERM)
        self.assertEqual(self.stat("-e", "cs", "--", "/nonexistent", status=255),
                         "cannot run '/nonexistent': No such file or directory\n")

    def test_interrupted_it_shows_what_it_has(self):
        run = self.start("-e", "task-clock", "--", "sleep", "60")
        self.wait_for(lambda: Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().strip() != "")
        child = int(Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()[0])
        self.wait_for(lambda: Path(f"/proc/{child}/comm").read_text() == "sleep\n")
        run.send_signal(signal.SIGINT)
        _, text = run.communicate(timeout=60)
        self.assertEqual(run.returncode, -signal.SIGINT)
        self.assertIn("msec task-clock", text)
        self.assertFalse(Path(f"/proc/{child}").exists(), "the command does not outlive its measurement")

    def test_timeout(self):
        text = self.stat("--timeout", "150", "-e", "task-clock", "--", "sleep", "60")
        self.assertIn("sleep: Terminated", text)

    # repetition and intervals

    def test_runs_have_mean_and_error(self):
        document = self.document("-r", "4", "-e", "page-faults,syscalls:sys_enter_exit_group", "--", "true")
        faults, exits = document["counts"]
        self.assertEqual(len(faults["runs"]), 4)
        self.assertAlmostEqual(faults["value"], sum(faults["runs"]) / 4)
        self.assertEqual((exits["runs"], exits["error_percent"]), ([1, 1, 1, 1], 0))
        self.assertEqual(len(document["elapsed_s"]["runs"]), 4)
        self.assertIn("(4 runs)", self.stat("-r", "4", "-e", "cs", "--", "true"))

    def test_a_table_of_runs_has_the_final_mean(self):
        text = self.stat("-r", "4", "--table", "-e", "cs", "--", "true")
        runs = [(float(time), float(off)) for time, off in re.findall(r"^ +([\d.]+) \(([-+][\d.]+)\) #", text, re.M)]
        shown = re.search(r"^ +([\d.]+) \+- [\d.]+ seconds time elapsed", text, re.M)[1]
        mean, last_digit = float(shown), 10.0 ** -len(shown.split(".")[1])
        self.assertEqual(len(runs), 4)
        self.assertAlmostEqual(sum(time for time, _ in runs) / 4, mean, delta=2 * last_digit)
        for time, off in runs:
            self.assertAlmostEqual(time - mean, off, delta=2 * last_digit)

    def test_forever_until_interrupted(self):
        run = self.start("-r", "0", "-e", "page-faults", "--", "sleep", "0.05")
        lines = []
        while sum("Performance counter stats" in line for line in lines) < 3:
            lines.append(run.stderr.readline())
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=60)
        self.assertEqual(run.returncode, -signal.SIGINT)

    def test_intervals_add_up(self):
        text = self.stat("-x,", "-I", "20", "--summary", "-e", "page-faults", "--", "sh", "-c",
                         "/bin/true; sleep 0.1; /bin/true; sleep 0.1; /bin/true")
        rows = [line.split(",") for line in text.splitlines()]
        parts = [int(row[1]) for row in rows if row[0].strip() != "summary" and row[1] != "<not counted>"]
        whole = [int(row[1]) for row in rows if row[0].strip() == "summary"]
        self.assertEqual(sum(parts), whole[0])
        times = [float(row[0]) for row in rows if row[0].strip() != "summary"]
        self.assertEqual(times, sorted(times))

    def test_before_and_after_each_run(self):
        self.stat("-r", "2", "--pre", "echo pre >> log", "--post", "echo post >> log", "--sync", "-e", "cs", "--", "sh",
                  "-c", "echo run >> log")
        self.assertEqual((self.path / "log").read_text().split(), ["pre", "run", "post"] * 2)
        self.assertIn("'exit 3' failed with status 3",
                      self.stat("--pre", "exit 3", "-e", "cs", "--", "true", status=255))

    # control

    def test_delayed_counts_start_late(self):
        text = self.stat("-D", "-1", "-x,", "-e", "page-faults", "--", "true")
        self.assertIn("Events disabled", text)
        self.assertIn("<not counted>,,page-faults", text)
        self.assertIn("Events enabled", self.stat("-D", "10", "-e", "page-faults", "--", "sleep", "2"))

    def test_time_begins_after_the_delay(self):
        started = time.monotonic()
        text = self.stat("--json=2", "-D", "300", "-e", "duration_time", "--", "sleep", "1")
        document = json.loads(text[text.index("{"):])
        whole = time.monotonic() - started
        self.assertLess(document["elapsed_s"]["mean"], whole - 0.3)
        self.assertAlmostEqual(document["counts"][0]["value"] / 1e9, document["elapsed_s"]["mean"], delta=0.001)

    def test_counts_in_a_pipe_as_script_prints_them(self):
        piped = subprocess.run([SONDE, "stat", "record", "-o", "-", "-e", "task-clock", "--", "true"], cwd=self.path,
                               capture_output=True, check=True).stdout
        lines = subprocess.run([SONDE, "script", "-i", "-"], input=piped, capture_output=True, check=True).stdout.decode()
        self.assertRegex(lines, r"^CPU +THREAD +VAL +ENA +RUN +TIME EVENT\n +-1 +\d+ +\d+ +\d+ +\d+ +\d+ task-clock\n$")

    def test_control_switches_on_and_off(self):
        control, ack = self.path / "control", self.path / "ack"
        os.mkfifo(control)
        os.mkfifo(ack)
        run = self.start("-D", "-1", "-a", "-x,", "-e", "cpu-clock", "--control", f"fifo:{control},{ack}")
        writer = os.open(control, os.O_WRONLY)
        reader = os.open(ack, os.O_RDONLY)

        def order(word):
            os.write(writer, f"{word}\n".encode())
            answer = b""
            while not answer.endswith(b"\n"):
                answer += os.read(reader, 64)
            self.assertTrue(answer.startswith(b"ack"))

        order("ping")
        order("enable")
        order("disable")
        order("evlist")
        os.write(writer, b"stop\n")
        _, text = run.communicate(timeout=60)
        os.close(writer)
        os.close(reader)
        self.assertEqual(run.returncode, 0, text)
        self.assertRegex(text, r"(?m)^\d+\.\d\d,msec,cpu-clock")
        self.assertEqual(re.findall(r"Events \w+", text), ["Events disabled", "Events enabled", "Events disabled"])

    # output

    def test_output_goes_where_it_is_told(self):
        self.assertEqual(self.stat("-o", "out", "-e", "cs", "--", "true"), "")
        first = (self.path / "out").read_text()
        self.assertTrue(first.startswith("# started on "))
        self.stat("-o", "out", "--append", "-e", "cs", "--", "true")
        both = (self.path / "out").read_text()
        self.assertTrue(both.startswith(first))
        self.stat("-j", "-o", "out", "-e", "cs", "--", "true")
        self.assertEqual(json.loads((self.path / "out").read_text())["event"], "cs")
        self.assertEqual(both.count("Performance counter stats"), 2)
        reader, writer = os.pipe()
        self.assertEqual(self.stat("--log-fd", writer, "-e", "cs", "--", "true", pass_fds=[writer]), "")
        os.close(writer)
        with os.fdopen(reader) as pipe:
            self.assertIn("cs", pipe.read())
        self.assertEqual(self.stat("--quiet", "-e", "cs", "--", "true"), "")

    def test_metrics_by_name(self):
        text = self.stat("-M", "cpus_utilized", "--metric-only", "-x,", "--", "true")
        self.assertNotIn("task-clock", text)
        document = self.document("-M", "insn_per_cycle,ghz", "--", "true")
        self.assertEqual({count["event"] for count in document["counts"]}, {"instructions", "cycles", "task-clock"})
        self.assertIn("Cannot find metric or group `no'", self.stat("-M", "no", "--", "true", status=129))

    def test_metrics_by_name_are_shown_alone_too(self):
        for metric in ("cpus_utilized", "cs_per_second", "migrations_per_second", "page_faults_per_second"):
            document = self.document("-M", metric, "--", "true")
            self.assertEqual([one["name"] for count in document["counts"] for one in count["metrics"]], [metric])
            alone = json.loads(self.stat("-M", metric, "--metric-only", "-j", "--", "true"))
            self.assertEqual(len(alone), 1, metric)
            self.assertGreaterEqual(float(next(iter(alone.values()))), 0, metric)
        titles, values = self.stat("-M", "software", "--metric-only", "-x,", "--", "true").splitlines()
        self.assertEqual(titles, "CPUs utilized,context-switches/sec,cpu-migrations/sec,page-faults/sec,")
        self.assertRegex(values, r"^([\d.]+,){4}$")
        self.assertRegex(self.stat("-M", "page_faults_per_second", "--metric-only", "--", "true"),
                         r" page-faults/sec \n +[\d.]+ \n")

    def test_a_recording_tells_the_same(self):
        text = self.stat("record", "-o", "counts.data", "-e", "page-faults,task-clock", "--", "true")
        shown = self.stat("report", "-i", "counts.data")
        ours = re.findall(r"(?m)^ +([\d.]+) .*(page-faults|task-clock)", text)
        self.assertEqual(len(ours), 2)
        self.assertEqual(re.findall(r"(?m)^ +([\d.]+) .*(page-faults|task-clock)", shown), ours)
        piped = subprocess.run(f"{SONDE} stat record -e page-faults true 2>/dev/null | {SONDE} stat report -i -",
                               shell=True, cwd=self.path, text=True, stderr=subprocess.PIPE, check=True)
        self.assertRegex(piped.stderr, r"\d+ +page-faults")

    def test_a_recording_has_the_tools_own_times(self):
        names = "duration_time,user_time,system_time,page-faults"

        def numbers(text):
            return re.findall(rf"(?m)^ +(\d+|<not counted>) +(?:ns )? *({names.replace(',', '|')})\b", text)
        for target in ([], ["-a"], ["-C", "0"]):
            text = self.stat("record", "-o", "own.data", *target, "-e", names, "--", *BUSY)
            shown = self.stat("report", "-i", "own.data")
            self.assertNotIn("skipped", shown)
            self.assertEqual([name for _, name in numbers(shown)], names.split(","), shown)
            self.assertEqual(numbers(shown), numbers(text))
            self.assertGreater(int(numbers(shown)[0][0]), 0)
        lines = subprocess.run([SONDE, "script", "-i", "own.data"], cwd=self.path, text=True, capture_output=True,
                               check=True).stdout
        self.assertRegex(lines, r"(?m)^  0 +-1 +[1-9]\d* +\d+ +\d+ +\d+ duration_time$")

    def test_what_the_tools_own_time_leads_is_counted(self):
        document = self.document("-e", "{duration_time,page-faults}", "--", *BUSY)
        self.assertEqual([count["status"] for count in document["counts"]], ["counted"] * 2)
        self.assertGreater(document["counts"][1]["value"], 0)

    def test_damaged_recordings_are_an_error_or_a_loss(self):
        self.stat("record", "-o", "counts.data", "-a", "-I", "10", "-e", "cs,cpu-clock", "--", "sleep", "0.1")
        whole = (self.path / "counts.data").read_bytes()
        for at in range(0, len(whole), max(1, len(whole) // 60)):
            for damaged in (whole[:at], whole[:at] + b"\xff" * 8 + whole[at + 8:]):
                (self.path / "damaged.data").write_bytes(damaged)
                run = subprocess.run([SONDE, "stat", "report", "--per-core", "-i", "damaged.data"], cwd=self.path,
                                     capture_output=True, timeout=60)
                self.assertIn(run.returncode, (0, 1, 255), run.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])  # ctest passes the build directory, which is not a test
