#!/usr/bin/env python3
"""Damaged and hostile recordings: whatever the bytes are, a command ends by itself with an answer or one clear line.

A small recording is truncated at every byte, and its bits are flipped one at a time (every bit of the header and attrs, a fixed
spread over the rest); files that broke other readers are used as they are. Commands must end within the time and memory bounds,
never by a signal, and a failure is one line that names the file. Status 1 is for those that read less than nine tenths.

What is said about the damage is compared with what was destroyed: recordings are cut at several places and records in them are
spoiled, and the heading must name the record and the share of the bytes that this test's own walk over the records finds lost.
"""
import os
import random
import re
import resource
import struct
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SONDE = os.environ["SONDE"]
SOURCE = Path(os.environ["SONDE_SOURCE"])
TIMEOUT_S = 60  # a command takes hundredths of a second on an idle machine
LOST_MUCH = b"of the recording could not be read, more than a tenth: the exit status is 1"
COMMANDS = [["report", "--stdio"], ["script"], ["export", "--to", "perfetto"], ["data", "convert", "--to-json", "-"]]
MEMORY_BYTES = 4 << 30  # of address space: thread stacks and symbol files are mapped, too

# With the build id of a kernel that is nowhere: without one, each case would read this machine's symbols.
SMALL = """\
feature HOSTNAME: "vm"
feature ARCH: "x86_64"
feature CMDLINE: "perf" "record" "true"
event : name = cpu-clock, type = 1, size = 128, config = 0, { sample_period, sample_freq } = 4000, \\
  sample_type = IP|TID|TIME|CALLCHAIN|PERIOD, read_format = ID, mmap = 1, comm = 1, freq = 1, task = 1, sample_id_all = 1
BUILD_ID pid=-1 mode=kernel id=hex:0102030405060708090a0b0c0d0e0f1011121314 path="[kernel.kallsyms]"
MMAP mode=kernel pid=-1 tid=0 start=0xffffffff81000000 length=0x1000000 offset=0xffffffff81000000 path="[kernel.kallsyms]_text" time=0
COMM pid=10 tid=10 comm="bash" time=0
MMAP2 mode=user pid=10 tid=10 start=0x400000 length=0x1000 offset=0 path="/nowhere/bash" protection=5 time=1
FORK pid=11 ppid=10 tid=11 ptid=10 time=100
COMM pid=11 tid=11 comm="true" exec time=200
SAMPLE mode=user ip=0x400100 pid=10 tid=10 time=300 period=250000 chain=user,0x400100,0x400200
SAMPLE mode=kernel ip=0xffffffff81000100 pid=11 tid=11 time=400 period=250000 chain=kernel,0xffffffff81000100,user,0x400300
EXIT pid=11 ppid=10 tid=11 ptid=10 time=500
"""


# A sanitizer's shadow memory is terabytes of address space; it bounds memory by itself.
SANITIZED = b"__asan_init" in Path(SONDE).read_bytes()


# With sanitizers a process starts so slowly that only one case in ten is tried; fuzz.perfdata gives the reader ten thousand more.
EVERY = 10 if SANITIZED else 1


def set_limits():
    """For this process, whose commands inherit them: thousands are started, and an intermediate process would double their
    time."""
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def problem_with(path, command):
    try:
        run = subprocess.run([SONDE, *command, "-f", "-i", str(path)], capture_output=True, timeout=TIMEOUT_S,
                             stdin=subprocess.DEVNULL, close_fds=False)
    except subprocess.TimeoutExpired:
        return f"not done after {TIMEOUT_S} s"
    if run.returncode < 0:
        return f"killed by signal {-run.returncode}: {run.stderr[-300:]!r}"
    if run.returncode not in (0, 1, 255):
        return f"status {run.returncode}: {run.stderr[-300:]!r}"
    if run.returncode == 255 and not run.stderr.strip():
        return "fails without a word"
    if run.returncode == 1 and LOST_MUCH not in run.stderr:
        return f"status 1 for another reason: {run.stderr[-300:]!r}"
    return ""


