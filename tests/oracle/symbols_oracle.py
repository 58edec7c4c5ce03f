#!/usr/bin/env python3
"""Compares Sonde's reading of this machine's own objects with readelf, nm, objdump, addr2line and c++filt.

    tests/oracle/symbols_oracle.py BUILD_DIR [FILE...]

BUILD_DIR has the libraries libsonde_*.a. Without files, a few that every Debian has are taken. Exit status 1 and one
line per difference (the first of each kind) where anything differs.
"""
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DEFAULT_FILES = ["/bin/bash", "/bin/ls", "/usr/bin/perf", "/lib/x86_64-linux-gnu/libc.so.6",
                 "/lib/x86_64-linux-gnu/libstdc++.so.6", "/usr/bin/python3", "/usr/bin/ninja"]
PROGRAM = r"""
#include <string>
#include <vector>
volatile unsigned long sink;
static inline __attribute__((always_inline)) int twice(int n) { sink += n; return n * 2; }
static inline __attribute__((always_inline)) int four(int n) { return twice(n) + twice(n + 1); }
namespace app { struct Widget { __attribute__((noinline)) Widget(int n) { sink += four(n); } }; }
int main(int argc, char** argv) {
  std::vector<std::string> all(argv, argv + argc);
  app::Widget w(static_cast<int>(all.size()));
  return four(argc);
}
"""

STT = {"NOTYPE": 0, "OBJECT": 1, "FUNC": 2, "IFUNC": 10}


def run(*args, stdin=None):
    return subprocess.run(args, input=stdin, capture_output=True, text=True, errors="replace", timeout=300).stdout


def build_dump(build, into):
    if tools := os.environ.get("SONDE_TOOLS"):  # ctest has it built already
        return os.path.join(tools, "symbols_dump")
    dump = os.path.join(into, "symbols_dump")
    libs = [os.path.join(build, f"libsonde_{name}.a") for name in ("symbol", "dwarf", "elf", "base")]
    # These layers need nothing from those above, so only they are linked.
    subprocess.run(["g++", "-std=c++23", "-O1", f"-I{ROOT}/src", f"{ROOT}/tests/oracle/symbols_dump.cc",
                    "-o", dump, *libs, "-lfmt", "-ldw", "-lelf", "-llzma", "-lz", "-lzstd", "-liberty", "-ltbb",
                    "-lxxhash", "-lpthread"], check=True)
    return dump


class Report:
    def __init__(self):
        self.failures = 0

    def same(self, what, ours, theirs):
        if ours == theirs:
            print(f"ok    {what}")
            return
        self.failures += 1
        print(f"DIFF  {what}: ours {str(ours)[:200]!r}, theirs {str(theirs)[:200]!r}")

    def no_misses(self, what, misses, total):
        if misses or total == 0:
            self.failures += 1
            print(f"DIFF  {what}: {len(misses)} of {total}, e.g. {misses[:3]}")
        else:
            print(f"ok    {what} ({total})")


def readelf_symbols(path):
    """Address to the set of (size, type, name) that a profiler would count, from .symtab and .dynsym."""
    sections = {}
    for line in run("readelf", "-SW", path).splitlines():
        found = re.match(r"\s*\[\s*(\d+)\] (\S+)\s+\S+\s+[0-9a-f]+ [0-9a-f]+ [0-9a-f]+ [0-9a-f]+\s+([A-Zop]*)\s", line)
        if found:
            sections[int(found[1])] = (found[2], "A" in found[3])
    symbols = {}
    for line in run("readelf", "-sW", path).splitlines():
        fields = line.split()
        if len(fields) < 8 or not fields[0].rstrip(":").isdigit() or not fields[6].isdigit():
            continue
        value, size, kind, visibility, section, name = (int(fields[1], 16), int(fields[2], 0), fields[3], fields[5],
                                                        int(fields[6]), fields[7])
        where, allocated = sections.get(section, ("", False))
        if not allocated or kind not in STT:
            continue
        if kind == "NOTYPE" and (visibility in ("HIDDEN", "INTERNAL") or not re.search("text|data", where)):
            continue
        symbols.setdefault(value, set()).add((size, STT[kind], name))
    return symbols


def check_symbols(dump, path, report):
    theirs = readelf_symbols(path)
    ours = {}
    misses = []
    for line in run(dump, "symbols", path).splitlines():
        start, end, kind, name = line.split(" ", 3)
        if name.endswith("@plt"):
            continue
        start, end = int(start, 16), int(end, 16)
        ours[start] = name
        # readelf includes versions in the names of dynamic symbols: its foo@@V1 is foo here.
        known = {(size, t, n.split("@")[0]) for size, t, n in theirs.get(start, ())}
        if not any(n == name.split("@")[0] and t == int(kind) and size in (0, end - start) for size, t, n in known):
            misses.append((hex(start), name, end - start, sorted(theirs.get(start, ()))))
    report.no_misses(f"{path}: symbols are readelf's", misses, len(ours))
    report.same(f"{path}: one symbol for each address", len(ours), len(theirs))


def check_plt(dump, path, report):
    theirs = set()
    for line in run("objdump", "-d", "-j", ".plt", "-j", ".plt.sec", "-j", ".plt.got", path).splitlines():
        found = re.match(r"^([0-9a-f]+) <([^>]+@plt)>:", line)
        if found and "*ABS*" not in found[2]:
            theirs.add((int(found[1], 16), found[2].split("@")[0] + "@plt"))
    ours = set()
    for line in run(dump, "plt", path).splitlines():
        start, name = line.split(" ", 1)
        ours.add((int(start, 16), name))
    report.no_misses(f"{path}: objdump's PLT entries are ours", sorted(theirs - ours), max(len(theirs), 1))


