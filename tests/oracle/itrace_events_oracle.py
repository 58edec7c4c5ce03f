#!/usr/bin/env python3
"""What an Intel PT trace tells besides branches, against perf's lines: PTWRITE, power events, PSBs and the core's frequency, cycles,
interrupts and the interrupt flag (event trace); and the call chains and branches that it gives the samples of another event.

  SONDE=build/release/sonde tests/oracle/itrace_events_oracle.py
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from pt_recordings import SONDE, TSC, Trace, assemble, build, lines_of, looping_program, records_of, same, symbols, turn

PROGRAM = looping_program("ptwrite %rbx\n  ")
# MTC and CYC bits, a bus clock of 100 MHz, 24 times that without turbo; the event asks for pwr_evt, and ptw or fup_on_ptw, or cyc.
INFO = "77,0,1,0,1,0x400,0x800,0,0,0,0x200,0x3c000,2,1,0x2,24,0"
VALUES = (0x6f6c6c6568, 0, 0x0a61, 0x4142434445464748, 0xffffffffffffffff)


def trace_of_events(at, addresses):
    trace = Trace()
    trace.psb(TSC, 20)
    trace.enable(at["_start"])
    for number, value in enumerate(VALUES):
        trace.ptwrite(value, 4 if value == 0x0a61 else 8, at["again"] if addresses else None)
        turn(trace, at, number < 4)
        if number < 4:
            trace.psb(TSC + 100 * number + 100, 20 + number // 2, at["again"])
        if number == 1:
            trace.extended(0xc2, 0x21 | 1 << 32, 8)  # MWAIT
            trace.extended(0x22, 0x3180, 2)  # PWRE
            trace.extended(0xe2)  # EXSTOP
            trace.interrupted(at["again"])
            trace.time(TSC + 250)
            trace.extended(0xa2, 0x134, 5)  # PWRX
            trace.extended(0x62)
            trace.extended(0x03, 33, 2)  # CBR
    trace.disable()
    return trace.bytes


def trace_of_cycles(at):
    trace = Trace()
    trace.synchronize(TSC)
    trace.enable(at["_start"])
    for number in range(5):
        if number in (1, 2, 4):
            trace.cycles(10 * number + 3)
        turn(trace, at, number < 4, lambda n=number: trace.cycles(7) if n == 2 else None)
        if number == 3:
            trace.cycles(1)
            trace.cycles(1000)
            trace.time(TSC + 400)
    trace.cycles(5)
    trace.disable()
    return trace.bytes


def trace_of_times(at):
    trace = Trace()
    trace.synchronize(TSC)
    trace.enable(at["_start"])
    for number in range(5):
        trace.time(TSC + 100 * number)
        turn(trace, at, number < 4, lambda n=number: trace.time(TSC + 220) if n == 2 else None)
    trace.disable()
    return trace.bytes


def trace_of_clock(at):
    """Without CYC packets, cycles are the time that MTC packets tell, at the core's frequency."""
    trace, ticks = Trace(), TSC // 2  # of the crystal
    trace.psb(2 * ticks, 20, clock=ticks)
    trace.enable(at["_start"])
    for number, after in enumerate((3, 4, 11, 20, 31)):
        turn(trace, at, number < 4, lambda t=after: trace.clock(ticks + t))
    trace.disable()
    trace.psb(2 * ticks + 80, 33, clock=ticks + 40)
    trace.enable(at["_start"])
    for number, after in enumerate((51, 61, 72)):
        turn(trace, at, True, lambda t=after: trace.clock(ticks + t))
    trace.psb(2 * ticks + 144, 10, at["again"], clock=ticks + 72)
    for number, after in enumerate((91, 95)):
        turn(trace, at, number < 1, lambda t=after: trace.clock(ticks + t))
    trace.disable()
    return trace.bytes


