#!/usr/bin/env python3
"""A recording folded directly, and the installed perf's `script` output for it, folded: the same lines, for each event.

    fold_oracle.py [BUILD_DIR]      $SONDE is the binary. Status 77 if there is no perf. The last line is 'N passed, M failed'.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import kernel_turn

SONDE = os.environ["SONDE"]
PERF = shutil.which("perf")
BUSY = "ls -lR /usr/include | gzip -9 | sha256sum"
RECORDINGS = {
    "plain": ["--", "sh", "-c", BUSY],
    "graph": ["-g", "--", "sh", "-c", BUSY],
    "events": ["-g", "-e", "cpu-clock,page-faults,sched:sched_switch", "--", "sh", "-c", BUSY],
    "period": ["-c", "1000000", "-g", "--", "sh", "-c", BUSY],
}
OPTIONS = [[], ["--all"], ["--merge-recursion"], ["--samples", "--no-tidy"]]


def run(*words, **more):
    return subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True, **more).stdout


def comparable(folded, has_chains):
    """The stacks, and their sum. The text does not give the address of samples with an empty call chain, so stacks of one frame
    are ignored if there are call chains."""
    lines = re.sub(rb"[^; ]*@plt", b"@plt", folded).splitlines()  # perf and Sonde find different names for some of these
    total = sum(int(line.rpartition(b" ")[2]) for line in lines)
    return {line for line in lines if not has_chains or line.count(b";") > 1}, total


def first_difference(ours, perfs):
    shown = [b"only directly: " + line for line in sorted(ours - perfs)[:3]] + \
        [b"only as text: " + line for line in sorted(perfs - ours)[:3]]
    return b"\n  ".join(shown).decode(errors="replace")


def main():
    if PERF is None:
        print("fold: no perf is installed")
        return 77
    passed = failed = 0
    with tempfile.TemporaryDirectory() as directory:
        for name, words in RECORDINGS.items():
            data = Path(directory) / f"{name}.data"
            with kernel_turn.taken():
                run(PERF, "record", "-q", "-o", data, *words)
            text = run(PERF, "script", "-i", data, "--max-stack", "1000")
            for event in run(SONDE, "evlist", "-i", data).decode().splitlines():
                if event.startswith("#"):  # evlist's tip
                    continue
                for options in OPTIONS:
                    # The text of tracepoints has no periods.
                    if ":" in event and event.startswith("sched:"):
                        options = [*options, "--samples"]
                    direct = run(SONDE, "fold", "--no-frame-functions", *options, "-e", event, data)
                    if not direct:  # an event without samples
                        continue
                    has_chains = "-g" in words
                    ours, our_total = comparable(direct, has_chains)
                    perfs, perfs_total = comparable(run(SONDE, "fold", *options, "-e", event, "-", input=text), has_chains)
                    if ours and ours == perfs and our_total == perfs_total:
                        passed += 1
                        continue
                    failed += 1
                    print(f"FAILED {name} {event} {' '.join(options)}: {our_total} directly, {perfs_total} as text\n  "
                          f"{first_difference(ours, perfs)}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
