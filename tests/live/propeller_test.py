#!/usr/bin/env python3
"""`data convert --to-propeller` of a stepped recording: the counts are those of the instructions that ran, one after the other;
and clang and lld lay out the program as the two files say, by the new program's own map and symbols. Needs clang-19 with its
readobj, lld, and an x86-64 machine where processes may be traced."""
import collections
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from own_directory import OwnDirectoryTest

SONDE = os.environ["SONDE"]
TOOLS = ("clang-19", "llvm-readobj-19", "ld.lld")

# Two functions of the same name, with blocks that seldom or never run.
MAIN = """
#include <stdlib.h>
#include <unistd.h>
int other(int n);
__attribute__((noinline)) int never(int n) { return n * 3; }
static __attribute__((noinline)) int work(int n) {
  if (n % 50 == 0) { write(2, "", 0); return 1; }
  int sum = 0;
  for (int i = 0; i < n % 7; i++) { if (i & 1) sum += n / (i + 1); else sum ^= n; }
  return sum;
}
int main(int argc, char** argv) {
  int sum = 0;
  for (int i = 1; i <= atoi(argv[1]); i++) sum += work(i) + other(i);
  if (argc > 5) sum += never(sum);
  return sum & 1;
}
"""
OTHER = """
#include <unistd.h>
static __attribute__((noinline)) int work(int n) {
  if (n % 40 == 0) { write(2, "", 0); write(2, "", 0); return n; }
  if (n > 1000) write(1, "", 0);
  return n % 3 ? n * 5 : n / 3;
}
int other(int n) { return work(n) - 1; }
"""


class Block(collections.namedtuple("Block", "id start size")):
    pass


