#!/usr/bin/env python3
"""Damaged and hostile recordings: whatever the bytes are, a command ends by itself with an answer or one clear line.

A small recording is truncated at every byte, and its bits are flipped one at a time (every bit of the header and attrs, a fixed
spread over the rest); files that broke other readers are used as they are. Commands must end within the time and memory bounds,
never by a signal, and a failure is one line that names the file.
"""
import os
import random
import resource
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SONDE = os.environ["SONDE"]
SOURCE = Path(os.environ["SONDE_SOURCE"])
TIMEOUT_S = 60  # a command takes hundredths of a second on an idle machine
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
    if run.returncode not in (0, 255):
        return f"status {run.returncode}: {run.stderr[-300:]!r}"
    if run.returncode == 255 and not run.stderr.strip():
        return "fails without a word"
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
