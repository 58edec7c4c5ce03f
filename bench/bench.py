#!/usr/bin/env python3
"""The work that people wait for, by Sonde and by the installed perf in turn. Prints a table, writes bench.json.

The recording to measure on is given (--recording FILE), or made once and kept under build/bench: perf's, of a C++
compilation with frame-pointer chains, as long as --samples says. The goals in the table are those of the project.
"""
import argparse
import os
import subprocess
import sys
from pathlib import Path

from harness import Bench

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "build/bench"

# name, arguments, times faster that we want to be, part of perf's memory
ON_A_RECORDING = [
    ("report", ["report", "--stdio"], 40, 0.2),
    ("report --no-children", ["report", "--stdio", "--no-children"], 15, None),
    ("report --no-children -g none", ["report", "--stdio", "--no-children", "-g", "none"], 5, None),
    ("script", ["script"], 10, None),
]


def make_recording(path, samples):
    """Compiles our own sources, again and again until there are enough samples."""
    sources = [str(p) for p in sorted((ROOT / "src").rglob("*.cc"))]
    compile_all = 'for f in "$@"; do g++ -std=c++23 -O2 -I"$ROOT/src" -c "$f" -o /dev/null; done'
    # About 20,000 samples a second can be had of two cores; a second of compiling gives `frequency` of them.
    frequency = max(100, min(20000, samples // 30))
    subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-g", "-F", str(frequency), "-o", str(path), "--",
                    "sh", "-c", compile_all, "sh", *sources], env={**os.environ, "ROOT": str(ROOT)}, check=True)


def recording(options):
    if options.recording:
        return options.recording.resolve()
    KEPT.mkdir(parents=True, exist_ok=True)
    path = KEPT / f"compile-{options.samples}.data"
    if not path.exists():
        print(f"bench: recording {path.relative_to(ROOT)}", file=sys.stderr)
        make_recording(path, options.samples)
    return path


def main():
    parser = argparse.ArgumentParser(description="Sonde and perf in turn")
    parser.add_argument("--sonde", required=True, type=Path, help="the binary")
    parser.add_argument("--perf", default="perf", help="the other one")
    parser.add_argument("--recording", type=Path, help="measure on this perf.data")
    parser.add_argument("--samples", type=int, default=100000, help="about how many a new recording should have")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="", help="only what has this in its name")
    parser.add_argument("--json", type=Path, default=KEPT / "bench.json")
    options = parser.parse_args()

    KEPT.mkdir(parents=True, exist_ok=True)
    sonde, perf = str(options.sonde.resolve()), options.perf
    bench = Bench(options.runs, KEPT)

    def compare(name, arguments, goal, memory_goal=None, runs=None):
        if options.only in name:
            bench.compare(name, [sonde, *arguments], [perf, *arguments], goal, memory_goal, runs)

    data = str(recording(options))
    for name, arguments, goal, memory_goal in ON_A_RECORDING:
        compare(name, [*arguments, "-i", data], goal, memory_goal)
    tiny = KEPT / "tiny.data"
    subprocess.run([perf, "record", "-q", "-o", str(tiny), "--", "true"], check=True, capture_output=True)
    compare("report of a tiny file", ["report", "--stdio", "-i", str(tiny)], 10, runs=2 * options.runs)
    compare("record true", ["record", "-q", "-o", str(KEPT / "true.data"), "--", "true"], 20, runs=2 * options.runs)

    print(bench.table())
    bench.write_json(options.json)
    print(f"bench: {len(bench.comparisons)} comparisons, {len(bench.failed())} failed; {options.json}")
    return 1 if bench.failed() or not bench.comparisons else 0


if __name__ == "__main__":
    sys.exit(main())
