#!/usr/bin/env python3
"""The recordings of the golden files, reported by the installed perf: does it print what they expect?

    golden_oracle.py BUILD [-v]

Every run of tests/golden/report whose output is a table is compared with perf's own, except for the cases in KNOWN.
Trailing blanks are ignored, and so is perf's tip of the day. The last line is 'N passed, M failed'.
"""
import difflib
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(os.environ.get("SONDE_SOURCE", Path(__file__).resolve().parent.parent.parent))
sys.path[:0] = [str(SOURCE / "tools"), str(SOURCE / "tests" / "oracle")]
import golden  # noqa: E402
from report_oracle import lines_of, weights  # noqa: E402

# docs/differences.md has the reasons.
KNOWN = [
    (re.compile(r"-s (mispredict|in_tx|weight)|--total-cycles|^branches.test .*-g branch|--branch-history --inline"), "branches"),
    (re.compile(r"\bconfidence\b"), "intervals"),
    (re.compile(r"^damaged\.test "), "perf shows no table of a damaged recording"),
    (re.compile(r"^interpreted_functions\.test "), "names of interpreted functions, from a section that perf does not know"),
    (re.compile(r"^latency\.test "), "shares of latency"),
    (re.compile(r"^\S+ fold "), "a command that perf lacks"),
    (re.compile(r"--no-skip-empty"), "record types that perf 6.1 does not know"),
]


def perf_of(directory, words):
    done = subprocess.run(["perf", *words], cwd=directory, env=golden.environment(directory), stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=120)
    return done.returncode, golden.shown(done.stdout, directory)


def judge(run, directory):
    """None if perf prints the same, otherwise the difference."""
    status, expected = perf_of(directory, shlex.split(run.command))
    left, right = lines_of(expected), lines_of(run.stdout)
    if left == right or (status != 0 and run.status != 0) or status < 0:
        return None
    if sorted(left) == sorted(right) and weights(left) == weights(right):
        return None
    return "\n".join(difflib.unified_diff(left, right, "perf", "golden", lineterm="", n=1))


def main():
    sonde = os.environ["SONDE"] if "SONDE" in os.environ else str(Path(sys.argv[1], "sonde"))
    passed = failed = 0
    for path in sorted((SOURCE / "tests" / "golden" / "report").glob("*.test")):
        test = golden.parse(path.read_text(encoding="utf-8"))
        with tempfile.TemporaryDirectory(prefix="golden-") as directory:
            golden.put_files(test, sonde, directory)
            for run in test.runs:
                difference = judge(run, directory)
                name = f"{path.name} {run.command}"
                reason = next((text for pattern, text in KNOWN if pattern.search(name)), None)
                passed += difference is None
                if difference is not None and reason:
                    print(f"known difference {name}: {reason}")
                elif difference is not None:
                    failed += 1
                    print(f"FAILED {name}\n{difference}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
