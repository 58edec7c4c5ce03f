#!/usr/bin/env python3
"""System calls of real programs on this kernel: the calls and results that strace sees, none lost silently; filters, targets,
page faults, how traces end. Needs root."""
import collections
import os
import platform
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path

import own_tmp

SONDE = os.environ["SONDE"]
STRACE = shutil.which("strace")
LINE = re.compile(r"^ *[\d.?]+ \([^)]*\): .{0,14}/(\d+) (?: \.\.\. \[continued\]: )?(\w+)\(.* = (-1 \w+|\?|-?0x[0-9a-f]+|-?\d+|[A-Z_|]+)")
STRACE_LINE = re.compile(r"^(?:\[pid +)?(\d+)\]? +(?:<\.\.\. )?(\w+)(?:\(| resumed>).* = (-1 \w+|\?(?: \w+)?|0x[0-9a-f]+|-?\d+)")
# Their results are addresses and PIDs, which differ from run to run, or they depend on time.
FREE_RESULTS = {"brk", "mmap", "mremap", "getpid", "gettid", "getppid", "getpgrp", "getpgid", "getsid", "set_tid_address", "clone", "clone3",
                "vfork", "fork", "wait4", "times", "setpgid", "fcntl"}
FORKS = {"clone", "clone3", "vfork", "fork"}
# How often they happen is chance: they wait, are restarted, or are caused by signals.
FREE_COUNTS = {"futex", "sched_yield", "restart_syscall", "rt_sigreturn", "wait4", "poll", "ppoll", "epoll_wait", "epoll_pwait",
               "clock_nanosleep", "madvise", "select", "pselect6", "getrandom", "mprotect", "munmap", "mmap", "brk"}

THREADS = r"""
#include <thread>
#include <vector>
#include <unistd.h>
#include <fcntl.h>
int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([] { for (int n = 0; n < 200; ++n) { int fd = open("/dev/null", O_RDWR); write(fd, "x", 1); close(fd); } });
  for (auto& thread : threads) thread.join();
}
"""


JAVA = """
public class Files {
  public static void main(String[] arguments) throws Exception {
    Thread[] threads = new Thread[4];
    for (int i = 0; i < 4; i++) (threads[i] = new Thread(() -> {
      for (int n = 0; n < 50; n++)
        try (var in = new java.io.FileInputStream("/dev/zero")) { in.read(new byte[100]); } catch (Exception e) {}
    })).start();
    for (Thread thread : threads) thread.join();
  }
}
"""
NODE = "const fs = require('fs'); for (let i = 0; i < 100; i++) fs.readFileSync('/etc/hostname')"
FORKS_OF_A_SHELL = "i=0; while [ $i -lt 200 ]; do (:) & i=$((i+1)); done; wait"
WEB = """
import http.server, threading, urllib.request
class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *a): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
threading.Thread(target=server.serve_forever, daemon=True).start()
for i in range(20): urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/").read()
server.shutdown()
"""
REDIS = """
redis-server --port 0 --unixsocket redis.sock --save '' > /dev/null & server=$!
until redis-cli -s redis.sock ping > /dev/null 2>&1; do kill -0 $server || exit 1; sleep 0.05; done
redis-benchmark -s redis.sock -n 2000 -q -t get,set,lpush > /dev/null
kill $server; wait
"""
NGINX = """
printf 'daemon off; pid nginx.pid; events {} http { access_log off; server { listen unix:nginx.sock; } }' > nginx.conf
nginx -p . -e nginx.log -c nginx.conf & server=$!
until curl -s --unix-socket nginx.sock http://x/ > /dev/null; do kill -0 $server || exit 1; sleep 0.05; done
for i in 1 2 3 4 5; do curl -s --unix-socket nginx.sock http://x/ > /dev/null; done
kill $server; wait
"""


