#!/usr/bin/env python3
"""`sonde annotate` against the installed `perf annotate`, and instructions against objdump.

A small program is compiled and recorded; both tools must print the same for every function that was hit, line by line. Every
instruction of the C library's text must match objdump, in both spellings. docs/differences.md has what is left out here: numbers
of source lines (perf's count on from the first line of a run), files of lines whose directory is not absolute, symbol versions,
and PLT entries, which perf counts for the function before them.

  SONDE=build/release/sonde SONDE_TOOLS=build/release/tests tests/oracle/annotate_oracle.py
"""
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

SONDE = os.environ["SONDE"]
DUMP = Path(os.environ["SONDE_TOOLS"]) / "instructions_dump"
PROGRAM = r"""
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace work {
struct Step { int by; };
static inline int mixed(unsigned x) {
  return (int)((x * 2654435761u) >> 7);
}
__attribute__((noinline)) long loop(int n, const Step& step) {
  long sum = 0;
  for (int i = 0; i < n; i += step.by) {
    if (i & 1)
      sum = mixed((unsigned)sum) + i;
    else
      sum ^= i / 3;
  }
  return sum;
}
template <typename T> __attribute__((noinline)) T quotients(int n) {
	T sum = 0;
	for (int i = 1; i < n; i++)
		sum += std::sqrt((T)i) / i;
	return sum;
}
}

static volatile int table[4096];
__attribute__((noinline)) int lookups(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) sum += table[(i * 7) & 4095]++;
  return sum;
}

int main() {
  long total = 0;
  double sum = 0;
  for (int i = 0; i < 300; i++) {
    total += work::loop(100000, work::Step{1}) + lookups(50000);
    sum += work::quotients<double>(20000) + (double)work::quotients<float>(20000);
  }
  std::printf("%ld %f\n", total, sum);
}
"""


def run(*command, **options):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=300, errors="replace",
                          **options)


def tool(name):
    if shutil.which(name) is None:
        print(f"{name} is not installed")
        raise SystemExit(77)
    return name


def lines_of(text):
    """What both must agree on: the lines, and for each the location that -l prints after it or None."""
    lines = []
    for line in text.splitlines():
        place = re.search(r" // (\S+:\d+)( \(discriminator \d+\))?$", line)
        if place:
            line = line[:place.start()]
        line = re.sub(r"^( +: )\d+ +", r"\1", line.rstrip())
        line = re.sub(r" \(discriminator \d+\)$", "", line)
        line = re.sub(r"@@?(GLIBC\w*|GLIBCXX\w*|CXXABI\w*|Base)[\w.]*", "", line)
        if re.match(r"^ +: [^/ ][^ ]*:\d+$", line):
            continue  # a line whose directory is not absolute
        if re.match(r"^ +(: )?\S.*\):$", line):
            continue  # where an inlined function begins, binutils sometimes prints its name one instruction late
        lines.append((line, place and place[1]))
    return lines


def without_plt(text):
    """Without listings of PLT entries, which are functions of their own, and which perf shows as part of the one before
    (docs/differences.md). That one of them has a sample is chance."""
    return "".join(part for part in re.split(r"(?m)^(?= Percent +\|)", text) if "Disassembly of section .plt" not in part)


def places_in_force(lines, other):
    """The location in force at each line. Neither prints a location again that it printed last; perf compares with a string that
    it freed with the previous listing (docs/differences.md), so at the start of a listing it may leave out the first location:
    then the other's holds."""
    held, unsaid = None, True
    for (line, place), (_, others) in zip(lines, other):
        if re.match(r"^ +Percent +\|", line):
            held, unsaid = None, True
        if place or (unsaid and others):
            held, unsaid = place or others, False
        yield line, held


