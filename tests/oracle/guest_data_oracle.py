#!/usr/bin/env python3
"""`inject --guest-data` beside perf's: assembled recordings of a host and of a guest, whose virtual CPUs' threads stay on their CPUs
(perf 6.1 follows them only in part). The merged files must have the same events, ids, records and build ids, and perf must read
ours as its own. Left out: FINISHED_ROUND (ours is in order throughout), and how samples of the host lie between records of the
guest (perf 6.1 does not put them in order). Needs perf."""
import itertools
import os
import struct
import subprocess
import tempfile
from pathlib import Path

import side_by_side

SONDE = os.environ["SONDE"]
PERF = side_by_side.needed_perf()
VM, CPUS = 100, {0: (101, 4), 1: (102, 6)}  # its threads, and where they run
EARLY = "time=0 id.id=0 id.pid=0 id.tid=0 cpu=0 id.stream=0"
ALL = 0xFFFFFFFFFFFFFFFF
AUXTRACE, AUX_DATA = 71, b"\x02\x82" * 8 + b"\x02\x23"

HOST = f"""\
event : name = cpu-clock, id = {{ 11, 12 }}, type = 1, {{ sample_period, sample_freq }} = 1000000, \
  sample_type = IP|TID|TIME|CPU|IDENTIFIER, sample_id_all = 1, context_switch = 1
event : name = intel_pt//, id = {{ 15 }}, type = 77, config = 0x2e01, {{ sample_period, sample_freq }} = 1, \
  sample_type = IP|TID|TIME|CPU|IDENTIFIER, sample_id_all = 1
feature ARCH: "x86_64"
feature AUXTRACE: 00 00 00 00 00 00 00 00
BUILD_ID mode=user id=hex:0123456789abcdef0123456789abcdef01234567 path="/bin/program"
ID_INDEX entries=11,0,0,{ALL},12,1,1,{ALL},15,1,1,{ALL}
AUXTRACE_INFO type=1 priv=77,0,1,0,1,0x400,0x800,0,0,1,0x200,0x3c000,84,1,2,32,0
TIME
COMM pid=100 tid=100 comm="qemu" {EARLY}
COMM pid=100 tid=101 comm="CPU 0/KVM" {EARLY}
COMM pid=100 tid=102 comm="CPU 1/KVM" {EARLY}
COMM pid=300 tid=301 comm="CPU 5/KVM" {EARLY}
FINISHED_INIT
SAMPLE id=11 mode=user ip=0x400010 pid=100 tid=101 cpu=4 time=1200
AUXTRACE size={len(AUX_DATA)} offset=0 reference=5000 index=1 tid=0xffffffff cpu=1
raw: {AUX_DATA.hex(' ')}
"""
GUEST = f"""\
event : name = dummy:u, id = {{ 12, 13 }}, type = 1, config = 9, {{ sample_period, sample_freq }} = 1, \
  sample_type = IP|TID|TIME|ID|STREAM_ID|CPU|IDENTIFIER, sample_id_all = 1, context_switch = 1
event : name = cycles, id = {{ 21, 22 }}, type = 0, config = 0, {{ sample_period, sample_freq }} = 1, \
  sample_type = IP|TID|TIME|CPU|PERIOD|IDENTIFIER, sample_id_all = 1
feature ARCH: "x86_64"
BUILD_ID mode=user id=hex:1123456789abcdef0123456789abcdef01234567 path="/bin/program"
BUILD_ID mode=user id=hex:2123456789abcdef0123456789abcdef01234567 path="/bin/other"
BUILD_ID mode=kernel id=hex:3123456789abcdef0123456789abcdef01234567 path="/lib/modules/6.1/ext4.ko"
ID_INDEX entries=12,0,0,{ALL},13,1,1,{ALL},21,0,0,{ALL},22,1,1,{ALL}
TIME
MMAP mode=kernel pid=0xffffffff tid=0 start=0xffffffff81000000 length=0x1000000 offset=0xffffffff81000000 \
  path="[kernel.kallsyms]_text" {EARLY}
COMM pid=100 tid=101 comm="task" {EARLY}
MMAP2 mode=user pid=100 tid=100 start=0x400000 length=0x10000 path="/bin/program" protection=5 {EARLY}
FINISHED_INIT
"""


