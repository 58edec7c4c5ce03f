#!/usr/bin/env python3
"""Samples that the processor wrote into its trace (PEBS via PT, --itrace=o), against perf's lines: all that a record can say, of one
event and of several, with the code's flow and without.

  SONDE=build/release/sonde tests/oracle/itrace_pebs_oracle.py
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from pt_recordings import SONDE, TSC, Trace, assemble, build, lines_of, looping_program, records_of, same, symbols, turn

REGISTERS, BASIC, MEMORY, BRANCHES, XMM = 0x01, 0x04, 0x05, 0x08, 0x10
GENERAL = 0xff03ff  # of perf's numbers: AX … FLAGS, R8 … R15
HALVES = 0xff << 32  # XMM0 … XMM3
TYPES = "IP|TID|TIME|ADDR|CPU|PERIOD|BRANCH_STACK|WEIGHT|DATA_SRC|TRANSACTION|REGS_INTR|IDENTIFIER"


class PebsTrace(Trace):
    def block(self, kind, items, short=False):
        self.extended(0x63, kind | (0x80 if short else 0), 1)
        for number, value in items.items():
            self.bytes += bytes([number << 3 | 4]) + value.to_bytes(4 if short else 8, "little")

    def end(self, address=None):
        self.extended(0xb3 if address else 0x33)
        if address:
            self.interrupted(address)

    def record(self, tsc, ip, counters=1, address=None, more=()):
        self.block(BASIC, {0: ip, 1: counters, 2: tsc})
        for kind, items in more:
            self.block(kind, items)
        self.end(address)


def general(seed):
    """All of them: of others perf shows some under the names of others."""
    return REGISTERS, {number: seed << 32 | number for number in range(18)}


def whole(at, seed):
    """A record that says all; perf copies LBR_INFO as it is, so what it means is left to a test of ours."""
    branches = {3 * entry + part: (at["again"], at["work"], 0)[part] + (entry if part < 2 else 0) for entry in range(10) for part in range(3)}
    return (general(seed), (MEMORY, {0: 0x7000 + seed, 1: 0x1e, 2: 0x123}), (BRANCHES, branches),
            (XMM, {number: seed << 40 | number for number in range(32)}))


def begin(at):
    trace = PebsTrace()
    trace.psb(TSC, 20)
    trace.enable(at["_start"])
    return trace


def trace_of_flow(at):
    trace = begin(at)
    for number in range(5):
        goes_on = number < 4
        if number == 0:
            trace.record(TSC + 10, at["again"], more=whole(at, 7))
        elif number == 1:
            trace.record(TSC + 100, at["work"], address=at["again"], more=(general(9), (MEMORY, {0: 0x1000, 2: 5 << 32 | 77})))
        elif number == 2:
            trace.block(BASIC, {0: at["loop"], 2: TSC + 190})  # between the packets of a record
            trace.time(TSC + 200)
            trace.extended(0x03, 21, 2)
            trace.block(MEMORY, {3: 0x2600000007})
            trace.block(REGISTERS, dict(general(3)[1]) | {2: 0x55000001})  # an abort's code
            trace.end()
        elif number == 3:
            trace.record(TSC + 310, at["loop"], more=(general(11), (MEMORY, {0: 1, 1: 2, 3: 0x0400000099}), (0x1f, {0: 1, 31: 2})))
        turn(trace, at, goes_on, lambda n=number: trace.record(TSC + 100 * n + 20, at["loop"], address=at["loop"] + 4 if n == 3 else None))
    trace.disable()
    return trace.bytes


def trace_of_samples(at):
    """branch=0: nothing but records and times."""
    trace = PebsTrace()
    trace.psb(TSC, 20)
    for number in range(6):
        if number == 5:
            trace.time(TSC + 45)
        trace.record(TSC + 10 * number, at["work"] + number, counters=(1, 2, 3, 1, 2, 3)[number], address=at["loop"] if number % 2 else None,
                     more=whole(at, number))
        if number == 5:
            trace.psb(TSC + 60, 20)
    trace.block(REGISTERS, general(0)[1], True)  # of 32-bit code, without a time
    trace.block(XMM, {number: number for number in range(32)})
    trace.block(BASIC, {0: at["work"], 1: 1})
    trace.end()
    return trace.bytes


def trace_of_damage(at):
    """Records that other packets cut, and one that is not there."""
    trace = begin(at)
    turn(trace, at, True, lambda: trace.block(BASIC, {0: at["work"], 1: 1, 2: TSC + 5}))
    trace.record(TSC + 50, at["again"], more=((0x1e, {4: 5}),))
    trace.block(BASIC, {0: at["work"]})
    trace.psb(TSC + 100, 20, at["again"])
    trace.record(TSC + 110, at["loop"])
    turn(trace, at, False)
    trace.disable()
    trace.block(BASIC, {0: at["work"]})
    return trace.bytes


def event(number, name, more="", types=TYPES):
    return (f"event : name = {name}:u, id = {{ {number} }}, type = 0, config = {number - 6}, {{ sample_period, sample_freq }} = 1000, "
            f"sample_type = {types}, exclude_kernel = 1, exclude_hv = 1, sample_id_all = 1, aux_output = 1, branch_sample_type = ANY{more}\n")


def compare(options, data, order=list):
    mine, error = lines_of([SONDE, "script", *options], data)
    its, _ = lines_of(["perf", "script", *options], data)
    return same(f"{' '.join(options)} of {os.path.basename(data)}", order(mine), order(its), error)


def without_branch_flags(lines):
    return [re.sub(r"/(?:[MP-]|PM)/[X-]/[A-]/\d+(?= |$)", "", line) for line in lines]


def reported(options, data):
    rows = [[line.rstrip() for line in subprocess.run([tool, "report", "--stdio", *options, "-i", data], capture_output=True, text=True,
                                                       check=False).stdout.splitlines() if line and not line.startswith("#")]
            for tool in (SONDE, "perf")]
    return same(f"report {' '.join(options)} of {os.path.basename(data)}", *rows)


def main():
    if not shutil.which("perf"):
        print("perf is not installed")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        program = f"{name}/app"
        build(looping_program(), program)
        at = symbols(program)
        start = at["work"] & ~0xfff
        registers = f", sample_regs_intr = {GENERAL | HALVES:#x}"
        flow, only, several, damaged = (f"{name}/{what}.data" for what in ("flow", "only", "several", "damaged"))
        assemble(records_of(trace_of_flow(at), program, start, events=event(6, "cycles", f", sample_regs_intr = {GENERAL:#x}")), flow)
        assemble(records_of(trace_of_samples(at), program, start, "0xc01", events=event(6, "cycles", registers)), only)
        told = "".join(f"AUX_OUTPUT_HW_ID hw_id={hw} pid=10 tid=10 time={TSC + when} id={number} cpu=0\n"
                       for hw, when, number in ((0, -1, 6), (1, -1, 7), (0, 42, 7), (1, 42, 6)))
        assemble(records_of(trace_of_samples(at), program, start, "0xc01", more=told,
                            events=event(6, "cycles", registers) + event(7, "instructions", registers)), several)
        assemble(records_of(trace_of_damage(at), program, start, events=event(6, "cycles")), damaged)
        results = []
        for data in (flow, only, several):
            results += [compare(options, data) for options in (
                ["--itrace=oe"],
                ["--itrace=oe", "--ns", "-F", "comm,tid,cpu,time,period,event,ip,sym,addr"],
                ["--itrace=oe", "--ns", "-F", "event,ip,weight"],
                ["--itrace=oe", "--ns", "-F", "time,ip,iregs"],
                ["--itrace=oe", "-F", "time,ip,data_src"],
                ["--itrace=oes2", "-F", "time,ip"],
            )]
            results.append(compare(["--itrace=oe", "-F", "ip,brstack"], data, without_branch_flags))
            results.append(reported(["--itrace=o", "-n", "-s", "sym,weight,transaction"], data))
        chains = f"{name}/chains.data"
        assemble(records_of(trace_of_flow(at), program, start, events=event(6, "cycles", types="CALLCHAIN|" + TYPES.replace("REGS_INTR|", ""))), chains)
        results += [compare(options, chains) for options in (["--itrace=oge"], ["--itrace=ogqe"])]
        results.append(compare(["--itrace=oel3", "-F", "ip,brstack"], flow, without_branch_flags))
        for data in (flow, damaged):
            # perf's come where they are in the trace, Sonde's when they happened.
            results += [compare(options, data, sorted) for options in (
                ["--itrace=oibe", "-F", "event,ip,addr"],
                ["-F", "event,ip"],
            )]
            results += [compare(options, data) for options in (
                ["--itrace=be", "-F", "+flags"],
                ["--itrace=i0ns", "-F", "ip,sym"],
                ["--itrace=oq", "-F", "event,time,ip"],
                ["--itrace=oe", "-F", "time,ip"],
            )]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
