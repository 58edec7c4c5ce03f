"""Recordings of memory accesses as text for `sonde assemble`: machines whose PMU samples them are rare, and no machine has all of
these data sources. Every sample is drawn by a generator with a fixed seed, so the recordings are the same in every run."""
import random
import struct
import subprocess
from pathlib import Path

# Fields of union perf_mem_data_src (include/uapi/linux/perf_event.h).
LOAD, STORE = 2, 4
NA, HIT, MISS, L1, LFB, L2, L3, RAM, REMOTE_RAM1, REMOTE_RAM2, REMOTE_CACHE1, REMOTE_CACHE2, IO, UNCACHED = (1 << bit for bit in range(14))
SNOOP_NA, SNOOP_NONE, SNOOP_HIT, SNOOP_MISS, SNOOP_HITM = (1 << bit for bit in range(5))
FORWARD, PEER = 1, 2
LOCK_NA, LOCKED = 1, 2
BLOCKED_NA, BLOCKED_DATA, BLOCKED_ADDRESS = 1, 2, 4
SHARED, PRIVATE = 1, 2


def source(op, level, snoop=SNOOP_NONE, lock=0, tlb=0x1a, remote=0, extended=0, blocked=BLOCKED_NA):
    return op | level << 5 | snoop << 19 | lock << 24 | tlb << 26 | remote << 37 | extended << 38 | blocked << 40


# What lines that are shared between CPUs see, as (weight, data source).
CONTENDED = [(30, source(LOAD, HIT | L1)), (8, source(LOAD, HIT | LFB)), (6, source(LOAD, HIT | L2)), (4, source(LOAD, HIT | L3, SNOOP_HIT)),
             (14, source(LOAD, HIT | L3, SNOOP_HITM)), (9, source(LOAD, HIT | REMOTE_CACHE1, SNOOP_HITM)),
             (3, source(LOAD, HIT | REMOTE_CACHE2, SNOOP_HIT)), (3, source(LOAD, HIT | RAM, SNOOP_HIT)), (2, source(LOAD, HIT | RAM)),
             (3, source(LOAD, HIT | REMOTE_RAM1)), (2, source(LOAD, MISS | L3)), (20, source(STORE, HIT | L1)), (9, source(STORE, MISS | L1)),
             (2, source(STORE, NA)), (2, source(LOAD, HIT | L1, lock=LOCKED)), (2, source(STORE, HIT | L1, lock=LOCKED)),
             (2, source(LOAD, HIT | L1, blocked=BLOCKED_DATA)), (1, source(LOAD, HIT | L1, blocked=BLOCKED_ADDRESS)),
             (4, source(LOAD, HIT | L2, extended=PEER)), (3, source(LOAD, HIT | L3, extended=PEER)),
             (4, source(LOAD, HIT | REMOTE_CACHE1, extended=PEER)), (1, source(LOAD, HIT | IO)), (1, source(LOAD, HIT | UNCACHED)),
             (1, source(STORE, HIT | UNCACHED)), (1, source(1, NA)), (2, source(LOAD, HIT | L3, SNOOP_HITM, remote=1))]
PRIVATE_DATA = [(40, source(LOAD, HIT | L1)), (10, source(LOAD, HIT | L2)), (4, source(LOAD, HIT | RAM)), (20, source(STORE, HIT | L1))]


def numa_topology(nodes):
    data = struct.pack("<I", len(nodes))
    for number, cpus in nodes:
        text = cpus.encode() + b"\0"
        text += b"\0" * (-len(text) % 64)
        data += struct.pack("<IQQ", number, 1 << 24, 1 << 23) + struct.pack("<I", len(text)) + text
    return data.hex()


def memory_topology(nodes, block_bytes=1 << 24):
    """`nodes`: number and bits of its blocks of physical memory, up to 64."""
    data = struct.pack("<QQQ", 1, block_bytes, len(nodes))
    for number, bits in nodes:
        data += struct.pack("<QQQQ", number, 64, 64, bits)
    return data.hex()


def strange(generator):
    """Any bits at all."""
    return source(generator.choice([1, 2, 2, 2, 4, 4, 8]), generator.getrandbits(14), generator.getrandbits(5), generator.getrandbits(2),
                  generator.getrandbits(7), generator.getrandbits(1), generator.getrandbits(2), generator.getrandbits(3))


