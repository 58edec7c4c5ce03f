#!/usr/bin/env python3
"""Samples made of traces other than a whole one of Intel PT, against perf's, line by line: pieces of an Intel PT trace in samples,
Intel BTS, Arm SPE. All are written here, byte by byte.

  SONDE=build/release/sonde tests/oracle/trace_kinds_oracle.py
"""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from itrace_oracle import PROGRAM, SONDE, TSC, Trace, compare, symbols

NEOVERSE_N1, CORTEX_A53 = 0x410FD0C0, 0x410FD030


def assemble(name, events, info, records, features=""):
    start = symbols("app")["work"] & ~0xfff
    where = f"time={TSC - 3} id=5 cpu=0"
    Path(f"{name}.txt").write_text(f"""{events}
{features}feature AUXTRACE: 00 00 00 00 00 00 00 00
feature HOSTNAME: "{os.uname().nodename}"
feature OSRELEASE: "{os.uname().release}"
{info}
COMM pid=10 tid=10 comm="app" exec {where}
MMAP2 mode=user pid=10 tid=10 start={start:#x} length=0x1000 offset=0x1000 protection=5 flags=2 path="{Path('app').resolve()}" {where}
{records}""", encoding="utf-8")
    made = subprocess.run([SONDE, "assemble", f"{name}.txt", name], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        sys.exit(f"assemble: {made.stderr}")
    return name


def auxtrace(pieces, tid=10, cpu=0xffffffff):
    text, offset = "", 0
    for number, piece in enumerate(pieces):
        time = TSC + 15000 + number
        text += f"AUXTRACE size={len(piece)} offset={offset} reference={time} index=0 tid={tid:#x} cpu={cpu:#x}\n"
        text += f"raw: {piece.hex(' ')}\nAUX offset={offset} size={len(piece)} flags=0 pid=10 tid=10 time={time} id=5 cpu=0\n"
        offset += len(piece)
    return text


# --- Intel PT in samples


def turns(count, first, tsc):
    at, trace = symbols("app"), Trace()
    trace.synchronize(tsc)
    trace.enable(at["_start"] if first else at["after_call"])
    if not first:
        trace.branch(True)
    for _ in range(count):
        for taken in (True, True, False):
            trace.branch(taken)
        trace.target(at["after_call"])
        trace.branch(True)
    trace.address(0x1d, at["again"])  # an interrupt
    trace.address(0x01, at["done"])
    return trace.bytes


def sampled(name, pieces):
    events = "\n".join(f"event : name = {event}, id = {{ {number} }}, type = {kind}, config = {config}, "
                       "{ sample_period, sample_freq } = 1, sample_type = IP|TID|TIME|" + fields + ", exclude_kernel = 1, "
                       "exclude_hv = 1, sample_id_all = 1" + more
                       for event, number, kind, config, fields, more in (
                           ("intel_pt//u", 5, 77, "0x2c01", "IDENTIFIER", ""),
                           ("cs:u", 6, 1, 3, "PERIOD|IDENTIFIER|AUX", ", aux_sample_size = 4096")))
    thread = "0,0xffffffffffffffff,10"
    info = f"ID_INDEX entries=5,{thread},6,{thread}\nAUXTRACE_INFO type=1 priv=77,0,1,0,1,0x400,0x800,0,0,0,0,0,0,0,0,0,0"
    samples = ""
    for number, piece in enumerate(pieces):
        piece += bytes(-len(piece) % 8)  # as the kernel fills it up
        samples += (f"SAMPLE event=1 mode=user ip={symbols('app')['loop']:#x} pid=10 tid=10 time={TSC + 900 + 1000 * number} cpu=0 "
                    f"period=1 id=6 aux=hex:{piece.hex()}\n")
    return assemble(name, events, info, samples, 'feature ARCH: "x86_64"\n')


def switched(name):
    """A CPU's trace; that a thread began to run there, its own record tells."""
    event = ("event : name = intel_pt//u, id = { 5 }, type = 77, config = 0x2c01, { sample_period, sample_freq } = 1, sample_type = "
             "IP|TID|TIME|CPU|IDENTIFIER, exclude_kernel = 1, exclude_hv = 1, sample_id_all = 1, context_switch = 1")
    info = "AUXTRACE_INFO type=1 priv=77,0,1,0,1,0x400,0x800,2,0,1,0,0,0,0,0,0,0,0"
    records = f"SWITCH pid=10 tid=10 time={TSC - 2} id=5 cpu=0\n" + auxtrace([turns(2, True, TSC)], 0xffffffff, 0)
    return assemble(name, event, info, records, 'feature ARCH: "x86_64"\n')


# --- Intel BTS


def bts(name):
    at, branches = symbols("app"), []
    branches.append((0, at["_start"]))
    again = at["_start"] + 5
    for _ in range(3):
        branches += [(again, at["work"]), (at["loop"] + 2, at["loop"]), (at["loop"] + 4, at["after_call"]), (at["after_call"] + 2, again)]
    branches += [(at["after_call"] + 11, at["done"]), (0x7777000, 0x7777100), (at["done"], 0)]
    records = [struct.pack("<QQQ", source, target, 0) for source, target in branches]
    # perf 6.1 leaves the last record of a piece out.
    pieces = [b"".join([*part, bytes(24)]) for part in (records[:7], records[7:])]
    event = ("event : name = intel_bts//u, id = { 5 }, type = 78, { sample_period, sample_freq } = 1, sample_type = IP|TID|IDENTIFIER, "
             "exclude_kernel = 1, exclude_hv = 1, sample_id_all = 1")
    return assemble(name, event, "AUXTRACE_INFO type=2 priv=78,0,1,0,1,0", auxtrace(pieces), 'feature ARCH: "x86_64"\n')


# --- Arm SPE


def packet(header, value, size=8):
    return bytes([header]) + value.to_bytes(size, "little")


def spe_record(number, ip, events, operation, kind, more=b""):
    body = packet(0xb0, ip & (1 << 56) - 1 | (ip >> 63) << 61 | 1 << 63) + packet(0x98, 20 + number, 2) + packet(0x62, events, 4)
    body += packet(0x48 | operation, kind, 1) + more + packet(0x71, TSC + 1000 * number)
    return body + bytes(-len(body) % 64)


def spe_records():
    at, made = symbols("app"), []

    def add(ip, events, operation, kind, more=b""):
        made.append(spe_record(len(made) + 1, ip, events | 2, operation, kind, more))

    data = packet(0xb2, 0x7ffe1234) + packet(0xb3, 0x881234 | 1 << 63)
    add(at["loop"], 0, 0, 0)
    for level in (0, 4, 0xc, 0x100, 0x300, 0x40c, 0x700):
        for tlb in (0, 0x10, 0x30):
            add(at["work"], level | tlb, 1, 0, data)
            add(at["work"], level | tlb, 1, 1, data)
    for source in (0, 8, 9, 0xa, 0xb, 0xc, 0xd, 0xe, 7):
        add(at["work"], 4, 1, 0, packet(0x43, source, 1) + data)
    add(at["loop"] + 2, 0x80, 2, 1, packet(0xb1, at["loop"] | 1 << 63))
    add(at["loop"] + 2, 0x40, 2, 1, packet(0xb1, at["loop"] + 4 | 1 << 63))
    add(0xffffffff81000000, 4, 1, 0, packet(0xb2, 0x00ff000012345678))
    add(at["work"], 4, 1, 1, packet(0x64, 10, 4) + packet(0xb2, 0x1100000000001000))
    add(at["work"], 0xc, 1, 1)
    return b"".join(made)


def spe(name, midr, per_cpu, trace=None):
    event = (f"event : name = arm_spe_0//, id = {{ 5 }}, type = 79, config = 1, {{ sample_period, sample_freq }} = 1024, sample_type = "
             f"IP|TID|TIME{'|CPU' if per_cpu else ''}|IDENTIFIER|DATA_SRC, exclude_hv = 1, sample_id_all = 1")
    info = ("TIME_CONV shift=0 multiplier=1 zero=0 cycles=0 mask=0xffffffffffffffff cap_user_time_zero=1 cap_user_time_short=0\n"
            f"AUXTRACE_INFO type=4 priv=79,{int(per_cpu)}")
    trace = trace or spe_records()
    pieces = [trace[:1024], trace[1024:]]
    records = auxtrace(pieces, 0xffffffff, 0) if per_cpu else auxtrace(pieces)
    return assemble(name, event, info, records, f'feature ARCH: "aarch64"\nfeature CPUID: "{midr:#018x}"\n')


def spe_packets():
    """Each header with several payloads, and what is no packet. None that aligns what follows: perf counts from an address in its memory."""
    size = lambda header: 1 << (header >> 4 & 3)  # noqa: E731
    payloads = lambda n: [bytes(n), b"\xff" * n, *((1 << bit).to_bytes(n, "little") for bit in range(8 * n) if bit % 8 != 5)]  # noqa: E731
    made = b"".join(bytes([header, payload]) for header in (0x48, 0x49, 0x4a, 0x4b) for payload in range(256))
    for header in (*range(0x40, 0x80), *range(0x90, 0xa0), *range(0xb0, 0xb8)):
        made += b"".join(bytes([header]) + payload for payload in payloads(size(header)))
        for extended in range(0x20, 0x24):
            made += bytes([extended, header]) + b"\x55" * size(header)
    return made + bytes(20) + bytes([0x01, 0xff, 0x00, 0x24, 0x00, 0xb0, 0x12])


def same_columns(line):
    """perf's columns grow with what was in them; without an access it writes "No" for what memory reports call "N/A"."""
    return re.sub(" +", " ", line).replace("|OP No|", "|OP N/A|")


def main():
    if not shutil.which("perf"):
        print("perf is not installed")
        sys.exit(77)
    results = []
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        os.chdir(folder)
        Path("app.s").write_text(PROGRAM, encoding="utf-8")
        subprocess.run(["gcc", "-nostdlib", "-static", "-Wl,--build-id=none", "-o", "app", "app.s"], check=True)
        first, second, third = turns(2, True, TSC), turns(1, False, TSC + 1000), turns(1, False, TSC + 2000)
        apart = sampled("apart", [first, second, third])
        common = sampled("common", [first, first[20:] + second, second[-30:] + third])
        for data in (apart, common):
            results += [compare(["script", *options], data) for options in (
                ["--itrace=be"], ["--itrace=be", "-F", "+flags"], ["--itrace=cr", "-F", "ip,sym,flags"], ["--itrace=i1i"])]
        results.append(compare(["script", "--itrace=be", "-F", "+flags"], switched("switched")))
        branches = bts("bts.data")
        results += [compare(["script", *options], branches) for options in (
            ["--itrace=be"], ["--itrace=be", "-F", "+flags"], ["--itrace=ce", "-F", "+flags"], ["--itrace=r", "-F", "+flags"], [])]
        fields = ["-F", "+addr,+phys_addr,+data_src,+weight"]
        for data in (spe("n1.data", NEOVERSE_N1, True), spe("a53.data", CORTEX_A53, True)):
            results += [compare(["script", f"--itrace={letters}", *fields], data, text=same_columns) for letters in (
                "f", "m", "t", "a", "M", "b", "c", "i1i", "i3i", "fmtaMb")]
            results.append(compare(["script"], data))
        for data in (apart, branches, "n1.data", spe("packets.data", CORTEX_A53, True, spe_packets())):
            results += [compare([command, "-D"], data, lambda line: True) for command in ("report", "script")]
        os.chdir("/")
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
