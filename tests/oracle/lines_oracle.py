#!/usr/bin/env python3
"""Lines and inlined functions from debug information in all its forms, against addr2line and against each other.

A program of two C++ units is compiled by GCC and clang with DWARF 4 and 5. For its plain form, the answers must match addr2line,
except for a few in a thousand; for the same program with its debug information split, packaged, compressed, or processed by dwz,
the answers must match those of its plain form, for every address asked.

Names of functions without a linkage name: against gdb address by address, and against those that llvm-symbolizer gives to a program
of the same source by clang, which has linkage names for all.

  SONDE_TOOLS=build/release/tests tests/oracle/lines_oracle.py
"""
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

DUMP = Path(os.environ["SONDE_TOOLS"]) / "symbols_dump"
HEADER = """
#pragma once
#include <algorithm>
#include <map>
#include <string>
#include <vector>
template <typename T> struct Counter {
  std::map<std::string, T> counts;
  inline T& at(const std::string& word) { return counts[word]; }
  template <typename F> inline void each(const F& f) { for (auto& [word, count] : counts) f(word, count); }
};
std::vector<std::string> split(const std::string& text);
"""
MAIN = """
#include "words.h"
#include <cstdio>
namespace {
struct Longest {
  size_t longest = 0;
  void operator()(const std::string& word, int count) { if (count > 1) longest = std::max(longest, word.size()); }
};
}
int main(int argc, char** argv) {
  Counter<int> counter;
  for (int i = 0; i < argc; ++i)
    for (const std::string& word : split(argv[i])) ++counter.at(word);
  Longest longest;
  counter.each([&](const std::string& word, int count) { longest(word, count); });
  std::vector<std::string> words;
  counter.each([&](const std::string& word, int) { words.push_back(word); });
  std::sort(words.begin(), words.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  std::printf("%zu %zu\\n", longest.longest, words.size());
}
"""
SPLIT = """
#include "words.h"
static inline bool is_blank(char c) { return c == ' ' || c == '\\t'; }
static inline size_t skip(const std::string& text, size_t at) {
  while (at < text.size() && is_blank(text[at])) ++at;
  return at;
}
std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words;
  for (size_t at = skip(text, 0); at < text.size(); at = skip(text, at)) {
    size_t end = at;
    while (end < text.size() && !is_blank(text[end])) ++end;
    words.emplace_back(text, at, end - at);
    at = end;
  }
  return words;
}
"""
SCOPES = """
volatile int sink;
#define INLINED __attribute__((always_inline)) inline
namespace outer {
namespace {
struct Nested {
  struct Inner {
    template <class T> static INLINED T twist(T v) { sink = int(v); return v * 2 + sink; }
    INLINED int defined_outside(int x);
  };
  INLINED int go(int x) { sink = x; return Inner::twist(x) + Inner().defined_outside(x); }
};
int Nested::Inner::defined_outside(int x) { sink = x; return sink * 5; }
INLINED int hidden(int x) { sink = x; return sink * 7; }
}  // namespace
static INLINED int of_the_unit(int x) { sink = x + 1; return sink * 9; }
inline namespace v2 { static INLINED int versioned(int x) { sink = x; return sink + 1; } }
template <class F> INLINED int apply(const F& f, int n) { sink = n; return f(n) + sink; }
class Shown {
 public:
  int operator()(int a) const { sink = a; return a + sink; }
  union Both { int a; INLINED int sum(int b) { sink = b; return a + sink; } };
};
int run(int n) {
  struct Local {
    int a;
    INLINED int method(int x) { sink = x * a; return sink; }
    static INLINED int of_class(int x) {
      struct Deep { INLINED int well(int y) { sink = y; return sink; } };
      sink = x;
      return Deep{}.well(x);
    }
  };
  Nested nested;
  Local local{n};
  Shown::Both both{n};
  int sum = nested.go(n) + hidden(n) + of_the_unit(n) + versioned(n) + local.method(n) + Local::of_class(n) + Shown()(n) + both.sum(n);
  return sum + apply([&](int i) { sink = i; return sink * n; }, n);
}
}  // namespace outer
extern "C" { static INLINED int plain_c(int x) { sink = x; return sink + 3; } }
static INLINED int at_the_top(int x) { sink = x; return sink + 4; }
int main(int argc, char**) { return outer::run(argc) + plain_c(argc) + at_the_top(argc); }
"""
GDB = """
import gdb
for line in open("addresses"):
    names, block = [], gdb.block_for_pc(int(line, 16))
    while block and not block.is_global:
        if block.function:
            names.append(block.function.print_name)
        block = block.superblock
    print("names", *names, sep="\\t")
"""
failures = []


def run(*command, stdin=None, cwd=None):
    return subprocess.run([str(c) for c in command], input=stdin, capture_output=True, text=True, check=True, timeout=300,
                          cwd=cwd).stdout


def check(what, good, detail=""):
    print(f"{'ok  ' if good else 'FAIL'}  {what}  {'' if good else detail}")
    if not good:
        failures.append(what)


