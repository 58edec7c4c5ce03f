#!/usr/bin/env python3
"""Functions of stripped objects: call frame information says where they are. Two observers of one recording: the program's own
.symtab, and the .eh_frame of a copy without it."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

SONDE = os.environ["SONDE"]
PROGRAM = """
#include <stdlib.h>
volatile long sum;
#define WORK(name, step) static __attribute__((noinline)) void name(int n) { for (int i = 0; i < n; ++i) sum += step; }
WORK(first, i) WORK(second, i * 3) WORK(third, i * 7)
__attribute__((noinline)) void exported(int n) { for (int i = 0; i < n; ++i) sum += i * 5; }
static __attribute__((noinline, cold)) void rare(int n) { for (int i = 0; i < n; ++i) sum -= i; }
static __attribute__((noinline)) void caller(int n) { first(n); second(n); third(n); exported(n); rare(n); sum += n; }
int main(void) {
  for (int i = 0; i < 400; ++i) caller(200000);
  return 0;
}
"""
OWN = {"first", "second", "third", "rare", "caller"}
NAMELESS = re.compile(r"program\+0x([0-9a-f]+)$")


def run(*command, **more):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=True, timeout=300,
                          stdin=subprocess.DEVNULL, **more)


class Stripped(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.path = Path(cls.directory.name)
        (cls.path / "program.c").write_text(PROGRAM)
        cls.program = cls.path / "program"
        run("gcc", "-O1", "-fno-omit-frame-pointer", "-rdynamic", "-Wl,--build-id", cls.path / "program.c", "-o", cls.program)
        cls.starts, cls.sizes = {}, {}
        for line in run("nm", "-S", "--defined-only", cls.program).stdout.splitlines():
            fields = line.split()
            if len(fields) == 4 and fields[2] in "tT":
                cls.starts[fields[3]], cls.sizes[fields[3]] = int(fields[0], 16), int(fields[1], 16)
        cls.data = cls.path / "perf.data"
        cls.environment = {"PATH": os.environ["PATH"], "HOME": str(cls.path / "home"), "SONDE_CACHE": "off",
                           "PERF_BUILDID_DIR": str(cls.path / "nothing"), "PERF_CONFIG": "/dev/null"}
        run(SONDE, "record", "-q", "-e", "cpu-clock:u", "-F", "2000", "-g", "-o", cls.data, "--", cls.program,
            env=cls.environment)
        cls.with_symbols = cls.frames(cls)
        run("strip", "--strip-all", cls.program)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def sonde(self, command, *options):
        return run(SONDE, command, "-i", self.data, *options, env=self.environment)

    def frames(self, *options):
        """(address, name) of every frame in the program, in the order of the recording."""
        text = Stripped.sonde(self, "script", "-F", "ip,sym,dso", *options).stdout
        found = re.findall(r"^\s*([0-9a-f]+) (.*) \((\S+)\)$", text, re.M)
        return [(int(address, 16), name) for address, name, dso in found if dso == str(self.program)]

    def test_each_function_begins_where_its_symbol_did(self):
        nameless = self.frames("--frame-functions")
        self.assertEqual([address for address, _ in nameless], [address for address, _ in self.with_symbols])
        compared = set()
        for (_, name), (_, true_name) in zip(nameless, self.with_symbols):
            if true_name in ("exported", "main", "_start"):  # .dynsym has them
                self.assertEqual(name, true_name)
                continue
            if true_name not in OWN:  # of the C runtime (_init), without call frame information
                continue
            found = NAMELESS.match(name)
            self.assertTrue(found, name)
            self.assertEqual(int(found[1], 16), self.starts[true_name], true_name)
            compared.add(true_name)
        self.assertLessEqual({"first", "second", "third", "rare"}, compared)

    def test_rows_and_sizes(self):
        text = self.sonde("report", "--stdio", "--frame-functions", "--no-children", "-g", "none", "-s", "sym,symbol_size").stdout
        rows = {int(start, 16): int(size) for start, size in re.findall(r"\[\.\] program\+0x([0-9a-f]+)\s+(\d+)", text)}
        for name in ("first", "second", "third", "rare"):
            self.assertEqual(rows[self.starts[name]], self.sizes[name], name)

    def test_text_that_perf_prints_is_perfs(self):
        for command, options in (("report", ["--stdio"]), ("script", [])):
            done = self.sonde(command, *options)
            self.assertNotIn("program+0x", done.stdout)
            self.assertEqual(done.stderr.count("named by address (program; their names: "), 1, done.stderr)

    def test_pictures_and_profiles_name_them_and_say_so_once(self):
        first = f"program+{self.starts['first']:#x}"
        for command, options in (("flamegraph", ["-o", "-"]), ("fold", []), ("export", ["--to", "speedscope"]),
                                 ("view", ["-o", "-"])):
            done = self.sonde(command, *options)
            if command != "view":  # its page is compressed
                self.assertIn(first, done.stdout, command)
            self.assertEqual(done.stderr.count("named by address"), 1, done.stderr)
            self.assertIn("--debuginfod", done.stderr)
            plain = self.sonde(command, *options, "--no-frame-functions")
            self.assertNotIn(first, plain.stdout, command)
            self.assertNotIn("named by address", plain.stderr)

    def test_the_name_perf_stands_for_its_output(self):
        perf = self.path / "perf"
        perf.symlink_to(shutil.which(SONDE) or os.path.abspath(SONDE))
        done = run(perf, "fold", "-i", self.data, env=self.environment)
        self.assertNotIn("program+0x", done.stdout)
        for command in ("fold", "script", "report"):
            done = run(perf, command, "-i", self.data, env=self.environment)
            self.assertNotIn("named by address", done.stderr, command)

    def test_annotate_shows_one_by_name(self):
        name = f"program+{self.starts['first']:#x}"
        done = self.sonde("annotate", "--stdio", name)
        self.assertIn(f"<{name}>:", done.stdout)
        addresses = [int(a, 16) for a in re.findall(r"^[^:]*:\s+([0-9a-f]+):", done.stdout, re.M)]
        self.assertEqual(min(addresses), self.starts["first"])
        self.assertLess(max(addresses), self.starts["first"] + self.sizes["first"])

    def test_a_diff_matches_them_in_one_build_only(self):
        name = f"program+{self.starts['first']:#x}"
        same = run(SONDE, "diff", self.data, self.data, env=self.environment).stdout
        [row] = [line for line in same.splitlines() if line.endswith(name)]
        self.assertRegex(row, r"\+0\.00%")
        other = self.path / "other"
        other.mkdir(exist_ok=True)
        text = PROGRAM.replace("i * 7", "i * 9")  # another build id, the same places
        (other / "program.c").write_text(text)
        run("gcc", "-O1", "-fno-omit-frame-pointer", "-rdynamic", "-Wl,--build-id", "-s", other / "program.c", "-o",
            other / "program")
        run(SONDE, "record", "-q", "-e", "cpu-clock:u", "-F", "2000", "-g", "-o", other / "perf.data", "--", other / "program",
            env=self.environment)
        different = run(SONDE, "diff", self.data, other / "perf.data", env=self.environment).stdout
        rows = [line for line in different.splitlines() if line.endswith(name)]
        self.assertEqual(len(rows), 2, different)
        folded = run(SONDE, "fold", "--diff", self.data, other / "perf.data", env=self.environment).stdout
        lines = [line for line in folded.splitlines() if name in line]
        self.assertGreaterEqual(len(lines), 2)
        for line in lines:
            self.assertIn("0", line.split(" ")[-2:], line)


if __name__ == "__main__":
    unittest.main(argv=["stripped"])