def text(seed=1, samples=3000, kinds="contended", chains=False, cpus=True, topology=True, kernel=True, objects=()):
    """`objects`: (path, file offset of its code, size) of programs whose code accesses memory, along with code without symbols.
    `kinds`: contended, strange. `kernel`: also the kernel's code."""
    generator = random.Random(seed)
    fields = "IP|TID|TIME|ADDR|ID" + ("|CALLCHAIN" if chains else "") + ("|CPU" if cpus else "") + "|PERIOD|WEIGHT|DATA_SRC|PHYS_ADDR"
    lines = [f"event : name = cpu/mem-loads,ldlat=30/P, id = {{ 7 }}, {{ sample_period, sample_freq }} = 1000, sample_type = {fields}, "
             "freq = 1, sample_id_all = 1, mmap_data = 1",
             f"event : name = cpu/mem-stores/P, id = {{ 8 }}, {{ sample_period, sample_freq }} = 1000, sample_type = {fields}, "
             "freq = 1, sample_id_all = 1",
             "feature NRCPUS: 8 8", f"feature NUMA_TOPOLOGY: hex:{numa_topology([(0, '0-3'), (1, '4-7')])}",
             'feature ARCH: "x86_64"']
    if topology:
        lines.append(f"feature MEM_TOPOLOGY: hex:{memory_topology([(0, 0x00ff), (1, 0x7f00)])}")
    tail = "time=0 cpu=0 event=0" if cpus else "time=0 event=0"
    lines.append('MMAP mode=kernel pid=-1 tid=0 start=0xffffffff81000000 length=0x1000000 offset=0xffffffff81000000 '
                 f'path="[kernel.kallsyms]_text" {tail}')
    processes = [(20, 20), (20, 21), (20, 22), (30, 30), (30, 31)]
    for pid, tid in processes:
        lines.append(f'COMM pid={pid} tid={tid} comm="worker{pid}" {tail}')
    for pid in (20, 30):
        lines.append(f'MMAP2 mode=user pid={pid} tid={pid} start=0x400000 length=0x4000 offset=0 path="/opt/nowhere/tool" major=8 minor=1 '
                     f'inode=70 protection=5 flags=2 {tail}')
        lines.append(f'MMAP2 mode=user pid={pid} tid={pid} start=0x700000 length=0x4000 offset=0 path="/opt/nowhere/shared" major=8 '
                     f'minor=1 inode=77 protection=3 flags=1 {tail}')
        lines.append(f'MMAP2 mode=user pid={pid} tid={pid} start=0x900000 length=0x8000 offset=0 path="[heap]" protection=3 flags=2 {tail}')
        lines.append(f'MMAP2 mode=user pid={pid} tid={pid} start=0x7f0000000000 length=0x8000 offset=0 path="//anon" protection=3 flags=2 {tail}')
        for number, (path, offset, size) in enumerate(objects):
            base = 0x10000000 * (number + 1)
            lines.append(f'MMAP2 mode=user pid={pid} tid={pid} start={base + offset:#x} length={size:#x} offset={offset:#x} path="{path}" '
                         f'major=8 minor=1 inode={90 + number} protection=5 flags=2 {tail}')
    code = [0x400100, 0x400104, 0x400900, 0x400208] + ([0xffffffff81000310, 0xffffffff81200310] if kernel else [])
    for number, (_, offset, size) in enumerate(objects):
        code += [0x10000000 * (number + 1) + offset + generator.randrange(0, min(size, 0x200), 4) for _ in range(12)]
    shared = [0x700040, 0x700048, 0x700060, 0x700080, 0x7000c8, 0x900010, 0x900018, 0x900020, 0x900140, 0x7f0000000100, 0x7f0000000108]
    shared += [0xffffffff81800040, 0xffffffff81800050, 0]
    contended_weights, contended = zip(*CONTENDED)
    private_weights, private = zip(*PRIVATE_DATA)
    time = 1000000
    for _ in range(samples):
        pid, tid = generator.choice(processes)
        time += generator.randrange(100, 5000)
        ip = generator.choice(code)
        is_shared = generator.random() < 0.8
        address = generator.choice(shared) if is_shared else 0x600000 + generator.randrange(0, 0x2000000, 8)
        if kinds == "strange":
            data = strange(generator)
        else:
            data = generator.choices(contended if is_shared else private, contended_weights if is_shared else private_weights)[0]
        store = data & 0x1f == STORE
        mode = "kernel" if ip >> 63 else "user"
        chain = f" chain={mode},{ip:#x},{generator.choice(code[:3]):#x},0x400a00" if chains else ""
        place = f" cpu={generator.randrange(8)}" if cpus else ""
        lines.append(f"SAMPLE id={8 if store else 7} mode={mode} ip={ip:#x} pid={pid} tid={tid} time={time} addr={address:#x}{place} period=1000 "
                     f"weight={0 if store else generator.randrange(1, 900)} data_src={data:#x} phys_addr={address & 0xfffffff:#x}{chain}")
    return "\n".join(lines) + "\n"


def make(sonde, path, **how):
    """Writes the recording to `path`."""
    path = Path(path)
    path.with_suffix(".txt").write_text(text(**how))
    subprocess.run([sonde, "assemble", path.with_suffix(".txt"), path], check=True)
    return path
