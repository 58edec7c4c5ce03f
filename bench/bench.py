#!/usr/bin/env python3
"""Compares the commands that people wait for, alternating Sonde and the installed perf. Prints a table, writes bench.json.

First come recordings of real compilers at work on Sonde's own sources. The recording for the rest is given (--recording FILE), or
made once and kept under build/bench: by perf, of bench/workload, a compiler in miniature with frame-pointer chains, as long as
--samples says. The goals in the table are those of the project
(docs/performance.md).
"""
import argparse
import os
import subprocess
import sys
from pathlib import Path

from compilers import compare_compilers, measure_large
from harness import Bench
from overheads import compare_overheads, compare_traces
from pages import open_page
from probes import compare_probes
from pictures import compare_pictures
from recorders import compare_recorders
from instruction_traces import compare_instruction_traces
from kmem import compare_kmem
from lock import compare_lock
from kernel_stacks import compare_kernel_stacks
from kernel_work import compare_kernel_work
from sched import compare_sched
from stacks import compare_stacks
from sums import compare_sums
from switches import compare_switches
from tops import compare_tops

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "build/bench"
WORKLOAD = ROOT / "bench/workload/miniature_compiler.cc"

# name, arguments, goal (times faster), goal (share of perf's memory)
ON_A_RECORDING = [
    ("report", ["report", "--stdio"], 40, 0.2),
    ("report --no-children", ["report", "--stdio", "--no-children"], 15, None),
    ("report --no-children -g none", ["report", "--stdio", "--no-children", "-g", "none"], 5, None),
    ("script", ["script"], 10, None),
]
FRAME_POINTERS = ["-fno-omit-frame-pointer", "-fno-optimize-sibling-calls"]
# Source lines, with which perf does not finish: it is measured without them, and may be three times as fast.
WITH_LINES = [
    ("report --sort srcline; perf: no lines", ["report", "--stdio", "--sort", "srcline"]),
    ("script -F +srcline; perf: no lines", ["script", "-F", "+srcline"]),
]
# With stack copies: name, arguments, goal, runs (perf needs minutes for the first).
ON_STACK_COPIES = [
    ("report of stack copies", ["report", "--stdio"], 100, 1),
    ("report --no-inline of stack copies", ["report", "--stdio", "--no-inline"], 8, None),
]


def workload(name=None, flags=tuple(FRAME_POINTERS)):
    """The program to record, built once; by default with frame pointers in all of its functions."""
    program = KEPT / (name or WORKLOAD.stem)
    if not program.exists() or program.stat().st_mtime < WORKLOAD.stat().st_mtime:
        print(f"bench: building {program.relative_to(ROOT)}", file=sys.stderr)
        subprocess.run(["g++", "-std=c++20", "-O2", *flags, "-pthread", str(WORKLOAD), "-o", str(program)], check=True)
    return program


def recording_with_lines(samples):
    """Like the one below, for the program with debug information."""
    path = KEPT / f"lines-{samples}.data"
    if not path.exists():
        record(path, workload("miniature_compiler_g", ["-g", *FRAME_POINTERS]), ["-g"], samples, 25000)
    return path


def recording_of_stacks(samples=48000):
    """Stack copies of 8 KB, for the program without frame pointers and with debug information."""
    path = KEPT / f"stacks-{samples}.data"
    if not path.exists():
        record(path, workload("miniature_compiler_stacks", ["-g"]), ["--call-graph", "dwarf"], samples, 4000)
    return path


def record(path, program, how, samples, frequency):
    """`frequency`: samples per second of CPU time; `samples`: of all processes together."""
    print(f"bench: recording {path.relative_to(ROOT)}", file=sys.stderr)
    subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", *how, "-F", str(frequency), "-o", str(path), "--",
                    str(program), f"{samples / frequency:.2f}", "8"], check=True)


def recording(options):
    if options.recording:
        return options.recording.resolve()
    path = KEPT / f"build-{options.samples}.data"
    if not path.exists():
        record(path, workload(), ["-g"], options.samples, 25000)
    return path


def recording_of_sonde(sonde, data):
    """A short recording of a large program, which may have been rebuilt since the last one."""
    path = str(KEPT / "sonde.data")
    subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", "5000", "-o", path, "--", sonde, "report", "--stdio", "-i",
                    str(data)], check=True, capture_output=True)
    return path


def hottest_function(sonde, data, program):
    """In the program itself: the name of the first row."""
    rows = subprocess.run([sonde, "report", "--stdio", "--no-children", "-g", "none", "-s", "sym", "-d", program, "-i", data],
                          capture_output=True, text=True, check=True).stdout
    return next(line.split("] ", 1)[1].strip() for line in rows.splitlines() if "[.] " in line)


