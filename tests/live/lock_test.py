#!/usr/bin/env python3
"""`lock` on this kernel: recordings and reports on them. Needs root."""
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

from own_directory import OwnDirectoryTest

SONDE = os.environ["SONDE"]
# Eight threads map and unmap memory of one process: they wait for its lock (mmap_lock, a rwsem).
# Threads that wait for each other's mappings, for 0.4 s of CPU time: on a busy machine that takes longer.
WAITERS = """
import mmap, threading, time
def work():
    while time.process_time() < 0.4:
        for _ in range(50):
            m = mmap.mmap(-1, 1 << 20); m[0] = 1; m.close()
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
LOAD = [sys.executable, "-c", WAITERS]


class LockTest(OwnDirectoryTest):
    def lock(self, *arguments, status=0):
        done = subprocess.run([SONDE, "lock", *arguments], cwd=self.path, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def test_a_recording_and_its_views(self):
        self.lock("record", "-o", "perf.data", "--", *LOAD)
        rows = self.lock("contention", "-x", ",", "-q").stdout.splitlines()
        callers = [row.split(", ") for row in rows]
        self.assertTrue(callers)
        for contended, total, longest, average, kind, caller in callers:
            self.assertGreaterEqual(int(total), int(longest))
            self.assertGreaterEqual(int(longest), int(average))
            self.assertNotEqual(kind, "unknown")
        threads = [row.split(", ") for row in self.lock("contention", "-t", "-x", ",", "-q").stdout.splitlines()]
        self.assertEqual(sum(int(row[1]) for row in threads), sum(int(row[1]) for row in callers))
        self.assertTrue(all(re.fullmatch(r"python[\d.]*|\S.*", row[5]) and not row[5].startswith(":") for row in threads), threads)
        self.assertIn("Thread ID: comm", self.lock("info", "-t").stdout)

    def test_filters(self):
        self.lock("record", "-o", "perf.data", "--", *LOAD)
        every = self.lock("contention", "-x", ",", "-q").stdout.splitlines()
        kinds = {row.split(", ")[4] for row in every}
        some = sorted(kinds)[0]
        rows = self.lock("contention", "-x", ",", "-q", "-Y", some).stdout.splitlines()
        self.assertEqual({row.split(", ")[4] for row in rows}, {some})

    def rows(self, *arguments):
        text = self.lock("contention", "-b", "-x", ",", "-q", *arguments, "--", *LOAD).stdout
        return [line.split(", ") for line in text.splitlines()]

    def test_measured_in_the_kernel(self):
        callers = self.rows()
        self.assertTrue(callers)
        for contended, total, longest, average, kind, caller in callers:
            self.assertGreater(int(contended), 0)
            self.assertGreaterEqual(int(total), int(longest))
            self.assertGreaterEqual(int(longest), int(average))
            self.assertNotEqual(kind, "unknown")
        # Neither the tracing itself nor the locks' own functions.
        named = [row[5].split("+")[0] for row in callers]
        self.assertFalse([name for name in named if name.startswith(("bpf_prog", "__traceiter")) or name == "_raw_spin_lock"], named)
        self.assertIn("rwsem:W", {row[4] for row in callers})

    def test_measured_by_thread_and_lock(self):
        threads = self.rows("-t")
        self.assertGreater(len(threads), 4)
        self.assertTrue(all(row[5].startswith("python") for row in threads), threads)
        locks = self.rows("-l", "-Y", "rwsem")
        self.assertTrue(locks)
        self.assertTrue(all(row[6].startswith("rwsem") for row in locks), locks)
        self.assertTrue(self.rows("-o", "-Y", "rwsem,mutex"))

    def test_measured_by_cgroup(self):
        mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
        mount = next((words[1] for words in mounts if words[2] == "cgroup2"), None)
        if mount is None: self.skipTest("no cgroup2 hierarchy is mounted")
        names = [f"sonde-lock-{os.getpid()}-{which}" for which in ("a", "b")]
        for name in names:
            os.mkdir(f"{mount}/{name}")
            self.addCleanup(os.rmdir, f"{mount}/{name}")
        (self.path / "load.py").write_text(WAITERS)
        in_cgroups = " & ".join(f"(echo 0 > {mount}/{name}/cgroup.procs; exec {sys.executable} load.py)" for name in names)
        load = ["sh", "-c", f"{in_cgroups}; wait"]
        measure = lambda *options: [line.split(", ") for line in self.lock("contention", "-b", "-x", ",", "-q", "-Y", "rwsem", *options,
                                                                           "--", *load).stdout.splitlines()]
        counts = {row[4]: int(row[0]) for row in measure("-g")}
        for name in names: self.assertGreater(counts.get(f"/{name}", 0), 0, counts)
        self.assertEqual({row[4] for row in measure("-g", "-G", names[0])}, {f"/{names[0]}"})
        self.assertIn("no access to cgroup", self.lock("contention", "-b", "-G", "none-of-that-name", "--", "true", status=129).stderr)

    def test_the_command_decides_the_status(self):
        self.lock("contention", "-b", "--", "sh", "-c", "exit 3", status=3)
        self.assertIn("No such file", self.lock("contention", "-b", "--", "/nonexistent/program", status=255).stderr)

    def test_a_recording_without_them(self):
        subprocess.run([SONDE, "record", "-q", "-o", self.path / "perf.data", "true"], check=True, capture_output=True)
        self.assertIn("neither lock:contention_begin nor lock:lock_acquire", self.lock("report", status=255).stderr)
        self.assertIn("no lock:contention_begin", self.lock("contention", status=255).stderr)


if __name__ == "__main__":
    unittest.main(argv=["lock"])
