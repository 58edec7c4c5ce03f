#!/usr/bin/env python3
"""Samples made of an Intel PT trace, against perf's, line by line.

No Intel PT is needed: a small program is assembled, and the trace of its only possible run is written here, packet by packet.

  SONDE=build/release/sonde tests/oracle/itrace_oracle.py
"""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from pt_recordings import SONDE, TSC, Trace, assemble, build, lines_of, looping_program, records_of, same, symbols, turn

PROGRAM = looping_program()


def trace_of(at):
    trace = Trace()
    trace.synchronize(TSC)
    trace.enable(at["_start"])
    for number in range(5):
        turn(trace, at, number < 4)
    trace.disable()
    # Code that is not there.
    trace.synchronize(TSC + 1000)
    trace.enable(0x7777000)
    trace.branch(True)
    return trace.bytes


def recording(program, data):
    at = symbols(program)
    assemble(records_of(trace_of(at), program, at["work"] & ~0xfff), data)


def is_power(line):
    return "psb offs:" in line or "cbr:" in line


def compare(options, data, keeps=lambda line: not is_power(line), text=str):
    ours, perfs = (list(map(text, filter(keeps, lines_of([tool, *options], data)[0]))) for tool in (SONDE, "perf"))
    return same(" ".join(options), ours, perfs)


def main():
    if not shutil.which("perf"):
        print("perf is not installed")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        program, data = (str(Path(folder) / name) for name in ("app", "app.data"))
        build(PROGRAM, program)
        recording(program, data)
        results = [compare(options, data) for options in (
            ["script", "--itrace=be"],
            ["script", "--itrace=be", "-F", "+flags"],
            ["script", "--itrace=c", "-F", "+flags"],
            ["script", "--itrace=r", "-F", "+flags"],
            ["script", "--itrace=cr", "-F", "ip,sym,flags,addr"],
            ["script", "--itrace=i0ns"],
            ["script", "--itrace=i1i", "-F", "+flags"],
            ["script", "--insn-trace"],
            ["script", "--itrace=bs3"],
            ["script", "--itrace=i1ig"],
            ["script", "--itrace=i3ig2l4", "-F", "ip,sym,brstack"],
            ["script", "--itrace=b", "-F", "+flags,+callindent"],
            ["script", "--itrace=cr", "-F", "comm,callindent"],
            ["script", "--itrace=cre", "--call-ret-trace"],
            ["script", "--itrace=ce", "--call-trace"],
            ["script", "--itrace=cre", "--call-ret-trace", "--graph-function", "work"],
            ["script", "--itrace=beZ"],
            ["script", "--itrace=i1igZ", "-F", "comm,tid,event,ip,sym"],
        )]
        is_row = lambda line: line and not line.startswith("#")  # noqa: E731
        results.append(compare(["report", "--stdio", "--itrace=i0ns", "-s", "sym"], data, is_row))
        copy = str(Path(folder) / "copy.data")
        done = subprocess.run([SONDE, "inject", "--itrace=b", "-i", data, "-o", copy], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(f"DIFFERENT: inject: {done.stderr}")
            results.append(False)
        else:
            made, _ = lines_of(["perf", "script"], copy)
            direct, _ = lines_of(["perf", "script", "--itrace=b"], data)
            results.append(same("perf script of inject --itrace=b", made, direct))
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
