"""Recordings with Intel PT traces for oracles: packets written one by one, records as text for `assemble`, outputs compared."""
import os
import subprocess
import sys
from pathlib import Path

SONDE = os.environ["SONDE"]
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

    def clock(self, ticks):
        """An MTC packet: bits of the crystal's clock."""
        self.flush()
        self.bytes += bytes([0x59, ticks & 0xff])

    def time(self, tsc):
        self.flush()
        self.bytes += b"\x19" + tsc.to_bytes(7, "little")

    def interrupted(self, address):
        """A FUP: what comes next happened before the instruction there."""
        self.address(0x1d, address)

    def cycles(self, count):
        self.flush()
        rest = count >> 5
        packet = [(count & 31) << 3 | 3 | (4 if rest else 0)]
        while rest:
            packet.append((rest & 127) << 1 | (1 if rest >> 7 else 0))
            rest >>= 7
        self.bytes += bytes(packet)

    def extended(self, opcode, payload=0, size=0):
        self.flush()
        self.bytes += bytes([0x02, opcode]) + payload.to_bytes(size, "little")

    def event(self, kind, vector, has_ip):
        """A CFE packet."""
        self.extended(0x13, kind | (0x80 if has_ip else 0) | vector << 8, 2)

    def datum(self, kind, payload):
        """An EVD packet."""
        self.extended(0x53, kind | payload << 8, 9)

    def mode(self, interrupts):
        """A MODE.Exec packet of 64-bit code."""
        self.flush()
        self.bytes += b"\x99" + (b"\x05" if interrupts else b"\x01")

    def ptwrite(self, value, size=8, address=None):
        self.extended(0x12 | (0x20 if size == 8 else 0) | (0x80 if address else 0), value, size)
        if address:
            self.interrupted(address)

    def psb(self, tsc, ratio, address=None, clock=None):
        """`clock`: what the crystal's clock was at that time."""
        self.flush()
        self.bytes += b"\x02\x82" * 8 + b"\x19" + tsc.to_bytes(7, "little")
        if clock is not None:
            self.extended(0x73, clock & 0xffff, 5)
        self.extended(0x03, ratio, 2)
        self.bytes += b"\x99\x01"
        if address:
            self.interrupted(address)
        self.bytes += b"\x02\x23"


def looping_program(more=""):
    """Calls `work`, which counts down from three, five times; `more` comes before each call."""
    return f"""
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
again: {more}call work
after_call: dec %ebx
  jnz again
  mov $60,%eax
  xor %edi,%edi
  syscall
done: nop
.size _start, .-_start
"""


def turn(trace, at, goes_on, between=lambda: None):
    """One of its five rounds."""
    for taken in (True, True, False):
        trace.branch(taken)
    between()
    trace.target(at["after_call"])
    trace.branch(goes_on)


def build(source, program, *options):
    """Assembles the source's text to a static program."""
    Path(f"{program}.s").write_text(source, encoding="utf-8")
    subprocess.run(["gcc", "-nostdlib", "-static", "-Wl,--build-id=none", *options, "-o", program, f"{program}.s"], check=True)


def records_of(trace, program, start, config="0x2c01", scope="u", info="77,0,1,0,1,0x400,0x800,0,0,0,0,0,0,0,0,0,0", events="", more=""):
    """Thread 10 traces the program from TSC on. `events`: lines of other events; `more`: records before the trace."""
    excludes = ", exclude_kernel = 1, exclude_hv = 1" if scope else ""
    return f"""event : name = intel_pt//{scope}, id = {{ 5 }}, type = 77, config = {config}, {{ sample_period, sample_freq }} = 1, \
sample_type = IP|TID|TIME|CPU|IDENTIFIER{excludes}, sample_id_all = 1
{events}feature ARCH: "x86_64"
feature AUXTRACE: 00 00 00 00 00 00 00 00
feature HOSTNAME: "{os.uname().nodename}"
feature OSRELEASE: "{os.uname().release}"
AUXTRACE_INFO type=1 priv={info}
COMM pid=10 tid=10 comm="app" exec time={TSC - 3} id=5 cpu=0
MMAP2 mode=user pid=10 tid=10 start={start:#x} length=0x1000 offset=0x1000 protection=5 flags=2 path="{program}" time={TSC - 2} id=5 cpu=0
ITRACE_START pid=10 tid=10 time={TSC - 1} id=5 cpu=0
{more}AUXTRACE size={len(trace)} offset=0 reference={TSC + 5000} index=0 tid=10 cpu=0xffffffff
raw: {trace.hex(" ")}
AUX offset=0 size={len(trace)} flags=0 pid=10 tid=10 time={TSC + 5000} id=5 cpu=0
"""


def assemble(text, data):
    Path(f"{data}.txt").write_text(text, encoding="utf-8")
    made = subprocess.run([SONDE, "assemble", f"{data}.txt", data], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        sys.exit(f"assemble: {made.stderr}")


def lines_of(command, data):
    done = subprocess.run([*command, "-i", data], capture_output=True, text=True, check=False)
    return [line.rstrip() for line in done.stdout.splitlines()], done.stderr


def same(name, ours, perfs, error=""):
    """Whether the lines are the same, and some; says so, or shows the first that differ."""
    if ours == perfs and ours:
        print(f"ok: {name}: {len(ours)} lines")
        return True
    print(f"DIFFERENT: {name}: {len(ours)} lines, perf has {len(perfs)} {error}")
    for mine, its in zip(ours + [""] * len(perfs), perfs + [""] * len(ours)):
        if mine != its:
            print(f"  ours {mine}\n  perf {its}")
            break
    return False
