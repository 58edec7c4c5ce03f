#!/usr/bin/env python3
"""`perf c2c report` and `sonde c2c report` side by side: the same tables of assembled recordings (memory_recordings.py) and of those
of other machines in the folder FIXTURES, if it exists; and what `c2c record` asks of the kernel. Needs root, perf and gcc.

perf 6.1 dies of SIGPIPE, more often than not, if addr2line finds no program to read lines from, so source lines are only compared for
code that has them."""
import os
import re
import subprocess
import tempfile
from pathlib import Path

import kernel_turn
import memory_recordings
import side_by_side

SONDE = os.environ["SONDE"]
PERF = side_by_side.needed_perf()
FIXTURES = Path(os.environ.get("SONDE_SOURCE", ".")).parent / "shared" / "fixtures"
REAL = ["wild/a4676d8c.perf.data", "quipper/perf.data.weight_struct"]
OPTIONS = [[], ["-N"], ["-NN"], ["-d", "lcl"], ["-d", "rmt", "-N"], ["-d", "peer", "-N"], ["-d", "peer", "-c", "pid,iaddr"], ["-c", "pid"],
           ["-c", "tid,iaddr"], ["-c", "dso"], ["-c", "pid,tid,dso"], ["-c", "dso,pid", "-d", "lcl"], ["--full-symbols"], ["--show-all"], ["-v"]]
PROGRAM = """
static volatile long shared[16];
__attribute__((noinline)) void a_function_with_a_name_longer_than_its_column(void) { for (int i = 0; i < 16; ++i) ++shared[i]; }
__attribute__((noinline)) void work(void) { for (int i = 0; i < 16; ++i) shared[i] += i; }
int main(void) { work(); a_function_with_a_name_longer_than_its_column(); return 0; }
"""

# A kernel with two functions, as large as the mapping of the recordings.
KERNEL = """
.text
.globl _stext, take_a_line, give_it_back
_stext: .skip 0x300
.type take_a_line, @function
take_a_line: .skip 0x100
.size take_a_line, 0x100
.skip 0x200000 - 0x100
.type give_it_back, @function
give_it_back: .skip 0x100
.size give_it_back, 0x100
.skip 0xe00000
"""

both = side_by_side.Comparison("c2c")


def tables(tool, path, options):
    said = side_by_side.ask(tool, "c2c", "report", "--stdio", *options, "-i", path, *(["--unverified-symbols"] if tool == SONDE else []))
    lines = [line.rstrip().replace("-nan%", " 0.0%") for line in said.lines]
    while lines and not lines[-1]:
        lines.pop()
    return said._replace(lines=lines)


def check(path, all_options, source=False, least=60):
    for options in all_options:
        options = options if source else [*options, "--no-source"]
        both.lines(f"{path.name}: c2c report {' '.join(options)}", tables(PERF, path, options), tables(SONDE, path, options), least=least,
                   status=0)


def program(directory):
    """A program with debug information, and where its code is in the file."""
    source, path = directory / "contended.c", directory / "contended"
    source.write_text(PROGRAM)
    subprocess.run(["gcc", "-O1", "-g", "-o", path, source], check=True)
    sections = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True, check=True).stdout
    offset, size = re.search(r"\] \.text +PROGBITS +\w+ +(\w+) +(\w+)", sections).groups()
    symbols = subprocess.run(["readelf", "-sW", path], capture_output=True, text=True, check=True).stdout
    start = int(re.search(r": (\w+) +\d+ FUNC .* a_function_with", symbols)[1], 16) & ~0xf
    return str(path), start, int(offset, 16) + int(size, 16) - start


def check_kernel(directory):
    """The kernel's functions have the names of the file that --vmlinux gives."""
    source, path = directory / "kernel.s", directory / "vmlinux"
    source.write_text(KERNEL)
    subprocess.run(["gcc", "-nostdlib", "-static", "-Wl,-Ttext=0xffffffff81000000,-e,_stext,--build-id=none", "-o", path, source], check=True)
    recording = memory_recordings.make(SONDE, directory / "kernel.data", seed=7, samples=600)
    for option in ["--vmlinux", str(path)], ["-k", str(path), "-c", "pid,iaddr"]:
        check(recording, [option])
        named = tables(SONDE, recording, option).lines
        both.expect(sum("take_a_line" in line for line in named) > 5 and any("give_it_back" in line for line in named), f"{option}: no names")


def check_recording(directory):
    """perf refuses where there are no memory events, so its `record` with the same options is the reference."""
    faults = ["-e", "page-faults"]
    modes = {"user": ("--all-user", "-u"), "kernel": ("--all-kernel", "--all-kernel")}
    with kernel_turn.taken():
        for mode, (theirs, ours) in modes.items():
            for name, command in {"theirs": [PERF, "record", "-W", "-d", "--phys-data", "--sample-cpu", theirs, *faults, "-c", "1"],
                                  "ours": [SONDE, "c2c", "record", "-l", "40", ours, *faults, "--", "-c", "1"]}.items():
                subprocess.run([*command, "-o", directory / f"{name}.{mode}.data", "--", "ls", "/"], check=True, capture_output=True)
    for mode in modes:
        texts = [subprocess.run([PERF, "evlist", "-v", "-i", directory / f"{name}.{mode}.data"], capture_output=True, text=True, check=True).stdout
                 for name in ("theirs", "ours")]
        both.expect(texts[0] == texts[1], f"c2c record: perf {texts[0]}, sonde {texts[1]}")
        check(directory / f"ours.{mode}.data", [[], ["--show-all"], ["-f"]], least=30)


def main():
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        make = memory_recordings.make
        check(make(SONDE, directory / "contended.data"), OPTIONS)
        check(make(SONDE, directory / "strange.data", seed=2, kinds="strange", samples=1500), [[], ["-d", "peer"], ["-d", "rmt"]])
        check(make(SONDE, directory / "nowhere.data", seed=3, topology=False, cpus=False, samples=400), [[], ["-N"], ["-NN"]])
        check(make(SONDE, directory / "lines.data", seed=4, kernel=False, samples=800, objects=[program(directory)]),
              [["-c", "pid,iaddr"], ["--full-symbols"], ["-v"]])
        check(make(SONDE, directory / "chains.data", seed=6, chains=True, samples=300), [[], ["-g"], ["-g", "graph,0,callee"], ["-g", "fractal"],
              ["-c", "tid", "-g", "flat,0,callee"], ["--stitch-lbr"]])
        for real in REAL:
            if (FIXTURES / real).exists():
                check(FIXTURES / real, [[], ["-N", "--show-all"], ["--stats"]], least=50)
        check_kernel(directory)
        check_recording(directory)
    both.finish()


if __name__ == "__main__":
    main()
