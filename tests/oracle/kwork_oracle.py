#!/usr/bin/env python3
"""`perf kwork` and `sonde kwork` side by side: the same reports on the same recordings, to the character. The recordings are made
here: a load of disk and timers, one with call chains, one by `sonde kwork record`, and a synthetic one with unmatched events.
Needs root and perf. `top` is newer than perf 6.1: tests/golden/kwork has its figures.

The tables of perf 6.1 read names of functions from freed memory, so that some end in odd letters: only timehist's are
compared."""
import os
import re
import subprocess
import tempfile
from pathlib import Path

import kernel_turn
import side_by_side
import tracepoints

SONDE = os.environ["SONDE"]
PERF = side_by_side.needed_perf()
LOAD = ["sh", "-c", "for i in 1 2 3 4; do ls -R /usr/share/doc | sort | tail -1; dd if=/dev/zero of=out bs=4k count=50 conv=fsync; "
                    "sleep 0.05; done"]
VIEWS = [["report"], ["report", "-S"], ["report", "-s", "count"], ["report", "-s", "max,runtime", "-C", "0"], ["report", "-n", "NAME"],
         ["report", "-S", "--time", "FROM,TO"], ["latency"], ["latency", "-s", "max"], ["latency", "-s", "count", "-C", "1"],
         ["latency", "--time", "FROM,"], ["timehist"], ["timehist", "-C", "0"], ["timehist", "-n", "NAME"],
         ["timehist", "--time", ",TO"]]
CLASSES = [["-k", "irq", "report"], ["-k", "workqueue,softirq", "timehist"], ["-k", "softirq", "latency"]]
# Not deeper: functions of the kernel's startup are gone from its symbol list, and perf names them all the same.
STACKS = [["timehist", "-g", "--max-stack", "2"], ["timehist", "-g", "--max-stack", "0"]]

FUNCTION = re.compile(r"^  \(w\)[^|]*\|")

both = side_by_side.Comparison("kwork")


def view(tool, arguments, path):
    said = side_by_side.ask(tool, "kwork", *arguments, "-i", path)
    return said._replace(lines=[FUNCTION.sub("  (w)|", line) for line in said.lines])


def check(path, arguments):
    both.lines(f"{path.name}: kwork {' '.join(arguments)}", view(PERF, arguments, path), view(SONDE, arguments, path))


def record(directory, name, tool, options):
    path = directory / f"{name}.data"
    with kernel_turn.taken():
        subprocess.run([tool, "kwork", "record", *options, "-o", path, "--", *LOAD], check=True, capture_output=True, cwd=directory)
    return path


def made_up(directory):
    """Entries and exits without a partner, raises that come twice, lost events. Its events have no names to print."""
    irq, vec = ("int", "irq"), ("unsigned int", "vec")
    work, function = ("unsigned long", "work"), ("unsigned long", "function")
    recording = tracepoints.Recording({
        "irq:irq_handler_entry": [irq, ("char[16]", "name")], "irq:irq_handler_exit": [irq, ("int", "ret")],
        "irq:softirq_raise": [vec], "irq:softirq_entry": [vec], "irq:softirq_exit": [vec],
        "workqueue:workqueue_activate_work": [work], "workqueue:workqueue_execute_start": [work, function],
        "workqueue:workqueue_execute_end": [work, function]})
    recording.lines += ["# nrcpus online : 4", "# nrcpus avail : 4"]
    us = 1000
    for i in range(30):
        at, cpu, item = 100 * i * us, i % 3, 0xffff888000001000 + i % 2
        if i % 4:
            recording.add("irq:irq_handler_entry", at + 1 * us, cpu, irq=9 + i % 2, name="eth0")
        if i % 5:
            recording.add("irq:irq_handler_exit", at + 3 * us + i * 500, cpu, irq=9 + i % 2)
        for event, when, left_out in (("raise", 10, 3), ("entry", 12, 7), ("exit", 20, 6)):
            if i % left_out:
                recording.add(f"irq:softirq_{event}", at + when * us + 100 * i, cpu, vec=i % 3)
        if i % 3:
            recording.add("workqueue:workqueue_activate_work", at + 30 * us, cpu, work=item)
        recording.add("workqueue:workqueue_execute_start", at + 41 * us, cpu, work=item, function=0x1000)
        if i % 6:
            recording.add("workqueue:workqueue_execute_end", at + 50 * us + i, cpu, work=item, function=0x1000)
        if i % 10 == 0:
            recording.lines.append(f"LOST id={tracepoints.FIRST_ID} lost={i + 3} time={at + 60 * us} cpu=0 event=0")
    return recording.write(directory / "made-up.data")


def check_all(path, views, name):
    lines = view(PERF, ["timehist"], path).lines[3:]
    places = {"NAME": name, "FROM": lines[len(lines) // 4].split()[0], "TO": lines[3 * len(lines) // 4].split()[1]}
    for arguments in views:
        check(path, [",".join(places.get(part, part) for part in word.split(",")) for word in arguments])


def main():
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        with kernel_turn.taken():
            load = record(directory, "load", PERF, [])
            ours = record(directory, "ours", SONDE, [])
            stacks = record(directory, "stacks", PERF, ["-g", "--kernel-callchains"])
        check_all(load, VIEWS + CLASSES, "TIMER")
        check_all(ours, VIEWS[:2] + VIEWS[6:7] + VIEWS[10:11], "SCHED")
        check_all(stacks, VIEWS[1:2] + VIEWS[10:11] + STACKS, "RCU")
        check_all(made_up(directory), VIEWS + CLASSES, "eth0")
    both.finish()


if __name__ == "__main__":
    main()
