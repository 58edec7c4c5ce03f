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

SONDE = os.environ["SONDE"]
PROGRAM = """
.globl _start, work, after_call, loop, done
.type work, @function
work:
  mov $3,%ecx
loop: dec %ecx
  jnz loop
  ret
.size work, .-work
.type _start, @function
_start:
  mov $5,%ebx
again: call work
after_call: dec %ebx
  jnz again
  mov $60,%eax
  xor %edi,%edi
  syscall
done: nop
.size _start, .-_start
"""
TSC = 1_000_000_005_000


def symbols(program):
    lines = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout.splitlines()
    return {name: int(address, 16) for address, _, name in map(str.split, lines)}


class Trace:
    """Packets as in the Intel SDM: full addresses, uncompressed returns, a TSC at every synchronisation."""

    def __init__(self):
        self.bytes = b""
        self.bits = ""

    def flush(self):
        for start in range(0, len(self.bits), 6):
            part = self.bits[start:start + 6]
            self.bytes += bytes([int("1" + part, 2) << 1])
        self.bits = ""

    def synchronize(self, tsc):
        self.flush()
        self.bytes += b"\x02\x82" * 8 + b"\x99\x01" + b"\x19" + tsc.to_bytes(7, "little") + b"\x02\x23"

    def address(self, opcode, address):
        self.flush()
        self.bytes += bytes([opcode | 3 << 5]) + (address & (1 << 48) - 1).to_bytes(6, "little")

    def enable(self, address):
        self.address(0x11, address)

    def target(self, address):
        self.address(0x0d, address)

    def disable(self):
        self.flush()
        self.bytes += b"\x01"

    def branch(self, taken):
        self.bits += "1" if taken else "0"


def trace_of(at):
    trace = Trace()
    trace.synchronize(TSC)
    trace.enable(at["_start"])
    for turn in range(5):
        for taken in (True, True, False):
            trace.branch(taken)
        trace.target(at["after_call"])
        trace.branch(turn < 4)
    trace.disable()
    # Code that is not there.
    trace.synchronize(TSC + 1000)
    trace.enable(0x7777000)
    trace.branch(True)
    return trace.bytes


def recording(program, data):
    at = symbols(program)
    start = at["work"] & ~0xfff
    trace = trace_of(at)
    text = f"""event : name = intel_pt//u, id = {{ 5 }}, type = 77, config = 0x2c01, {{ sample_period, sample_freq }} = 1, \
sample_type = IP|TID|TIME|CPU|IDENTIFIER, exclude_kernel = 1, exclude_hv = 1, sample_id_all = 1
feature ARCH: "x86_64"
feature AUXTRACE: 00 00 00 00 00 00 00 00
feature HOSTNAME: "{os.uname().nodename}"
feature OSRELEASE: "{os.uname().release}"
AUXTRACE_INFO type=1 priv=77,0,1,0,1,0x400,0x800,0,0,0,0,0,0,0,0,0,0
COMM pid=10 tid=10 comm="app" exec time={TSC - 3} id=5 cpu=0
MMAP2 mode=user pid=10 tid=10 start={start:#x} length=0x1000 offset=0x1000 protection=5 flags=2 path="{program}" time={TSC - 2} id=5 cpu=0
ITRACE_START pid=10 tid=10 time={TSC - 1} id=5 cpu=0
AUXTRACE size={len(trace)} offset=0 reference={TSC + 5000} index=0 tid=10 cpu=0xffffffff
raw: {trace.hex(" ")}
AUX offset=0 size={len(trace)} flags=0 pid=10 tid=10 time={TSC + 5000} id=5 cpu=0
"""
    Path(f"{data}.txt").write_text(text, encoding="utf-8")
    made = subprocess.run([SONDE, "assemble", f"{data}.txt", data], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        sys.exit(f"assemble: {made.stderr}")


def lines_of(command, data, stderr=False):
    done = subprocess.run([*command, "-i", data], capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines() + (done.stderr.splitlines() if stderr else [])
    return [line.rstrip() for line in lines]


def is_power(line):
    return "psb offs:" in line or "cbr:" in line


def compare(options, data, keeps=lambda line: not is_power(line), text=str):
    ours, perfs = (list(map(text, filter(keeps, lines_of([tool, *options], data)))) for tool in (SONDE, "perf"))
    if ours == perfs and ours:
        print(f"ok: {' '.join(options)}: {len(ours)} lines")
        return True
    print(f"DIFFERENT: {' '.join(options)}: {len(ours)} lines, perf has {len(perfs)}")
    for mine, its in zip(ours + [""] * len(perfs), perfs + [""] * len(ours)):
        if mine != its:
            print(f"  ours {mine}\n  perf {its}")
            break
    return False


def main():
    if not shutil.which("perf"):
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        source, program, data = (str(Path(folder) / name) for name in ("app.s", "app", "app.data"))
        Path(source).write_text(PROGRAM, encoding="utf-8")
        subprocess.run(["gcc", "-nostdlib", "-static", "-Wl,--build-id=none", "-o", program, source], check=True)
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
        )]
        is_row = lambda line: line and not line.startswith("#")  # noqa: E731
        results.append(compare(["report", "--stdio", "--itrace=i0ns", "-s", "sym"], data, is_row))
        copy = str(Path(folder) / "copy.data")
        done = subprocess.run([SONDE, "inject", "--itrace=b", "-i", data, "-o", copy], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(f"DIFFERENT: inject: {done.stderr}")
            results.append(False)
        else:
            made = lines_of(["perf", "script"], copy)
            direct = lines_of(["perf", "script", "--itrace=b"], data)
            results.append(made == direct and bool(made))
            print(f"{'ok' if results[-1] else 'DIFFERENT'}: perf script of inject --itrace=b: {len(made)} lines")
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
