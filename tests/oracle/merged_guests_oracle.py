#!/usr/bin/env python3
"""Samples and records of two guests and their host in one recording, whose tasks have the same numbers and whose programs have the
same path: `perf script` and `perf kvm report` beside Sonde's, field by field. The guests' kernels are below a mount, their programs in
the build-id cache. Left out: names of threads where the host took the sample (perf looks up the host's thread among the guest's
tasks). Needs perf."""
import os
import subprocess
import tempfile
from pathlib import Path

import side_by_side

SONDE = os.environ["SONDE"]
PERF = side_by_side.needed_perf()
TEXT = {100: 0xFFFFFFFF81000000, 300: 0xFFFFFFFF8A000000}  # where each guest's kernel is, by the process that runs it
EVENT = "type = 1, { sample_period, sample_freq } = 1000, sample_type = IP|TID|TIME|CPU|PERIOD|IDENTIFIER, sample_id_all = 1"
ALL = 0xFFFFFFFFFFFFFFFF
IDS = {13: (100, 0, 201), 14: (100, 1, 202), 15: (300, 0, 401)}  # id: process, virtual CPU, its thread


def build_id(pid):
    return f"{pid:040x}"


def program(prefix):
    functions = "".join(f".globl {prefix}_{i}\n.type {prefix}_{i}, @function\n{prefix}_{i}: .skip 0x100\n.size {prefix}_{i}, 0x100\n"
                        for i in range(8))
    return f".globl _start\n_start:\n{functions}"


def kallsyms(text, prefix):
    lines = [f"{text:016x} T _text", f"{text:016x} T _stext"]
    lines += [f"{text + 0x300 * i:016x} T {prefix}_function_{i}" for i in range(1, 9)]
    return "\n".join(lines + [f"{text + 0x100000:016x} T _etext"]) + "\n"


def header():
    entries = ",".join(f"{number},0,{ALL},{thread}" for number, (_, _, thread) in IDS.items())
    guests = ",".join(f"{pid},{cpu}" for pid, cpu, _ in IDS.values())
    early = "time=0 id.pid=0 id.tid=0 cpu=0"
    lines = [f"event : name = cpu-clock, id = {{ 11, 12 }}, {EVENT}",
             f"event : name = cpu-clock, id = {{ 13, 14 }}, {EVENT}",
             f"event : name = cpu-clock, id = {{ 15 }}, {EVENT}",
             *(f'BUILD_ID mode=guest_user pid={pid} id=hex:{build_id(pid)} path="/bin/program"' for pid in TEXT),
             f"ID_INDEX entries=11,0,0,{ALL},12,1,1,{ALL}",
             f"ID_INDEX entries={entries} guests={guests}",
             f'COMM pid=100 tid=100 comm="qemu" {early} id.id=0',
             f'COMM pid=100 tid=201 comm="CPU 0/KVM" {early} id.id=0',
             f'COMM pid=100 tid=202 comm="CPU 1/KVM" {early} id.id=0',
             f'COMM pid=300 tid=401 comm="CPU 0/KVM" {early} id.id=0',
             f'MMAP2 mode=user pid=100 tid=100 start=0x400000 length=0x10000 path="/bin/qemu" protection=5 {early} id.id=0',
             f'MMAP2 mode=user pid=300 tid=300 start=0x400000 length=0x10000 path="/bin/qemu" protection=5 {early} id.id=0']
    for number, pid in ((13, 100), (15, 300)):
        lines += [f"MMAP mode=guest_kernel pid=0xffffffff tid=0 start={TEXT[pid]:#x} length=0x100000 offset={TEXT[pid]:#x} "
                  f'path="[kernel.kallsyms]_text" {early} id.id={number}',
                  f'COMM mode=guest_user pid=100 tid=100 comm="first{pid}" {early} id.id={number}',
                  f'COMM mode=guest_user pid=100 tid=101 comm="worker{pid}" {early} id.id={number}',
                  f"MMAP2 mode=guest_user pid=100 tid=100 start=0x400000 length=0x3000 path=\"/bin/program\" protection=5 {early} "
                  f"id.id={number}"]
    return "\n".join(lines) + "\n"


