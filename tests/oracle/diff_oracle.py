#!/usr/bin/env python3
"""`perf diff` and `sonde diff` on the same recordings, identical except for trailing blanks. Recordings are made here: one
program in three versions, whose functions change, appear and disappear, and an idle kernel; real recordings are compared in pairs
if present. Needs root and perf."""
import difflib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import kernel_turn

SONDE = os.environ["SONDE"]
PERF = shutil.which("perf")
FIXTURES = Path(os.environ["SONDE_SOURCE"]).parent / "shared" / "fixtures" / "perf61"
PAIRS = ["ps ps2", "guest61_kp guest61_kpg", "jv skb", "sch schg", "pm pmd", "km kmp", "tr rs2", "skb cn", "blk ex",
         "guest61_vg guest61_icmp", "arm64_cycles_g arm64_instructions", "ps ex ps2"]

PROGRAM = """
#include <stdlib.h>
volatile long sum;
#define WORK(name, step) __attribute__((noinline)) void name(int n) { for (int i = 0; i < n; ++i) sum += step; }
WORK(one, i) WORK(two, i * 3) WORK(three, i * 7) WORK(gone, i * 5) WORK(came, i * 9)
int main(int argc, char** argv) {
  int version = argc > 1 ? atoi(argv[1]) : 0;
  for (int i = 0; i < 300; ++i) {
    one(100000);
    two(version == 0 ? 20000 : 80000);
    if (version == 0) gone(30000);
    if (version == 1) came(30000);
    three(60000);
  }
}
"""
OPTIONS = ["", "-c delta", "-c delta-abs", "-c ratio", "-c wdiff:1,2", "-c wdiff:3,-1 -F '-t;'", "-c ratio -p -F", "-F", "-p", "-t,",
           "-t, -p -F", "-o 0", "-b", "-b -p -F", "-q", "-v", "-s comm", "-s pid", "-s pid,symbol", "-s symbol", "-s dso",
           "-s cpu,comm", "-s parent", "-s comm,dso,sym", "-S one,two", "-S one,two --percentage relative -F", "-d prog",
           "-d prog --percentage relative", "-C prog -s comm,dso", "--time 10%-50%", "--time 10%/2", "--time 0%-10%,30%-40%"]
OF_THREE = ["", "-o 2", "-o 0", "-c wdiff:1,2", "-c wdiff:3,-1 -F '-t;'", "-c ratio -o 2", "-c ratio", "-c delta -o 2", "-p -F", "-t, -p", "-b"]

passed = 0
failures = []