def trace_of_event_packets():
    """What only dumps show: CFE, EVD, and blocks of items with all that may be inside of one."""
    trace = Trace()
    trace.psb(TSC, 20)
    for kind in range(32):
        trace.extended(0x13, kind | (kind & 1) << 7 | 0x300, 2)
        trace.extended(0x53, kind | 0x123456789abcdef00, 9)
    inside = [b"", b"\x00", b"\x06", b"\x2d\x01\x02", b"\x31\x01\x02", b"\x01", b"\x3d\x01\x02", b"\x99\x01", b"\x99\x21", b"\x02\x83",
              b"\x02\x03\x09\x00", b"\x19" + b"\x01" * 7, b"\x59\x03", b"\x02\x73\x01\x01\x00\x01\x00", b"\x0b", b"\x02\xf3",
              b"\x02\xc8\x01\x02\x03\x04\x05", b"\x02\x82" * 8, b"\x02\x23", b"\x02\xc3\x88" + b"\x01" * 8, b"\x02\x62",
              b"\x02\x12\x01\x01\x01\x01", b"\x02\xc2" + b"\x01" * 8, b"\x02\x22\x01\x01", b"\x02\xa2" + b"\x01" * 5,
              b"\x02\x43\x02" + b"\x00" * 5, b"\x02\x63\x81", b"\x02\x33", b"\x02\xb3", b"\x02\x13\x01\x01", b"\x15", b"\x02\xff"]
    for size in (0, 0x80):
        for number, packet in enumerate(inside):
            trace.bytes += b"\x02\x63" + bytes([size | number]) + packet + b"\x04" * 9 + b"\xfc\x02\x33\xfe\xfe"
    trace.bytes += b"\x02\x63\x01\x04\x01"
    return trace.bytes


def end_by_interrupt(trace, at):
    trace.interrupted(at["loop"])
    trace.address(0x01, at["done"])  # TIP.PGD


def traces_of_interrupts(at):
    """Event trace: interrupts with and without a branch that is traced, and changes of the interrupt flag by branches and CLI."""
    traces = []

    def begin(interrupts=True):
        trace = Trace()
        trace.psb(TSC, 20)
        trace.mode(interrupts)
        trace.enable(at["_start"])
        traces.append(trace)
        return trace

    trace = begin()
    trace.event(1, 0x20, True)
    trace.interrupted(at["again"])
    turn(trace, at, True)
    trace.datum(0, 0x1234)
    trace.event(1, 14, False)
    trace.interrupted(at["loop"])
    trace.mode(False)
    trace.target(at["again"])
    turn(trace, at, True)
    trace.branch(True)
    trace.event(12, 3, True)
    trace.interrupted(at["loop"])
    trace.time(TSC + 100)
    end_by_interrupt(trace, at)

    # While nothing is traced.
    trace = begin()
    turn(trace, at, True)
    end_by_interrupt(trace, at)
    trace.event(6, 0, False)
    trace.time(TSC + 100)
    trace.datum(0, 1)
    trace.event(3, 3, False)
    trace.event(7, 0, True)
    trace.interrupted(at["done"])
    trace.mode(False)
    trace.enable(at["again"])
    end_by_interrupt(trace, at)
    for kind in range(32):
        trace.event(kind, kind, False)
    for kind in range(64):
        trace.datum(kind, kind)
        if kind % 5 == 4:
            trace.event(1, 0, False)

    # Flags that instructions change which do not branch.
    trace = begin()
    trace.mode(False)
    trace.interrupted(at["again"])
    turn(trace, at, True)
    turn(trace, at, True)
    trace.mode(True)
    trace.interrupted(at["again"])
    turn(trace, at, True)
    trace.mode(False)
    trace.interrupted(at["again"] + 1)
    end_by_interrupt(trace, at)

    trace = begin(False)
    turn(trace, at, True)
    for kind in range(3):
        trace.datum(kind, 0x1000 * kind + 1)
    trace.event(10, 0, False)
    end_by_interrupt(trace, at)
    trace.psb(TSC + 500, 20)
    trace.mode(True)
    trace.enable(at["again"])
    trace.psb(TSC + 500, 20, at["loop"])
    trace.branch(True)
    trace.event(9, 3, True)
    trace.interrupted(at["loop"])
    trace.time(TSC + 800)
    trace.branch(False)
    trace.target(at["after_call"])
    trace.branch(True)
    end_by_interrupt(trace, at)

    # Flags that a return changes, and an event that waits for an interrupt.
    trace = begin(False)
    trace.branch(True)
    trace.branch(True)
    trace.branch(False)
    trace.mode(True)
    trace.target(at["after_call"])
    trace.branch(True)
    trace.event(2, 0, False)
    turn(trace, at, True)
    end_by_interrupt(trace, at)
    return [trace.bytes for trace in traces]


