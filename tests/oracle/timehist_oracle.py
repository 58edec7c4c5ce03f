#!/usr/bin/env python3
"""Run times of threads against `perf sched timehist`, on a recording that is made here and on those of ../shared/fixtures if
present: to the microsecond, which is what perf prints. Where events are missing, perf gives the time to the thread that the next
event names, and the timeline leaves it blank: then the difference is that of the blank spans.

    tests/oracle/timehist_oracle.py        $SONDE is the binary; $SONDE_FIXTURES may name the fixtures
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import kernel_turn

SONDE = os.environ.get("SONDE", "sonde")
SOURCE = Path(os.environ.get("SONDE_SOURCE", "."))
FIXTURES = Path(os.environ.get("SONDE_FIXTURES", SOURCE / "../shared/fixtures"))
WORK = "for i in 1 2 3 4 5; do ls -R /usr/share/doc >/dev/null & sleep 0.02; done; wait; dd if=/dev/zero of=x bs=64k count=200 conv=fsync"
# "  comm[12]   1   33   0.787 …", "comm[12/10] …": comm, tid, parent, how often, ms
ROW = re.compile(r"^ *(.+)\[(-?\d+)(?:/\d+)?\] +(-?\d+) +(\d+) +(\d+\.\d{3}) ")


def perf_times(path):
    """tid -> microseconds; -1 are threads whose TID the kernel had already released."""
    said = subprocess.run(["perf", "sched", "timehist", "-s", "-i", path], capture_output=True, text=True)
    times = {}
    for line in said.stdout.splitlines():
        if row := ROW.match(line):
            tid = int(row[2])
            times[tid] = times.get(tid, 0) + int(row[5].replace(".", ""))
    if not times:
        raise RuntimeError(f"perf sched timehist printed no threads: {said.stderr}")
    return times


def our_times(path):
    """tid -> nanoseconds; and the microseconds of spans between switches in which somebody unknown ran."""
    said = subprocess.run([SONDE, "timeline", "--to", "json", "-i", path], capture_output=True, text=True, check=True)
    timeline = json.loads(said.stdout)
    blank = sum(duration for start, duration, cpu in timeline["unknown"] if start > 0) / 1000
    return {thread["tid"]: thread["state_ns"][0] for thread in timeline["threads"]}, blank


def differences(path):
    perf, (ours, blank) = perf_times(path), our_times(path)
    nameless = perf.pop(-1, 0)
    wrong, missing, given = [], 0, 0
    for tid in sorted(set(perf) | set(ours)):
        if tid == 0:
            continue
        mine, theirs = ours.get(tid, 0) // 1000, perf.get(tid, 0)
        if mine > theirs and nameless:
            missing += mine - theirs
        elif theirs > mine and blank > 0:
            given += theirs - mine
        elif mine != theirs:
            wrong.append(f"thread {tid}: {mine} µs, perf says {theirs}")
    # What perf could not attribute to a thread is missing from all the others. Each row is truncated to microseconds.
    if not -len(ours) <= nameless - missing <= len(ours) + blank:
        wrong.append(f"threads that had ended: {missing} µs, perf says {nameless}")
    if given > blank + len(ours):
        wrong.append(f"perf gives threads {given} µs more, of which {blank:.0f} µs are blank here")
    return wrong, len(perf)


def main():
    if not shutil.which("perf"):
        print("perf is not installed: nothing to compare with")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as directory:
        fresh = Path(directory) / "sched.data"
        with kernel_turn.taken():
            subprocess.run(["perf", "sched", "record", "-o", fresh, "--", "sh", "-c", WORK], check=True, capture_output=True,
                           cwd=directory)
        recordings = [fresh] + [path for path in (FIXTURES / "perf61/sch.data", FIXTURES / "perf61/schg.data") if path.exists()]
        failed = False
        for path in recordings:
            wrong, threads = differences(path)
            print(f"{path.name}: {threads} threads, {len(wrong)} differ")
            for line in wrong[:20]:
                print("  " + line)
            failed |= bool(wrong)
    sys.exit(failed)


if __name__ == "__main__":
    main()
