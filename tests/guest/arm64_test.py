#!/usr/bin/env python3
"""Counters that only hardware has: stat, record and report on the arm64 guest's emulated PMU, against perf in the same guest.
What was recorded there is then read here, on another architecture."""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import both_chains
import guest_run
import inside
import stop_cases

SONDE = os.environ["SONDE"]
PROGRAMS = guest_run.SOURCE / "tests" / "guest" / "programs"
CLANG = ["clang-19", "--target=aarch64-linux-gnu", "-fuse-ld=lld", "-static", "-nostdlib", "-O1", "-fno-omit-frame-pointer",
         "-momit-leaf-frame-pointer", "-Wall", "-Werror", f"-Wl,--section-start=.leaf={inside.LEAF:#x}"]
SYSROOT = guest_run.SOURCE / "build" / "guest" / "arm64" / "root"
WALKED = guest_run.SOURCE / "tests" / "programs" / "walked.c"
WALKED_FUNCTIONS = ["main", "descend", "leaf_in_library", "visit_back", "compare", "call_kernel", "on_signal", "interrupted", "under_generated"]
FEWEST_WALKED = 300
FIELDS = "comm,tid,time,event,period,ip"


def build_programs(share):
    for source in sorted(PROGRAMS.iterdir()):
        subprocess.run([*CLANG, "-o", share / source.stem, source], check=True)


def build_stops(share):
    """programs/stops.c with return addresses signed, as the distributions build for arm64 today."""
    program = share / "stops"
    subprocess.run(["clang-19", "--target=aarch64-linux-gnu", "-fuse-ld=lld", f"--sysroot={SYSROOT}", "-mbranch-protection=pac-ret+leaf",
                    *stop_cases.COMPILE, "-Wno-unused-command-line-argument", "-o", program, stop_cases.SOURCE], check=True)
    (share / "stops.symbols").write_text(json.dumps(stop_cases.symbols(program)))


def build_walked(share):
    """programs/walked.c and its library, likewise."""
    compiler = ["clang-19", "--target=aarch64-linux-gnu", "-fuse-ld=lld", f"--sysroot={SYSROOT}", "-mbranch-protection=pac-ret+leaf", "-O2",
                "-fomit-frame-pointer", "-fno-optimize-sibling-calls", "-Wall", "-Wextra", "-Wl,-z,lazy"]
    subprocess.run([*compiler, "-DLIBRARY", "-shared", "-fPIC", "-o", share / "libwalked.so", WALKED], check=True)
    subprocess.run([*compiler, "-o", share / "walked", WALKED, f"-L{share}", "-lwalked", "-Wl,-rpath,$ORIGIN"], check=True)


def objects_of_the_guest(share):
    """A directory in which the objects that were mapped in the guest have their paths."""
    root = pathlib.Path.cwd() / "objects"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    (root / "usr").symlink_to(SYSROOT / "usr")
    (root / "share").symlink_to(share)
    return root


def walks_agree(share):
    """Chains that the kernel walked are those of the copies of the same stacks, frame by frame; and the program's own, to main."""
    root, recording, unwound = objects_of_the_guest(share), share / "walked.both", share / "walked.unwound"
    subprocess.run([pathlib.Path(os.environ["SONDE_TOOLS"]) / "unwound_dump", recording, unwound, root], check=True)
    by_walk, by_copy = both_chains.walked_chains(SONDE, recording), both_chains.walked_chains(SONDE, unwound)
    kinds, examples = collections.Counter(), []
    maps = subprocess.run([SONDE, "script", "--show-mmap-events", "-i", recording], text=True, stdout=subprocess.PIPE, check=True).stdout
    vdsos = [(int(start, 16), int(size, 16)) for start, size in re.findall(r"\[(0x\w+)\((0x\w+)\).*\[vdso\]", maps)]
    for sample, walked in by_walk.items():
        # The guest's vDSO, and so its signal frame, is not here: unwind_test.py has chains through it.
        if any(start <= address < start + size for address in walked for start, size in vdsos):
            kinds["through the vDSO"] += 1
            continue
        if not walked:
            kinds["copied only"] += bool(by_copy[sample])
            continue
        kind = both_chains.kind_of(walked, by_copy[sample])
        kinds[kind] += 1
        if kind != "equal":
            examples.append(f"{kind} {sample}:\n  walked   {[f'{at:x}' for at in walked]}\n  unwound  {[f'{at:x}' for at in by_copy[sample]]}")
    count = kinds.total() - kinds["copied only"] - kinds["through the vDSO"]
    named = subprocess.run([SONDE, "script", "--symfs", root, "-i", recording, "-F", "ip,sym"], text=True, stdout=subprocess.PIPE, check=True).stdout
    through = collections.Counter(name for sample in named.split("\n\n") for name in {*re.findall(r"[0-9a-f]+ (\w+)$", sample, re.M)}
                                  if name in WALKED_FUNCTIONS)
    print(f"--call-graph bpf: {count} chains compared, {dict(kinds)}; through {dict(through)}")
    print("\n".join(examples[:5]))
    return count >= FEWEST_WALKED and both_chains.agree(kinds) and all(through[name] > 0 for name in WALKED_FUNCTIONS)


def with_functions(lines, program):
    """Frames at offsets in the program's file get the names of its functions."""
    headers = subprocess.run(["readelf", "-lsW", program], text=True, stdout=subprocess.PIPE, check=True).stdout
    loads = [tuple(int(word, 16) for word in words) for words in re.findall(r"LOAD +(0x\w+) (0x\w+) 0x\w+ (0x\w+)", headers)]
    functions = [(int(at, 16), int(size), name)
                 for at, size, name in re.findall(r": (\w+) +(\d+) FUNC +\S+ +\S+ +\d+ (\w+)$", headers, re.M)]

    def named(line):
        found = re.fullmatch(r"\s+([0-9a-f]+)", line)
        offset = int(found[1], 16) if found else -1
        for load, start, size in loads:
            for at, length, name in functions:
                if load <= offset < load + size and at <= offset - load + start < at + length:
                    return f"{line} {name}+"
        return line
    return [named(line) for line in lines]