def times(lines, step, first):
    counter = itertools.count()
    return "".join(f"{line} time={first + step * next(counter)}\n" for line in lines)


def host_switches():
    """Whenever others come to run, the threads of the virtual CPUs leave theirs."""
    lines = []
    for _ in range(60):
        for thread, cpu in CPUS.values():
            lines += [f"SWITCH_CPU_WIDE other_pid=7 other_tid=8 pid={VM} tid={thread} cpu={cpu} id.id=12 out preempt",
                      f"SWITCH_CPU_WIDE other_pid={VM} other_tid={thread} pid=7 tid=8 cpu={cpu} id.id=12",
                      f"SWITCH_CPU_WIDE other_pid=7 other_tid=8 pid={VM} tid={thread} cpu={cpu} id.id=12",
                      f"SAMPLE id=11 mode=user ip=0x400020 pid={VM} tid={thread} cpu={cpu}"]
    return times(lines, 50, 1250)


def guest_records(step):
    lines = []
    for turn in range(20):
        for cpu, number in ((0, 12), (1, 13)):
            where = f"id.id={number} cpu={cpu}"
            lines += [
                f'COMM pid=100 tid=10{cpu} comm="turn{turn}" {where}',
                f"SAMPLE id={number} event=0 mode=user ip=0x400010 pid=100 tid=101 cpu={cpu}",
                f"FORK pid={500 + turn} tid={500 + turn} ppid=100 ptid=100 {where}",
                f"EXIT pid={500 + turn} tid={500 + turn} ppid=100 ptid=100 {where}",
                f"SWITCH_CPU_WIDE other_pid=100 other_tid=101 pid=7 tid=8 out preempt {where}",
                f"SWITCH pid=7 tid=8 {where}",
                f'KSYMBOL address=0xffffffffc0000000 length=64 ksym_type=2 name="thunk" mode=kernel pid=1 tid=1 {where}',
                f"TEXT_POKE address=0xffffffffc0000000 old_bytes=hex:9090 new_bytes=hex:eb00 mode=kernel pid=1 tid=1 {where}",
                f'MMAP2 mode=user pid=100 tid=100 start=0x500000 length=0x10000 path="/bin/other" protection=5 {where}',
                f"MMAP2 misc=0x4002 pid=100 tid=100 start=0x600000 length=0x10000 path=\"/bin/third\" protection=5 "
                f"build_id=hex:4123456789abcdef0123456789abcdef01234567 {where}",
                f'CGROUP cgroup=4 path="/x" pid=1 tid=1 {where}',
                f"NAMESPACES pid=100 tid=100 links=1,2 {where}",
                f"THROTTLE id={number} pid=1 tid=1 {where}",
                f'COMM pid=100 tid=102 comm="other{turn}" id.id={number + 9} cpu={cpu} event=1',
            ]
    return times(lines, step, 4000)  # perf 6.1 knows of no CPU before the host's first change of tasks


CLOCK = "TIME_CONV shift={} multiplier={} zero={} cycles=0 mask=0xffffffffffffffff cap_user_time_zero={}"
CASES = {  # option: the clocks of host and guest; what the guest's counter was ahead or faster
    "": ("", ""),
    ",0x100": ("", ""),
    ",0xffffffffffffff00,2": ("", ""),
    ",1000,0.5": (CLOCK.format(1, 3, 1000, 1), CLOCK.format(1, 5, 500, 1)),
    ",0": (CLOCK.format(10, 700, 1000, 1), CLOCK.format(10, 1500, 77, 1)),
    ",5": (CLOCK.format(10, 700, 1000, 0), CLOCK.format(0, 1, 0, 1)),
}


