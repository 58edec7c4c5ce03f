#!/usr/bin/env python3
"""`perf report --stdio` and `sonde report --stdio` on the same recordings, line by line.

    report_oracle.py SONDE [--perf PERF] [--recordings DIR] [--keep DIR] [--only TEXT] [-v]

Recordings are made in a temporary directory with the installed perf (they need the privilege to record the whole
machine); files ending in .data in DIR are read too. Every recording is reported with every set of options that fits
it. Trailing blanks don't count, nor does perf's tip of the day. The last line is 'N passed, M failed'.
"""
import argparse
import difflib
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time

# name, arguments of `perf record`
BUSY = "ls -lR /usr/include | gzip -9 | sha256sum"
RECORDINGS = [
    ("plain", ["--", "sh", "-c", BUSY]),
    ("graph", ["-g", "--", "sh", "-c", BUSY]),
    ("system", ["-a", "-g", "--", "sh", "-c", BUSY]),
    ("events", ["-a", "-e", "cpu-clock,page-faults,context-switches", "--", "sh", "-c", BUSY]),
    ("group", ["-g", "-e", "{cpu-clock,page-faults}", "--", "sh", "-c", BUSY]),
    ("groupread", ["-e", "{cpu-clock,page-faults}:S", "--", "sh", "-c", BUSY]),
    ("trace", ["-e", "sched:sched_switch", "--", "sh", "-c", BUSY]),
    ("traces", ["-a", "-e", "sched:sched_switch,sched:sched_wakeup,irq:softirq_entry", "-g", "--", "sh", "-c", BUSY]),
    ("compressed", ["-z", "-g", "--", "sh", "-c", BUSY]),
    ("period", ["-c", "1000000", "-g", "--", "sh", "-c", BUSY]),
]

# Without --full: these recordings with all options, and the ones from elsewhere with these options.
QUICK = {"plain", "graph"}
QUICK_OPTIONS = {"", "--no-children", "--stats"}

# options, and what a recording must have for them ("" anything, "g" call graphs, "t" tracepoints)
OPTIONS = [
    ("", ""),
    ("-n", ""),
    ("--show-total-period", ""),
    ("--no-children", "g"),
    ("-g none", "g"),
    ("--no-children -g none", "g"),
    ("-G", "g"),
    ("--no-children -G", "g"),
    ("-g caller", "g"),
    ("--children -g callee", "g"),
    ("-g fractal", "g"),
    ("-g fractal,5,callee --no-children", "g"),
    ("-g flat", "g"),
    ("-g folded", "g"),
    ("-g folded,0,callee,count --no-children", "g"),
    ("-g graph,2,3,caller", "g"),
    ("-g graph,0.5,caller,address", "g"),
    ("-g graph,0.5,caller,function,period", "g"),
    ("-g graph,0.5,caller,function,count", "g"),
    ("--percent-limit 1", ""),
    ("--max-stack 3", "g"),
    ("--stdio-color always", ""),
    ("-s comm", ""),
    ("-s dso", ""),
    ("-s sym", ""),
    ("-s symbol", ""),
    ("-s dso,sym", ""),
    ("-s pid", ""),
    ("-s comm,pid", ""),
    ("-s cpu", ""),
    ("-s socket,cpu --no-children", ""),
    ("-s time --no-children", ""),
    ("-s time,comm --time-quantum 10ms --ns --no-children", ""),
    ("-s comm,dso,symbol,weight,local_weight,transaction", ""),
    ("-s addr --no-children", ""),
    ("-s symbol_size,dso_size --no-children", ""),
    ("-s srcline --no-children", ""),
    ("-s srcfile --no-children", ""),
    ("-s cgroup,cgroup_id,code_page_size", ""),
    ("-s parent", "g"),
    ("-p do_syscall_64", "g"),
    ("-p do_syscall_64 -x", "g"),
    ("-s +cpu", ""),
    ("-s overhead,comm", ""),
    ("-s sample,comm", ""),
    ("-s comm,overhead_sys,overhead_us", ""),
    ("--show-cpu-utilization", ""),
    ("-F overhead,comm", ""),
    ("-F comm,overhead,sym", ""),
    ("-F overhead_children,sym", ""),
    ("-F +period", ""),
    ("-F overhead,sample,period -s dso", ""),
    ("-c gzip", ""),
    ("-c gzip --percentage relative", ""),
    ("-d [kernel.kallsyms]", ""),
    ("-S do_syscall_64", ""),
    ("-C 0", ""),
    ("--time 10%/2", ""),
    ("--time 0%-50%", ""),
    ("-w 10,8,20", ""),
    ("-t ,", ""),
    ("-t , -g folded", "g"),
    ("-q", ""),
    ("--header", ""),
    ("--header-only -I", ""),
    ("--stats", ""),
    ("--tasks", ""),
    ("--hierarchy", ""),
    ("--hierarchy -s dso,sym", ""),
    ("--ignore-callees do_syscall_64", "g"),
    ("--no-group", ""),
    ("--group", ""),
    ("--no-demangle", ""),
    ("-s trace", "t"),
    ("-s prev_comm", "t"),
    ("-s comm,next_pid", "t"),
    ("-s trace_fields", "t"),
    ("-s next_pid/raw", "t"),
    ("--raw-trace", "t"),
]