def check_functions(dump, path, report):
    """Those of .eh_frame, as readelf prints it."""
    theirs = {}
    for line in run("readelf", "-wF", path).splitlines():
        found = re.match(r"[0-9a-f]+ [0-9a-f]+ [0-9a-f]+ FDE .*pc=([0-9a-f]+)\.\.([0-9a-f]+)", line)
        if found and int(found[1], 16) != 0 and found[1] != found[2]:
            theirs.setdefault(int(found[1], 16), int(found[2], 16))
    ours = {int(start, 16): int(end, 16) for start, end in map(str.split, run(dump, "functions", path).splitlines())}
    report.same(f"{path}: functions are those of readelf's entries", sorted(ours.items()), sorted(theirs.items()))


def check_build_id(dump, path, report):
    found = re.search(r"Build ID: ([0-9a-f]+)", run("readelf", "-n", path))
    report.same(f"{path}: build id", run(dump, "buildid", path).strip(), found[1] if found else "")


def check_lines(dump, path, report, addresses):
    text = "".join(f"{a:x}\n" for a in addresses)
    ours = run(dump, "lines", path, stdin=text).splitlines()
    theirs = run("addr2line", "-fiape", path, stdin=text)
    misses = []
    inline_misses = []
    blocks = re.split(r"^0x[0-9a-f]+: ", theirs, flags=re.M)[1:]
    for address, our_line, block in zip(addresses, ours, blocks):
        witness = []
        for frame in block.strip().splitlines():
            found = re.match(r"(?: \(inlined by\) )?(.*) at (.*):(\d+|\?)(?: \(discriminator \d+\))?$", frame)
            witness.append((found[1], os.path.basename(found[2]), found[3].replace("?", "0")))
        mine = []
        for frame in our_line.split(" | "):
            function, where = frame.split(" ", 1)
            file, number = where.rsplit(":", 1)
            mine.append((function, os.path.basename(file), number))
        # Binutils found nothing, or only a name in .symtab: finding more is not an error.
        if witness[0][1] == "??" or witness[0][1].endswith(".o"):
            continue
        if witness[0][1:] != mine[0][1:]:
            misses.append((hex(address), mine[0], witness[0]))
        elif [w[1:] for w in witness] != [m[1:] for m in mine]:
            inline_misses.append((hex(address), mine, witness))
    # addr2line itself is wrong at a few addresses in a thousand (overlapping sequences, rows of line 0).
    allowed = len(addresses) // 50
    report.no_misses(f"{path}: lines are addr2line's", misses if len(misses) > allowed else [], len(addresses))
    report.no_misses(f"{path}: inlined frames are addr2line's", inline_misses if len(inline_misses) > allowed else [],
                     len(addresses))
    if misses or inline_misses:
        print(f"      ({len(misses)} and {len(inline_misses)} differ, {allowed} are let pass; e.g. "
              f"{(misses + inline_misses)[:2]})")


def check_demangling(dump, path, report):
    names = sorted({line.split()[-1].split("@")[0] for line in run("nm", "-D", path).splitlines()
                    if line.split()[-1].startswith("_Z")})[:5000]
    if not names:
        return
    text = "\n".join(names) + "\n"
    ours = run(dump, "demangle", stdin=text).splitlines()
    theirs = run("c++filt", "--no-verbose", stdin=text).splitlines()
    report.no_misses(f"{path}: demangled names are c++filt's",
                     [(n, a, b) for n, a, b in zip(names, ours, theirs) if a != b], len(names))


def code_addresses(path, count):
    random.seed(1)
    addresses = []
    for line in run("nm", "-S", "--defined-only", path).splitlines():
        fields = line.split()
        if len(fields) == 4 and fields[2] in "tT":
            start, size = int(fields[0], 16), int(fields[1], 16)
            addresses += [random.randrange(start, start + size) for _ in range(4)] if size else []
    return sorted(random.sample(addresses, min(count, len(addresses))))


def main():
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    report = Report()
    with tempfile.TemporaryDirectory() as directory:
        dump = build_dump(os.path.abspath(sys.argv[1]), directory)
        program = os.path.join(directory, "program")
        with open(program + ".cc", "w") as out:
            out.write(PROGRAM)
        variants = [("", ["-g", "-O2"]), (".dwarf4", ["-g", "-gdwarf-4", "-O2"]), (".lto", ["-g", "-O2", "-flto"]),
                    (".static", ["-g", "-static"]), (".ibt", ["-g", "-fcf-protection", "-Wl,-z,ibtplt", "-Wl,-z,lazy"])]
        for suffix, flags in variants:
            subprocess.run(["g++", *flags, program + ".cc", "-o", program + suffix], check=True)
            # After LTO binutils uses the artificial unit name "<artificial>" where the line table has the file.
            if suffix != ".lto":
                check_lines(dump, program + suffix, report, code_addresses(program + suffix, 400))
        stripped = program + ".stripped"
        shutil.copy(program, stripped)
        subprocess.run(["objcopy", "--only-keep-debug", program, program + ".debug"], check=True)
        subprocess.run(["strip", f"--remove-section=.comment", stripped], check=True)
        subprocess.run(["objcopy", f"--add-gnu-debuglink={program}.debug", stripped], check=True)
        found = run(dump, "found", stripped)
        report.same("separate debug file: same symbols", found, run(dump, "symbols", program))
        files = sys.argv[2:] or [f for f in DEFAULT_FILES if os.path.exists(f)]
        for path in [program + suffix for suffix, _ in variants] + [os.path.realpath(f) for f in files]:
            check_build_id(dump, path, report)
            check_symbols(dump, path, report)
            check_plt(dump, path, report)
            check_functions(dump, path, report)
            check_demangling(dump, path, report)
    print(f"{report.failures} differences")
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