def records(path):
    """Type, misc and bytes of the records that matter, without samples; the samples."""
    data = path.read_bytes()
    at, size = struct.unpack_from("<2Q", data, 40)
    end, others, samples = at + size, [], []
    while at < end:
        kind, misc, size = struct.unpack_from("<IHH", data, at)
        if kind == 9:
            samples.append(data[at:at + size].hex())
        elif kind < 64 or kind == 69:
            others.append(f"{kind} {misc:#x} {data[at + 8:at + size].hex()}")
        at += size
        if kind == AUXTRACE:
            at += len(AUX_DATA)
    return others, samples


def build_ids(path):
    data = path.read_bytes()
    at, size = struct.unpack_from("<2Q", data, 40)
    bits = int.from_bytes(data[72:104], "little")
    found, table = [], at + size
    for bit in range(64):
        if not bits >> bit & 1:
            continue
        place, length = struct.unpack_from("<2Q", data, table)
        table += 16
        end = place + length
        while bit == 2 and place < end:
            _, misc, size = struct.unpack_from("<IHH", data, place)
            pid, = struct.unpack_from("<i", data, place + 8)
            found.append(f"{misc:#x} {pid} {data[place + 12:place + 32].hex()} {data[place + 36:place + size].split(bytes(1))[0]}")
            place += size
    return sorted(line for line in found if not line.split()[1].startswith("-"))


def main():
    both = side_by_side.Comparison("guest_data")
    with tempfile.TemporaryDirectory() as name:
        os.environ["HOME"] = name  # perf inject fills the build-id cache
        directory = Path(name)
        host, guest = directory / "host.data", directory / "guest.data"
        for option, (hosts, guests) in CASES.items():
            for path, text in ((host, HOST.replace("TIME\n", hosts + "\n", 1) + host_switches()),
                               (guest, GUEST.replace("TIME\n", guests + "\n", 1) + guest_records(10 if not guests else 40))):
                path.with_suffix(".txt").write_text(text)
                subprocess.run([SONDE, "assemble", path.with_suffix(".txt"), path], check=True)
            outputs = []
            for tool in (PERF, SONDE):
                outputs.append(directory / f"{Path(tool).name}.merged")
                done = subprocess.run([tool, "inject", "-i", host, "-o", outputs[-1], f"--guest-data={guest},{VM}{option}"],
                                      stdin=subprocess.DEVNULL, capture_output=True, text=True)
                both.expect(done.returncode == 0, f"'{option}': {tool}: {done.stderr}")
            (theirs, their_samples), (ours, our_samples) = map(records, outputs)
            both.lines(f"'{option}': records", side_by_side.Said(theirs), side_by_side.Said(ours), least=300)
            both.expect(their_samples == our_samples, f"'{option}': samples")
            both.lines(f"'{option}': build ids", *(side_by_side.Said(build_ids(path)) for path in outputs), least=3)
            for words in (["evlist", "-v"], ["script", "--no-itrace", "--show-task-events", "--show-mmap-events", "-F",
                                             "+machine_pid,+vcpu"]):
                read = [side_by_side.ask(PERF, *words, "-i", path) for path in outputs]
                read = [side_by_side.Said(sorted(said.lines), said.status) for said in read]
                both.lines(f"'{option}': perf {words[0]}", *read, least=3, status=0)
            shown = ["script", "--no-itrace", "--show-task-events", "--show-mmap-events", "-F", "machine_pid,vcpu,comm,pid,tid,cpu,time,ip",
                     "-i", outputs[1]]
            # The guest's task that has the number of the host's process, and no name yet, gets one from perf.
            theirs = side_by_side.ask(PERF, *shown)
            theirs = side_by_side.Said([line.replace(f"[guest/{VM}]", f"{f':{VM}':>11}") for line in theirs.lines], theirs.status)
            both.lines(f"'{option}': script of the merged file", theirs, side_by_side.ask(SONDE, *shown), least=300, status=0)
            names = [[line for line in side_by_side.ask(SONDE, "script", "-F", "comm,tid,time,ip", "-i", path).lines if line]
                     for path in (host, outputs[1])]
            both.lines(f"'{option}': threads of the host keep their names", *map(side_by_side.Said, names), least=100)
    both.finish()


main()
