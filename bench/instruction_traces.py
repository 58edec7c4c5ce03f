"""Decoding and reporting an instruction trace of 100 MB: a stepped trace of a shell's loop, repeated at later and later times."""
import os
import struct
import subprocess
import sys

STEPPED = ["/bin/bash", "-c", 's=0; for ((i = 0; i < 700; i++)); do s=$((s + i * i)); w="x$i${w:0:20}"; done; echo $s']
SIZE = 100_000_000
GOAL = 5
VIEWS = [
    ("report of a trace", ["report", "--stdio"]),
    ("report --itrace=i100us", ["report", "--stdio", "--itrace=i100us"]),
    ("report --itrace=i1000i", ["report", "--stdio", "--itrace=i1000i"]),
]
AUXTRACE = 71
AUXTRACE_INDEX = 18  # a feature: where the pieces of a trace are in the file
FIXED = {0x82: 16, 0x23: 2, 0x03: 4, 0xA3: 8, 0x43: 8, 0xF3: 2, 0x73: 7, 0xC8: 7, 0x83: 2}  # behind 0x02
ADDRESS_BYTES = {0: 0, 1: 2, 2: 4, 3: 6, 4: 6, 6: 8}
TSC = 0x19


def packet_size(trace, at):
    """Of the packets that the stepper writes (Intel SDM, volume 3, "Packet Definitions")."""
    first = trace[at]
    if first == 0x02:
        return FIXED[trace[at + 1]]
    if first & 1 == 0:  # TNT, PAD
        return 1
    if first & 0x1F in (0x0D, 0x11, 0x01, 0x1D):  # TIP and its like
        return 1 + ADDRESS_BYTES[first >> 5]
    return {TSC: 8, 0x99: 2, 0x59: 2}[first]


def times_in(trace):
    """The positions of TSC packets."""
    found, at = [], 0
    while at < len(trace):
        if trace[at] == TSC:
            found.append(at)
        at += packet_size(trace, at)
    return found


def repeated(trace, size):
    """The trace again and again, each time later."""
    places = times_in(trace)
    times = [int.from_bytes(trace[at + 1:at + 8], "little") for at in places]
    length = times[-1] - times[0] + 1_000_000
    pieces = []
    for round_number in range(-(-size // len(trace))):
        piece = bytearray(trace)
        for at, time in zip(places, times):
            piece[at + 1:at + 8] = (time + round_number * length).to_bytes(7, "little")
        pieces.append(bytes(piece))
    return b"".join(pieces)


def grow(short, path, size):
    """Copies the recording of one thread, its trace repeated. What points into the file moves along; the index of pieces is left out:
    readers look for them."""
    data = short.read_bytes()
    begin, length = struct.unpack_from("<QQ", data, 40)
    features = int.from_bytes(data[72:104], "little")
    records, trace, head, at = b"", b"", None, begin
    while at < begin + length:
        kind, _, record = struct.unpack_from("<IHH", data, at)
        if kind == AUXTRACE:
            head = head or bytearray(data[at:at + record])
            piece, = struct.unpack_from("<Q", data, at + 8)
            trace += data[at + record:at + record + piece]
            at += piece
        else:
            records += data[at:at + record]
        at += record
    trace = repeated(trace, size)
    struct.pack_into("<Q", head, 8, len(trace))
    records += bytes(head) + trace
    numbers = [bit for bit in range(256) if features >> bit & 1]
    sections = [struct.unpack_from("<QQ", data, begin + length + 16 * i) for i in range(len(numbers))]
    kept = [(number, section) for number, section in zip(numbers, sections) if number != AUXTRACE_INDEX]
    out = bytearray(data[:begin])
    struct.pack_into("<Q", out, 48, len(records))
    out[72:104] = (features & ~(1 << AUXTRACE_INDEX)).to_bytes(32, "little")
    where = begin + len(records) + 16 * len(kept)
    table, contents = b"", b""
    for _, (offset, size_of) in kept:
        table += struct.pack("<QQ", where + len(contents), size_of)
        contents += data[offset:offset + size_of]
    path.write_bytes(bytes(out) + records + table + contents)


def recording(sonde, kept):
    """Made once; stepping takes some minutes."""
    path = kept / "trace.data"
    if not path.exists():
        short = kept / "stepped.data"
        if not short.exists():
            print("bench: stepping a shell for some minutes", file=sys.stderr)
            subprocess.run([sonde, "record", "-e", "sonde_step//u", "-o", short, "--", *STEPPED], check=True, stdout=subprocess.DEVNULL)
        grow(short, path, SIZE)
    return path


def compare_instruction_traces(bench, sonde, perf, kept, only):
    for name, arguments in VIEWS:
        if only in name:
            command = [*arguments, "-i", os.fspath(recording(sonde, kept))]
            bench.compare(name, [sonde, *command], [perf, *command], GOAL)