def addresses_of(program, count):
    random.seed(1)
    found = []
    for line in run("nm", "-S", "--defined-only", program).splitlines():
        fields = line.split()
        if len(fields) == 4 and fields[2] in "tTWw":
            found += range(int(fields[0], 16), int(fields[0], 16) + int(fields[1], 16))
    return sorted(random.sample(found, min(count, len(found))))


def ask(program, addresses):
    return run(DUMP, "lines", program, stdin="".join(f"{a:x}\n" for a in addresses)).splitlines()


def short(frames):
    """(function, file's last component, line) of each frame of one of our lines."""
    found = []
    for frame in frames.split(" | "):
        function, where = frame.rsplit(" ", 1)
        file, line = where.rsplit(":", 1)
        found.append((function, os.path.basename(file), line))
    return found


def witness(program, addresses):
    """The same from addr2line."""
    text = run("addr2line", "-fiape", program, stdin="".join(f"{a:x}\n" for a in addresses))
    for block in re.split(r"^0x[0-9a-f]+: ", text, flags=re.M)[1:]:
        frames = []
        for frame in block.strip().splitlines():
            found = re.match(r"(?: \(inlined by\) )?(.*) at (.*):(\d+|\?)(?: \(discriminator \d+\))?$", frame)
            frames.append((found[1], os.path.basename(found[2]), found[3].replace("?", "0")))
        yield frames