def main():
    parser = argparse.ArgumentParser(description="Sonde and perf in turn")
    parser.add_argument("--sonde", required=True, type=Path, help="the binary")
    parser.add_argument("--perf", default="perf", help="the other one")
    parser.add_argument("--recording", type=Path, help="measure on this perf.data")
    parser.add_argument("--samples", type=int, default=500000, help="about how many a new recording should have")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="", help="only what has this in its name")
    parser.add_argument("--large", action="store_true", help="only: time and memory of Sonde on recordings of 10 GB")
    parser.add_argument("--json", type=Path, default=KEPT / "bench.json")
    options = parser.parse_args()

    KEPT.mkdir(parents=True, exist_ok=True)
    sonde, perf = str(options.sonde.resolve()), options.perf
    bench = Bench(options.runs, KEPT)

    def compare(name, arguments, goal, memory_goal=None, runs=None):
        if options.only in name:
            bench.compare(name, [sonde, *arguments], [perf, *arguments], goal, memory_goal, runs, discard=name == "script")

    if options.large:
        return 1 if measure_large(sonde, KEPT) else 0
    compare_compilers(bench, sonde, perf, KEPT, options.only)
    if any(options.only in name for name, *_ in ON_A_RECORDING):
        data = str(recording(options))
        for name, arguments, goal, memory_goal in ON_A_RECORDING:
            compare(name, [*arguments, "-i", data], goal, memory_goal)
    name = "annotate --stdio of the hottest function"
    if options.only in name:
        data = str(recording(options))
        compare(name, ["annotate", "--stdio", "-i", data, hottest_function(sonde, data, workload().name)], 10)
    name = "annotate --stdio of every function"
    if options.only in name:
        compare(name, ["annotate", "--stdio", "-i", str(recording(options))], 10, runs=1)
    name = "annotate --stdio, a function of Sonde's own"
    if options.only in name:
        data = recording_of_sonde(sonde, recording(options))
        compare(name, ["annotate", "--stdio", "-i", data, hottest_function(sonde, data, Path(sonde).name)], 10)
    compare_sched(bench, sonde, perf, KEPT, options.only)
    compare_kernel_work(bench, sonde, perf, KEPT, options.only)
    compare_kmem(bench, sonde, perf, KEPT, options.only)
    compare_lock(bench, sonde, perf, KEPT, options.only)
    compare_probes(bench, sonde, perf, KEPT, options.only)
    compare_instruction_traces(bench, sonde, perf, KEPT, options.only)
    compare_pictures(bench, sonde, perf, lambda: recording(options), KEPT, options.only)
    name = "data convert --to-json"
    if options.only in name:
        output = str(KEPT / "export.out")
        compare(name, ["data", "convert", "--force", "--to-json", output, "-i", str(recording(options))], 3, runs=1)
    # Each command reads the debug information anew: the on-disk cache is measured separately.
    os.environ["SONDE_CACHE"] = "off"
    perf_without_lines = ["report", "--stdio", "--no-children", "-g", "none"]
    for name, arguments in WITH_LINES:
        if options.only in name:
            data = str(recording_with_lines(options.samples))
            bench.compare(name, [sonde, *arguments, "-i", data], [perf, *perf_without_lines, "-i", data], 1 / 3,
                          discard=arguments[0] == "script")
    for name, arguments, goal, runs in ON_STACK_COPIES:
        if options.only in name:
            compare(name, [*arguments, "-i", str(recording_of_stacks())], goal, runs=runs)
    tiny = KEPT / "tiny.data"
    # Often enough that some samples are in the kernel, whose symbols are most of the work.
    subprocess.run([perf, "record", "-q", "-F", "20000", "-o", str(tiny), "--", "true"], check=True, capture_output=True)
    compare("report of a tiny file", ["report", "--stdio", "-i", str(tiny)], 10, runs=2 * options.runs)
    compare("record true", ["record", "-q", "-o", str(KEPT / "true.data"), "--", "true"], 20, runs=2 * options.runs)
    compare("stat true", ["stat", "--", "true"], 2, runs=4 * options.runs)
    compare("stat of every system call", ["stat", "-e", "syscalls:sys_enter_*", "--", "true"], 25, runs=1)
    name = "record -F max -a -g"
    recorders = compare_recorders(name, sonde, perf, workload(), KEPT, options.runs) if options.only in name else []
    name = "record --call-graph dwarf"
    if options.only in name:
        recorders += compare_stacks(name, sonde, perf, KEPT, options.runs)
    name = "record --call-graph bpf"
    kernel_stacks = compare_kernel_stacks(name, sonde, KEPT, options.runs) if options.only in name else []
    recorders += kernel_stacks
    name = "record --aggregate, beside steady loads"
    sums = [compare_sums(name, sonde, KEPT)] if options.only in name else []
    recorders += sums
    name = "counting every system call of dd"
    overheads = []
    if options.only in name:
        overheads.append(compare_overheads(name, sonde, perf, "syscalls:sys_enter_*", options.runs))
    traces = compare_traces(options.only, sonde, perf, KEPT, options.runs)
    overheads += traces
    name = "sched record of a load of switches"
    switches = [compare_switches(name, sonde, perf, KEPT, options.runs)] if options.only in name else []
    overheads += switches
    name = "top of a busy machine"
    tops = [compare_tops(name, sonde, perf, workload(), options.runs)] if options.only in name else []
    overheads += tops

    name = "opening the explorer"
    pages = []
    if options.only in name:
        pages.append(open_page(name, sonde, str(recording(options)), KEPT, options.runs))

    print(bench.table())
    for found in [*recorders, *overheads, *pages]:
        print(found.table())
    bench.write_json(options.json, recorders, overheads, pages)
    failed = len(bench.failed()) + sum(found.failed() for found in [*pages, *traces, *switches, *tops, *kernel_stacks, *sums])
    print(f"bench: {len(bench.comparisons) + len(pages)} comparisons, {failed} failed; {options.json}")
    return 1 if failed or not (bench.comparisons or recorders or overheads or pages) else 0


if __name__ == "__main__":
    sys.exit(main())
