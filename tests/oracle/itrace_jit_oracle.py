#!/usr/bin/env python3
"""An Intel PT trace that leads through generated code, whose memory is reused, against perf's.

A small program and a jitdump are assembled: two functions, one after the other at the same address. `inject --jit` copies the trace and
adds mappings of the functions' images; perf and Sonde then decode the copy. Sonde decodes the recording without a copy, too.

  SONDE=build/release/sonde tests/oracle/itrace_jit_oracle.py
"""
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from pt_recordings import SONDE, TSC, Trace, symbols

PID = 4_000_001  # no process here
CODE = 0x7f0000001000
PROGRAM = f"""
.globl _start, after
.type _start, @function
_start:
  mov ${CODE},%rax
again: call *%rax
after: jmp again
.size _start, .-_start
"""
FIRST = bytes.fromhex("85c0 7501 90 c3".replace(" ", ""))  # test %eax,%eax; jne .+3; nop; ret
SECOND = bytes.fromhex("90 90 ffc9 75fc c3".replace(" ", ""))  # nop; nop; dec %ecx; jne .-2; ret


def trace_of(at):
    trace = Trace()
    trace.synchronize(TSC)
    trace.enable(at["_start"])
    trace.target(CODE)
    trace.branch(True)
    trace.target(at["after"])
    trace.bytes += b"\x19" + (TSC + 10_000).to_bytes(7, "little")
    trace.target(CODE)
    for taken in (True, False):
        trace.branch(taken)
    trace.target(at["after"])
    trace.target(CODE)
    return trace.bytes


def jitdump(counts_cycles):
    def load(index, name, time, code):
        body = struct.pack("<IIQQQQ", PID, PID, CODE, CODE, len(code), index) + name + b"\0" + code
        return struct.pack("<IIQ", 0, 16 + len(body), time) + body

    header = struct.pack("<IIIIIIQQ", 0x4A695444, 1, 40, 62, 0, PID, TSC - 100, int(counts_cycles))
    return header + load(1, b"first", TSC - 50, FIRST) + load(2, b"second", TSC + 5000, SECOND)


def recording(folder, program, counts_cycles):
    """A cycle is a nanosecond; the clock is the one that the dump needs."""
    clock = "" if counts_cycles else ", use_clockid = 1, clockid = 1"
    conversion = ("TIME_CONV shift=0 multiplier=1 zero=0 cycles=0 mask=0xffffffffffffffff cap_user_time_zero=1 cap_user_time_short=0\n"
                  if counts_cycles else "")
    at = symbols(program)
    trace = trace_of(at)
    start = at["_start"] & ~0xfff
    lines = f"""event : name = intel_pt//u, id = {{ 5 }}, type = 77, config = 0x2c01, {{ sample_period, sample_freq }} = 1, \
sample_type = IP|TID|TIME|CPU|IDENTIFIER, exclude_kernel = 1, exclude_hv = 1, sample_id_all = 1{clock}
feature ARCH: "x86_64"
feature AUXTRACE: 00 00 00 00 00 00 00 00
feature HOSTNAME: "{os.uname().nodename}"
feature OSRELEASE: "{os.uname().release}"
{conversion}AUXTRACE_INFO type=1 priv=77,0,1,0,1,0x400,0x800,0,0,0,0,0,0,0,0,0,0
COMM pid={PID} tid={PID} comm="app" exec time={TSC - 300} id=5 cpu=0
MMAP2 mode=user pid={PID} tid={PID} start={start:#x} length=0x1000 offset=0x1000 protection=5 flags=2 path="{program}" \
time={TSC - 299} id=5 cpu=0
MMAP2 mode=user pid={PID} tid={PID} start=0x7e0000000000 length=0x1000 offset=0 protection=5 flags=2 path="{folder}/jit-{PID}.dump" \
time={TSC - 200} id=5 cpu=0
MMAP2 mode=user pid={PID} tid={PID} start={CODE:#x} length=0x1000 offset=0 protection=7 flags=2 path="//anon" time={TSC - 199} id=5 cpu=0
ITRACE_START pid={PID} tid={PID} time={TSC - 1} id=5 cpu=0
AUXTRACE size={len(trace)} offset=0 reference={TSC + 20_000} index=0 tid={PID} cpu=0xffffffff
raw: {trace.hex(" ")}
AUX offset=0 size={len(trace)} flags=0 pid={PID} tid={PID} time={TSC + 20_000} id=5 cpu=0
"""
    (folder / "text").write_text(lines, encoding="utf-8")
    subprocess.run([SONDE, "assemble", folder / "text", folder / "perf.data"], check=True)
    (folder / f"jit-{PID}.dump").write_bytes(jitdump(counts_cycles))


def lines_of(tool, data, *options):
    done = subprocess.run([tool, "script", *options, "-i", data], capture_output=True, text=True, check=False)
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    return [line for line in lines if "psb offs:" not in line and "cbr:" not in line]


def main():
    if not shutil.which("perf"):
        print("perf is not installed")
        sys.exit(77)
    results = []
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        folder = Path(name)
        program, source = folder / "app", folder / "app.s"
        source.write_text(PROGRAM, encoding="utf-8")
        subprocess.run(["gcc", "-nostdlib", "-static", "-Wl,--build-id=none", "-o", program, source], check=True)
        for counts_cycles in (False, True):
            recording(folder, program, counts_cycles)
            copy = folder / "jitted.data"
            done = subprocess.run([SONDE, "inject", "--jit", "-i", folder / "perf.data", "-o", copy], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                sys.exit(f"inject: {done.stderr}")
            # Which of two times a jump has that no packet tells of is an estimate.
            for options in (["--itrace=be", "-F", "ip,sym,symoff,dso,addr,flags"], ["--itrace=i0nse", "-F", "ip,sym"]):
                ours, perfs = lines_of(SONDE, copy, *options), lines_of("perf", copy, *options)
                # Where the last packet leads is shown when the next instruction is known.
                results.append(ours == perfs[:len(ours)] and len(perfs) - len(ours) <= 1 and any("second" in line for line in ours))
                print(f"{'ok' if results[-1] else 'DIFFERENT'}: inject --jit, script {' '.join(options)}: {len(ours)} lines, perf has {len(perfs)}")
                if not results[-1]:
                    print("\n".join(["ours", *ours, "perf", *perfs]))
            places = ["-F", "ip,addr,flags,time"]
            direct = lines_of(SONDE, folder / "perf.data", "--itrace=be", *places)
            results.append(direct == lines_of(SONDE, copy, "--itrace=be", *places)
                           and len(direct) >= 8)
            print(f"{'ok' if results[-1] else 'DIFFERENT'}: straight from the jitdump: {len(direct)} lines")
            if not results[-1]:
                print("\n".join(["direct", *direct, "copy", *lines_of(SONDE, copy, "--itrace=be", *places)]))
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
