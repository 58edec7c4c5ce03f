#!/usr/bin/env python3
"""`perf kvm stat report` and `sonde kvm stat report` side by side, to the character, on a synthetic recording of two virtual
CPUs: exits without an entry, entries without an exit, reads and writes of device memory, ports. perf prints to standard error,
unknown exits among the rows, and with --vcpu a shortest time of 0. Needs perf."""
import os
import re
import subprocess
import tempfile
from pathlib import Path

import side_by_side
import tracepoints

SONDE = os.environ["SONDE"]
PERF = side_by_side.needed_perf()
VIEWS = [[], ["-k", "time"], ["--event", "mmio"], ["--event", "mmio", "-k", "time"], ["--event", "ioport"],
         ["--event", "ioport", "-k", "time"], ["--vcpu", "1"], ["-p", "100"], ["--event", "vmexit", "-p", "7"]]
VCPU = ("unsigned int", "vcpu_id")
EVENTS = {
    "kvm:kvm_entry": [VCPU, ("unsigned long", "rip")],
    "kvm:kvm_exit": [("unsigned int", "exit_reason"), ("unsigned long", "guest_rip"), ("unsigned int", "isa"), VCPU],
    "kvm:kvm_mmio": [("unsigned int", "type"), ("unsigned int", "len"), ("unsigned long", "gpa"), ("unsigned long", "val")],
    "kvm:kvm_pio": [("unsigned int", "rw"), ("unsigned int", "port"), ("unsigned int", "size"), ("unsigned int", "count")],
}


def made_up(path, cpuid):
    recording = tracepoints.Recording(EVENTS)
    recording.lines += ["# nrcpus online : 2", "# nrcpus avail : 2", f"# cpuid : {cpuid}"]
    us = 1000

    def add(event, at, vcpu, **fields):
        recording.add(f"kvm:kvm_{event}", at * us, vcpu, 100 + vcpu, process=100, **fields)

    add("exit", 900, 0, exit_reason=48, vcpu_id=0)  # before the first entry: the virtual CPU is not known yet
    for vcpu in (0, 1):
        add("entry", 1000, vcpu, vcpu_id=vcpu)
    for i in range(30):
        at = 1100 + 100 * i
        add("exit", at, 0, exit_reason=12 + i % 3, vcpu_id=0)
        add("entry", at + 30 + i, 0, vcpu_id=0)
        add("exit", at + 50, 1, exit_reason=48, vcpu_id=1)
        add("mmio", at + 52, 1, type=2 if i % 3 else 1, len=4, gpa=0xfee00000 + i % 2 * 0x300)
        add("mmio", at + 53, 1, type=0 if i % 5 == 0 else 2, len=4, gpa=0xfee000b0)
        add("entry", at + 55 + i % 4, 1, vcpu_id=1)
        add("exit", at + 60, 1, exit_reason=30, vcpu_id=1)
        add("pio", at + 61, 1, rw=i % 2, port=0x3f8 + i % 3, size=1, count=1)
        add("entry", at + 66 + i % 7, 1, vcpu_id=1)
        if i == 7:  # an entry and an exit are missing
            add("exit", at + 82, 0, exit_reason=1, vcpu_id=0)
            add("exit", at + 84, 0, exit_reason=1, vcpu_id=0)
            add("entry", at + 86, 0, vcpu_id=0)
            add("entry", at + 88, 0, vcpu_id=0)
        if i == 9:
            add("exit", at + 82, 0, exit_reason=999, vcpu_id=0)
            add("entry", at + 83, 0, vcpu_id=0)
    return recording.write(path)


def view(tool, path, arguments):
    done = subprocess.run([tool, "kvm", "-i", path, "stat", "report", *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    lines = (done.stdout if tool == SONDE else done.stderr).splitlines()
    lines = [line for line in lines if not line.startswith("unknown kvm exit code")]
    if "--vcpu" in arguments:
        lines = [re.sub(r"(%\s+[\d.]+%\s+)[\d.]+us", r"\1 -", line) for line in lines]
    return side_by_side.Said(lines, done.returncode)


def main():
    both = side_by_side.Comparison("kvm")
    with tempfile.TemporaryDirectory() as name:
        for cpuid in ("GenuineIntel,6,85,7", "AuthenticAMD,25,1,1"):
            path = made_up(Path(name) / "perf.data", cpuid)
            for arguments in VIEWS:
                both.lines(f"{cpuid}: {' '.join(arguments)}", view(PERF, path, arguments), view(SONDE, path, arguments), least=6)
    both.finish()


if __name__ == "__main__":
    main()
