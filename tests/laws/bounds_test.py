#!/usr/bin/env python3
"""What an input costs is linear in its bytes: no few bytes take much memory, and nothing is quadratic.

Each row of the tables is a kind of input of which an attacker (or a long day) can have very many: records, attrs, features,
mappings, lines. It is made twice, with N and with 4 N elements. The larger one may take at most eight times the processor time of
the smaller one (four is linear; quadratic would be sixteen), beyond what an empty input takes, and at most a fixed number of bytes
of memory for each of its own. Processor time, not time: a busy machine doesn't matter.

Bombs are small inputs that expand: they end in a result, a counted loss or one line, and take a bounded amount of memory.
"""
import gzip
import os
import resource
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

SONDE = os.environ["SONDE"]
# Sanitizers multiply memory and time, and differently for each kind of work.
SANITIZED = any(name in Path(SONDE).read_bytes() for name in (b"__asan_init", b"__tsan_init"))

MOST_RATIO = 8
LEAST_S = 0.05  # of the smaller input: below, the ratio would be one of noise
MOST_CPU_S = 20  # of one command: what takes tenths of a second is broken then, and a test must end
MIB = 1 << 20

SAMPLE_TYPE = 1 | 2 | 4  # ip, tid, time
USER = 2


def attr(sample_type=SAMPLE_TYPE, kind=1, config=0, flags=1 << 18):
    return struct.pack("<IIQQQQQ", kind, 112, config, 4000, sample_type, 0, flags).ljust(112, b"\0")