class Annotate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.directory = Path(directory.name)
        cls.environment = dict(os.environ, HOME=str(cls.directory), LC_ALL="C")
        (cls.directory / "work.cc").write_text(PROGRAM)
        subprocess.run(["g++", "-g", "-O2", "-no-pie", "-o", "work", "work.cc"], cwd=cls.directory, check=True)
        made = run(tool("perf"), "record", "-q", "-N", "-F", "4000", "-e", "cpu-clock:u,task-clock:u", "-o", "perf.data",
                   "./work", cwd=cls.directory, env=cls.environment)
        if made.returncode != 0:
            print(made.stderr)
            raise SystemExit(77)
        run("perf", "record", "-q", "-N", "-F", "4000", "-e", "{cpu-clock:u,task-clock:u}", "-o", "group.data", "./work",
            cwd=cls.directory, env=cls.environment)

    def both(self, *arguments, style="--stdio"):
        answers = []
        for program, *plain in (("perf",), (SONDE, "--no-frame-functions")):
            made = run(program, "annotate", style, *plain, *arguments, cwd=self.directory, env=self.environment)
            answers.append(lines_of(without_plt(made.stdout)))
        return answers

    def compare(self, *arguments, style="--stdio"):
        perf, sonde = self.both(*arguments, style=style)
        self.assertGreater(len(perf), 20, arguments)
        self.assert_alike(perf, sonde, arguments)

    def assert_alike(self, perf, sonde, message=None):
        self.assertEqual([line for line, _ in perf], [line for line, _ in sonde], message)
        self.assertEqual(list(places_in_force(perf, sonde)), list(places_in_force(sonde, sonde)), message)

    def test_every_function_of_the_program(self):
        self.compare("-i", "perf.data", "-d", "work")

    def test_a_function_asked_for_is_the_same_as_among_all(self):
        """For one function, samples elsewhere and symbols of other objects are not looked at."""
        rows = run(SONDE, "report", "-i", "perf.data", "--stdio", "-s", "sym", "-F", "sym", cwd=self.directory,
                   env=self.environment).stdout.splitlines()
        names = sorted({row.split("] ", 1)[1].strip() for row in rows if "[.] " in row or "[k] " in row})  # of both events
        # The program's own are hot in every run; which others are hit is chance.
        for own in ("lookups", "loop", "quotients<"):
            self.assertTrue(any(own in name for name in names), f"{own}: {names}")

        def annotated(*symbol):
            text = run(SONDE, "annotate", "--stdio", "-i", "perf.data", *symbol, cwd=self.directory, env=self.environment).stdout
            return [part.split("\n", 1)[1].strip() for part in text.split(" Percent |")[1:]]

        everything = annotated()
        found = 0
        for name in names:
            alone = annotated(name)
            found += len(alone)
            for text in alone:
                self.assertIn(text, everything, name)
        self.assertEqual(found, len(everything))

    def test_one_function_with_each_option(self):
        symbol = "work::loop"
        names = run(SONDE, "report", "-i", "perf.data", "--stdio", "-s", "sym", cwd=self.directory,
                    env=self.environment).stdout
        self.assertIn(symbol, names)
        symbol = re.search(r"\[\.\] (work::loop\S*)", names)[1]
        for options in (["-n"], ["--show-total-period"], ["--no-source"], ["--asm-raw"], ["-M", "intel"], ["-P"],
                        ["-l"], ["-l", "-P"], ["--group"], ["--group", "-l"], ["--percent-type", "local-hits"],
                        ["--stdio-color", "always"], ["--asm-raw", "-M", "intel", "-n"], ["-s", symbol]):
            with self.subTest(options=options):
                self.compare("-i", "perf.data", *options, *([] if "-s" in options else [symbol]))

    def test_formatted(self):
        for options in ([], ["-n"], ["--group"], ["--no-source"], ["--percent-type", "local-hits"]):
            for symbol in ("work::loop", "lookups"):
                with self.subTest(options=options, symbol=symbol):
                    self.compare("-i", "perf.data", *options, symbol, style="--stdio2")

    def test_recorded_group(self):
        self.compare("-i", "group.data", "-d", "work")

    def test_percent_limit_leaves_out_functions(self):
        """The limit is of the samples that are looked at: -d and a symbol leave out the others."""
        # perf compares floats: no share of a few thousand samples lies so near to these that it matters.
        for limit in ("12.0137", "20.0137", "30.0137"):
            self.compare("-i", "perf.data", "-d", "work", "--percent-limit", limit)
        self.compare("-i", "perf.data", "--percent-limit", "95", "lookups")

    def test_global_shares_are_of_what_is_looked_at(self):
        # Of libraries only what has more than a sample: which functions that would be is chance, and objdump says "..." in some.
        for wanted in (("--percent-limit", "1"), ("-d", "work"), ("lookups",)):
            with self.subTest(wanted=wanted):
                self.compare("-i", "perf.data", "--percent-type", "global-period", *wanted)

    def test_moved_source_is_found_by_prefix(self):
        moved = self.directory / "moved"
        moved.mkdir()
        shutil.move(self.directory / "work.cc", moved / "work.cc")
        try:
            levels = len(self.directory.parts) - 1
            perf, sonde = self.both("-i", "perf.data", "--prefix", str(moved), "--prefix-strip", str(levels), "lookups")
            self.assert_alike(perf, sonde)
        finally:
            shutil.move(moved / "work.cc", self.directory / "work.cc")

    def test_without_the_binary_there_is_one_line(self):
        gone = self.directory / "gone"
        (self.directory / "work").rename(gone)
        try:
            made = run(SONDE, "annotate", "--stdio", "-i", "perf.data", "-d", "work", cwd=self.directory,
                       env=self.environment)
            self.assertEqual(made.stdout, "")
            self.assertEqual(len(made.stderr.strip().splitlines()), 2 if "Error:" in made.stderr else 1, made.stderr)
        finally:
            gone.rename(self.directory / "work")

    def test_stripped_binary(self):
        subprocess.run(["g++", "-O2", "-s", "-o", "bare", "work.cc"], cwd=self.directory, check=True)
        run("perf", "record", "-q", "-N", "-e", "cpu-clock:u", "-o", "bare.data", "./bare", cwd=self.directory,
            env=self.environment)
        made = run(SONDE, "annotate", "--stdio", "-i", "bare.data", "-d", "bare", cwd=self.directory, env=self.environment)
        self.assertIn(made.returncode, (0, 1))
        self.assertTrue(made.stderr or made.stdout)