class PropellerTest(OwnDirectoryTest):
    def run_tool(self, *words, status=0):
        done = subprocess.run(list(map(str, words)), cwd=self.path, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def sonde(self, *words, status=0):
        return self.run_tool(SONDE, *words, status=status)

    def build(self, program, *flags):
        """Returns what compiler and linker said."""
        (self.path / "main.c").write_text(MAIN)
        (self.path / "other.c").write_text(OTHER)
        return self.run_tool("clang-19", "-O2", "-g1", "-Wall", "-Wl,--fatal-warnings", "-fbasic-block-address-map",
                             "-ffunction-sections", "-fuse-ld=lld", "-no-pie", *flags, "-o", program, "main.c", "other.c").stderr

    def record(self):
        self.build("app")
        self.sonde("record", "-N", "-o", "perf.data", "-e", "sonde_step//", "--", "./app", "200")

    def blocks(self, program):
        """By entry: the blocks of the function in the order of the code, as LLVM reads them."""
        [file] = json.loads(self.run_tool("llvm-readobj-19", "--bb-addr-map", "--elf-output-style=JSON", program).stdout)
        functions = {}
        for function in file["BBAddrMap"]:
            function = function["Function"]
            ranges = [entry["BBRange"] if "BBRange" in entry else entry for entry in function["BB Ranges"]]
            functions[ranges[0]["Base Address"]] = [
                Block(entry["ID"], part["Base Address"] + entry["Offset"], entry["Size"])
                for part in ranges for entry in part["BB Entries"]]
        return functions

    def symbols(self, program):
        """(address, name), in the order of addresses."""
        lines = self.run_tool("nm", "-n", program).stdout.splitlines()
        return [(int(line.split()[0], 16), line.split()[2]) for line in lines if re.match(r"[0-9a-f]+ [tT] ", line)]

    def layout(self):
        """By (module, name): the ids in order; and the counts of ids and of (from, to)."""
        orders, counts, module = {}, {}, ""
        lines = (self.path / "blocks.txt").read_text().splitlines()
        self.assertEqual(lines.pop(0), "v1")
        for line in lines:
            kind, *words = line.split()
            if kind == "m":
                [module] = words
            elif kind == "f":
                function, module = (module, words[0]), ""
            elif kind == "c":
                orders[function] = list(map(int, words))
            else:
                self.assertEqual(kind, "#cfg")
                counts[function] = collections.Counter()
                for word in words:
                    (block, count), *ways = [tuple(map(int, pair.split(":"))) for pair in word.split(",")]
                    counts[function][block] = count
                    counts[function].update({(block, to): times for to, times in ways})
        return orders, counts

    def convert(self):
        return self.sonde("data", "convert", "--dso", "app", "--to-propeller", "blocks.txt", "--symorder", "functions.txt")

    def test_counts_are_those_of_the_instructions(self):
        self.record()
        self.convert()
        functions = self.blocks("app")
        starts = {block.start: (entry, block) for entry, blocks in functions.items() for block in blocks}
        ran = {entry: collections.Counter() for entry in functions}
        stack = []  # of (entry, id) of the functions in progress
        code = sorted((block.start, block.start + block.size, entry) for entry, blocks in functions.items() for block in blocks)

        def function_of(address):
            return next((entry for start, end, entry in code if start <= address < end), None)

        known = {}
        for line in self.sonde("script", "--itrace=i0ns", "-F", "ip").stdout.split():
            address = int(line, 16)
            if address not in known:
                known[address] = function_of(address)
            entry = known[address]
            if entry is None:
                continue
            while address != entry and stack and stack[-1][0] != entry:
                stack.pop()
            if address not in starts:
                continue
            _, block = starts[address]
            ran[entry][block.id] += 1
            if address == entry:
                stack.append((entry, block.id))
            else:
                ran[entry][stack[-1][1], block.id] += 1
                stack[-1] = (entry, block.id)
        names = {}
        for address, name in self.symbols("app"):
            names.setdefault(address, name)
        _, counts = self.layout()
        theirs = sorted((names[entry], sorted(count.items(), key=str)) for entry, count in ran.items() if count)
        ours = sorted((name, sorted(count.items(), key=str)) for (_, name), count in counts.items())
        self.assertEqual(ours, theirs)
        self.assertEqual([name for name, _ in ours], ["main", "other", "work", "work"])

    def test_clang_and_lld_take_the_layout(self):
        self.record()
        self.convert()
        said = self.build("new", "-fbasic-block-sections=list=blocks.txt", "-Wl,--symbol-ordering-file=functions.txt")
        self.assertEqual(said, "")
        orders, counts = self.layout()
        self.assertEqual(sorted(orders), [("", "main"), ("", "other"), ("main.c", "work"), ("other.c", "work")])
        before = {tuple(sorted(block.id for block in blocks)) for blocks in self.blocks("app").values()}
        functions, symbols = self.blocks("new"), self.symbols("new")
        names = dict(symbols)
        laid_out = [[block.id for block in blocks] for entry, blocks in functions.items() if names[entry] in ("main", "other", "work")]
        self.assertEqual(len(laid_out), 4)
        for order in orders.values():
            # What did not run is behind, in whichever order.
            self.assertTrue(any(blocks[:len(order)] == order for blocks in laid_out), (order, laid_out))
        for blocks in laid_out:
            self.assertIn(tuple(sorted(blocks)), before)
        # The order of functions is that of lld, with the two of one name together.
        wanted = (self.path / "functions.txt").read_text().split()
        self.assertIn("work.cold", wanted)
        seen = [name for _, name in symbols if name in wanted]
        self.assertEqual(list(dict.fromkeys(seen)), wanted)
        for count in counts.values():
            self.assertTrue(all(times > 0 for times in count.values()))
        # It does the same.
        for n in ("1", "199"):
            statuses = [subprocess.run([self.path / program, n], check=False, capture_output=True).returncode for program in ("app", "new")]
            self.assertEqual(*statuses)

    def test_what_is_missing_is_said(self):
        self.record()
        missing = self.sonde("data", "convert", "--to-propeller", "-", "--dso", "libc.so.6", status=255)
        self.assertIn("-fbasic-block-address-map", missing.stderr)
        self.assertEqual(missing.stdout, "")
        (self.path / "mine").write_text("mine")
        kept = self.sonde("data", "convert", "--to-propeller", "mine", "--dso", "app", status=255)
        self.assertIn("mine exists: --force overwrites it", kept.stderr)
        self.assertEqual((self.path / "mine").read_text(), "mine")
        for options, problem in ((("--to-autofdo", "a", "--symorder", "b"), "--symorder belongs to --to-propeller"),
                                 (("--to-propeller", "a", "--symorder", "a"), "write to two files")):
            self.assertIn(problem, self.sonde("data", "convert", *options, status=129).stderr)
        self.run_tool("strip", "-g", "app")
        ambiguous = self.convert()
        self.assertIn("2 local functions were left out", ambiguous.stderr)
        self.assertIn("-g1", ambiguous.stderr)
        self.assertEqual(sorted(self.layout()[0]), [("", "main"), ("", "other")])


if __name__ == "__main__":
    if platform.machine() != "x86_64" or not all(map(shutil.which, TOOLS)):
        print("needs an x86-64 machine and", *TOOLS)
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