def read_here(share):
    """Recordings of both tools print here what they printed there: perf's output is stored beside them."""
    bad = 0
    recordings = sorted(share.glob("*.data"))
    for recording in recordings:
        # /share/PROGRAM is here below the directory that contains `share`.
        ours = subprocess.run([SONDE, "script", "--symfs", share.parent, "-i", recording, "-F", FIELDS], text=True,
                              stdout=subprocess.PIPE, check=True).stdout
        theirs = pathlib.Path(f"{recording}.script").read_text(encoding="utf-8")
        program = share / ("tree" if recording.name.startswith("frequency") else "calls")
        ours, theirs = (inside.without_doubles(with_functions(inside.meaningful(text), program)) for text in (ours, theirs))
        if ours != theirs or not theirs:
            bad += 1
            print(f"{recording.name}: read here it is not what perf read in the guest")
    print(f"{len(recordings)} recordings read on another architecture, {bad} differ")
    return bad != 0 or not recordings


def with_plain_numbers(text):
    """An instruction's text in a form in which both disassemblers can be compared: decimal numbers, no comments, target names or
    blanks."""
    text = re.sub(r"\s*//.*| <.*>", "", text)
    text = re.sub(r"^((?:b|bl|b\.\w+|cbn?z|tbn?z|adrp?)\s.*?)#?(?:0x)?([0-9a-f]+)$", r"\1 to \2", text.strip())
    text = re.sub(r"#?(-?)0x([0-9a-f]+)", lambda m: str(int(m[1] + m[2], 16) % 2**64), text)
    text = re.sub(r"#(-?\d+)", lambda m: str(int(m[1]) % 2**64), text)
    return re.sub(r"[\s{}]+", " ", text).strip().lower()


def disassembled(program):
    """(address, bytes in hexadecimal, text) of each instruction, by llvm-objdump."""
    lines = subprocess.run(["llvm-objdump-19", "-d", program], text=True, stdout=subprocess.PIPE, check=True).stdout
    found = re.findall(r"^\s+([0-9a-f]+): ([0-9a-f]{8})\s+(.*)$", lines, re.M)
    return [(address, int(word, 16).to_bytes(4, "little").hex(), text) for address, word, text in found]


def instructions_agree():
    """All of libc's text matches llvm-objdump, except for what capstone 4 does not know: scalable vectors, memory tags,
    single-instruction copies. Negative 32-bit moves are written as their bits, as in GNU objdump."""
    expected = disassembled(SYSROOT / "usr/lib/aarch64-linux-gnu/libc.so.6")
    words = "".join(f"{address} {code}\n" for address, code, _ in expected)
    dump = pathlib.Path(os.environ["SONDE_TOOLS"]) / "instructions_dump"
    ours = subprocess.run([dump, "arm64"], input=words, text=True, stdout=subprocess.PIPE, check=True).stdout.splitlines()
    unknown, different = 0, []
    for (address, _, theirs), line in zip(expected, ours, strict=True):
        text = line.split(" ", 1)[1]
        if text.startswith(".inst") or text.startswith("sys\t"):
            unknown += 1
        elif with_plain_numbers(text) != with_plain_numbers(theirs) and not re.match(r"mov\s+w\d+, #-", theirs):
            different.append(f"{address}: {text} where llvm-objdump has {theirs}")
    print(f"{len(expected)} arm64 instructions, {unknown} not known, {len(different)} different")
    print("\n".join(different[:20]))
    return not different and unknown < 0.002 * len(expected) and len(expected) > 100_000


def annotated_here(share):
    """annotate of an arm64 recording on another architecture: the instructions are llvm-objdump's, the percentages follow from
    the samples' addresses."""
    recording = share / "period.sonde.data"
    text = subprocess.run([SONDE, "annotate", "--stdio", "--symfs", share.parent, "-i", recording], text=True, stdout=subprocess.PIPE,
                          check=True).stdout
    shown = {address: (float(percent), code) for percent, address, code in re.findall(r"^ +([\d.]+) : +([0-9a-f]+): +(.*)$", text, re.M)}
    expected = {address: code for address, _, code in disassembled(share / "loop")}
    # A function without a size continues over the data after it, which llvm-objdump does not decode as instructions.
    compared = [address for address in shown if address in expected]
    wrong = [address for address in compared if with_plain_numbers(shown[address][1]) != with_plain_numbers(expected[address])]
    sampled = subprocess.run([SONDE, "script", "--symfs", share.parent, "-i", recording, "-F", "ip"], text=True, stdout=subprocess.PIPE,
                             check=True).stdout.split()
    counts = collections.Counter(address for address in sampled if address in shown)  # the others are the kernel's
    wrong += [address for address, count in counts.items() if abs(shown[address][0] - 100 * count / counts.total()) > 0.01]
    print(f"annotate: {len(compared)} instructions, {len(wrong)} differ: {wrong[:10]}")
    return len(compared) > 2 and counts.total() > 0 and not wrong


def main():
    share = guest_run.fresh_share()
    build_programs(share)
    build_stops(share)
    build_walked(share)
    return guest_run.run_tests("arm64", share) or read_here(share) or not (walks_agree(share) and annotated_here(share) and instructions_agree())


if __name__ == "__main__":
    sys.exit(main())