def trace_of_places(at):
    """For q: starts, ends, interrupts, overflows, transactions."""
    trace = Trace()
    trace.psb(TSC, 20)
    trace.enable(at["_start"])
    trace.branch(True)
    trace.target(at["work"])
    trace.time(TSC + 100)
    trace.interrupted(at["loop"])
    trace.target(at["after_call"])
    trace.time(TSC + 200)
    trace.interrupted(at["again"])
    trace.address(0x01, at["done"])  # TIP.PGD
    trace.time(TSC + 300)
    trace.enable(at["loop"])
    trace.disable()
    trace.psb(TSC + 500, 20)
    trace.enable(at["again"])
    trace.psb(TSC + 700, 20, at["loop"])
    trace.branch(True)
    trace.extended(0xf3)  # OVF
    trace.interrupted(at["after_call"])
    trace.time(TSC + 800)
    trace.target(at["work"])
    trace.bytes += b"\x99\x21"  # MODE.TSX
    trace.interrupted(at["loop"])
    trace.time(TSC + 900)
    trace.bytes += b"\x99\x20"
    trace.interrupted(at["again"])
    trace.ptwrite(5, 8, at["again"])
    trace.extended(0xf3)
    trace.time(TSC + 950)
    trace.enable(at["again"])
    trace.disable()
    return trace.bytes


def other_event(at):
    event = """event : name = cycles:u, id = { 6 }, type = 0, config = 0, { sample_period, sample_freq } = 1000, \
sample_type = IP|TID|TIME|CPU|IDENTIFIER, exclude_kernel = 1, exclude_hv = 1, sample_id_all = 1
"""
    places = ((50, "again"), (150, "loop"), (200, "loop"), (250, "after_call"), (320, "work"))
    samples = "".join(f"SAMPLE mode=user id=6 ip={at[place]:#x} pid=10 tid=10 time={TSC + after} cpu=0\n" for after, place in places)
    return event, samples


def compare(options, data, ours=lambda lines: lines):
    mine, error = lines_of([SONDE, "script", *options], data)
    its, _ = lines_of(["perf", "script", *options], data)
    return same(" ".join(options), ours(mine), its, error)


def with_leaf(lines):
    """perf leaves out the sampled address where there are callers; Sonde's chains begin with it, as all do."""
    kept = []
    for at, line in enumerate(lines):
        begins = at > 0 and lines[at - 1].endswith(":")
        goes_on = at + 1 < len(lines) and lines[at + 1].startswith("\t")
        if not (begins and goes_on):
            kept.append(line)
    return kept


def injected(data, copy):
    """perf's script of what Sonde injects, against its script of the trace."""
    done = subprocess.run([SONDE, "inject", "--itrace=wp", "-i", data, "-o", copy], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"DIFFERENT: inject: {done.stderr}")
        return False
    fields = ["-F", "time,synth,ip"]
    return same("perf script of inject --itrace=wp", lines_of(["perf", "script", *fields], copy)[0],
                lines_of(["perf", "script", "--itrace=wp", *fields], data)[0])


def log_of(tool, options, data, directory):
    """The decoder's log, as a list of lines."""
    os.makedirs(directory)
    subprocess.run([tool, "script", *options, "-i", data], cwd=directory, capture_output=True, check=False)
    with open(f"{directory}/intel_pt.log", encoding="utf-8") as log:
        return [line.rstrip() for line in log]


def compare_logs(data, name):
    """Packets and records in their order; instructions in that of the first time, since perf logs what it decodes once."""
    packet = re.compile(r"  ([0-9a-f]{8}): ((?: [0-9a-f]{2})+) +(\S.*)")
    instruction = re.compile(r" {4,}([0-9a-f]{1,16}): ((?: [0-9a-f]{2})+)")
    results = []
    mine, its = (log_of(tool, ["--itrace=bed"], data, f"{name}/log-{Path(tool).name}-{Path(data).stem}") for tool in (SONDE, "perf"))
    found = [[match.groups() for line in log if (match := packet.match(line))] for log in (mine, its)]
    results.append(same(f"packets in the log of {Path(data).stem}", *found))
    found = [list(dict.fromkeys((int(match[1], 16), match[2]) for line in log if (match := instruction.match(line)))) for log in (mine, its)]
    results.append(same(f"instructions in the log of {Path(data).stem}", *found))
    results.append(same(f"records in the log of {Path(data).stem}",
                        *([line[line.index("PERF_RECORD"):] for line in log if "PERF_RECORD" in line and "PERF_RECORD_SAMPLE" not in line] for log in (mine, its))))
    return results


