#!/usr/bin/env python3
"""The work that people wait for, by Sonde and by the installed perf in turn. Prints a table, writes bench.json.

The recording to measure on is given (--recording FILE), or made once and kept under build/bench: perf's, of
bench/workload, a compiler in miniature with frame-pointer chains, as long as --samples says. The goals in the table are
those of the project (docs/performance.md).
"""
import argparse
import subprocess
import sys
from pathlib import Path

from harness import Bench
from recorders import compare_recorders

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "build/bench"
WORKLOAD = ROOT / "bench/workload/miniature_compiler.cc"

# name, arguments, times faster that we want to be, part of perf's memory
ON_A_RECORDING = [
    ("report", ["report", "--stdio"], 40, 0.2),
    ("report --no-children", ["report", "--stdio", "--no-children"], 15, None),
    ("report --no-children -g none", ["report", "--stdio", "--no-children", "-g", "none"], 5, None),
    ("script", ["script"], 10, None),
]


def workload():
    """The program to record, built once, with frame pointers in all of its functions."""
    program = KEPT / WORKLOAD.stem
    if not program.exists() or program.stat().st_mtime < WORKLOAD.stat().st_mtime:
        print(f"bench: building {program.relative_to(ROOT)}", file=sys.stderr)
        subprocess.run(["g++", "-std=c++20", "-O2", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-pthread",
                        str(WORKLOAD), "-o", str(program)], check=True)
    return program


def recording(options):
    if options.recording:
        return options.recording.resolve()
    path = KEPT / f"build-{options.samples}.data"
    if not path.exists():
        program = workload()
        print(f"bench: recording {path.relative_to(ROOT)}", file=sys.stderr)
        frequency = 25000  # samples per second of processor time; of all processes together
        subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-g", "-F", str(frequency), "-o", str(path), "--",
                        str(program), f"{options.samples / frequency:.2f}", "8"], check=True)
    return path


def main():
    parser = argparse.ArgumentParser(description="Sonde and perf in turn")
    parser.add_argument("--sonde", required=True, type=Path, help="the binary")
    parser.add_argument("--perf", default="perf", help="the other one")
    parser.add_argument("--recording", type=Path, help="measure on this perf.data")
    parser.add_argument("--samples", type=int, default=500000, help="about how many a new recording should have")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="", help="only what has this in its name")
    parser.add_argument("--json", type=Path, default=KEPT / "bench.json")
    options = parser.parse_args()

    KEPT.mkdir(parents=True, exist_ok=True)
    sonde, perf = str(options.sonde.resolve()), options.perf
    bench = Bench(options.runs, KEPT)

    def compare(name, arguments, goal, memory_goal=None, runs=None):
        if options.only in name:
            bench.compare(name, [sonde, *arguments], [perf, *arguments], goal, memory_goal, runs, discard=name == "script")

    if any(options.only in name for name, *_ in ON_A_RECORDING):
        data = str(recording(options))
        for name, arguments, goal, memory_goal in ON_A_RECORDING:
            compare(name, [*arguments, "-i", data], goal, memory_goal)
    tiny = KEPT / "tiny.data"
    subprocess.run([perf, "record", "-q", "-o", str(tiny), "--", "true"], check=True, capture_output=True)
    compare("report of a tiny file", ["report", "--stdio", "-i", str(tiny)], 10, runs=2 * options.runs)
    compare("record true", ["record", "-q", "-o", str(KEPT / "true.data"), "--", "true"], 20, runs=2 * options.runs)
    compare("stat true", ["stat", "--", "true"], 2, runs=4 * options.runs)
    compare("stat of every system call", ["stat", "-e", "syscalls:sys_enter_*", "--", "true"], 25, runs=1)
    name = "record -F max -a -g"
    recorders = compare_recorders(name, sonde, perf, workload(), KEPT, options.runs) if options.only in name else []

    print(bench.table())
    for found in recorders:
        print(found.table())
    bench.write_json(options.json, recorders)
    print(f"bench: {len(bench.comparisons)} comparisons, {len(bench.failed())} failed; {options.json}")
    return 1 if bench.failed() or not (bench.comparisons or recorders) else 0


if __name__ == "__main__":
    sys.exit(main())
