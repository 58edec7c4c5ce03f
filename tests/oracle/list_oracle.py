#!/usr/bin/env python3
"""Compares `list` with the installed perf's, class by class and pattern by pattern.

    tests/oracle/list_oracle.py BUILD_DIR

Left out: perf's metrics, which are its own tables of each vendor's events, and the words for which perf lists nothing else.
Status 77 where there is no perf.
"""
import json
import os
import shutil
import subprocess
import sys

SONDE = os.environ["SONDE"]
PERF = shutil.which("perf")
WORDS = [[], ["hw"], ["sw"], ["cache"], ["pmu"], ["tracepoint"], ["sdt"], ["sched:*"], ["sched:sched_sw*"], ["*fault*"], ["page"],
         ["cs"], ["sched_switch"], ["syscalls:*"], ["sched:*", "irq:*"], ["ftrace:*"], ["nosuchevent"], ["mem"]]


def lines(tool, words):
    run = subprocess.run([tool, "list", *words], capture_output=True, text=True, timeout=120)
    if run.returncode != 0:
        sys.exit(f"{tool} list {words}: status {run.returncode}: {run.stderr}")
    text = run.stdout
    for heading in ("\nMetric Groups:", "\nMetrics:"):
        text = text.split(heading)[0]
    return [line for line in text.splitlines() if line.strip()]


def main():
    if not PERF:
        print("no perf: nothing to compare with")
        return 77
    bad = 0
    for words in WORDS:
        # Newer builds of objects come into the cache while tests run; the same names count.
        ours, theirs = lines(SONDE, words), lines(PERF, words)
        if ours != theirs:
            bad += 1
            extra = [line for line in ours if line not in theirs][:3]
            missing = [line for line in theirs if line not in ours][:3]
            print(f"list {' '.join(words)}: {len(ours)} lines, perf has {len(theirs)}; only ours: {extra}; only perf's: {missing}")
    document = json.loads(subprocess.run([SONDE, "list", "-j"], capture_output=True, text=True, check=True).stdout)
    if len(document) != len(lines(SONDE, [])):
        bad += 1
        print(f"list -j has {len(document)} events, list {len(lines(SONDE, []))}")
    print(f"list: {len(WORDS)} comparisons, {bad} differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
