#!/usr/bin/env python3
"""Where an Intel PT trace cannot be followed, against perf: the code is missing, bytes are overwritten, a piece is cut out.

Behind each error both go on at the same place: branches, errors, their addresses and order are the same.

  SONDE=build/release/sonde tests/oracle/itrace_damage_oracle.py
"""
import os
import shutil
import sys
import tempfile
from pathlib import Path

from pt_recordings import SONDE, TSC, Trace, assemble, build, lines_of, looping_program, records_of, same, symbols, turn

FIXTURE = Path(__file__).resolve().parents[3] / "shared" / "fixtures" / "quipper" / "perf.data.intel_pt-4.14"
PLACES = "event,ip,addr"  # perf adds a tick for each instruction to the times of errors


def rounds(trace, at, count):
    for _ in range(count):
        turn(trace, at, True)
        trace.flush()
        trace.bytes += b"\x00"  # padding: what is overwritten in it hits nothing else


def beginning(at):
    trace = Trace()
    trace.synchronize(TSC)
    trace.enable(at["_start"])
    rounds(trace, at, 2)
    return trace


def ending(trace, at):
    rounds(trace, at, 1)
    turn(trace, at, False)
    trace.disable()
    trace.synchronize(TSC + 1000)
    trace.enable(at["_start"])
    rounds(trace, at, 2)
    turn(trace, at, False)
    trace.disable()
    return trace.bytes


def missing_code(at):
    """The program is somewhere else for a while: a whole address leads back."""
    trace = beginning(at)
    for _ in range(3):
        turn(trace, at, False)
        trace.interrupted(at["done"])
        trace.target(0x7777000)
        trace.branch(True)
        trace.target(0x7777800)
        trace.flush()
        trace.bytes += b"\x2d\x00\x10"  # a target of which two bytes are told
        trace.target(at["after_call"])
        trace.branch(True)
    return ending(trace, at)


def wrong_branch(at):
    """A target where a conditional branch is."""
    trace = beginning(at)
    trace.target(at["after_call"])
    trace.branch(True)
    rounds(trace, at, 1)
    trace.target(at["work"])
    return ending(trace, at)


def wrong_return(at):
    """Bits where a return is."""
    trace = beginning(at)
    for taken in (True, True, False, True, False, True):
        trace.branch(taken)
    return ending(trace, at)


def garbage(at):
    """Bytes that no packet begins with."""
    trace = beginning(at)
    trace.bytes += b"\x05\xb9\x02\xff"
    return ending(trace, at)


def cut(at):
    """A piece is missing."""
    trace = beginning(at)
    before = len(trace.bytes)
    rounds(trace, at, 2)
    whole = ending(trace, at)
    return whole[:before + 3] + whole[before + 9:]


def ends_inside(at):
    """The code is missing, and nothing leads back."""
    trace = beginning(at)
    turn(trace, at, False)
    trace.interrupted(at["done"])
    trace.target(0x7777000)
    trace.branch(True)
    trace.flush()
    return trace.bytes


def is_line(line):
    return line and "psb offs:" not in line and "cbr:" not in line


def without_time(line):
    words = line.split()
    if "time" in words:
        place = words.index("time")
        del words[place:place + 2]
    return " ".join(words)


def shown(tool, options, data):
    return [without_time(line) for line in lines_of([tool, "script", *options], data)[0] if is_line(line)]


def main():
    if not shutil.which("perf"):
        print("perf is not installed")
        sys.exit(77)
    results = []
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        program, data = (str(Path(folder) / name) for name in ("app", "app.data"))
        build(looping_program(), program)
        at = symbols(program)
        for damage in (missing_code, wrong_branch, wrong_return, garbage, cut, ends_inside):
            # Its returns are never compressed (noretcomp, config bit 11).
            records = records_of(damage(at), program, at["work"] & ~0xfff, config="0x2c01")
            assemble(records, data)
            ours, perfs = (shown(tool, ["--itrace=be", "-F", PLACES], data) for tool in (SONDE, "perf"))
            results.append(same(damage.__name__, ours, perfs))
    if FIXTURE.exists():
        # Most of its code is not here. Whose code runs around a switch is told in other ways.
        ours, perfs = ([line.split()[2:] for line in lines_of([tool, "script", "--itrace=b"], str(FIXTURE))[0] if "branches:" in line]
                       for tool in (SONDE, "perf"))
        results.append(same(FIXTURE.name, ours, perfs))
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
