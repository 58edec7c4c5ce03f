#!/usr/bin/env python3
"""Whole stacks without asking: of Debian's own programs, built as Debian builds them, nearly all samples reach the first function of
their thread; by -g of a command and of what runs, in the picture of --flamegraph, and in top -g. Needs root."""
import collections
import functools
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
NEARLY_ALL = 0.98
# What the kernel or the C library jumps to: there is no caller.
STARTS = re.compile(r"_start|(__GI_)?_*clone3?(@.*)?|ret_from_fork(_asm)?")
# Not of the kernel, of one of its modules, or of a BPF program.
USER_FRAME = r" \((?!\[|bpf_prog_)|\[(vdso|heap|stack|unknown)\](\+0x\w+)?\)$"
ENTRY_SIZE = 0x30  # of _start, at most
SOURCE = """
#include <algorithm>
#include <iostream>
#include <map>
#include <regex>
int main(int, char** argv) {
  std::map<std::string, std::vector<std::string>> found;
  std::regex word("[a-z]+(-[a-z]+)*");
  for (std::string line; std::getline(std::cin, line);)
    for (std::sregex_iterator it(line.begin(), line.end(), word), end; it != end; ++it) found[it->str()].push_back(line);
  for (auto& [name, lines] : found) std::sort(lines.begin(), lines.end(), [](auto& a, auto& b) { return a.size() < b.size(); });
  std::cout << found.size() << argv[0];
}
"""
LOOP = "def f(n): return n if n < 2 else f(n - 1) + f(n - 2)\nwhile True: f(15)\n"
COMMANDS = {
    "g++": ["g++", "-O2", "-c", "-o", "words.o", "words.cc"],
    "python3": ["/usr/bin/python3", "-c", LOOP.replace("while True: ", "for i in range(600): ")],
    "openssl": ["openssl", "speed", "-seconds", "1", "-bytes", "1024", "-evp", "aes-128-gcm"],
}


@functools.cache
def entry(path):
    """Where a program begins, which says it without symbols, too: its address, and its place in the file."""
    header = subprocess.run(["readelf", "-hlW", path], text=True, capture_output=True, check=True).stdout
    address = int(re.search(r"Entry point address:\s+0x([0-9a-f]+)", header)[1], 16)
    for offset, start, size in re.findall(r"LOAD\s+0x(\w+) 0x(\w+) 0x\w+ 0x(\w+)", header):
        if 0 <= address - int(start, 16) < int(size, 16):
            return address, address - int(start, 16) + int(offset, 16)
    return address, None


def is_start(name, place):
    """Whether a frame is the first of its thread, by its name or by its object and offset there."""
    found = re.fullmatch(r"\((/.*)\+0x([0-9a-f]+)\)", place)
    if STARTS.fullmatch(name) or not found or not Path(found[1]).is_file():
        return bool(STARTS.fullmatch(name))
    at = entry(found[1])[1]
    return at is not None and at < int(found[2], 16) <= at + ENTRY_SIZE


def follows_call(before):
    """Whether the bytes end with a call of x86-64: e8 and 4 bytes, or ff with /2 in its second byte, by any operand."""
    if len(before) < 7:
        return False
    return before[-5] == 0xe8 or any(before[-size] == 0xff and before[1 - size] >> 3 & 7 == 2 for size in (2, 3, 4, 6, 7))