def diff(tool, arguments):
    plain = ["--no-frame-functions", "--by-name"] if tool == SONDE else []
    done = subprocess.run([tool, "diff", *plain, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    if arguments[:1] == ["-s"] and arguments[1].endswith("symbol"):
        # Everything without a symbol is one row (of a process), and which of its addresses is shown is chance.
        lines = [re.sub(r"\[.\] 0x[0-9a-f]{16}$", "[ ] 0x", line) for line in lines]
    return lines, done.returncode


def check(arguments):
    """False if perf has names that depend on chance (PLT entries), so that nothing can be concluded."""
    global passed
    theirs, their_status = diff(PERF, arguments)
    ours, our_status = diff(SONDE, arguments)
    if any("@plt" in line for line in theirs):
        return False
    if any("-nan%" in line for line in theirs):
        # A busy machine left the slice of time without samples in the first recording (docs/differences.md).
        # Columns are as wide as what is in them.
        ours, theirs = (sorted(" ".join(re.sub(r"[-+]\S+%", "", line).split()) for line in lines) for lines in (ours, theirs))
    if arguments[0:1] == ["-v"] and ours != theirs:
        ours, theirs = shown_addresses(ours, theirs, arguments[1:])
    if ours == theirs and our_status == their_status:
        passed += 1
        return True
    difference = list(difflib.unified_diff(theirs, ours, "perf", "sonde", lineterm="", n=0))
    failures.append(f"--- diff {shlex.join(map(str, arguments))} ({our_status}, perf {their_status})\n" + "\n".join(difference[:12]))
    return True


def shown_addresses(ours, theirs, recordings):
    """Lines without those addresses that are of a sample in the function: ours is the first one's in the file, perf's the first one's
    in time, which is another if the thread has moved between CPUs (docs/differences.md)."""
    sampled = set()
    scripts = [subprocess.run([PERF, "script", "-F", "ip,sym", "-i", recording], capture_output=True, text=True).stdout
               for recording in recordings]
    for line in "".join(scripts).splitlines():
        address, _, symbol = line.strip().partition(" ")
        # An object's addresses and those of its mapping have the offset within a page in common.
        sampled.add((symbol, int(address, 16) % 4096))
    shown = re.compile(r"0x([0-9a-f]+)( +. \[.\] (.+))$")
    known = {number for number, line in enumerate(ours) if (parts := shown.search(line)) and
             (parts.group(3), int(parts.group(1), 16) % 4096) in sampled}
    return ([shown.sub(r"0x\2", line) if number in known else line for number, line in enumerate(lines)] for lines in (ours, theirs))


def record(path, arguments):
    """Again if chance hit a PLT entry: perf and Sonde name those differently (docs/differences.md)."""
    for _ in range(10):
        subprocess.run([PERF, "record", "-q", "-o", path, *arguments], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        rows = subprocess.run([SONDE, "report", "--stdio", "-g", "none", "-s", "sym", "-i", path], capture_output=True, text=True)
        if "@plt" not in rows.stdout:
            return path
    raise RuntimeError(f"every recording of {arguments} hits the PLT")


def fresh(folder):
    source = folder / "prog.c"
    source.write_text(PROGRAM)
    program = folder / "prog"
    subprocess.run(["cc", "-g", "-O1", "-o", program, source], check=True)
    def versions(name, options):
        return [record(folder / f"{name}{i}.data", [*options, "--", program, str(i)]) for i in range(3)]
    # Not beside tests whose BPF programs and probes come and go: their code has no symbol, and which address stands for all of it
    # is chance.
    with kernel_turn.taken():
        clock = versions("clock", ["-e", "cpu-clock", "-F", "4000"])
        several = versions("several", ["-e", "page-faults,cpu-clock,context-switches,dummy", "-g"])
        kernel = [record(folder / f"kernel{i}.data", ["-a", "-e", "cpu-clock:k", "-F", "999", "--", "dd", "if=/dev/zero",
                                                      "of=/dev/null", "bs=64k", f"count={3000 * (i + 1)}"]) for i in range(2)]
    for options in OPTIONS:
        check([*shlex.split(options), *clock[:2]])
    for options in OF_THREE:
        check([*shlex.split(options), *clock])
    for files in (several[:2], several, [clock[0], several[1]], [several[0], clock[0], kernel[0]], kernel):
        check(files)
        check(["-c", "ratio", "-p", *files])
    shutil.copy(clock[0], folder / "perf.data.old")
    shutil.copy(clock[1], folder / "perf.data")
    os.chdir(folder)
    check([])
    check(["-q", str(clock[2])])


def main():
    if PERF is None or os.geteuid() != 0:
        print("needs perf and root")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        fresh(Path(folder))
        os.chdir("/")
    if FIXTURES.is_dir():
        compared = 0
        for pair in PAIRS:
            files = [FIXTURES / f"{name}.data" for name in pair.split()]
            for options in ("", "-c ratio -p -F", "-s comm,dso,sym -t, -p", "-s symbol -o 0"):
                compared += check([*shlex.split(options), *files])
        if compared < 2 * len(PAIRS):
            failures.append(f"only {compared} comparisons of recordings from elsewhere say anything")
    for failure in failures:
        print(failure)
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