def compare_interrupts(name):
    program = f"{name}/masking"
    build(looping_program("cli\n  "), program)
    at = symbols(program)
    results = []
    for number, trace in enumerate(traces_of_interrupts(at)):
        data = f"{name}/interrupts{number}.data"
        assemble(records_of(trace, program, at["work"] & ~0xfff, "0x80002c01", info=INFO + ",1"), data)
        results += [compare(options, data) for options in (
            ["--itrace=Ie"],
            ["--itrace=Ibe", "--ns", "-F", "time,event,ip,sym,addr,synth,flags"],
            ["--itrace=i1i", "-F", "event,ip"],
            ["--itrace=be", "-F", "+flags"],
        )]
        copy = f"{name}/copy{number}.data"
        subprocess.run([SONDE, "inject", "--itrace=I", "-i", data, "-o", copy], check=True)
        fields = ["-F", "time,synth,ip"]
        results.append(same(f"perf script of inject --itrace=I, trace {number}", lines_of(["perf", "script", *fields], copy)[0],
                            lines_of(["perf", "script", "--itrace=I", *fields], data)[0]))
    return results


def main():
    if not shutil.which("perf"):
        print("perf is not installed")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        program = f"{name}/app"
        build(PROGRAM, program)
        at = symbols(program)
        start = at["work"] & ~0xfff
        told, silent, cycles, chains = (f"{name}/{what}.data" for what in ("told", "silent", "cycles", "chains"))
        assemble(records_of(trace_of_events(at, True), program, start, "0x3c31", info=INFO), told)
        assemble(records_of(trace_of_events(at, False), program, start, "0x3c11", info=INFO), silent)
        assemble(records_of(trace_of_cycles(at), program, start, "0x2c03", info=INFO), cycles)
        event, samples = other_event(at)
        assemble(records_of(trace_of_times(at), program, start, events=event, more=samples), chains)
        results = [compare(options, told) for options in (
            ["--itrace=wp"],
            ["--itrace=w", "--ns"],
            ["--itrace=p", "-F", "event,synth,ip,sym"],
            ["--itrace=ws3"],
            ["--itrace=wp", "-F", "synth:time,event,synth"],
        )]
        # Where the trace has no address, perf has that of the branch before, Sonde the instruction's.
        results.append(compare(["--itrace=w", "-F", "time,event,synth"], silent))
        results += [compare(options, cycles) for options in (
            ["--itrace=be", "-F", "+ipc"],
            ["--itrace=i0nse", "-F", "+ipc"],
            ["--itrace=beA", "-F", "+ipc,+insn,+flags"],
            ["--itrace=i3iA", "-F", "ip,ipc"],
            ["--itrace=i3i", "-F", "ip,ipc,insn"],
            ["--itrace=cr", "-F", "+ipc,+addr"],
            ["--itrace=bi1i", "-F", "event,ip,ipc"],
        )]
        results += [compare(options, chains, ours=with_leaf) for options in (
            ["--itrace=Ge"],
            ["--itrace=Gi3i", "-F", "event,ip,time"],
        )]
        results += [compare(options, chains) for options in (
            ["--itrace=Le", "-F", "event,ip,brstack"],
            ["--itrace=L3b", "-F", "event,time,brstacksym"],
        )]
        clock, packets = f"{name}/clock.data", f"{name}/packets.data"
        assemble(records_of(trace_of_clock(at), program, start, "0x2e01", info=INFO), clock)
        results += [compare(options, clock) for options in (
            ["--itrace=be", "--ns", "-F", "+ipc"],
            ["--itrace=i0nse", "--ns", "-F", "+ipc"],
            ["--itrace=i7i", "-F", "ip,ipc"],
            ["--itrace=beA", "-F", "+ipc,+flags"],
            ["--itrace=crZ", "-F", "event,ip,ipc,addr"],
        )]
        assemble(records_of(trace_of_event_packets(), program, start), packets)
        results.append(compare(["-D"], packets))
        places = f"{name}/places.data"
        assemble(records_of(trace_of_places(at), program, start, "0x3c31", info=INFO), places)
        results += [compare(options, places) for options in (
            ["--itrace=qbe", "--ns", "-F", "+flags"],
            ["--itrace=qie", "--ns", "-F", "event,time,ip,period"],
            ["--itrace=qx", "-F", "time,ip"],
            ["--itrace=qwp", "-F", "time,event,synth,ip"],
            ["--itrace=qqi", "-F", "time,event,ip"],
        )]
        results += compare_interrupts(name)
        for data in (told, chains, f"{name}/interrupts0.data", f"{name}/interrupts2.data"):
            results += compare_logs(data, name)
        results.append(injected(told, f"{name}/copy.data"))
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