class WholeStacksTest(OwnDirectoryTest):
    def setUp(self):
        super().setUp()
        (self.path / "words.cc").write_text(SOURCE)

    def sonde(self, *arguments):
        run = subprocess.run([SONDE, *map(str, arguments)], cwd=self.path, text=True, capture_output=True, timeout=300,
                             stdin=subprocess.DEVNULL)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run

    def run_text(self, *command):
        return subprocess.run(command, cwd=self.path, text=True, capture_output=True, check=True).stdout.strip()

    def running(self, *command):
        process = subprocess.Popen(command, cwd=self.path, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def outermost(self, recording):
        """Where the chains end that have user frames: (name, place) -> samples. (A program that is being loaded has none.)"""
        shown = self.sonde("script", "-i", recording, "-F", "comm,ip,sym,dso,dsoff").stdout
        ends = collections.Counter()
        for sample in shown.split("\n\n"):
            frames = [line.split(None, 1)[1] for line in sample.splitlines() if re.match(r"\s+[0-9a-f]+ ", line)]
            if any(re.search(USER_FRAME, frame) for frame in frames):
                ends[tuple(frames[-1].rsplit(" ", 1))] += 1
        return ends

    def assert_whole(self, ends):
        samples = sum(ends.values())
        self.assertGreater(samples, 200)
        whole = sum(count for (name, place), count in ends.items() if is_start(name, place))
        self.assertGreaterEqual(whole / samples, NEARLY_ALL, ends.most_common(8))

    def assert_called(self, recording):
        """Each caller is in a call instruction, at its last byte, by the bytes of its file."""
        shown = self.sonde("script", "-i", recording, "-F", "ip,sym,dso,dsoff").stdout
        callers = set()
        for sample in shown.split("\n\n"):
            frames = [line for line in sample.splitlines() if re.search(USER_FRAME, line) and "(inlined)" not in line]
            if not any("__restore_rt" in frame for frame in frames):  # signals interrupt anywhere
                callers.update(re.search(r" \(([^ ]*)\+0x([0-9a-f]+)\)$", frame).groups() for frame in frames[1:])
        files = {path: Path(path).read_bytes() for path in {path for path, _ in callers} if Path(path).is_file()}
        elf = {(path, int(offset, 16) + 1) for path, offset in callers if files.get(path, b"").startswith(b"\x7fELF")}
        self.assertGreater(len(elf), 20)
        wrong = [(path, hex(at)) for path, at in elf if not follows_call(files[path][at - 7:at])]
        wrong += [caller for caller in callers if caller[0] in ("[heap]", "[stack]", "[unknown]", "//anon")]
        self.assertEqual(wrong, [])

    def test_of_commands(self):
        for name, command in COMMANDS.items():
            with self.subTest(name):
                self.sonde("record", "-g", "-o", name, "--", *command)
                self.assert_whole(self.outermost(name))
                self.assert_called(name)
                self.assertNotIn("Call chains:", self.sonde("report", "--stdio", "-i", name).stdout)

    def test_in_the_picture(self):
        self.sonde("record", "--flamegraph=build.svg", "--", *COMMANDS["g++"])
        picture = (self.path / "build.svg").read_text()
        programs = [shutil.which("as"), self.run_text("g++", "-print-prog-name=cc1plus")]
        nameless = [f"{Path(program).resolve().name}+{entry(program)[0]:#x}" for program in programs]
        boxes = re.findall(r'<g data-d="(\d+)" data-x="[^"]*" data-w="([^"]*)"[^>]*><title>(.*?) \(', picture)
        starts = sum(float(weight) for depth, weight, name in boxes if depth == "2" and (STARTS.fullmatch(name) or name in nameless))
        # Programs that are being loaded have no user frames.
        loading = sum(float(weight) for depth, weight, name in boxes if depth == "2" and name.endswith("_[k]"))
        of_all = next(float(weight) for depth, weight, _ in boxes if depth == "0")
        self.assertGreaterEqual(starts / (of_all - loading), NEARLY_ALL)
        self.assertNotIn("Call chains:", picture)

    def test_of_what_runs(self):
        for needed in ("redis-server", "redis-benchmark"):
            self.assertIsNotNone(shutil.which(needed), f"{needed} is not installed")
        server = self.running("redis-server", "--port", "0", "--unixsocket", "redis.sock", "--save", "")
        while not (self.path / "redis.sock").exists():
            self.assertIsNone(server.poll())
            time.sleep(0.05)
        self.running("redis-benchmark", "-s", "redis.sock", "-n", "100000000", "-q", "-t", "get,set")
        said = self.sonde("record", "-g", "-o", "redis", "-p", server.pid, "--", "sleep", "2").stderr
        self.assertRegex(said, "call chains: whole stacks, by --call-graph (bpf|dwarf)")
        self.assert_whole(self.outermost("redis"))

    def test_in_top(self):
        python = self.running("/usr/bin/python3", "-c", LOOP)
        top = subprocess.Popen([SONDE, "top", "-g", "--stdio", "-d", "1", "-s", "sym", "-p", str(python.pid)], cwd=self.path, text=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(top.communicate)
        self.addCleanup(top.kill)
        shares = []
        for line in top.stdout:
            if found := re.match(r"\s*(\d+\.\d+)%\s+\d+\.\d+%\s+\[\.\] _start\b", line):
                shares.append(float(found[1]) / 100)
                if len(shares) == 2:
                    break
        top.send_signal(signal.SIGINT)
        self.assertGreaterEqual(min(shares), NEARLY_ALL)


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("recording what runs needs root")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])  # ctest passes the build directory, which is not a test