def body():
    """What happens in the guests, and samples of all three machines."""
    lines = []
    for turn in range(30):
        for number, (pid, _, thread) in IDS.items():
            cpu = number % 8
            where, ip = f"cpu={cpu}", 0x401000 + (turn * 0x70) % 0x780
            child = 500 + turn
            lines += [
                f"SAMPLE id={number} mode=guest_user ip={ip:#x} pid=100 tid={100 + turn % 2} period={turn + 1} {where}",
                f"SAMPLE id={number} mode=guest_kernel ip={TEXT[pid] + 0x320 * (turn % 8):#x} pid=100 tid=101 period=7 {where}",
                f"SAMPLE id={number} mode=guest_kernel ip={TEXT[pid] + 0x310:#x} pid=0 tid=0 period=9 {where}",
                f"SAMPLE id={number} mode=guest_user ip=0x900000 pid=900 tid=900 period=5 {where}",
                f"SAMPLE id=11 mode=user ip=0x400010 pid={pid} tid={thread} period=11 {where}",
                f"FORK mode=guest_kernel pid={child} tid={child} ppid=100 ptid=100 id.id={number} id.pid=100 id.tid=100 {where}",
                f"SAMPLE id={number} mode=guest_user ip={ip:#x} pid={child} tid={child} period=3 {where}",
                f'COMM mode=guest_user pid={child} tid={child} comm="child{turn}" id.id={number} id.pid={child} id.tid={child} {where}',
                f"MMAP2 mode=guest_user pid={child} tid={child} start=0x700000 length=0x3000 path=\"/bin/program\" protection=5 "
                f"id.id={number} id.pid={child} id.tid={child} {where}",
                f"SAMPLE id={number} mode=guest_user ip={ip + 0x300000:#x} pid={child} tid={child} period=2 {where}",
                f"EXIT mode=guest_kernel pid={child} tid={child} ppid=100 ptid=100 id.id={number} id.pid={child} id.tid={child} {where}",
            ]
    return "".join(f"{line} time={1000000 + 1000 * at}\n" for at, line in enumerate(lines))


def host_samples():
    return "".join(f"SAMPLE id=12 mode=guest_kernel ip={TEXT[pid] + 0x310 * (i % 8):#x} pid={pid} tid={thread} cpu=3 period=1 "
                   f"time={9000000000 + i}\n" for i, (pid, thread) in enumerate([(100, 201), (300, 401), (100, 202)] * 8))


def rows(*command):
    said = side_by_side.ask(*command)
    return side_by_side.Said(sorted(line.strip() for line in said.lines if line.strip() and not line.startswith("#")), said.status)


def main():
    both = side_by_side.Comparison("merged_guests")
    with tempfile.TemporaryDirectory() as name:
        os.environ["HOME"] = name  # without a build-id cache
        directory = Path(name)
        for pid, text in TEXT.items():
            proc, built = directory / "mount" / str(pid) / "proc", directory / f"program{pid}"
            proc.mkdir(parents=True)
            (proc / "kallsyms").write_text(kallsyms(text, f"kernel{pid}"))
            (proc / "modules").write_text("")
            subprocess.run(["gcc", "-x", "assembler", "-nostdlib", "-static", f"-Wl,-Ttext=0x401000,--build-id=0x{build_id(pid)}", "-o",
                            built, "-"], input=program(f"user{pid}"), text=True, check=True)
            subprocess.run([SONDE, "buildid-cache", "--add", built], check=True)
        mount = f"--guestmount={directory / 'mount'}"
        paths = []
        for title, text in (("guests", header() + body()), ("hosts", header() + host_samples())):
            (directory / "in.txt").write_text(text)
            paths.append(directory / f"{title}.data")
            subprocess.run([SONDE, "assemble", directory / "in.txt", paths[-1]], check=True)
        guests, hosts = paths

        fields = "machine_pid,vcpu,comm,pid,tid,cpu,time,period,event,ip,sym,symoff,dso"
        script = ["script", mount, "-i", guests, "-F", fields]
        both.lines("script", side_by_side.ask(PERF, *script), side_by_side.ask(SONDE, *script), least=600, status=0)
        records = [*script, "--show-task-events", "--show-mmap-events"]
        both.lines("script, with records", side_by_side.ask(PERF, *records), side_by_side.ask(SONDE, *records), least=900, status=0)
        plain = ["script", mount, "-i", guests]
        both.lines("script, default fields", side_by_side.ask(PERF, *plain), side_by_side.ask(SONDE, *plain), least=600, status=0)
        for keys in ([], ["-s", "pid,comm,dso,sym"], ["-s", "dso"]):
            kvm = ["kvm", "--host", "--guest", mount, "report", "-i", guests, "--stdio", *keys]
            both.lines(f"kvm report {' '.join(keys)}", rows(PERF, *kvm), rows(SONDE, *kvm), least=3, status=0)
        places = ["script", mount, "-i", hosts, "-F", "pid,tid,time,ip,sym,symoff,dso"]
        both.lines("script, samples of the host", side_by_side.ask(PERF, *places), side_by_side.ask(SONDE, *places), least=24, status=0)
    both.finish()


main()