def program_of_32_bits():
    """An i386 program of 15 instructions: writes "hi", opens /etc/hostname, ends with 3."""
    base, head, interrupt = 0x08048000, 52 + 32, b"\xcd\x80"
    text, path = b"hi\n\0", b"/etc/hostname\0"
    eax, ecx, edx, ebx = range(0xb8, 0xbc)

    def call(*registers):
        return b"".join(struct.pack("<BI", *pair) for pair in registers) + interrupt

    def code(at):
        return (call((eax, 4), (ebx, 1), (ecx, at), (edx, 3)) + call((eax, 5), (ebx, at + len(text)), (ecx, 0), (edx, 0))
                + call((eax, 252), (ebx, 3)))

    body = code(base + head + len(code(0))) + text + path
    size = head + len(body)
    header = b"\x7fELF\1\1\1" + bytes(9) + struct.pack("<HHIIIIIHHHHHH", 2, 3, 1, base + head, 52, 0, 0, 52, 32, 1, 0, 0, 0)
    return header + struct.pack("<8I", 1, 0, base, base, size, size, 5, 0x1000) + body


def outcome(text):
    if text.startswith(("?", "-1 ")):
        return text.split("(")[0].strip() if text.startswith("-1") else "?"
    return int(text, 0)


def tally(text, pattern):
    counts = collections.Counter()
    for line in text.splitlines():
        match = pattern.match(line)
        if not match:
            continue
        name = match[2]
        if name in FREE_COUNTS:
            continue
        if name in FORKS and match[3] == "0":
            continue  # the child's own return, which strace does not show
        counts[(name, "any" if name in FREE_RESULTS else outcome(match[3]))] += 1
    return counts


class TraceTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.path = Path(cls.directory.name)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def run_trace(self, *words, status=0, cwd=None):
        out = self.path / "out"
        done = subprocess.run([SONDE, "trace", "-o", str(out), *map(str, words)], capture_output=True, text=True, errors="replace", timeout=120,
                              stdin=subprocess.DEVNULL, cwd=cwd or self.path)
        self.assertEqual(done.returncode, status, done.stderr)
        return (out.read_text(errors="replace") if out.exists() else ""), done.stderr

    def strace(self, *command):
        out = self.path / "strace.out"
        subprocess.run([STRACE, "-f", "-q", "-o", str(out), *map(str, command)], capture_output=True, timeout=120,
                       stdin=subprocess.DEVNULL, cwd=self.path)
        return out.read_text(errors="replace")

    def same_as_strace(self, *command, how=("--bpf",)):
        theirs = tally(self.strace(*command), STRACE_LINE)
        lines, said = self.run_trace(*how, "--", *command)
        self.assertNotIn("lost", said)
        ours = tally(lines, LINE)
        self.assertGreater(sum(ours.values()), 20)
        self.assertEqual(ours - theirs, collections.Counter(), (how, command))
        self.assertEqual(theirs - ours, collections.Counter(), (how, command))

    @unittest.skipUnless(STRACE, "strace is not installed")
    def test_programs_make_the_calls_that_strace_sees(self):
        files = self.path / "files"
        files.mkdir()
        for i in range(40):
            (files / f"file{i}").write_text("text" * i)
        repository = self.path / "repository"
        as_someone = ["git", "-C", repository, "-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", "init", "-q", repository], check=True, timeout=60)
        subprocess.run([*as_someone, "commit", "-q", "--allow-empty", "-m", "first"], check=True, timeout=60)
        for command in (["ls", "-l", "/usr/lib"], ["find", files, "-name", "*7"], ["tar", "cf", "/dev/null", files],
                        ["git", "--version"], ["git", "-C", "repository", "status", "--short"], ["git", "-C", "repository", "log", "--stat"],
                        ["tar", "czf", "/dev/null", "repository/.git/HEAD"], ["sed", "-n", "s/a/b/p", "/etc/passwd"], ["wc", "-l", "/etc/passwd"],
                        ["cp", "/etc/passwd", "/dev/null"], ["perl", "-e", "print for sort glob '/etc/*'"],
                        ["python3", "-S", "-c", "pass"], ["python3", "-c", "import json, os; [os.stat('/etc') for i in range(99)]"], ["sort", "/etc/passwd"], ["dd", "if=/dev/zero", "of=/dev/null", "count=2000", "status=none"]):
            with self.subTest(command=command):
                self.same_as_strace(*command)
        self.same_as_strace("ls", "-l", "/usr/lib", how=("--no-bpf",))

    @unittest.skipUnless(STRACE, "strace is not installed")
    def test_a_shell_script_and_its_children(self):
        script = "for i in 1 2 3 4 5; do cat /etc/hostname | head -c 3 > /dev/null; done; ls /nonexistent 2> /dev/null; true"
        theirs = tally(self.strace("sh", "-c", script), STRACE_LINE)
        lines, said = self.run_trace("--", "sh", "-c", script)
        ours = tally(lines, LINE)
        self.assertNotIn("lost", said)
        # Which process reaches a pipe first is chance: cat may see it closed.
        for name in ("openat", "execve", "pipe2", "dup2", "clone", "exit_group", "newfstatat"):
            def of(counts):
                return sum(count for (call, _), count in counts.items() if call == name)
            one_more = 1 if name == "execve" else 0  # the one that starts the program
            self.assertLessEqual(abs(of(theirs) - of(ours)), one_more, name)

    def test_memory_of_arguments(self):
        lines, _ = self.run_trace("-e", "openat,execve,write", "sh", "-c", "echo some text > /dev/null; cat /etc/hostname > /dev/null")
        self.assertRegex(lines, r'openat\(dfd: CWD, filename: "?/etc/hostname"?')
        self.assertIn("some text", lines)
        lines, _ = self.run_trace("--no-bpf", "-e", "openat", "cat", "/etc/hostname")
        self.assertNotIn("/etc/hostname\"", lines)

    def test_threads_of_one_program(self):
        (self.path / "threads.cc").write_text(THREADS)
        subprocess.run(["g++", "-O1", "-o", "threads", "threads.cc", "-pthread"], cwd=self.path, check=True, timeout=120)
        lines, said = self.run_trace("-e", "openat,write,close", "./threads")
        self.assertNotIn("lost", said)
        counts = tally(lines, LINE)
        self.assertEqual(counts[("write", 1)], 1600)
        self.assertGreaterEqual(sum(count for (name, _), count in counts.items() if name == "close"), 1600)
        self.assertGreaterEqual(len({LINE.match(line)[1] for line in lines.splitlines() if LINE.match(line)}), 8)

    def test_a_storm_of_forks(self):
        lines, said = self.run_trace("-e", "exit_group", "sh", "-c", "i=0; while [ $i -lt 300 ]; do (:) & i=$((i+1)); done; wait")
        self.assertNotIn("lost", said)
        self.assertEqual(lines.count("exit_group("), 301)

    def test_only_what_was_asked_for(self):
        lines, _ = self.run_trace("-e", "openat", "ls", "/")
        self.assertEqual({LINE.match(line)[2] for line in lines.splitlines()}, {"openat"})
        lines, _ = self.run_trace("-e", "!openat,read,mmap", "ls", "/")
        names = {LINE.match(line)[2] for line in lines.splitlines() if LINE.match(line)}
        self.assertFalse(names & {"openat", "read", "mmap"})
        self.assertIn("close", names)
        lines, _ = self.run_trace("-e", "%process", "ls", "/")
        self.assertIn("exit_group", lines)
        self.assertNotIn("openat", lines)

    def test_calls_and_tracepoints_together(self):
        lines, _ = self.run_trace("-e", "close,sched:sched_process_exec", "sh", "-c", "/bin/true; /bin/true; true")
        self.assertEqual(lines.count("sched:sched_process_exec("), 3)
        self.assertIn("close(", lines)
        lines, _ = self.run_trace("-e", "sched:sched_process_exec/nr=1/", "sh", "-c", "/bin/true; /bin/true; true")
        self.assertEqual(len(lines.splitlines()), 1)

    def test_settings(self):
        settings = self.path / "config"
        settings.write_text("[trace]\n\tshow_timestamp = no\n\tadd_events = sched:sched_process_exec\n"
                            "\ttracepoint_beautifiers = libtraceevent\n")
        with unittest.mock.patch.dict(os.environ, PERF_CONFIG=str(settings)):
            lines, _ = self.run_trace("-e", "close", "/bin/true")
        self.assertRegex(lines, r"(?m)^\( *[0-9.]+ ms\): true/\d+ close\(")
        self.assertRegex(lines, r"(?m)^ *[0-9.]+ \( *\): \S+ sched:sched_process_exec\(filename=/bin/true pid=")

    def test_a_process_that_runs(self):
        handler = type("Quiet", (SimpleHTTPRequestHandler,), {"log_message": lambda *a: None})
        server = HTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        url = f"http://127.0.0.1:{server.server_port}/trace_test.py"
        out = self.path / "pid.out"
        tracer = subprocess.Popen([SONDE, "trace", "-o", str(out), "-e", "accept4,sendto", "-p", str(os.getpid())], stderr=subprocess.PIPE)
        fetch = f"import urllib.request as u\ntry: u.urlopen('{url}').read()\nexcept Exception: pass"
        seen, deadline = 0, time.monotonic() + 60
        while seen < 3 and time.monotonic() < deadline:  # the first requests may come before the tracer is ready
            subprocess.run(["python3", "-S", "-c", fetch], timeout=60, check=True)
            seen = out.read_text().count("accept4(") if out.exists() else 0
        tracer.send_signal(signal.SIGINT)
        tracer.communicate(timeout=60)
        self.assertGreaterEqual(seen, 3)

    @unittest.skipUnless(shutil.which("perf"), "perf is not installed")
    def test_entries_as_events_have_their_arguments(self):
        words = ["-e", "syscalls:sys_enter_exit_group,syscalls:sys_enter_mmap,syscalls:sys_enter_close", "--", "true"]
        shown = []
        for tool in (SONDE, "perf"):
            done = subprocess.run([tool, "trace", *words], text=True, capture_output=True, timeout=60, check=True)
            # Names of descriptors are those that are found while the program still runs.
            shown.append([re.sub(r"^.*?(?=syscalls:)|0x[0-9a-f]+|(?<=addr: )\d+|(?<=fd: \d)<[^>]*>", "", line) for line in done.stderr.splitlines()])
        self.assertIn("syscalls:sys_enter_exit_group()", shown[0])
        self.assertGreater(len(shown[0]), 5)
        self.assertEqual(*shown)

    def test_the_table_has_all_calls(self):
        count = 3000
        lines, said = self.run_trace("-s", "dd", "if=/dev/zero", "of=/dev/null", f"count={count}")
        self.assertNotIn("lost", said)
        rows = {line.split()[0]: line.split()[1:] for line in lines.splitlines() if line.startswith("   ")}
        self.assertGreaterEqual(int(rows["read"][0]), count)
        self.assertGreaterEqual(int(rows["write"][0]), count)
        lines, _ = self.run_trace("-s", "--summary-mode", "total", "sh", "-c", "/bin/true; /bin/true; true")
        rows = {line.split()[0]: line.split()[1:] for line in lines.splitlines() if line.startswith("   ")}
        self.assertEqual(int(rows["execve"][0]), 3)
        self.assertEqual(lines.count("stddev"), 1)

    def lines_and_table(self, *command):
        """Two traces of one run, independent of each other: finished calls by (thread, call) as lines of one, and as counted by
        the kernel for the other."""
        lines, table = self.path / "lines", self.path / "table"
        done = subprocess.run([SONDE, "trace", "-s", "-o", str(table), "--", SONDE, "trace", "-o", str(lines), "--", *map(str, command)],
                              capture_output=True, text=True, errors="replace", timeout=120, stdin=subprocess.DEVNULL, cwd=self.path)
        self.assertNotIn("lost", done.stderr)
        shown, counted, thread = collections.Counter(), collections.Counter(), None
        for line in lines.read_text(errors="replace").splitlines():
            match = LINE.match(line)
            if match and not line.lstrip().startswith("?"):  # those whose entry was not seen, like a fork's in the child
                shown[(match[1], match[2])] += match[3] != "?"
        first = LINE.match(lines.read_text(errors="replace"))[1]
        for line in table.read_text(errors="replace").splitlines():
            if match := re.match(r" .{0,16} \((\d+)\), \d+ events", line):
                thread = match[1]
            elif match := re.match(r"   (\w+) +(\d+) +\d+ +[\d.]+", line):
                counted[(thread, match[1])] += int(match[2])
        threads = {thread for thread, _ in shown}
        return first, +shown, collections.Counter({key: count for key, count in counted.items() if key[0] in threads})

    def test_lines_are_what_was_counted(self):
        (self.path / "Files.java").write_text(JAVA)
        (self.path / "many.cc").write_text(THREADS)
        subprocess.run(["g++", "-O1", "-o", "many", "many.cc", "-pthread"], cwd=self.path, check=True, timeout=120)
        programs = [["java", "-XX:TieredStopAtLevel=1", "Files.java"], ["node", "-e", NODE], ["sh", "-c", FORKS_OF_A_SHELL], ["python3", "-c", WEB],
                    ["./many"], ["sh", "-c", REDIS], ["sh", "-c", NGINX]]
        for command in programs:
            needed = [word for word in ("redis-server", "redis-benchmark", "nginx", "curl") if word in command[-1]]
            if not all(map(shutil.which, [command[0], *needed])):
                continue
            with self.subTest(command=command):
                first, shown, counted = self.lines_and_table(*command)
                # The thread that became the program: its lines begin with its exec, the table before.
                unequal = {key for key in shown.keys() | counted.keys() if shown[key] != counted[key]}
                self.assertEqual({key for key in unequal if key[0] != first or shown[key] > counted[key]}, set())
                self.assertGreater(sum(shown.values()), 500)

    def test_summaries(self):
        def rows(*words):
            done = subprocess.run([SONDE, "trace", "-s", *words, "--", "sh", "-c", "cat /etc/hostname; cat /etc/hostname"],
                                  capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
            return re.findall(r"^   (\w+) +(\d+) +\d+ +[\d.]+", done.stderr, re.M)
        # The kernel adds the calls up, or each is seen.
        counts = [collections.Counter({name: int(number) for name, number in rows(*words, "--summary-mode", "total")})
                  for words in (["--bpf-summary"], [])]
        self.assertEqual(*[{name: count for name, count in one.items() if name in ("openat", "read", "close")} for one in counts])
        self.assertEqual(len(rows("--summary-mode", "total", "--max-summary", "2")), 2)

    def test_names_of_descriptors(self):
        """--tool_stats: cat opens a file and closes it; what it was given by us is looked up."""
        done = subprocess.run([SONDE, "trace", "--tool_stats", "-e", "openat,read,close", "--", "cat", "/etc/hostname"],
                              capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
        opened = len(re.findall(r"openat\(.*\) += \d+$", done.stderr, re.M))
        seen = int(re.search(r"^Stats:\n  vfs_getname : (\d+)\n proc_getname: (\d+)\n", done.stderr, re.M)[1])
        self.assertGreater(opened, 1)
        self.assertEqual(seen, opened)

    def test_descriptors_that_become_other_files(self):
        """A name is what /proc said at the call, or there is none: whichever calls are traced, and by what."""
        source = Path(__file__).resolve().parent.parent / "programs" / "reopened.c"
        directory = self.path / "reopened"
        directory.mkdir()
        subprocess.run(["gcc", "-O1", "-o", directory / "reopened", source, "-pthread"], check=True, timeout=120)
        for name in ("first", "second", "third"):
            (directory / name).write_text(name)

        def traced(*how):
            out = directory / "out"
            done = subprocess.run([SONDE, "trace", "-o", out, *how, "--", "./reopened"], cwd=directory, capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL, timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("lost", done.stderr)
            # With arguments that are cut off by another thread's line, too.
            shown = re.findall(r"\bread\(fd: (\d+(?:<[^>]*>)?), buf: .*count: 77\)", out.read_text(errors="replace"))
            self.assertGreater(len(shown), 20)
            return done.stdout.splitlines(), shown

        for how in (["-e", "read"], [], ["-e", "read,openat,close,dup2"], ["-e", "!futex"]):
            with self.subTest(how=how):
                said, shown = traced("--bpf", *how)
                self.assertEqual(shown, said)
        said, shown = traced("--no-bpf", "-e", "read")
        self.assertEqual(shown, [re.sub("<.*", "", name) for name in said])
        for how in ([], ["-e", "!futex"], ["-e", "read,openat,close"]):
            with self.subTest(how=how):
                said, shown = traced("--no-bpf", *how)
                self.assertEqual(len(shown), len(said))
                for name, right in zip(shown, said):
                    self.assertIn(name, (right, re.sub("<.*", "", right)))
        recording = directory / "perf.data"
        subprocess.run([SONDE, "trace", "record", "-o", recording, "--", "./reopened"], cwd=directory, check=True, capture_output=True,
                       stdin=subprocess.DEVNULL, timeout=120)
        replayed = subprocess.run([SONDE, "trace", "-i", recording], check=True, capture_output=True, text=True, timeout=120)
        self.assertGreater(replayed.stderr.count("count: 77)"), 20)
        self.assertNotRegex(replayed.stderr, r"fd: \d+<")

    def test_calls_are_not_lost_while_others_are_traced(self):
        """Without BPF, few calls are a filter on the tracepoints of all: those of single calls lose events on some kernels while
        other processes use such ones."""
        done = subprocess.run([SONDE, "trace", "--no-bpf", "--print-sample", "-e", "getppid", "--", "sh", "-c", ":"], capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"(?m)^raw_syscalls:sys_enter +\d+ \d+ \[")
        self.assertNotIn("syscalls:sys_enter_getppid", done.stderr)

    def test_maps_of_the_programs(self):
        """--map-dump: the rules of the calls that are traced are entries of an array; no others are there."""
        def keys(names):
            done = subprocess.run([SONDE, "trace", "--map-dump", "rules", "-e", names, "--", "true"], capture_output=True, text=True,
                                  timeout=120, stdin=subprocess.DEVNULL)
            self.assertEqual(done.returncode, 0, done.stderr)
            return {int(key) for key in re.findall(r"^\[(\d+)\] = 0x[0-9a-f x]+,$", done.stderr, re.M)}
        opens, both = keys("openat"), keys("openat,execve")
        self.assertTrue(opens)
        self.assertLess(opens, both)

    def test_calls_of_a_user(self):
        """Of the user nobody, to whom nothing else belongs that runs here."""
        nobody = subprocess.Popen(["setpriv", "--reuid=65534", "--clear-groups", "sh", "-c", "while read line; do /bin/echo; done"],
                                  stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        self.addCleanup(nobody.wait)
        self.addCleanup(nobody.stdin.close)
        owner = lambda: int(re.search(r"^Uid:\s+(\d+)", Path(f"/proc/{nobody.pid}/status").read_text(), re.M)[1])
        while owner() != 65534:  # setpriv is root until it has changed that
            time.sleep(0.01)
        done = subprocess.Popen([SONDE, "trace", "-u", "65534", "-e", "read"], stderr=subprocess.PIPE)
        self.addCleanup(done.stderr.close)
        self.addCleanup(done.wait)
        self.addCleanup(done.kill)
        os.set_blocking(done.stderr.fileno(), False)
        lines, end = "", time.monotonic() + 60
        while not any(map(LINE.match, lines.splitlines())) and time.monotonic() < end:
            nobody.stdin.write("\n")
            nobody.stdin.flush()
            time.sleep(0.05)
            lines += (done.stderr.read() or b"").decode(errors="replace")
        self.assertTrue({match[1] for match in map(LINE.match, lines.splitlines()) if match}, lines)
        self.assertEqual({match[2] for match in map(LINE.match, lines.splitlines()) if match}, {"read"})
        self.assertEqual(set(re.findall(r"\): (\w+)/", lines)) - {"sh", "echo"}, set())

    @unittest.skipUnless(platform.machine() == "x86_64", "an i386 program")
    def test_programs_of_32_bits(self):
        program = self.path / "program32"
        program.write_bytes(program_of_32_bits())
        program.chmod(0o755)
        try:
            subprocess.run([program], stdout=subprocess.DEVNULL)
        except OSError as error:
            self.skipTest(f"this kernel runs none: {error}")
        # All calls, and a few: those have no tracepoints of their own here.
        for which in ([], ["-e", "open,write"]):
            lines, _ = self.run_trace("--bpf", *which, "./program32", status=3)
            self.assertRegex(lines, r'write\(fd: 1\S*, buf: "hi\\n", count: 3\) += 3\n')
            self.assertRegex(lines, r'open\(filename: "/etc/hostname"\) += 3\n')
        table, _ = self.run_trace("--bpf", "-s", "./program32", status=3)
        self.assertRegex(table, r"(?m)^   open +1 +0 ")
        # If the first of them begins later, missing calls are reported.
        lines, said = self.run_trace("--bpf", "-e", "open", "sh", "-c", "./program32; true")
        self.assertTrue("open(" in lines or "first calls of a 32-bit program" in said, said)

    def test_chains_of_the_kernel(self):
        lines, _ = self.run_trace("--kernel-syscall-graph", "--call-graph", "fp", "-e", "write", "sh", "-c", "echo x")
        self.assertRegex(lines, r"write\(.*\n {39}\S+ \(\[kernel\.kallsyms\]\)\n")

    def test_a_cgroup_that_is_not_there(self):
        done = subprocess.run([SONDE, "trace", "-a", "-G", "no-such-group", "sleep", "0"], capture_output=True, text=True, timeout=60)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no-such-group", done.stderr)

    def test_page_faults(self):
        lines, _ = self.run_trace("-F", "all", "--no-syscalls", "ls", "/")
        self.assertRegex(lines, r"(?m)^ +[\d.]+ \( 0\.000 ms\): ls/\d+ (min|maj)fault \[.*\] => .* \([dx?]\.\)$")
        self.assertIn("libc.so.6@0x", lines)

    def test_call_chains(self):
        lines, _ = self.run_trace("--call-graph", "dwarf", "-e", "clock_nanosleep", "sleep", "0.01")
        self.assertRegex(lines, r"clock_nanosleep\(.*\n {39}\S*nanosleep\S* \(.*libc\.so\.6\)\n")

    def test_recordings_go_both_ways(self):
        subprocess.run([SONDE, "trace", "record", "-o", "perf.data", "ls", "/"], cwd=self.path, check=True, capture_output=True, timeout=60)
        replayed = subprocess.run([SONDE, "trace", "-i", "perf.data"], cwd=self.path, check=True, capture_output=True, text=True, timeout=60)
        self.assertGreater(replayed.stderr.count(" = "), 50)
        self.assertIn("exit_group(", replayed.stderr)

    def test_ends(self):
        _, said = self.run_trace("/nonexistent/program", status=255)
        self.assertIn("cannot run '/nonexistent/program': No such file or directory", said)
        self.run_trace("sh", "-c", "exit 3", status=3)
        # Calls before and after the delay: the shell's own start, and what it does once it has waited for longer.
        lines, _ = self.run_trace("-D", "1000", "-e", "openat", "sh", "-c", "cat /dev/null; sleep 3; head /dev/null")
        self.assertIn("head/", lines)
        self.assertNotIn("cat/", lines)
        done = subprocess.run([SONDE, "trace", "--max-events", "5", "ls", "/"], capture_output=True, text=True, timeout=60)
        self.assertEqual(len([line for line in done.stderr.splitlines() if LINE.match(line)]), 5)

    def test_types_of_the_kernel(self):
        """Enumerators and structures as BTF describes them, in the words that perf's own tests look for."""
        lines, _ = self.run_trace("--force-btf", "-e", "clock_nanosleep", "sleep", "0.02")
        self.assertRegex(lines, r"rqtp: \(struct __kernel_timespec\)\{\.tv_nsec = \([\w ]+\)20000000,\}")
        settings = self.path / "config"
        settings.write_text("[trace]\n\tshow_arg_names = no\n\tshow_zeros = yes\n")
        with unittest.mock.patch.dict(os.environ, PERF_CONFIG=str(settings)):
            lines, _ = self.run_trace("--force-btf", "-e", "clock_nanosleep", "--max-events=1", "--", "sleep", "1")
        self.assertRegex(lines, r"clock_nanosleep\(.*\{1,0,\}, 0x[0-9a-f]+\) += 0")
        lines, _ = self.run_trace("-e", "clock_nanosleep", "sleep", "0.02")
        self.assertNotIn("struct", lines)
        lines, _ = self.run_trace("-e", "timer:hrtimer_start", "--max-events", "1", "--", "sleep", "0.02")
        self.assertRegex(lines, r"mode: HRTIMER_MODE_[A-Z]+")
        add_rule = "import ctypes; ctypes.CDLL(None).syscall(445, 11, 1, 0xf00, 45)"
        for words in ([], ["--force-btf"]):
            lines, _ = self.run_trace(*words, "-e", "landlock_add_rule", sys.executable, "-c", add_rule)
            self.assertRegex(lines, r"landlock_add_rule\(ruleset_fd: 11, rule_type: LANDLOCK_RULE_PATH_BENEATH, rule_attr: 0xf00, flags: 45\) += -1")

    def test_what_cannot_be_done_is_said(self):
        for words, what in ((["-e", "nosuch*", "true"], "no system call"), (["--map-dump", "x", "true"], 'BPF map "x" not found'),
                            (["--map-dump", "x", "-i", "x"], "no BPF program traces"),
                            (["-F", "most", "true"], "all, maj or min"), (["--no-syscalls", "true"], "nothing to trace")):
            done = subprocess.run([SONDE, "trace", *words], capture_output=True, text=True, timeout=60)
            self.assertNotEqual(done.returncode, 0, words)
            self.assertIn(what, done.stderr)


if __name__ == "__main__":
    own_tmp.take()
    unittest.main(argv=sys.argv[:1])
