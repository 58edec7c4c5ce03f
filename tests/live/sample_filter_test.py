#!/usr/bin/env python3
"""`record --filter` of events that are not tracepoints, on this kernel: a program keeps the samples that another event of the same run
says it should, and counts the others. Needs root."""
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

SONDE = os.environ["SONDE"]
# Addresses are the same in every run.
LOAD = ["setarch", "-R", "python3", "-c", "x = [bytes(5000) for i in range(500)]"]
# On two CPUs, one after the other; otherwise the scheduler might move it between the two events of a fault.
FIRST, OTHER = (sorted(os.sched_getaffinity(0)) * 2)[:2]
TWO_CPUS = ["sh", "-c", f"{shlex.join(LOAD)}; taskset -cp {OTHER} $$ > /dev/null; exec {shlex.join(LOAD)}"]
# A fault is a page fault, and either minor or major: the kernel counts it twice.
ALL = ["-e", "minor-faults:u", "-e", "major-faults:u"]


class SampleFilterTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.path = Path(directory.name)

    def record(self, *options, load=LOAD, status=0, launcher=()):
        done = subprocess.run([*launcher, SONDE, "record", "-N", "-o", "samples.data", *options, "--", *load], cwd=self.path,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr

    def samples(self):
        """[(event, pid, tid, cpu, time, addr, ip)]"""
        done = subprocess.run([SONDE, "script", "-i", "samples.data", "--ns", "-F", "event,pid,tid,cpu,time,addr,ip"], cwd=self.path,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
        found = []
        for line in done.stdout.splitlines():
            match = re.match(r" *(\d+)/(\d+) +\[(\d+)\] +(\d+)\.(\d+): +(\S+): +([0-9a-f]+) +([0-9a-f]+)", line)
            self.assertTrue(match, line)
            pid, tid, cpu, seconds, ns, event, addr, ip = match.groups()
            found.append((event.rstrip(":"), int(pid), int(tid), int(cpu), int(seconds) * 10**9 + int(ns), int(addr, 16), int(ip, 16)))
        return found

    def test_samples_are_kept_as_another_event_says(self):
        self.record("-q", "-d", "-T", "--sample-cpu", "-c", "1", *ALL)
        before = self.samples()
        addr = sorted(sample[5] for sample in before)[len(before) // 2]
        ip = sorted(sample[6] for sample in before)[len(before) // 2]
        for text, keeps in ((f"addr > {addr:#x}", lambda pid, tid, cpu, time, a, i: a > addr),
                            (f"ip<={ip}", lambda pid, tid, cpu, time, a, i: i <= ip),
                            (f"ip > {ip:#x} || addr <= {addr}, cpu != {OTHER}",
                             lambda pid, tid, cpu, time, a, i: (i > ip or a <= addr) and cpu != OTHER),
                            (f"addr & 0x1000, period == 1, uid == 0, gid == 0, time > 0", lambda pid, tid, cpu, time, a, i: a & 0x1000),
                            ("tid == 1 || pid == 1", lambda *values: False)):
            with self.subTest(text):
                said = self.record("-d", "-T", "--sample-cpu", "-c", "1", "-e", "page-faults:u", "--filter", text, *ALL,
                                   **({"launcher": ["taskset", "-c", str(FIRST)], "load": TWO_CPUS} if "cpu" in text else {}))
                samples = self.samples()
                everything = [values for event, *values in samples if not event.startswith("page-faults")]
                kept = [values[4:] for event, *values in samples if event.startswith("page-faults")]
                self.assertGreater(len(everything), 100)
                self.assertEqual(sorted(kept), sorted(values[4:] for values in everything if keeps(*values)))
                dropped = int(re.search(r"--filter '.*' dropped (\d+) samples", said)[1])
                self.assertEqual(len(kept) + dropped, len(everything))

    def test_sampling_by_frequency(self):
        said = self.record("-F", "2000", "-e", "cpu-clock", "--filter", "ip >= 0x8000000000000000",
                           load=["dd", "if=/dev/zero", "of=/dev/null", "bs=64k", "count=20000"])
        self.assertIn("dropped", said)
        done = subprocess.run([SONDE, "script", "-i", "samples.data", "-F", "ip"], cwd=self.path, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=True)
        for ip in done.stdout.split():
            self.assertGreaterEqual(int(ip, 16), 1 << 63)

    def test_what_a_user_runs(self):
        """Also what starts later; others' samples are none of it."""
        script = "(while :; do :; done) & setpriv --reuid 65534 --clear-groups sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'; kill $!"
        said = self.record("-u", "65534", "-e", "cpu-clock", "-F", "999", load=["sh", "-c", script])
        self.assertRegex(said, r"--filter 'uid == 65534' dropped [1-9]\d* samples")
        done = subprocess.run([SONDE, "script", "-i", "samples.data", "-F", "comm,pid", "--show-task-events"], cwd=self.path,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
        users = [line for line in done.stdout.splitlines() if "PERF_RECORD" not in line]
        self.assertGreater(len(users), 0)
        # setpriv is the user from its last step on, the shell that it executes always is.
        self.assertLessEqual({line.split()[0] for line in users}, {"sh", "setpriv"})
        self.assertEqual(len({line.split()[1] for line in users}), 1, users)

    def test_a_users_tracepoints_are_those_of_now(self):
        sleeper = subprocess.Popen(["setpriv", "--reuid", "65534", "--clear-groups", "sleep", "600"])
        self.addCleanup(sleeper.wait)
        self.addCleanup(sleeper.kill)
        while "65534" not in re.search(r"^Uid:.*", Path(f"/proc/{sleeper.pid}/status").read_text(), re.M)[0]:
            time.sleep(0.01)
        said = self.record("-u", "65534", "-e", "sched:sched_switch", load=["true"])
        self.assertIn("-u 65534: only what the user runs now is recorded, and what that starts: samples of sched:sched_switch cannot", said)

    # --- users without privilege, by the program that root pinned ---

    def as_nobody(self, *words, pinned=True, after="true"):
        """With a BPF file system of its own, which is gone afterwards."""
        os.chmod(self.path, 0o777)
        (self.path / "samples.data").unlink(missing_ok=True)
        command = shlex.join(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", SONDE, "record", "-N", "-o", "samples.data", *words])
        pin = f"{SONDE} record --setup-filter pin || exit 99" if pinned else "true"
        script = f"mount -t bpf -o mode=0700 bpf /sys/fs/bpf || exit 98; {pin}; {command}; status=$?; {after} || exit 97; exit $status"
        return subprocess.run(["unshare", "-m", "sh", "-c", script], cwd=self.path, stdin=subprocess.DEVNULL, capture_output=True, text=True)

    def test_users_filter_by_what_root_pinned(self):
        empty = ("test $(bpftool -j map dump pinned /sys/fs/bpf/sonde_filter/filters | tr -d ' \\n') = '[]' && "
                 "test $(bpftool -j map dump pinned /sys/fs/bpf/sonde_filter/events | tr -d ' \\n') = '[]'")
        before = self.loaded_filters()
        done = self.as_nobody("-T", "-c", "1", "-e", "page-faults:u", "--filter", "ip & 0x1000, uid == 65534", *ALL, "--", *LOAD,
                              after=empty)
        self.assertEqual(done.returncode, 0, done.stderr)
        samples = self.fields("event,ip")
        everything = [int(ip, 16) for event, ip in samples if not event.startswith("page-faults")]
        kept = [int(ip, 16) for event, ip in samples if event.startswith("page-faults")]
        self.assertGreater(len(kept), 20)
        self.assertEqual(sorted(kept), sorted(ip for ip in everything if ip & 0x1000))
        dropped = int(re.search(r"--filter '.*' dropped (\d+) samples", done.stderr)[1])
        self.assertEqual(len(kept) + dropped, len(everything))
        deadline = time.monotonic() + 60
        while self.loaded_filters() != before and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(self.loaded_filters(), before)

    def fields(self, names):
        done = subprocess.run([SONDE, "script", "--force", "-i", "samples.data", "-F", names], cwd=self.path, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=True)
        return [[word.rstrip(":") for word in line.split()] for line in done.stdout.splitlines()]

    @staticmethod
    def loaded_filters():
        return subprocess.run(["bpftool", "prog", "show"], capture_output=True, text=True, check=True).stdout.count("name on_shared_sam")

    def test_users_are_told_what_root_could_do(self):
        done = self.as_nobody("-e", "page-faults:u", "--filter", "cpu == 0", "--", "true", pinned=False)
        self.assertEqual(done.returncode, 255, done.stderr)
        self.assertIn("this needs root, or CAP_BPF and CAP_PERFMON; or root runs 'record --setup-filter pin' once", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        removed = self.as_nobody("-e", "page-faults:u", "--filter", "cpu == 0", "--", "true",
                                 after=f"{SONDE} record --setup-filter unpin && test ! -e /sys/fs/bpf/sonde_filter")
        self.assertEqual(removed.returncode, 0, removed.stderr)

    def test_pinning_says_what_is_in_its_way(self):
        again = f"{SONDE} record --setup-filter pin"
        for script, said in (("true", "mount -t bpf bpf /sys/fs/bpf"), ("mount -t bpf bpf /sys/fs/bpf; " + again, "is there already"),
                             ("mount -t bpf bpf /sys/fs/bpf; exec " + again.replace("pin", "unpin"), "nothing is pinned in /sys/fs/bpf/sonde_filter")):
            mounted = "umount /sys/fs/bpf 2>/dev/null; " + script
            done = subprocess.run(["unshare", "-m", "sh", "-c", f"{mounted}; {again}"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(said, done.stderr)

    def test_errors(self):
        for words, said in ((["-e", "cpu-clock", "--filter", "perod > 1"], "expected one of pid tid"),
                            (["-e", "cpu-clock", "--filter", "addr > 1"], "does not sample 'addr': -d"),
                            (["-e", "cpu-clock", "--filter", "mem_op == load"], "'mem record'"),
                            (["-e", "cpu-clock,sched:sched_switch", "--filter", "cpu == 1"], "give them a -e each"),
                            (["-e", "cpu-clock", "--filter", "cpu == 1", "--filter", "pid == 1"], "with a comma")):
            with self.subTest(words):
                done = subprocess.run([SONDE, "record", "-o", "samples.data", *words, "--", "true"], cwd=self.path, stdin=subprocess.DEVNULL,
                                      capture_output=True, text=True)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(said, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])  # ctest passes the build directory, which is not a test
