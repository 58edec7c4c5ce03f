#!/usr/bin/env python3
"""Compares `list` with the installed perf's, class by class and pattern by pattern.

    tests/oracle/list_oracle.py BUILD_DIR

Left out: perf's metrics, which come from its own tables of vendors' events, and the words for which perf lists nothing else.
Status 77 if there is no perf.
"""
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SONDE = os.environ["SONDE"]
PERF = shutil.which("perf")
WORDS = [[], ["hw"], ["sw"], ["cache"], ["pmu"], ["tracepoint"], ["sdt"], ["sched:*"], ["sched:sched_sw*"], ["*fault*"], ["page"],
         ["cs"], ["sched_switch"], ["syscalls:*"], ["sched:*", "irq:*"], ["ftrace:*"], ["nosuchevent"], ["mem"]]


OURS = "sonde_step//"  # a PMU that only Sonde has


class ToolFailed(Exception):
    pass


def run_list(tool, words, home):
    return subprocess.run([tool, "list", *words], capture_output=True, text=True, timeout=120, env={**os.environ, "HOME": home})


def build(path, probe):
    """A program with one USDT probe, as <sys/sdt.h> creates it."""
    note = (".balign 4\\n.4byte 992f-991f, 994f-993f, 3\\n991: .asciz \\\"stapsdt\\\"\\n992: .balign 4\\n"
            f"993: .8byte 990b, 0, 0\\n.asciz \\\"listed\\\"\\n.asciz \\\"{probe}\\\"\\n.asciz \\\"\\\"\\n994: .balign 4\\n")
    source = (f'int main(void) {{ __asm__ volatile("990: nop\\n.pushsection .note.stapsdt,\\"\\",\\"note\\"\\n{note}.popsection"); '
              "return 0; }")
    subprocess.run(["gcc", "-x", "c", "-", "-Wl,--build-id", "-o", str(path)], input=source, text=True, check=True)


def fill_cache(home):
    """A separate build-id cache: with one object that is unchanged, and one that has been rebuilt since."""
    kept, changed = Path(home, "kept"), Path(home, "changed")
    build(kept, "first")
    build(changed, "second")
    for path in (kept, changed):
        subprocess.run([SONDE, "buildid-cache", "--add", str(path)], check=True, env={**os.environ, "HOME": home})
    build(changed, "third")


def lines(tool, words, home):
    run = run_list(tool, words, home)
    if run.returncode != 0:
        raise ToolFailed(f"{tool} list {words}: status {run.returncode}: {run.stderr}")
    text = run.stdout
    for heading in ("\nMetric Groups:", "\nMetrics:"):
        text = text.split(heading)[0]
    return [line for line in text.splitlines() if line.strip()]


def traced_events():
    found = []
    for group in os.scandir("/sys/kernel/tracing/events"):
        with contextlib.suppress(NotADirectoryError, FileNotFoundError):
            found += [f"{group.name}/{name}" for name in os.listdir(group.path)]
    return sorted(found)


def on_the_same_events(look):
    """What `look` returns while the kernel's events stay as they are: other tests add and remove probes, and perf 6.1 crashes when one goes
    while it lists."""
    for _ in range(50):
        before = traced_events()
        try:
            answer = look()
        except ToolFailed as failure:
            answer = failure
        if traced_events() != before:
            continue
        if isinstance(answer, ToolFailed):
            sys.exit(str(answer))
        return answer
    sys.exit("list: the kernel's events changed during each of 50 attempts")


def both(words, home):
    return on_the_same_events(lambda: (without_ours(lines(SONDE, words, home)), lines(PERF, words, home)))


def without_ours(listed):
    """Lines without the event; where names share a line (--raw-dump), without its name."""
    kept = [line for line in listed if line.split()[0] != OURS or len(line.split()) > 4]
    return [" ".join(word for word in line.split() if word != OURS) if OURS in line else line for line in kept]


def main():
    if not PERF:
        print("no perf: nothing to compare with")
        return 77
    with tempfile.TemporaryDirectory() as home:
        return compare(home)


def compare(home):
    bad = 0
    fill_cache(home)
    probes = [line.split()[0] for line in lines(SONDE, ["sdt"], home) if "sdt_listed" in line]
    if probes != ["sdt_listed:first"]:
        bad += 1
        print(f"list sdt: {probes} instead of the probe of the object that is still what is in the cache")
    for words in WORDS:
        ours, theirs = both(words, home)
        if ours != theirs:
            bad += 1
            extra = [line for line in ours if line not in theirs][:3]
            missing = [line for line in theirs if line not in ours][:3]
            print(f"list {' '.join(words)}: {len(ours)} lines, perf has {len(theirs)}; only ours: {extra}; only perf's: {missing}")
    for words in (["sw"], ["pmu"], ["tracepoint"], ["sched:*"], ["sdt"]):
        ours, theirs = both(["--raw-dump", *words], home)
        if [line.split() for line in ours] != [line.split() for line in theirs]:
            bad += 1
            print(f"list --raw-dump {words[0]}: {str(ours)[:200]}, perf: {str(theirs)[:200]}")
    document, listed = on_the_same_events(lambda: (json.loads(run_list(SONDE, ["-j"], home).stdout), lines(SONDE, [], home)))
    document = [entry for entry in document if "EventName" in entry]
    if len(document) != len(listed):
        bad += 1
        print(f"list -j has {len(document)} events, list {len(listed)}")
    print(f"list: {len(WORDS)} comparisons, {bad} differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