# What may differ, and why: docs/differences.md. Each is (pattern, replacement), applied to both outputs.
ACCEPTED = [
    (re.compile(r"^# \(Tip: .*\)$"), "# (Tip)"),
    # The symbol behind perf's "[...]" is not initialised: whether it counts as inlined is chance.
    (re.compile(r"\[\.\.\.\] \(inlined\)$"), "[...]"),
]
# Cases that are known to differ, and why. They are run and said, but don't fail; a case that starts to agree is said too.
KNOWN = [
    (re.compile(r"^(system|events|traces)\."), "whole-machine recordings: objects that were deleted while they ran, .init.text"),
    (re.compile(r" (-s sym|-s symbol|-F comm,overhead,sym|-F overhead_children,sym)$"), "rows without symbol and without DSO"),
    (re.compile(r" -s (symbol_size|srcline|srcfile)"), "sizes of the kernel's end; lines of places without symbols"),
    (re.compile(r" -g graph,0.5,caller,address$"), "a line without a file reads :0 in perf, ??:0 here"),
    (re.compile(r"^(nsa|r7|pmd|schg|guest61_\w+|arm64_\w+)\."), "PLT names, dwarf stacks, deleted and foreign binaries"),
]
# perf's own slip: a row of its own for them, where we show the address. Such a text cannot be compared line by line.
NAMELESS = "perf gives the PLT entries of IRELATIVE relocations an empty name"
ANSI = re.compile(r"\x1b\[[0-9;]*m")


def run(command, timeout):
    started = time.monotonic()
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, errors="replace")
    except subprocess.TimeoutExpired:
        return None, time.monotonic() - started, "timeout"
    return done.stdout, time.monotonic() - started, done.stderr


def lines_of(text):
    lines = []
    for line in text.splitlines():
        line = line.rstrip()
        for pattern, replacement in ACCEPTED:
            line = pattern.sub(replacement, line)
        lines.append(line)
    while lines and lines[-1] in ("", "#", "# (Tip)"):
        lines.pop()
    return lines


def record(perf, folder, recordings):
    paths = []
    for name, arguments in recordings:
        path = os.path.join(folder, name + ".data")
        if not os.path.exists(path):
            subprocess.run([perf, "record", "-q", "-o", path, *arguments], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, check=False)
        if os.path.exists(path):
            paths.append(path)
    return paths


