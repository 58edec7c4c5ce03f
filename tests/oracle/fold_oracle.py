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


def comparable(folded, has_chains, with_stubs=True):
    """The stacks with their values, and the sum of all. The text does not give the address of samples with an empty call chain, so
    stacks of one frame are ignored if there are call chains. Without stubs, those of a PLT are like other code without a name."""
    lines = re.sub(rb"[^; ]*@plt", b"@plt", folded)  # perf and Sonde find different names for some of these
    if not with_stubs:
        lines = re.sub(rb"(?<=;)(@plt|\[[^;\]]+\])(_\[\w\])?(?=[; ])", b"?", lines)
    values = {}
    for line in lines.splitlines():
        stack, _, value = line.rpartition(b" ")
        values[stack] = values.get(stack, 0) + int(value)
    return {b"%s %d" % item for item in values.items() if not has_chains or item[0].count(b";") > 1}, sum(values.values())


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
        recordings = {name: Path(directory) / f"{name}.data" for name in RECORDINGS}
        with kernel_turn.taken():
            for name, data in recordings.items():
                run(PERF, "record", "-q", "-o", data, *RECORDINGS[name])
        for name, data in recordings.items():
            text = run(PERF, "script", "-i", data, "--max-stack", "1000")
            for event in run(SONDE, "evlist", "-i", data).decode().splitlines():
                if event.startswith("#"):  # evlist's tip
                    continue
                for options in OPTIONS:
                    # The text of tracepoints has no periods.
                    if ":" in event and event.startswith("sched:"):
                        options = [*options, "--samples"]
                    direct = run(SONDE, "fold", "--no-frame-functions", "--no-check-chains", *options, "-e", event, data)
                    if not direct:  # an event without samples
                        continue
                    has_chains = "-g" in RECORDINGS[name]
                    from_text = run(SONDE, "fold", *options, "-e", event, "-", input=text)
                    ours, our_total = comparable(direct, has_chains)
                    perfs, perfs_total = comparable(from_text, has_chains)
                    # perf has no name at all for some stubs of a PLT.
                    same = ours == perfs or (b"@plt" in direct and
                                             comparable(direct, has_chains, False) == comparable(from_text, has_chains, False))
                    if ours and same and our_total == perfs_total:
                        passed += 1
                        continue
                    failed += 1
                    print(f"FAILED {name} {event} {' '.join(options)}: {our_total} directly, {perfs_total} as text\n  "
                          f"{first_difference(ours, perfs)}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