def record(kind, misc, body):
    body += bytes(-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def ident(pid, time):
    return struct.pack("<IIQ", pid, pid, time)


def recording(data, attrs=None, ids=None, features=None):
    """A perf.data file. `attrs`: their bytes; `ids`: for each of them; `features`: content by bit."""
    attrs = attrs or [attr()]
    ids = ids or [b""] * len(attrs)
    features = features or {}
    out = [b""]
    at = 104
    sections = []
    for one in ids:
        sections.append(struct.pack("<QQ", at, len(one)))
        out.append(one)
        at += len(one)
    table = b"".join(a + s for a, s in zip(attrs, sections))
    attrs_at, at = at, at + len(table)
    out.append(table)
    data_at = at
    out.append(data)
    at += len(data) + 16 * len(features)
    bits = 0
    places, contents = [], []
    for bit in sorted(features):
        bits |= 1 << bit
        places.append(struct.pack("<QQ", at, len(features[bit])))
        contents.append(features[bit])
        at += len(features[bit])
    out += places + contents
    out[0] = struct.pack("<8sQQQQQQQQ", b"PERFILE2", 104, 128, attrs_at, len(table), data_at, len(data), 0, 0) + \
        bits.to_bytes(32, "little")
    return b"".join(out)


def text(value):
    padded = value + bytes(64 - len(value) % 64)
    return struct.pack("<I", len(padded)) + padded


def sample(pid, time, ip):
    return record(9, USER, struct.pack("<QIIQ", ip, pid, pid, time))


def mmap2(pid, time, start, path, length=0x1000, inode=0, offset=0, mode=USER):
    place = struct.pack("<IIQQQIIQQII", pid, pid, start, length, offset, 8, 1, inode, 0, 5, 2)
    return record(10, mode, place + path + bytes(8 - len(path) % 8) + ident(pid, time))


def fork(pid, parent, time):
    return record(7, 0, struct.pack("<IIIIQ", pid, parent, pid, parent, time) + ident(pid, time))


def comm(pid, time, name):
    return record(3, 0, struct.pack("<II", pid, pid) + name + bytes(8 - len(name) % 8) + ident(pid, time))


def some_samples(count, pid=1, span=1):
    return b"".join(sample(pid, 10**9 + i, 0x400000 + i % span * 0x1000) for i in range(count))


# --- what there can be many of, in a recording -------------------------------------------------------------------------------------


def rounds(n):
    return recording(record(68, 0, b"") * n + some_samples(10))


def rounds_and_records(n):
    return recording((record(68, 0, b"") + record(14, 0, b"")) * n + some_samples(10))


def attrs(n):
    ids = [struct.pack("<Q", i + 1) for i in range(n)]
    return recording(b"", [attr(SAMPLE_TYPE | 1 << 16)] * n, ids)


def ids_of_one_event(n):
    return recording(b"", ids=[b"".join(struct.pack("<Q", i + 1) for i in range(n))])


def ids_claimed_by_all(n):
    """Every event says that all of the file is its ids."""
    whole = recording(bytes(8 * n), [attr()] * n)
    out = bytearray(whole)
    for i in range(n):
        struct.pack_into("<QQ", out, 104 + 128 * i + 112, 0, len(whole) // 8 * 8)
    return bytes(out)


def groups(n):
    group = text(b"{g}") + struct.pack("<II", 0, n)
    return recording(b"", [attr()] * n, features={21: struct.pack("<I", n) + group * n})


def scattered_ids(n):
    """Events that keep their ids in different places, and samples of no event."""
    kinds = [attr(1 | 2 | 4 | 1 << 6), attr(1 | 2 | 4 | 8 | 1 << 6)]
    ids = [struct.pack("<Q", i + 1) for i in range(n)]
    body = struct.pack("<QIIQQQ", 1, 1, 1, 5, 1 << 60, 1 << 60)
    return recording(record(9, USER, body) * n, [kinds[i % 2] for i in range(n)], ids)


def tracepoints(n):
    formats = [b"name: e%d\nID: %d\nformat:\n\tfield:int a;\toffset:0;\tsize:4;\tsigned:1;\n\nprint fmt: \"%%d\", REC->a\n" % (i, i)
               for i in range(n)]
    sized = b"".join(struct.pack("<Q", len(f)) + f for f in formats)
    tracing = b"\x17\x08\x44tracing0.6\0\0\x08" + struct.pack("<I", 4096) + b"header_page\0" + bytes(8) + b"header_event\0" + \
        bytes(8) + bytes(4) + struct.pack("<I", 1) + b"sys\0" + struct.pack("<I", n) + sized + bytes(4) + bytes(4) + bytes(8)
    kinds = [attr(SAMPLE_TYPE | 1 << 10 | 1 << 16, 2, i) for i in range(n)]
    ids = [struct.pack("<Q", i + 1) for i in range(n)]
    return recording(b"", kinds, ids, {1: tracing})


def updates(n):
    kinds = [attr(SAMPLE_TYPE | 1 << 16)] * 4
    ids = [struct.pack("<Q", i + 1) for i in range(4)]
    data = b"".join(record(78, 0, struct.pack("<QQ", 2, 1 + i % 4) + b"name%d\0" % i) for i in range(n))
    return recording(data, kinds, ids)


def descriptions(n):
    one = [attr() + struct.pack("<I", 1) + text(b"e%d" % i) + struct.pack("<Q", i + 1) for i in range(n)]
    return recording(b"", [attr()] * n, features={12: struct.pack("<II", n, 112) + b"".join(one)})


def simpleperf_events(n):
    lines = "\n".join(f"e{i},7,{i}" for i in range(n)).encode()
    return recording(b"", [attr(kind=7, config=i) for i in range(n)], features={129: b"event_type_info\0" + lines + b"\0"})


def build_ids(n, path=lambda i: b"/o%d" % i):
    data = b""
    for i in range(n):
        name = path(i)
        body = struct.pack("<i", -1) + struct.pack("<QQI", i, i, 0) + bytes(4) + name + bytes(8 - len(name) % 8)
        data += record(67, USER, body)
    return data


def build_ids_of_paths(n):
    return recording(some_samples(10), features={2: build_ids(n)})


def build_ids_of_files_at_one_path(n):
    data = b"".join(mmap2(1, i + 1, 0x400000 + i * 0x1000, b"/one", inode=i + 1) for i in range(n))
    return recording(data + some_samples(10), features={2: build_ids(n, lambda i: b"/one")})


def mappings(n):
    data = b"".join(mmap2(1, i + 1, 0x400000 + i * 0x1000, b"/o") for i in range(n))
    return recording(data + some_samples(n, span=n))


def mappings_of_one_place(n):
    data = b"".join(mmap2(1, i + 1, 0x400000, b"/o%d" % i) for i in range(n))
    return recording(data + b"".join(sample(1, 1 + i, 0x400100) for i in range(n)))


def mappings_over_all(n):
    """Many small mappings, then one that replaces them all, over and over."""
    data = b"".join(mmap2(1, i + 1, 0x400000 + i * 0x1000, b"/o") for i in range(n))
    data += b"".join(mmap2(1, n + i + 1, 0x400000, b"/all", length=n * 0x1000) for i in range(n))
    return recording(data + some_samples(10))


def mappings_within_each_other(n):
    """Each begins and ends within the one before, which becomes two."""
    data = b"".join(mmap2(1, i + 1, 0x400000 + i * 0x1000, b"/o", length=2 * (n - i) * 0x1000) for i in range(n))
    return recording(data + some_samples(n, span=2 * n))


def mappings_beside_each_other(n):
    """Each covers most of the one before."""
    data = b"".join(mmap2(1, i + 1, 0x400000 + i * 0x1000, b"/o%d" % (i % 2), length=n * 0x1000) for i in range(n))
    return recording(data + some_samples(n, span=2 * n))


def files_at_one_path(n):
    data = b"".join(mmap2(1, i + 1, 0x400000 + i * 0x1000, b"/one", inode=i + 1) for i in range(n))
    return recording(data + some_samples(10))


def processes_of_one_file(n):
    data = b"".join(mmap2(i + 2, i + 1, 0x400000, b"/one", inode=7) for i in range(n))
    return recording(data + some_samples(10))


def forks(n):
    return recording(b"".join(fork(i + 2, 1, i + 1) for i in range(n)) + some_samples(10))


def fork_chain(n):
    return recording(b"".join(fork(i + 2, i + 1, i + 1) for i in range(n)) + some_samples(10, n))


def comms(n):
    return recording(b"".join(comm(1, i + 1, b"c%d" % i) for i in range(n)) + some_samples(n))


def execs(n):
    data = b"".join(record(3, 1 << 13, struct.pack("<II", 1, 1) + b"c\0\0\0\0\0\0\0" + ident(1, i + 1)) +
                    mmap2(1, i + 1, 0x400000, b"/o") for i in range(n))
    return recording(data + some_samples(n))


def ksymbols(n):
    data = b""
    parts = []
    for i in range(n):
        name = b"bpf_prog_%d" % (i % 8)
        body = struct.pack("<QIHH", 0xffffffffa0000000 + i * 0x1000, 0x800, 1, 0) + name + bytes(8 - len(name) % 8)
        parts.append(record(17, 1, body + ident(0, i + 1)))
    return recording(data.join(parts) + some_samples(10))


def cgroups(n):
    parts = [record(19, 0, struct.pack("<Q", i) + b"/c%d" % i + bytes(8) + ident(0, i + 1)) for i in range(n)]
    return recording(b"".join(parts) + some_samples(10))


def namespaces(n):
    parts = [record(16, 0, struct.pack("<IIQ", 1, 1, 7) + struct.pack("<QQ", 1, i) * 7 + ident(1, i + 1)) for i in range(n)]
    return recording(b"".join(parts) + some_samples(n))


def thread_maps(n):
    entry = b"".join(struct.pack("<Q16s", i, b"t") for i in range(100))
    return recording(record(73, 0, struct.pack("<Q", 100) + entry) * (n // 100) + some_samples(10))


def cpu_maps(n):
    body = struct.pack("<HH", 0, 200) + b"".join(struct.pack("<H", i) for i in range(200))
    return recording(record(74, 0, body) * (n // 200) + some_samples(10))


def id_index(n):
    body = struct.pack("<QQ", 1, 100) + b"".join(struct.pack("<QQQQ", i, 0, 0, 1) for i in range(100))
    return recording(record(69, 0, body) * (n // 100) + some_samples(10))


def traces(n):
    """AUXTRACE_INFO of a kind that nobody knows, and traces without bytes."""
    info = record(70, 0, struct.pack("<IIQQ", 1, 0, 0, 0) * 1 + bytes(128))
    return recording(info + record(71, 0, struct.pack("<QQQIIII", 0, 0, 0, 0, 1, 0, 0)) * n + some_samples(10))


def trace_index(n):
    return recording(some_samples(10), features={18: struct.pack("<Q", n) + struct.pack("<QQ", 104, 8) * n})


def chains(n):
    kinds = [attr(SAMPLE_TYPE | 1 << 5)]
    depth = 4000
    body = struct.pack("<QIIQQ", 0x400000, 1, 1, 5, depth) + b"".join(struct.pack("<Q", 0x400000 + 16 * i) for i in range(depth))
    return recording(record(9, USER, body) * (n // depth), kinds)


def different_chains(n):
    kinds = [attr(SAMPLE_TYPE | 1 << 5)]
    depth = 1000
    parts = []
    for k in range(n // depth):
        steps = b"".join(struct.pack("<Q", 0x400000 + 16 * (i + k * depth)) for i in range(depth))
        parts.append(record(9, USER, struct.pack("<QIIQQ", 0x400000, 1, 1, 5 + k, depth) + steps))
    return recording(b"".join(parts), kinds)


def branches(n):
    kinds = [attr(SAMPLE_TYPE | 1 << 11)]
    depth = 1000
    body = struct.pack("<QIIQQ", 0x400000, 1, 1, 5, depth) + \
        b"".join(struct.pack("<QQQ", 0x400000 + i, 0x500000 + i, 0) for i in range(depth))
    return recording(record(9, USER, body) * (n // depth), kinds)


def threads(n):
    return recording(b"".join(sample(i + 1, i + 1, 0x400000) for i in range(n)))


def places(n):
    return recording(b"".join(sample(1, i + 1, 0x400000 + 64 * i) for i in range(n)))


def one_time(n):
    return recording(sample(1, 5, 0x400000) * n)


def backwards(n):
    return recording(b"".join(sample(1, 10**9 - i, 0x400000) for i in range(n)))


def unknown_records(n):
    return recording(record(60, 0, b"") * n + some_samples(10))


def damaged_records(n):
    return recording(record(1, USER, b"") * n + some_samples(10))


REPORT = ["report", "--stdio", "-f", "--kallsyms", os.devnull, "-i"]
SCRIPT = ["script", "-f", "--kallsyms", os.devnull, "-i"]

# Of what; how many; the command; the bytes of memory that each byte of the input may take.
RECORDINGS = [
    (rounds, 250000, REPORT, 12),
    (rounds_and_records, 125000, REPORT, 20),
    (unknown_records, 75000, REPORT, 20),
    (damaged_records, 75000, REPORT, 30),
    (attrs, 2500, REPORT, 60),
    (ids_of_one_event, 50000, REPORT, 20),
    (ids_claimed_by_all, 2500, REPORT, 60),
    (groups, 1250, REPORT, 60),
    (scattered_ids, 2500, REPORT, 60),
    (tracepoints, 1000, ["evlist", "-f", "-i"], 60),
    (tracepoints, 1000, SCRIPT, 60),
    (updates, 12500, REPORT, 20),
    (descriptions, 2500, REPORT, 60),
    (simpleperf_events, 2500, REPORT, 60),
    (build_ids_of_paths, 5000, REPORT, 60),
    (build_ids_of_paths, 5000, ["buildid-list", "-f", "-i"], 60),
    (files_at_one_path, 5000, REPORT, 60),
    (build_ids_of_files_at_one_path, 2500, REPORT, 60),
    (mappings, 5000, REPORT, 60),
    (mappings, 5000, SCRIPT, 60),
    (mappings_of_one_place, 5000, REPORT, 60),
    (mappings_over_all, 5000, REPORT, 60),
    (mappings_within_each_other, 5000, REPORT, 60),
    (mappings_beside_each_other, 5000, REPORT, 60),
    (processes_of_one_file, 5000, REPORT, 60),
    (forks, 5000, REPORT, 60),
    (fork_chain, 5000, REPORT, 60),
    (comms, 5000, REPORT, 60),
    (execs, 5000, REPORT, 60),
    (ksymbols, 5000, REPORT, 60),
    (cgroups, 5000, REPORT, 60),
    (namespaces, 5000, REPORT, 60),
    (thread_maps, 25000, REPORT, 20),
    (cpu_maps, 125000, REPORT, 20),
    (id_index, 25000, REPORT, 20),
    (traces, 5000, SCRIPT, 60),
    (trace_index, 12500, SCRIPT, 20),
    (chains, 100000, REPORT, 20),
    (different_chains, 12500, REPORT, 60),
    (branches, 12500, REPORT, 60),
    (threads, 5000, REPORT, 60),
    (threads, 5000, ["report", "--stdio", "-f", "--tasks", "-i"], 60),
    (places, 5000, REPORT, 60),
    (one_time, 25000, SCRIPT, 20),
    (backwards, 25000, SCRIPT, 20),
]


# --- profiles of other tools -------------------------------------------------------------------------------------------------------


def one_long_folded_line(n):
    return b";".join(b"f%d" % (i % 1000) for i in range(n)) + b" 1\n"


def long_folded_lines(n):
    line = b";".join(b"f%d" % (i % 100) for i in range(n // 50))
    return b"".join(b"t%d;" % i + line + b" 1\n" for i in range(50))


def folded_lines(n):
    return b"".join(b"main;f%d;g%d 1\n" % (i % 1000, i) for i in range(n))


def long_folded_names(n):
    return b"".join(b"f%d" % i + b"x" * 65536 + b" 1\n" for i in range(n // 65536))


def long_script_lines(n):
    return (b"prog 1 1.000001: 1 cycles:u: \n\t400000 " + b"f" * (n // 10) + b" (/bin/prog)\n\n") * 10


def deep_script_text(n):
    return b"prog 1 1.000001: 1 cycles:u: \n" + b"".join(b"\t%x f%d (/bin/prog)\n" % (i + 1, i) for i in range(n)) + b"\n"


def script_samples(n):
    return b"".join(b"prog 1 1.%06d: 1 cycles:u: \n\t400000 f%d (/bin/prog)\n\n" % (i % 10**6, i) for i in range(n))


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def pprof(samples, functions, strings=()):
    names = [b"", b"samples", b"count", *(b"f%d" % i for i in range(functions)), *strings]
    out = field(1, field(1, 1) + field(2, 2))
    out += b"".join(field(2, s) for s in samples)
    out += b"".join(field(4, field(1, i + 1) + field(3, 4096 + i) + field(4, field(1, i + 1))) for i in range(functions))
    out += b"".join(field(5, field(1, i + 1) + field(2, 3 + i)) for i in range(functions))
    return out + b"".join(field(6, n) for n in names)


def pprof_samples(n):
    return pprof([field(1, varint(i % 1000 + 1)) + field(2, varint(1)) for i in range(n)], 1000)


def pprof_deep(n):
    return pprof([field(1, b"".join(varint(i % 1000 + 1) for i in range(n))) + field(2, varint(1))], 1000)


def pprof_long_names(n):
    """One name, of half of the bytes, in a stack as deep as the other half allows."""
    name = b"x" * (n // 2)
    locations = n // 20
    out = pprof([field(1, b"".join(varint(i % 1000 + 1) for i in range(locations))) + field(2, varint(1))], 0, [name])
    out += b"".join(field(4, field(1, i + 1) + field(3, 4096 + i) + field(4, field(1, 1))) for i in range(1000))
    return out + field(5, field(1, 1) + field(2, 3))


def pprof_strings(n):
    return pprof([field(1, varint(1)) + field(2, varint(1))], 1, [b"s%d" % i for i in range(n)])


def pprof_values(n):
    return pprof([field(1, varint(1)) + field(2, varint(1) * n)], 1)


def speedscope(frames, profile):
    names = ",".join('{"name":"f%d"}' % i for i in range(frames))
    return ('{"$schema":"x","shared":{"frames":[' + names + ']},"profiles":[' + profile + "]}").encode()


def speedscope_nested_events(n):
    opened = ",".join('{"type":"O","frame":%d,"at":1}' % (i % 1000) for i in range(n))
    closed = ",".join('{"type":"C","frame":%d,"at":2}' % (i % 1000) for i in reversed(range(n)))
    return speedscope(1000, '{"type":"evented","name":"p","unit":"none","startValue":0,"endValue":9,"events":[' + opened + "," + closed +
                      "]}")


def speedscope_stairs(n):
    """Calls within calls, each with time of its own: as many stacks as frames."""
    opened = ",".join('{"type":"O","frame":%d,"at":%d}' % (i % 1000, i) for i in range(n))
    closed = ",".join('{"type":"C","frame":%d,"at":%d}' % (i % 1000, 2 * n - i) for i in reversed(range(n)))
    return speedscope(1000, '{"type":"evented","name":"p","unit":"none","startValue":0,"endValue":9,"events":[' + opened + "," + closed +
                      "]}")


def speedscope_samples(n):
    stacks = ",".join("[%d,%d]" % (i % 1000, i % 7) for i in range(n))
    weights = ",".join("1" for _ in range(n))
    return speedscope(1000, '{"type":"sampled","name":"p","unit":"none","startValue":0,"endValue":9,"samples":[' + stacks +
                      '],"weights":[' + weights + "]}")


def speedscope_nesting(n):
    return b'{"shared":' + b"[" * n


FOLD = ["fold"]
FLAMEGRAPH = ["flamegraph", "-o", os.devnull]
EXPORT = ["export", "--to", "pprof", "-o", os.devnull]

PROFILES = [
    (one_long_folded_line, 75000, FOLD, 60),
    (one_long_folded_line, 25000, FLAMEGRAPH, 120),
    (one_long_folded_line, 25000, EXPORT, 120),
    (long_folded_lines, 125000, FOLD, 60),
    (folded_lines, 12500, FOLD, 60),
    (long_folded_names, 2000000, FOLD, 20),
    (long_script_lines, 1000000, FOLD, 20),
    (deep_script_text, 25000, FOLD, 60),
    (script_samples, 12500, FOLD, 60),
    (pprof_samples, 25000, FOLD, 60),
    (pprof_deep, 50000, FOLD, 80),
    (pprof_strings, 50000, FOLD, 60),
    (pprof_values, 250000, FOLD, 20),
    (speedscope_nested_events, 12500, FOLD, 60),
    (speedscope_nested_events, 12500, FLAMEGRAPH, 60),
    (speedscope_stairs, 1000, FOLD, 60),
    (speedscope_stairs, 12500, FLAMEGRAPH, 60),
    (speedscope_samples, 25000, FOLD, 60),
    (speedscope_nesting, 250000, FOLD, 20),
]


# --- what names the code of a recording --------------------------------------------------------------------------------------------


DUMP = "jit-1.dump"
CODE = 0x400000
CLOCK_MONOTONIC = 1


def jit_dump(records):
    return struct.pack("<IIIIIIQQ", 0x4A695444, 1, 40, 62, 0, 1, 1, 0) + records


def jit_record(kind, time, body):
    return struct.pack("<IIQ", kind, 16 + len(body), time) + body


def jit_load(index, address, name=b"f", size=64):
    return jit_record(0, index + 1, struct.pack("<IIQQQQ", 1, 1, address, address, size, index) + name + b"\0" + bytes(size))


def jit_loads(n):
    return jit_dump(b"".join(jit_load(i, CODE + 64 * i, b"f%d" % i) for i in range(n)))


def jit_loads_at_one_place(n):
    return jit_dump(b"".join(jit_load(i, CODE, b"f%d" % i) for i in range(n)))


def jit_moves(n):
    """One function that moves on and on."""
    moves = (struct.pack("<IIQQQQQ", 1, 1, CODE + 64 * (i + 1), CODE + 64 * i, CODE + 64 * (i + 1), 64, 0) for i in range(n))
    return jit_dump(jit_load(0, CODE) + b"".join(jit_record(1, i + 2, move) for i, move in enumerate(moves)))


def jit_lines(n):
    lines = b"".join(struct.pack("<QII", CODE + i, i, 0) + b"f%d.js\0" % i for i in range(n))
    return jit_dump(jit_record(2, 1, struct.pack("<QQ", CODE, n) + lines) + jit_load(0, CODE, size=n))


def jit_unknown(n):
    return jit_dump(b"".join(jit_record(9, i + 1, b"") for i in range(n)) + jit_load(0, CODE))


def kallsyms(n):
    return b"".join(b"%016x t f%d\n" % (0xffffffff81000000 + 16 * i, i) for i in range(n))


def kallsyms_of_one_place(n):
    return b"".join(b"%016x t f%d\n" % (0xffffffff81000000, i) for i in range(n))


def kallsyms_of_many_modules(n):
    return b"".join(b"%016x t f\t[m%d]\n" % (0xffffffffc0000000 + 4096 * i, i) for i in range(n))


def of_generated_code():
    """A recording that names the dump, as inject and report find it."""
    one = bytearray(attr(flags=1 << 18 | 1 << 25))
    struct.pack_into("<I", one, 92, CLOCK_MONOTONIC)
    return recording(mmap2(1, 1, 0x10000, b"/" + DUMP.encode()) + some_samples(200, span=2), [bytes(one)])


def of_kernel_code():
    kernel = mmap2(0xffffffff, 1, 0xffffffff81000000, b"[kernel.kallsyms]_text", length=0x1000000, offset=0xffffffff81000000, mode=1)
    module = mmap2(0xffffffff, 2, 0xffffffffc0001000, b"[m1]", mode=1)
    samples = b"".join(record(9, 1, struct.pack("<QIIQ", start + i * 8, 1, 1, 10**9 + i))
                       for start in (0xffffffff81000000, 0xffffffffc0001000) for i in range(200))
    return recording(kernel + module + samples)


WITH_DUMP = ["report", "--stdio", "-f", "--symfs"]
WITH_KALLSYMS = ["report", "--stdio", "-f", "--kallsyms"]

# Of what; how many; the recording; the command, which ends with the file or with where it lies; the bytes for each byte; its name.
NAMES = [
    (jit_loads, 12500, of_generated_code, WITH_DUMP, 60, DUMP),
    (jit_loads_at_one_place, 12500, of_generated_code, WITH_DUMP, 60, DUMP),
    (jit_moves, 12500, of_generated_code, WITH_DUMP, 60, DUMP),
    (jit_lines, 25000, of_generated_code, WITH_DUMP, 60, DUMP),
    (jit_unknown, 100000, of_generated_code, WITH_DUMP, 60, DUMP),
    (kallsyms, 50000, of_kernel_code, WITH_KALLSYMS, 60, None),
    (kallsyms_of_one_place, 50000, of_kernel_code, WITH_KALLSYMS, 60, None),
    (kallsyms_of_many_modules, 50000, of_kernel_code, WITH_KALLSYMS, 60, None),
]


# --- bombs -------------------------------------------------------------------------------------------------------------------------


def zstd_of_repeated(eight, megabytes):
    """A zstd frame (RFC 8878) of eight bytes, repeated: each 12 bytes of it become 128 KiB."""
    size = 128 << 10
    raw = struct.pack("<I", len(eight) << 3)[:3] + eight  # a raw block
    # No literals; one sequence, whose codes are given once: no literals, offset 8, a match of 128 KiB; then their extra bits.
    body = bytes([0, 1, 0x54, 0, 3, 52]) + (1 << 19 | 3 << 16 | size - 65539).to_bytes(3, "little")
    block = struct.pack("<I", len(body) << 3 | 2 << 1)[:3] + body
    last = struct.pack("<I", 1)[:3]  # an empty raw block
    return b"\x28\xb5\x2f\xfd\0\x38" + raw + block * (megabytes * 8) + last


def compressed(one_record, megabytes):
    """A recording whose COMPRESSED records expand to that many of one record of eight bytes."""
    packed = zstd_of_repeated(one_record, megabytes)
    piece = 6000
    return recording(b"".join(record(81, 0, packed[i:i + piece] + bytes(-len(packed[i:i + piece]) % 8))
                              for i in range(0, len(packed), piece)))


def compressed_rounds():
    return compressed(record(68, 0, b""), 2000)


def compressed_switches():
    return compressed(record(14, 0, b""), 2000)


def compressed_damage():
    return compressed(record(1, USER, b""), 2000)


def one_long_name_often():
    return pprof_long_names(200000)


def gzipped_stacks():
    return gzip.compress(b"main;f 1\n" * (7 << 20), 9) * 20


def forks_of_many_mappings():
    """Each fork copies all mappings of its parent: 2 MB would be 10 GB."""
    data = b"".join(mmap2(1, i + 1, 0x400000 + i * 0x1000, b"/o") for i in range(5000))
    return recording(data + b"".join(fork(i + 2, 1, 20000 + i) for i in range(20000)) + some_samples(10))


# What a command that analyses may make beyond what is usual: an eighth of its memory, and at least so much
# (base/expansion_allowance.cc). Bombs get the least, so that the test is short.
ALLOWANCE = 256 * MIB
MEMORY = 8 * ALLOWANCE


# Of what; the command; bytes of memory for each byte that was allowed; what is said.
BOMBS = [
    (compressed_rounds, REPORT, 2, "the compressed records: "),
    (compressed_switches, REPORT, 9, "the compressed records: "),
    (compressed_damage, ["report", "-D", "-f", "-i"], 6, "the compressed records: "),
    (one_long_name_often, FOLD, 0, ""),
    (one_long_name_often, FLAMEGRAPH, 0, ""),
    *((one_long_name_often, ["export", "--to", name, "-o", os.devnull], 0, "")
      for name in ("chrome", "firefox", "folded", "json", "otlp", "perfetto", "pprof", "speedscope")),
    (one_long_name_often, ["view", "-o", os.devnull], 0, ""),
    (gzipped_stacks, FOLD, 4, "bytes expand to at least"),
    (forks_of_many_mappings, REPORT, 2, "too many mappings to be copied once more"),
]


class Cost:
    def __init__(self, arguments, memory=None, stdin=None, cpu_s=MOST_CPU_S):
        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
            if memory:
                resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

        with tempfile.TemporaryFile() as err:
            process = subprocess.Popen([SONDE, *arguments], stdin=stdin or subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err,
                                       preexec_fn=limit)
            _, self.status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(self.status)
            self.returncode = process.returncode
            err.seek(0)
            self.err = err.read().decode(errors="replace")
        self.cpu_s = usage.ru_utime + usage.ru_stime
        self.bytes = usage.ru_maxrss * 1024


def show(line):
    if "-v" in sys.argv:
        print(line, flush=True)


def linear(name, make, count, arguments, per_byte, directory, nothing, file=None):
    """A line that says what is not linear; None if all is. The command finds a file that has a name by its directory."""
    costs, sizes = [], []
    for n in (count, 4 * count):
        path = directory / (file or "input")
        content = make(n)
        path.write_bytes(content)
        costs.append(Cost([*arguments, str(directory if file else path)]))
        sizes.append(len(content))
    problems = [f"ended with {c.returncode}: {c.err.strip()[:200]}" for c in costs if c.returncode < 0]
    few, many = (max(c.cpu_s - nothing.cpu_s, 0) for c in costs)
    ratio = many / max(few, LEAST_S)
    if ratio >= MOST_RATIO:
        problems.append(f"{few:.2f} s for {count}, {many:.2f} s for four times as many: more than {MOST_RATIO} times as much")
    most = nothing.bytes + 32 * MIB + per_byte * sizes[1]
    if costs[1].bytes > most:
        problems.append(f"{costs[1].bytes / MIB:.0f} MiB of memory for {sizes[1] / MIB:.1f} MiB, "
                        f"{(costs[1].bytes - nothing.bytes) / sizes[1]:.0f} for each byte: at most {per_byte}")
    show(f"{name:32} {arguments[0]:12} {sizes[1] / MIB:6.1f} MiB  {few:6.2f} {many:6.2f} s  x{ratio:4.1f}  "
         f"{costs[1].bytes / MIB:5.0f} MiB {(costs[1].bytes - nothing.bytes) / sizes[1]:5.1f}/byte")
    return f"{name}, {arguments[0]}: " + "; ".join(problems) if problems else None


def bounded(make, arguments, per_byte, said, directory, nothing):
    """A line that says what is wrong with how a bomb ends; None if nothing is."""
    path = directory / "bomb"
    content = make()
    path.write_bytes(content)
    cost = Cost([*arguments, str(path)], MEMORY, cpu_s=5 * MOST_CPU_S)
    problems = []
    if said not in cost.err or cost.returncode < 0:
        problems.append(f"ended with {cost.returncode}: {cost.err.strip()[:300]!r}, which should have {said!r}")
    most = nothing.bytes + 32 * MIB + per_byte * (100 * len(content) + ALLOWANCE)
    if cost.bytes > most:
        problems.append(f"{cost.bytes / MIB:.0f} MiB of memory, at most {most / MIB:.0f}")
    show(f"{make.__name__:32} {arguments[0]:12} {len(content) / MIB:6.1f} MiB  {cost.cpu_s:6.2f} s  {cost.bytes / MIB:5.0f} MiB")
    return f"{make.__name__}, {arguments[0]}: " + "; ".join(problems) if problems else None


def short_of_memory(directory):
    """Commands whose address space is too small: they succeed, or say so in one line."""
    path = directory / "large"
    path.write_bytes(mappings(20000))
    problems = []
    seen = 0
    for arguments in SHORT:
        for memory in SHORT_OF_MIB:
            cost = Cost([*arguments, str(path)], memory * MIB)
            lines = cost.err.strip().splitlines()
            ran_out = "out of memory" in cost.err
            seen += ran_out
            show(f"{arguments[0]:12} {memory:5} MiB  {cost.returncode:4}  {cost.err.strip()[:100]}")
            if cost.returncode == 0 or (cost.returncode in (127, 1) and "cannot allocate memory in static TLS" in cost.err):
                continue
            if cost.returncode < 0 or not lines or "terminate" in cost.err or (ran_out and len(lines) > 2):
                problems.append(f"{arguments[0]} with {memory} MiB ended with {cost.returncode}: {cost.err.strip()[:300]!r}")
    if seen == 0:
        problems.append("no command ran out of memory: this tests nothing")
    return problems


def endless():
    """Lines for commands that read on in what is no recording and has no end."""
    problems = []
    for arguments in (["report", "--stdio", "-i"], ["script", "-i"], ["diff"], ["sql", "-i"], ["trace", "-i"], ["report", "--stdio", "-D", "-i"]):
        with open("/dev/zero", "rb") as zeros:
            for cost in (Cost([*arguments, "/dev/zero"], MEMORY), Cost([*arguments, "-"], MEMORY, stdin=zeros)):
                if cost.returncode <= 0 or cost.bytes > 100 * MIB or not cost.err.strip():
                    problems.append(f"{arguments[0]} of /dev/zero: {cost.returncode}, {cost.bytes / MIB:.0f} MiB: {cost.err.strip()[:200]!r}")
    return problems


SHORT = [REPORT, SCRIPT, ["fold", "--kallsyms", os.devnull], ["report", "-D", "-f", "-i"], ["buildid-list", "-f", "-i"],
         ["export", "--to", "perfetto", "-o", os.devnull, "-f", "-i"], ["data", "convert", "--to-json", os.devnull, "--force", "-i"]]
SHORT_OF_MIB = (48, 64, 96, 128, 256)


def main():
    if SANITIZED:
        print("bounds: a sanitizer's own memory and time would be measured; the other builds do this")
        return 0
    wanted = [a for a in sys.argv[2:] if a != "-v"]
    problems = []
    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(temporary)
        (directory / "empty").write_bytes(recording(some_samples(1)))
        nothing = Cost([*REPORT, str(directory / "empty")])
        for make, count, arguments, per_byte in RECORDINGS + PROFILES:
            if wanted and make.__name__ not in wanted:
                continue
            problems.append(linear(make.__name__, make, count, arguments, per_byte, directory, nothing))
        for make, count, recorded, arguments, per_byte, file in NAMES:
            if wanted and make.__name__ not in wanted:
                continue
            path = directory / "recorded"
            path.write_bytes(recorded())
            words = [arguments[0], "-i", str(path), *arguments[1:]]
            problems.append(linear(make.__name__, make, count, words, per_byte, directory, nothing, file))
            shown = subprocess.run([SONDE, *words, str(directory if file else directory / "input")], capture_output=True, text=True).stdout
            if "] f" not in shown:
                problems.append(f"{make.__name__} names nothing, so this tests nothing")
        for make, arguments, per_byte, said in BOMBS:
            if not wanted or make.__name__ in wanted:
                problems.append(bounded(make, arguments, per_byte, said, directory, nothing))
        if not wanted or "memory" in wanted:
            problems += short_of_memory(directory)
        if not wanted or "endless" in wanted:
            problems += endless()
    problems = [p for p in problems if p]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