def traits(perf, path):
    text, _, _ = run([perf, "evlist", "-v", "-i", path], 60)
    found = set()
    if text is None:
        return found
    if "CALLCHAIN" in text:
        found.add("g")
    if re.search(r"\btype: 2,", text):
        found.add("t")
    return found


def weights(lines):
    """The first number of every line: what rows and branches are ordered by. perf leaves equal ones as its search trees
    happen to hold them."""
    found = (re.search(r"\d+\.\d+%|\d+", line) for line in lines)
    return [match.group() if match else "" for match in found]


def compare(perf, sonde, path, options, verbose):
    words = shlex.split(options)
    expected, perf_time, perf_errors = run([perf, "report", "--stdio", "-i", path, *words], 120)
    if expected is None:
        return True, "perf takes too long"
    actual, sonde_time, errors = run([sonde, "report", "--stdio", "-i", path, *words], 60)
    if actual is None:
        return False, "timeout"
    left, right = lines_of(expected), lines_of(actual)
    if left == right:
        return True, f"{perf_time:.2f} s / {sonde_time:.2f} s"
    if not expected.strip() and not actual.strip():
        return True, "both refuse"
    if sorted(left) == sorted(right) and weights(left) == weights(right):
        return True, "equal but for the order of rows of equal weight"
    if re.search(r"(^|[^\w.])@plt", expected):
        return False, NAMELESS
    diff = list(difflib.unified_diff(left, right, "perf", "sonde", lineterm="", n=1))
    changed = sum(1 for line in diff[2:] if line[:1] in "+-")
    shown = diff if verbose else diff[:14]
    return False, f"{changed} lines differ of {len(left)}; {errors.strip()[:200]}\n" + "\n".join(shown)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sonde", help="the program; under ctest, which names it in $SONDE, the build directory")
    parser.add_argument("--perf", default="perf")
    parser.add_argument("--recordings", help="folder with further *.data files")
    parser.add_argument("--keep", help="folder for the recordings that are made, reused if it is there")
    parser.add_argument("--only", default="", help="only cases whose 'name options' contains this")
    parser.add_argument("--full", action="store_true", help="all recordings with all options: perf takes a quarter of an hour for it")
    parser.add_argument("-v", "--verbose", action="store_true")
    arguments = parser.parse_args()
    arguments.sonde = os.environ.get("SONDE", arguments.sonde)
    beside = os.path.join(os.environ.get("SONDE_SOURCE", "."), "..", "shared", "fixtures", "perf61")
    if arguments.recordings is None and os.path.isdir(beside):
        arguments.recordings = beside
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or temporary
        os.makedirs(folder, exist_ok=True)
        paths = record(arguments.perf, folder, RECORDINGS if arguments.full else [r for r in RECORDINGS if r[0] in QUICK])
        if arguments.recordings and os.path.isdir(arguments.recordings):
            paths += sorted(os.path.join(arguments.recordings, f) for f in os.listdir(arguments.recordings)
                            if f.endswith(".data"))
        passed = failed = known = 0
        for path in paths:
            has = traits(arguments.perf, path)
            for options, needs in OPTIONS:
                name = f"{os.path.basename(path)} {options}"
                if arguments.only not in name or not set(needs) <= has:
                    continue
                if path.startswith(str(arguments.recordings)) and options not in QUICK_OPTIONS and not arguments.full:
                    continue
                ok, detail = compare(arguments.perf, arguments.sonde, path, options, arguments.verbose)
                reason = NAMELESS if detail == NAMELESS else next((text for pattern, text in KNOWN if pattern.search(name)), None)
                if reason and not ok:
                    known += 1
                    print(f"known difference {name}: {reason}", flush=True)
                    continue
                passed += ok
                failed += not ok
                if not ok:
                    print(f"FAILED {name}: {detail}", flush=True)
                elif arguments.verbose:
                    print(f"passed {name}: {detail}", flush=True)
        if known:
            print(f"{known} cases differ as known")
        print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
