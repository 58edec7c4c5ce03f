#!/usr/bin/env python3
"""`inject --vm-time-correlation` beside perf's: assembled Intel PT traces of CPUs that run guests, as long as no hardware is at
hand. The times in the traces, and what is said about guests, must be the same; with the right offsets, also those of the host that
the traces were made by. Needs perf."""
import os
import random
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path

import side_by_side

SONDE = os.environ["SONDE"]
PERF = side_by_side.needed_perf()
BEGIN = 0x123456789ABC
CRYSTAL = 84  # ticks of the time stamp counter per tick of the crystal
MTC_PERIOD = 3
SCENARIOS = 60
HOST, GUEST = 0xFFFF81000000, 0xFFFF82000000


class Cpu:
    """Time goes on, the CPU runs the host or a guest, and packets tell of it."""

    def __init__(self, seed, offsets, begin):
        self.random, self.offsets, self.now = random.Random(seed), offsets, begin
        self.trace, self.times, self.cuts = bytearray(), [], []
        self.guest = self.vmcs = None
        self.enabled = False

    def put(self, opcode, *numbers):
        self.trace += bytes.fromhex(opcode)
        for value, size in numbers:
            self.trace += (value & (1 << 8 * size) - 1).to_bytes(size, "little")

    def time(self):
        self.times.append((len(self.trace), self.now))
        self.put("19", (self.now + (self.offsets[self.guest] if self.guest else 0), 7))
        self.put("0273", (self.now // CRYSTAL, 2), (0, 1), (self.now % CRYSTAL, 2))
        self.put("0203", (32, 2))

    def pip(self):
        self.put("0243", (0x1234000 >> 5 << 1 | bool(self.guest), 6))

    def psb(self, with_pip=True):
        self.put("0282" * 8)
        self.time()
        if with_pip:
            self.pip()
        if self.vmcs:
            self.put("02c8", (self.vmcs, 5))
        self.put("9901")
        if self.enabled:
            self.put("7d", (HOST, 6))
        self.put("0223")

    def go_on(self, ticks):
        step = CRYSTAL << MTC_PERIOD
        end = self.now + ticks
        for now in range((self.now // step + 1) * step, end + 1, step):
            self.put("59", (now // CRYSTAL >> MTC_PERIOD, 1))
            self.trace += b"\x06" if self.random.random() < 0.3 else b""
            self.trace += bytes([self.random.randrange(1, 15) << 3 | 3]) if self.random.random() < 0.3 else b""
        self.now = end

    def change_side(self, guests):
        if self.guest:
            self.guest = None
        else:
            self.guest = self.vmcs = self.random.choice(guests)
            self.put("02c8", (self.vmcs, 5))
        self.pip()
        self.put("6d", (GUEST if self.guest else HOST, 6))

    def enable(self):
        self.enabled = True
        self.put("71", (HOST, 6))

    def pause(self):
        self.enabled = False
        self.put("01")
        self.go_on(self.random.randrange(100, 20000))
        self.time()
        self.enable()

    def overflow(self):
        self.put("02f3")
        self.put("7d", (HOST, 6))
        self.time()

    def cut(self):
        self.cuts.append((len(self.trace), self.now + 1000))

    def pieces(self):
        """Bytes, when they were read, and in them the places and true values of TSC packets."""
        self.cut()
        begin = 0
        for end, read in self.cuts:
            if end > begin:
                yield bytes(self.trace[begin:end]), read, [(at - begin, now) for at, now in self.times if begin <= at < end]
            begin = end


def scenario(seed):
    """Traces of one or two CPUs, and the guests' offset."""
    choose = random.Random(seed)
    offset = -choose.randrange(1 << 54) & (1 << 64) - 1
    alike = choose.random() < 0.6  # whether all guests have this offset
    queues = []
    for number in range(choose.randrange(1, 3)):
        guests = [0x1000 + 0x100 * number + i + 1 for i in range(choose.randrange(1, 3))]
        cpu = Cpu(seed * 7 + number, {guest: offset + (0 if alike else guest * 977) for guest in guests}, BEGIN + 100 * number)
        cpu.psb()
        cpu.enable()
        for _ in range(choose.randrange(5, 40)):
            cpu.go_on(choose.randrange(100, 6000))
            what = choose.random()
            if what < 0.3:
                cpu.change_side(guests)
            elif what < 0.5:
                cpu.psb()
            elif what < 0.55:
                cpu.psb(with_pip=False)
            elif what < 0.7:
                cpu.time()
            elif what < 0.75:
                cpu.overflow()
            elif what < 0.8:
                cpu.pause()
            elif what < 0.87:
                cpu.cut()
                if choose.random() < 0.7:
                    cpu.psb()
        queues.append(list(cpu.pieces()))
    return queues, offset, alike


def assemble(queues, path):
    lines = [f"event : name = intel_pt//, id = {{ 5 }}, type = 77, config = {0x2e01 | MTC_PERIOD << 14:#x}, "
             "{ sample_period, sample_freq } = 1, sample_type = IP|TID|TIME|CPU|IDENTIFIER, sample_id_all = 1",
             'feature ARCH: "x86_64"', "feature AUXTRACE: 00 00 00 00 00 00 00 00",
             f"AUXTRACE_INFO type=1 priv=77,0,1,0,1,0x400,0x800,0,0,1,0x200,0x3c000,{CRYSTAL},1,2,32,0"]
    for number, pieces in enumerate(queues):
        offset = 0
        for trace, read, _ in pieces:
            lines.append(f"AUXTRACE size={len(trace)} offset={offset} reference={read} index={number} tid=0xffffffff cpu={number}")
            lines.append(f"raw: {trace.hex(' ')}")
            offset += len(trace)
    path.with_suffix(".txt").write_text("\n".join(lines) + "\n")
    subprocess.run([SONDE, "assemble", path.with_suffix(".txt"), path], check=True)


def traces_of(path):
    """The pieces of a file, in its order."""
    data = path.read_bytes()
    at, size = struct.unpack_from("<2Q", data, 40)
    end = at + size
    while at < end:
        kind, _, size = struct.unpack_from("<IHH", data, at)
        if kind == 71:
            length, = struct.unpack_from("<Q", data, at + 8)
            yield data[at + size:at + size + length]
            size += length
        at += size


def inject(tool, path, options):
    done = subprocess.run([tool, "inject", "-f", "-i", path, f"--vm-time-correlation={options}"], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)
    return side_by_side.Said(done.stderr.splitlines(), done.returncode)


def main():
    both = side_by_side.Comparison("vm_time")
    changed = right = 0
    with tempfile.TemporaryDirectory() as name:
        original, mine, theirs = (Path(name) / file for file in ("original", "mine", "theirs"))
        for seed in range(SCENARIOS):
            queues, offset, alike = scenario(seed)
            assemble(queues, original)
            for options in ("", "dry-run", f"{offset:#x}", f"{offset:#x}:0x1001,0x1101", f"{offset:#x} : 0x1102 {offset + 5:#x}:4,5"):
                shutil.copy(original, mine)
                shutil.copy(original, theirs)
                both.lines(f"{seed} '{options}': said", inject(PERF, theirs, options), inject(SONDE, mine, options), least=0, status=0)
                both.expect(mine.read_bytes() == theirs.read_bytes(), f"{seed} '{options}': the same file")
                changed += mine.read_bytes() != original.read_bytes()
                if "dry" in options:
                    both.expect(mine.read_bytes() == original.read_bytes(), f"{seed} '{options}': nothing changed")
                if alike and options == f"{offset:#x}":
                    truth = [(at, now) for pieces in queues for _, _, times in pieces for at, now in times]
                    found = list(traces_of(mine))
                    places = [(trace, at) for trace, (_, _, times) in zip(found, [p for ps in queues for p in ps]) for at, _ in times]
                    right += all(trace[at + 1:at + 8] == now.to_bytes(7, "little") for (trace, at), (_, now) in zip(places, truth)
                                 if at + 8 <= len(trace))
    both.expect(changed > SCENARIOS, f"most files were changed: {changed}")
    both.expect(right > SCENARIOS // 4, f"with the guests' offset, all times of a trace become the host's: {right} traces")
    both.finish()


main()