def damaged(whole):
    for size in range(len(whole)):
        yield f"cut to {size} bytes", whole[:size]
    chance = random.Random(1)
    bits = list(range(min(len(whole), 104 + 200) * 8))
    bits += chance.sample(range(len(bits), len(whole) * 8), min(600, len(whole) * 8 - len(bits)))
    for bit in bits[:: max(1, len(bits) // 700)]:
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << (bit % 8)
        yield f"bit {bit % 8} of byte {bit // 8} flipped", bytes(flipped)


class Layout:
    """Where the records of a perf.data file are, by its own bytes."""

    TYPES = {1: "MMAP", 3: "COMM", 4: "EXIT", 7: "FORK", 9: "SAMPLE", 10: "MMAP2", 17: "KSYMBOL", 18: "BPF_EVENT", 68: "FINISHED_ROUND"}

    def __init__(self, whole):
        self.begin, size = struct.unpack_from("<QQ", whole, 40)
        self.end = self.begin + size
        self.records = []  # (offset, type, size)
        at = self.begin
        while at < self.end:
            kind, _, size = struct.unpack_from("<IHH", whole, at)
            self.records.append((at, kind, size))
            at += size

    def share_after(self, offset):
        """Percent of the records' bytes from the record at or around `offset` on."""
        start = max((at for at, _, size in self.records if at <= offset), default=self.begin)
        return 100 * (self.end - start) / (self.end - self.begin)

    def share_of(self, size):
        return 100 * size / (self.end - self.begin)


def share_text(percent):
    return f"{percent:.1f}%" if percent >= 0.1 else "less than 0.1%"


def spoiled(whole, layout):
    """Damaged copies: what was done, the content, the percentage lost (None: not known) and what the heading must contain."""
    chosen = [layout.records[len(layout.records) * part // 20] for part in (1, 4, 10, 17, 19)]
    for at, kind, size in chosen:
        yield f"cut before {at:#x}", whole[:at], layout.share_after(at), [f"at file offset {at:#x}"]
        name = f"PERF_RECORD_{layout.TYPES[kind]} at file offset {at:#x}: " if kind in layout.TYPES else ""
        for kept in {8, size - 1} - {size}:
            yield (f"cut at {at + kept:#x}", whole[: at + kept], layout.share_after(at), [f"{name}claims {size} bytes, {kept} remain"])
        bad = bytearray(whole)
        struct.pack_into("<H", bad, at + 6, 4)
        yield f"size 4 at {at:#x}", bytes(bad), layout.share_after(at), [f"{name}size 4 is less than that of its header"]
        bad = bytearray(whole)
        struct.pack_into("<H", bad, at + 6, 65000)
        rest = layout.end - at
        if rest < 65000:
            yield f"size 65000 at {at:#x}", bytes(bad), layout.share_after(at), [f"{name}claims 65000 bytes, {rest} remain"]
    killed = bytearray(whole[: layout.end])
    struct.pack_into("<Q", killed, 48, 0)
    yield "recorder killed", bytes(killed), None, ["1 recording that its recorder did not finish"]


def short_samples(whole, layout):
    """Samples whose chains claim more addresses than fit. (Fields of SMALL: ip, pid and tid, time, period, then the chain.)"""
    samples = [record for record in layout.records if record[1] == 9]
    bad = bytearray(whole)
    for count, (at, _, size) in enumerate(samples, 1):
        struct.pack_into("<Q", bad, at + 40, 1 << 40)
        lost = sum(size for _, _, size in samples[:count])
        what = "record was" if count == 1 else "records were"
        yield (f"{count} bad chains", bytes(bad), layout.share_of(lost),
               [f"{count} {what} damaged", f"PERF_RECORD_SAMPLE at file offset {samples[0][0]:#x}: shorter than the layout of its event"])


def spoiled_blocks(whole, layout):
    """Compressed blocks that expand no more: with one goes all that the same stream of zstd contains after it."""
    blocks = [record for record in layout.records if record[1] == 81]
    at, _, size = blocks[0]
    bad = bytearray(whole)
    bad[at + 8 : at + size] = bytes(size - 8)
    yield ("the first block zeroed", bytes(bad), layout.share_of(sum(size for _, _, size in blocks)),
           [f"{len(blocks)} compressed block{'' if len(blocks) == 1 else 's'} could not be expanded (PERF_RECORD_COMPRESSED at file offset {at:#x}: "])


def problem_with_words(path, percent, words):
    """Whether report's heading, its status and script's say what was destroyed."""
    status = 1 if percent is not None and percent > 10 else 0
    for command in (["report", "--stdio"], ["script"], ["report", "--stdio", "-q"]):
        run = subprocess.run([SONDE, *command, "-f", "-i", str(path)], capture_output=True, timeout=TIMEOUT_S, stdin=subprocess.DEVNULL)
        if run.returncode != status:
            return f"{command}: status {run.returncode}, not {status}: {run.stderr[-300:]!r}"
        if (LOST_MUCH in run.stderr) != (status == 1):
            return f"{command}: the reason of status {status} is not as expected: {run.stderr[-300:]!r}"
        heading = run.stdout.decode(errors="replace").split("\n# Samples:")[0]
        if command[-1] == "-q" or command == ["script"]:
            if "Damaged" in heading:
                return f"{command}: has a heading"
            continue
        said = re.search(r"^# Damaged: (.*) of the recording could not be read(; the exit status is 1)?$", heading, re.M)
        if percent is None:
            if "# Damaged: the recording is incomplete\n" not in heading:
                return f"not said to be incomplete: {heading!r}"
        elif not said or said[1] != share_text(percent) or bool(said[2]) != bool(status):
            return f"{percent}% is lost: {heading!r}"
        for word in words:
            if word not in heading:
                return f"{word!r} is not in {heading!r}"
            if word not in run.stderr.decode(errors="replace"):
                return f"{word!r} is not in the losses at the end: {run.stderr!r}"
    return ""


def words_about(whole, directory, more=None, only_more=False):
    layout = Layout(whole)
    path = directory / "spoiled"
    path.write_bytes(whole)
    run = subprocess.run([SONDE, "report", "--stdio", "-f", "-i", str(path)], capture_output=True, timeout=TIMEOUT_S, stdin=subprocess.DEVNULL)
    if run.returncode != 0 or b"Damaged" in run.stdout:
        yield f"whole: status {run.returncode}, {run.stdout[:200]!r}"
    for name, content, percent, words in [*([] if only_more else spoiled(whole, layout)), *(more(whole, layout) if more else [])]:
        path.write_bytes(content)
        problem = problem_with_words(path, percent, words)
        yield f"{name}: {problem}" if problem else ""
    path.unlink()


def words_about_pipe(directory):
    """A pipe that is followed while it is written has the status and the words of a file."""
    (directory / "small.txt").write_text("mode: pipe\n" + SMALL)
    subprocess.run([SONDE, "assemble", "small.txt", "pipe.data"], cwd=directory, check=True)
    whole = (directory / "pipe.data").read_bytes()
    at, begins = 16, []
    while at < len(whole):
        begins.append(at)
        at += struct.unpack_from("<H", whole, at + 6)[0]
    last = begins[-2]
    bad = bytearray(whole)
    struct.pack_into("<H", bad, last + 6, 0)
    for command in (["script", "-i", "-"], ["report", "--stdio", "-i", "-"]):
        for content, words in ((whole[: last + 9], "claims "), (bytes(bad), "size 0 is less than that of its header")):
            run = subprocess.run([SONDE, *command], input=content, capture_output=True, timeout=TIMEOUT_S)
            status = 1 if 10 * (len(content) - last) > len(content) - 16 else 0
            if run.returncode != status or f"at file offset {last:#x}: {words}" not in run.stderr.decode():
                yield f"{command}: {words}: status {run.returncode}, not {status}: {run.stderr!r}"
            else:
                yield ""


def words_about_two(whole, directory):
    """diff names the damaged one of two files."""
    layout = Layout(whole)
    cut = layout.records[len(layout.records) // 2][0]
    (directory / "whole.data").write_bytes(whole)
    (directory / "cut.data").write_bytes(whole[:cut])
    run = subprocess.run([SONDE, "diff", "-f", "whole.data", "cut.data"], capture_output=True, cwd=directory, timeout=TIMEOUT_S)
    wanted = f"# cut.data:\n# Damaged: {share_text(layout.share_after(cut))} of the recording could not be read; the exit status is 1\n"
    if run.returncode != 1 or wanted not in run.stdout.decode() or "# whole.data:\n" in run.stdout.decode():
        return f"diff: status {run.returncode}, {run.stdout[:400]!r}"
    return ""


def main():
    failed = []
    count = 0
    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(temporary)
        (directory / "small.txt").write_text(SMALL)
        made = subprocess.run([SONDE, "assemble", str(directory / "small.txt"), str(directory / "small.data")], capture_output=True)
        if made.returncode != 0:
            print(made.stderr.decode())
            return 1
        whole = (directory / "small.data").read_bytes()

        def check(case):
            number, (name, content) = case
            path = directory / f"case{number}"
            path.write_bytes(content)
            command = COMMANDS[number % len(COMMANDS)]
            problem = problem_with(path, command)
            path.unlink()
            return f"{command[0]}: {name}: {problem}" if problem else ""

        set_limits()
        cases = list(enumerate(damaged(whole)))[::EVERY]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for problem in pool.map(check, cases):
                count += 1
                if problem:
                    failed.append(problem)
        cases = [(f"SMALL: {problem}" if problem else "") for problem in words_about(whole, directory, short_samples)]
        cases += words_about_pipe(directory)
        cases.append(words_about_two(whole, directory))
        (directory / "packed.txt").write_text(SMALL.replace("COMM pid=10", "compression: 1\nCOMM pid=10", 1))
        subprocess.run([SONDE, "assemble", "packed.txt", "packed.data"], cwd=directory, check=True)
        packed = (directory / "packed.data").read_bytes()
        cases += [(f"compressed: {problem}" if problem else "") for problem in words_about(packed, directory, spoiled_blocks, True)]
        real = SOURCE.parent / "shared" / "fixtures" / "perf61" / "arm64_cycles_g.data"
        if real.is_file():
            cases += [(f"{real.name}: {problem}" if problem else "") for problem in words_about(real.read_bytes(), directory)]
        else:
            print("damage: no real recording is beside the project; only our own is cut")
        count += len(cases)
        failed += [problem for problem in cases if problem]
        fuzz = SOURCE.parent / "shared" / "fixtures" / "fuzz"
        if not fuzz.is_dir():
            print("damage: the files that broke other readers are not beside the project; only our own damage is tried")
        for path in sorted(fuzz.iterdir()) if fuzz.is_dir() else []:
            for command in [*COMMANDS, ["report", "-D"], ["evlist", "-v"], ["buildid-list"]]:
                count += 1
                if problem := problem_with(path, command):
                    failed.append(f"{' '.join(command)}: {path.name}: {problem}")
    for line in failed[:20]:
        print(line)
    print(f"damage: {count - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
