#!/usr/bin/env python3
"""Sonde's BPF programs where something goes wrong around them: no type information, full maps, storms of processes, code that comes
and goes, a recorder that is killed. Either it works, or a line says what does not; nothing is missing without a count. Needs root
and a compiler."""
import json
import os
import re
import subprocess
import sys
import time
import unittest
from pathlib import Path

from own_directory import OwnDirectoryTest

SONDE = os.environ["SONDE"]
LONGEST_S = 120  # for anything to happen

# Every command that loads programs, without a target.
COMMANDS = {
    "off-cpu": ["record", "-N", "-o", "perf.data", "-e", "cpu-clock", "--off-cpu", "-a"],
    "futex": ["record", "-N", "-o", "perf.data", "-e", "cpu-clock", "--futex", "-a"],
    "aggregate": ["record", "-N", "-o", "perf.data", "-e", "cpu-clock", "--aggregate", "-a"],
    "unwinding": ["record", "-N", "-o", "perf.data", "-e", "cpu-clock", "--call-graph", "bpf", "-a"],
    "filter": ["record", "-N", "-o", "perf.data", "-e", "cpu-clock", "--filter", "cpu == 0", "-a"],
    "histogram": ["histogram", "syscalls:sys_exit_read", "ret"],
    "scheduler": ["sched", "record", "--summary", "-a", "-o", "perf.data"],
    "locks": ["lock", "contention", "-b", "-a"],
    "work": ["kwork", "report", "-b", "-k", "sched"],
    "calls": ["trace", "-s", "-a"],
}
# Whose programs look into the kernel's structures.
NEED_TYPES = {"off-cpu", "futex", "unwinding", "filter", "histogram", "scheduler", "locks", "work"}

# Each of 2^14 paths through the recursion touches a new page: as many page faults, each with a call chain of its own.
CHAINS = """
#include <stdlib.h>
#include <sys/mman.h>
enum { DEPTH = 14, PAGES = 1 << DEPTH };
static volatile char* next;
#define FRAME volatile void* frame __attribute__((unused)) = __builtin_frame_address(0)
__attribute__((noinline)) void touch(void) { FRAME; *next = 1; next += 4096; }
__attribute__((noinline)) void left(int depth);
__attribute__((noinline)) void right(int depth);
void both(int depth) { FRAME; if (depth == DEPTH) touch(); else { left(depth + 1); right(depth + 1); } }
void left(int depth) { FRAME; both(depth); }
void right(int depth) { FRAME; both(depth); }
int main(void) {
  char* pages = mmap(NULL, PAGES * 4096l, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED || madvise(pages, PAGES * 4096l, MADV_NOHUGEPAGE) != 0) return 1;
  next = pages;
  both(0);
  return 0;
}
"""
PAGES = 1 << 14

# Code that comes and goes, at the same addresses or at others.
LIBRARY = "long spin(long n) { volatile long sum = 0; for (long i = 0; i < n; ++i) sum += i; return sum; }"
LOADER = """
#include <dlfcn.h>
#include <stdio.h>
int main(void) {
  for (int i = 0; i < 600; ++i) {
    void* library = dlopen(i % 2 ? "./libone.so" : "./libtwo.so", RTLD_NOW);
    if (library == NULL) return 1;
    long (*spin)(long) = (long (*)(long))dlsym(library, "spin");
    spin(300000);
    dlclose(library);
  }
  return 0;
}
"""

# Starts as many short programs.
STORM = """
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
extern char** environ;
int main(int argc, char** argv) {
  char* words[] = {"./short-lived", NULL};
  for (int i = 0; i < atoi(argv[1]); ++i) {
    pid_t pid;
    if (posix_spawn(&pid, words[0], NULL, NULL, words, environ) != 0) return 1;
    waitpid(pid, NULL, 0);
  }
  return 0;
}
"""


