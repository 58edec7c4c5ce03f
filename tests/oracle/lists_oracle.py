#!/usr/bin/env python3
"""What a recording says about itself: `evlist`, `buildid-list`, `report --header-only -I` and `kallsyms`, by perf and by Sonde.

    lists_oracle.py BUILD [--perf PERF] [--only REGEX] [-v]

On recordings made here, and on real ones if present. A command that perf refuses is not compared. Trailing blanks are ignored.
The last line is 'N passed, M failed'.
"""
import argparse
import difflib
import os
import re
import sys
import tempfile

import report_oracle
from report_oracle import recordings_in, run

COMMANDS = [
    ["evlist"],
    ["evlist", "-F"],
    ["evlist", "-g"],
    ["evlist", "-v"],
    ["evlist", "--trace-fields"],
    ["buildid-list"],
    ["buildid-list", "-H"],
    ["buildid-list", "-f"],
    ["report", "--header-only", "-I"],
    ["script", "--header-only"],
]
RECORDINGS = [
    ("plain", ["--", "true"]),
    ("graph", ["-g", "--", "true"]),
    ("group", ["-e", "{cpu-clock,page-faults}:S", "-e", "task-clock:u", "--", "true"]),
    ("trace", ["-e", "sched:sched_switch", "-e", "sched:sched_wakeup", "-a", "--", "true"]),
    ("compressed", ["-z", "--", "true"]),
    ("detailed", ["-d", "-T", "-W", "--phys-data", "-c", "1000", "-e", "cpu-clock", "--", "true"]),
    ("threads", ["-s", "-T", "-F", "999", "--call-graph", "dwarf,8192", "--", "true"]),
]
SYMBOLS = ["do_syscall_64", "vfs_read", "schedule", "no_such_symbol_here"]
# docs/differences.md has the reasons.
KNOWN = [
    (re.compile(r"^perf\.data\.piped\..* evlist -v"), "perf takes the ids behind a short attr of a pipe for its fields"),
    (re.compile(r"^(perf\.data\.piped\.|sleep\.compressed2\.pipe)\S* (evlist|script --header-only)"), "pipes"),
    (re.compile(r"^perf\.data\.piped\.corrupted\S* report --header-only"), "perf says nothing of damage in its heading"),
    (re.compile(r"^0463c0f5|^sleep\.compressed2"), "perf cannot read them"),
    (re.compile(r"^perf\.data\.weight_struct report --header-only"), "perf drops a topology of more processors than it knows"),
    (re.compile(r"^perf\.data\.(callgraph-3\.4|raw-3\.4|piped\.target-3\.8) buildid-list"), "perf names [vdso] after a temporary file of its own"),
    (re.compile(r"^perf\.data\.intel_pt-4\.14 buildid-list -H"), "behind an error in a trace, decoding goes on at another packet"),
]


def answers(perf, sonde, command, path):
    words = [command[0], "-i", path, *command[1:]] if path else command
    expected, _, status = run([perf, *words], 60)
    actual, errors, ours = run([sonde, *words], 60)
    return expected, status, actual, ours, errors


def compare(arguments, command, path):
    """None if both print the same, otherwise the difference."""
    expected, status, actual, ours, errors = answers(arguments.perf, arguments.sonde, command, path)
    if actual is None or ours < 0:
        return f"timeout or signal: {errors}"
    if expected is None or status != 0:
        return None
    if command == ["evlist", "-v"]:
        actual = actual.replace(", config: 0,", ",")  # as later perfs say
    left, right = ([line.rstrip() for line in text.splitlines()] for text in (expected, actual))
    if left == right:
        return None
    return "\n".join(list(difflib.unified_diff(left, right, "perf", "sonde", lineterm="", n=0))[:None if arguments.verbose else 12])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sonde", help="the program; under ctest, which names it in $SONDE, the build directory")
    parser.add_argument("--perf", default="perf")
    parser.add_argument("--only", default="")
    parser.add_argument("-v", "--verbose", action="store_true")
    arguments = parser.parse_args()
    arguments.sonde = os.environ.get("SONDE", arguments.sonde)
    beside = os.path.join(os.environ.get("SONDE_SOURCE", "."), "..", "shared", "fixtures")
    folders = [os.path.join(beside, name) for name in report_oracle.FOLDERS if os.path.isdir(os.path.join(beside, name))]
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        paths = report_oracle.record(arguments.perf, folder, RECORDINGS) + recordings_in(folders)
        cases = [(command, path) for path in paths for command in COMMANDS]
        cases += [(["kallsyms", name], None) for name in SYMBOLS] + [(["buildid-list", "-k"], None)]
        for command, path in cases:
            name = f"{os.path.basename(path or '')} {' '.join(command)}"
            if not re.search(arguments.only, name):
                continue
            difference = compare(arguments, command, path)
            reason = next((text for pattern, text in KNOWN if pattern.search(name)), None)
            passed += difference is None
            if difference is not None and reason:
                print(f"known difference {name}: {reason}")
            elif difference is not None:
                failed += 1
                print(f"FAILED {name}\n{difference}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