def instructions_of(path, syntax):
    """(address, bytes in hexadecimal, text without names)"""
    text = run(tool("objdump"), "-d", "--insn-width=16", *(["-M", "intel"] if syntax == "intel" else []), path).stdout
    for line in text.splitlines():
        found = re.match(r"^ *([0-9a-f]+):\t((?:[0-9a-f]{2} )+) *\t(.*)$", line)
        if found:
            address, code, text = found.groups()
            text = re.sub(r" *(# [0-9a-f]+ )?<.*", "", text).split("#")[0].rstrip()
            yield address, code.replace(" ", ""), text


class Instructions(unittest.TestCase):
    def check_library(self, path, syntax):
        wanted = list(instructions_of(path, syntax))
        asked = "".join(f"{address} {code}\n" for address, code, _ in wanted)
        said = subprocess.run([DUMP, syntax], input=asked, capture_output=True, text=True, check=True).stdout.splitlines()
        self.assertEqual(len(said), len(wanted))
        self.assertGreater(len(wanted), 50000)
        differing = [(a, c, t, s) for (a, c, t), s in zip(wanted, said) if s != f"{len(c) // 2} {t}"]
        self.assertEqual(differing[:20], [], f"{len(differing)} of {len(wanted)} instructions of {path}")

    def test_libraries(self):
        if os.uname().machine != "x86_64":
            self.skipTest("objdump here is of another machine")
        linked = run("ldd", SONDE).stdout
        for name in ("libc.so", "libm.so", "libstdc++.so"):
            found = re.search(rf"{re.escape(name)}\S* => (\S+)", linked)
            if not found:
                continue
            for syntax in ("att", "intel"):
                with self.subTest(library=name, syntax=syntax):
                    self.check_library(found[1], syntax)


if __name__ == "__main__":
    unittest.main(argv=["annotate_oracle"])