def check_against_addr2line(name, program, addresses, knows_chains):
    answers = ask(program, addresses)
    asked = lines = chains = 0
    example = None
    for address, ours, theirs in zip(addresses, map(short, answers), witness(program, addresses)):
        if theirs[0][1] == "??":
            continue
        asked += 1
        lines += ours[0][1:] != theirs[0][1:]
        # addr2line names functions by .symtab where it can, and does not know the names of some copies.
        if [f[1:] for f in ours] != [f[1:] for f in theirs]:
            chains += 1
            example = example or (hex(address), ours, theirs)
    print(f"      {name}: {asked} addresses, {lines} lines and {chains} chains differ; {sum('|' in a for a in answers)} inlined")
    check(f"{name}: as addr2line", asked > len(addresses) // 2 and lines <= asked // 100 and
          (chains <= asked // 50 or not knows_chains), example)
    return answers


def check_same(name, program, addresses, plain):
    answers = ask(program, addresses)
    different = [(hex(a), mine, its) for a, mine, its in zip(addresses, answers, plain) if mine != its]
    check(f"{name}: as the plain form", not different and len(answers) == len(plain),
          f"{len(different)} of {len(plain)}: {different[:2]}")


def compile_program(directory, name, compiler, flags):
    """Compiled in steps: .dwo files are beside the object files."""
    made = directory / name
    made.mkdir()
    objects = []
    for unit in ("main", "split"):
        objects.append(f"{unit}.o")
        run(*compiler, *flags, "-I..", "-c", f"../{unit}.cc", "-o", f"{unit}.o", cwd=made)
    run(compiler[0], *objects, "-o", "program", cwd=made)
    return made / "program"


def demangled(names):
    return run(DUMP, "demangle", stdin="".join(f"{name}\n" for name in names)).splitlines()


def without_parameters(name):
    """`outer::run::Local::method` of `int outer::run(int)::Local::method(int) const`, with the spaces of g++ and clang alike."""
    name = name.replace("(int)::", "::").removesuffix(" const").replace("(anonymous namespace)", "{anonymous}").replace("operator()", "operator{}")
    name = name.replace("> >", ">>")
    depth, start, end = 0, 0, len(name)
    for at, letter in enumerate(name):
        if letter == "(" and depth == 0:
            end = at
        elif letter == " " and depth == 0:
            start = at + 1  # after the type that a template function returns
        depth += (letter in "(<") - (letter in ")>")
    name = name[start:end if name.endswith(")") else None]
    return name.replace("{anonymous}", "(anonymous namespace)").replace("operator{}", "operator()")


def check_scopes(directory):
    (directory / "scopes.cc").write_text(SCOPES)
    program = directory / "scopes"

    def made(compiler, *flags):
        run(compiler, "-std=c++17", "-O2", "-g", *flags, "scopes.cc", "-o", "scopes", cwd=directory)
        addresses = addresses_of(program, 100000)
        answers = [[f[0] for f in short(line)] for line in ask(program, addresses)]
        names = sorted({name for frames in answers for name in frames})
        shown = dict(zip(names, demangled(names)))
        return addresses, [[shown[name] for name in frames] for frames in answers], names

    def of_source(names):
        """Those that are spelled alike by both compilers: no lambda expressions, and nothing that mentions one."""
        return {n for n in map(without_parameters, names) if "lambda" not in n and "$_" not in n and "<outer::run" not in n}

    made("clang++-19", "-gdwarf-5")
    addresses = addresses_of(program, 100000)
    text = run("llvm-symbolizer-19", "-fi", "-s", "-e", program, stdin="".join(f"{a:#x}\n" for a in addresses))
    theirs = of_source(line for line in text.splitlines() if "outer" in line or "top" in line or "plain_c" in line)
    for flags in (("-gdwarf-4",), ("-gdwarf-5",), ("-gdwarf-4", "-fdebug-types-section"), ("-gdwarf-5", "-gsplit-dwarf"), ("-flto",)):
        addresses, answers, names = made("g++", *flags)
        ours = of_source(n for frames in answers for n in frames if "outer" in n or "top" in n or "plain_c" in n)
        name = " ".join(flags)
        check(f"scopes, {name}: names are those of clang's program", ours == theirs, (ours - theirs, theirs - ours))
        check(f"scopes, {name}: lambda expressions",
              any(n == "outer::run(int)::{lambda}::operator()" for frames in answers for n in frames), names)
        if "-gsplit-dwarf" in flags:  # gdb does not read type units in split files
            continue
        (directory / "addresses").write_text("".join(f"{a:x}\n" for a in addresses))
        (directory / "names.py").write_text(GDB)
        text = run("gdb", "-batch", "-nx", "-x", "names.py", "scopes", cwd=directory)
        witness_names = [line.split("\t")[1:] for line in text.splitlines() if line.startswith("names")]
        asked, different = 0, []
        for address, mine, its in zip(addresses, answers, witness_names):
            for our, their in zip(mine, its) if len(mine) == len(its) else ():
                asked += 1
                # gdb does not say which function a local class is in.
                our, their = without_parameters(our), without_parameters(their)
                local = our.startswith("outer::run::") and our.endswith("::" + their)
                if our != their and not local:
                    different.append((hex(address), our, their))
        print(f"      scopes, {name}: {asked} names compared with gdb's, {len(different)} differ")
        check(f"scopes, {name}: as gdb", asked > 100 and not different, different[:3])


def main():
    with tempfile.TemporaryDirectory() as text:
        directory = Path(text)
        for name, content in (("words.h", HEADER), ("main.cc", MAIN), ("split.cc", SPLIT)):
            (directory / name).write_text(content)
        check_scopes(directory)
        for compiler in ("g++", "clang++-19"):
            for version in ("4", "5"):
                name = f"{compiler} DWARF {version}"
                command = [compiler, "-std=c++17", "-O2", "-g", f"-gdwarf-{version}", f"-ffile-prefix-map={directory}=/src"]
                # One directory for all forms: the paths in the debug information are then the same.
                program = compile_program(directory, "made", command, [])
                addresses = addresses_of(program, 3000)
                # Binutils 2.40 does not read range lists as clang writes them in DWARF 5, so it misses chains. But the code is
                # the same as with DWARF 4.
                of_clang = compiler != "g++"
                plain = check_against_addr2line(name, program, addresses, version == "4" or not of_clang)
                if of_clang and version == "4":
                    before = plain
                elif of_clang:
                    check(f"{name}: as DWARF 4", list(map(short, plain)) == list(map(short, before)))

                for form in ("zlib", "zlib-gnu", "zstd"):
                    packed = program.with_suffix(f".{form}")
                    run("objcopy", f"--compress-debug-sections={form}", program, packed)
                    check_same(f"{name}, {form}", packed, addresses, plain)
                if shutil.which("dwz") and not (of_clang and version == "5"):  # whose forms it does not know
                    alone, twin, common = (program.with_suffix(f".{s}") for s in ("dwz", "dwz2", "common"))
                    for copy in (alone, twin):
                        shutil.copy(program, copy)
                    run("dwz", "-l", "none", "-L", "none", alone)
                    check_same(f"{name}, dwz", alone, addresses, plain)
                    shutil.copy(program, alone)
                    run("dwz", "-l", "none", "-L", "none", "-m", common, "-r", alone, twin)
                    check(f"{name}: dwz made a file for two", "gnu_debugaltlink" in run("readelf", "-SW", alone))
                    check_same(f"{name}, dwz with a file for two", alone, addresses, plain)
                shutil.rmtree(program.parent)

                program = compile_program(directory, "made", command, ["-gsplit-dwarf"])
                check_same(f"{name}, split", program, addresses, plain)
                if packer := shutil.which("llvm-dwp-19"):
                    run(packer, "-e", "program", "-o", "program.dwp", cwd=program.parent)
                    for dwo in program.parent.glob("*.dwo"):
                        dwo.unlink()
                    check_same(f"{name}, packed", program, addresses, plain)
                    (program.parent / "program.dwp").unlink()
                # With neither, only lines are left, and nothing crashes.
                for dwo in program.parent.glob("*.dwo"):
                    dwo.unlink()
                lines = [short(a)[0][2] for a in ask(program, addresses)]
                innermost = [short(a)[0][2] for a in plain]
                check(f"{name}, split files gone: lines are left", lines == innermost)
                shutil.rmtree(program.parent)
    print(f"{len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