class BpfProgramsTest(OwnDirectoryTest):
    def run_in(self, *command, status=0, **how):
        done = subprocess.run(list(map(str, command)), cwd=self.path, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
                              errors="backslashreplace", **how)
        if status is not None:
            self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def build(self, name, source, *options):
        (self.path / f"{name}.c").write_text(source)
        self.run_in("cc", "-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-o", name, f"{name}.c", *options)

    @staticmethod
    def objects_of(pid):
        """Ids of the BPF programs and links that a process has descriptors of."""
        ids = set()
        for info in Path(f"/proc/{pid}/fdinfo").iterdir():
            try:
                ids |= {tuple(line.split()) for line in info.read_text().splitlines() if line.startswith(("prog_id:", "link_id:"))}
            except OSError:
                pass  # closed in the meantime
        return ids

    @staticmethod
    def loaded_objects():
        shown = set()
        for kind in ("prog", "link"):
            listed = subprocess.run(["bpftool", "-j", kind, "show"], capture_output=True, text=True, check=True)
            shown |= {(f"{kind}_id:", str(one["id"])) for one in json.loads(listed.stdout or "[]")}
        return shown

    def test_nothing_is_left_by_a_kill(self):
        """Neither a program nor a link, whichever command it was."""
        for name, command in COMMANDS.items():
            with self.subTest(name):
                running = subprocess.Popen([SONDE, *command], cwd=self.path, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                           stderr=subprocess.DEVNULL)
                self.addCleanup(running.wait)
                self.addCleanup(running.kill)
                deadline = time.monotonic() + LONGEST_S
                used = before = set()
                while (not used or used != before) and time.monotonic() < deadline:
                    before = used
                    time.sleep(0.2)
                    self.assertIsNone(running.poll(), name)
                    used = self.objects_of(running.pid)
                self.assertTrue(used)
                running.kill()
                running.wait()
                while used & self.loaded_objects() and time.monotonic() < deadline:
                    time.sleep(0.05)
                self.assertEqual(used & self.loaded_objects(), set())

    def test_without_the_kernels_types(self):
        """Nothing is at the place of BTF. Who needs it says so in one line; the others do without."""
        for name, command in COMMANDS.items():
            with self.subTest(name):
                words = [SONDE, *command, "--", "true"]
                done = self.run_in("unshare", "-m", "sh", "-c", 'mount --bind /dev/null /sys/kernel/btf/vmlinux && exec "$@"', "sh",
                                   *words, status=None)
                if name in NEED_TYPES:
                    self.assertNotEqual(done.returncode, 0, done.stderr)
                if done.returncode != 0:
                    said = [line for line in done.stderr.splitlines() if "BTF" in line]
                    self.assertEqual(len(said), 1, done.stderr)
                    self.assertIn("CONFIG_DEBUG_INFO_BTF", said[0])

    def test_users_without_privilege(self):
        os.chmod(self.path, 0o777)
        for name, command in COMMANDS.items():
            with self.subTest(name):
                words = [word for word in command if word != "-a"]
                done = self.run_in("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", SONDE,
                                   *words, "--", "true", status=None)
                self.assertNotIn("MEMLOCK", done.stderr)
                self.assertNotIn("libbpf:", done.stderr)
                if done.returncode != 0:
                    self.assertRegex(done.stderr, "(?i)permi|root|privilege")

    def test_full_maps_lose_nothing(self):
        """More call chains within a window than there is room for: the others' samples are written one by one."""
        self.build("chains", CHAINS)
        done = self.run_in(SONDE, "record", "-N", "-m", "64M", "--aggregate", "-e", "page-faults:u", "-c", "1", "-o", "perf.data", "--", "./chains")
        counted = int(re.search(r"(\d+) samples counted in", done.stderr)[1])
        single = re.search(r"(\d+) written one by one", done.stderr)
        single = int(single[1]) if single else 0
        self.assertGreaterEqual(counted + single, PAGES, done.stderr)
        self.assertLess(counted + single, PAGES + 1000, done.stderr)
        periods = self.run_in(SONDE, "script", "-F", "period", "-i", "perf.data").stdout.split()
        self.assertEqual(sum(map(int, periods)), counted + single)

    def test_code_that_comes_and_goes(self):
        for name in ("one", "two"):
            self.build(f"lib{name}.so", LIBRARY, "-shared", "-fPIC")
        self.build("loader", LOADER, "-ldl")
        for options in (["--call-graph", "bpf"], ["--aggregate"]):
            with self.subTest(options):
                done = self.run_in(SONDE, "record", "-N", "-e", "cpu-clock:u", "-F", "1999", *options, "-o", "perf.data", "--", "./loader")
                self.assertNotIn("lost", done.stderr)
                spun, below_main = 0, 0
                text = self.run_in(SONDE, "script", "-F", "period,ip,sym", "-i", "perf.data").stdout
                for sample in re.split(r"\n\s*\n", text):
                    period = int(sample.split()[0].rstrip(":")) if sample.strip() else 0
                    chain = re.findall(r"^\t *[0-9a-f]+ (.*)", sample, re.M)
                    if chain and chain[0].startswith("spin"):
                        spun += period
                        below_main += period if any(name.startswith("main") for name in chain[1:]) else 0
                self.assertGreater(spun, 5_000_000)
                # Wherever the library was, its caller is the program. What begins or ends a function, or has just been mapped, may miss it.
                self.assertGreaterEqual(below_main, 0.8 * spun)

    def test_storms_of_processes(self):
        """Two thousand programs, each known by name or counted as lost, beside programs in the kernel."""
        programs = 2000
        self.build("short-lived", "int main(void) { return 0; }", "-static")
        self.build("storm", STORM)
        for options in (["--call-graph", "bpf"], ["--aggregate"], ["--off-cpu"]):
            with self.subTest(options):
                done = self.run_in(SONDE, "record", "-N", "-a", "-e", "cpu-clock:u", "-F", "999", *options, "-o", "perf.data", "--",
                                   "./storm", programs)
                events = self.run_in(SONDE, "script", "--show-task-events", "-F", "comm,pid", "-i", "perf.data").stdout
                seen = len(re.findall(r"PERF_RECORD_COMM exec: short-lived:", events))
                lost = re.search(r"(\d+) events were lost", done.stderr)
                self.assertLessEqual(seen, programs)
                self.assertGreaterEqual(seen + (int(lost[1]) if lost else 0), programs, done.stderr)
                self.assertNotIn("unwind tables", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])  # ctest passes the build directory, which is not a test
