#!/usr/bin/env python3
"""`perf` and `sonde` with branch stacks: report with branches in call chains, annotate's coverage, diff's streams, to the
character except for trailing blanks. No machine here records branches, so the recordings are assembled: of a program that is
compiled here, with paths drawn at random, the same ones in every run, through loops, calls and returns. Cycles of basic blocks,
at which perf 6.1 crashes, are added up here, from the branches drawn. Needs gcc, objdump and perf."""
import os
import random
import re
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path

import side_by_side

SONDE = os.environ["SONDE"]
PERF = side_by_side.needed_perf()
SAMPLES = 200
PROGRAM = """
volatile long sum;
#define WORK(name, step) __attribute__((noinline)) void name(int n) { for (int i = 0; i < n; ++i) sum += step; }
WORK(one, i)
WORK(two, i * 3)
WORK(three, i * 7)
int main(void) {
  for (int i = 0; i < 300; ++i) {
    one(100);
    two(20);
    three(60);
  }
}
"""
EVENT = """event : name = cycles, id = { 7 }, { sample_period, sample_freq } = 4000, \\
  sample_type = IP|TID|TIME|CPU|%sPERIOD|BRANCH_STACK|IDENTIFIER, freq = 1, sample_id_all = 1, branch_sample_type = ANY
feature BRANCH_STACK:
COMM pid=20 tid=20 comm="program" time=1000 cpu=0 event=0
MMAP2 mode=user pid=20 tid=20 start=0x401000 length=0x1000 offset=0x1000 path="%s" protection=5 flags=2 time=1000 cpu=0 event=0
"""
BRANCH_HISTORY = [[], ["--no-children"], ["-g", "callee"], ["-g", "caller", "--no-children"], ["-G"], ["--max-stack", "3"],
                  ["--max-stack", "5", "-g", "callee"], ["-s", "comm"], ["-s", "symbol"], ["-n"], ["-g", "flat"], ["-g", "folded"],
                  ["-g", "fractal"], ["-g", "graph,5,caller,function"], ["-b"]]
CALL_GRAPH = [["-g", "branch"], ["-g", "address,branch,callee"], ["-g", "branch,caller", "--no-children"],
              ["-g", "srcline,branch"]]


def functions(program):
    """Address and size of each of the program's functions."""
    listing = subprocess.run(["nm", "-S", program], capture_output=True, text=True, check=True).stdout
    return [(int(m[1], 16), int(m[2], 16)) for m in re.finditer(r"^(\w+) (\w+) T (?:one|two|three|main)$", listing, re.M)]


def path_of(draw, places):
    """The branches of one sample, newest first, as (from, to, flags): mostly loops, some calls."""
    branches = []
    while len(branches) < draw.randrange(1, 32):
        start, size = draw.choice(places)
        loop = (start + size // 2, start + size // 4, draw.choice([1, 1, 0]))
        call = (draw.choice(places)[0] + 8, start, 4)
        # Two branches that are repeated together, a loop in a loop.
        body = draw.choice([[loop], [loop], [loop, (start + size // 4 + 2, start + size // 3, 2)], [call]])
        for source, target, kind in body * draw.randrange(1, 7):
            flags = draw.choice([2, 2, 2, 1, 2 | 8]) | draw.randrange(0, 30) << 4 | kind << 20
            branches.append((source, target, flags))
    return branches[:31]


def write_recording(path, program, with_chains, seed=21):
    """Returns the branches of each sample."""
    draw = random.Random(seed)
    drawn = []
    places = functions(program)
    lines = [EVENT % ("CALLCHAIN|" if with_chains else "", program)]
    for number in range(SAMPLES):
        # Few paths, so that some are walked more than once.
        paths = random.Random(draw.randrange(40))
        branches = path_of(paths, places)
        drawn.append(branches)
        start, size = paths.choice(places)
        ip = start + paths.randrange(size)
        chain = [ip, branches[0][0] + paths.randrange(1, 10)] + [place + 4 for place, _ in paths.choices(places, k=paths.randrange(40))]
        words = ",".join(f"{word:#x}" for branch in branches for word in branch)
        text = f" chain=user,{','.join(f'{address:#x}' for address in chain)}" if with_chains else ""
        lines.append(f"SAMPLE id=7 mode=user ip={ip:#x} pid=20 tid=20 time={1000 * (number + 2)} cpu=0 period={paths.randrange(1, 400)}"
                     f"{text} branches={words}\n")
    Path(f"{path}.txt").write_text("".join(lines), encoding="utf-8")
    subprocess.run([SONDE, "assemble", f"{path}.txt", path], check=True)
    return drawn


def said(tool, path, options):
    trust = ["--unverified-symbols"] if tool == SONDE else []
    done = side_by_side.ask(tool, "report", "--stdio", "-i", path, *trust, *options)
    # perf calls what fractal graphs leave out a call trace, too.
    lines = [line.rstrip().replace("[...] (calltrace)", "[...]") for line in done.lines if not line.startswith("#")]
    return side_by_side.Said([line for line in lines if line], done.status)


def instructions(program):
    """The addresses of each function's instructions."""
    listing = subprocess.run(["objdump", "-d", "--no-show-raw-insn", program], capture_output=True, text=True, check=True).stdout
    found = {}
    for block in listing.split("\n\n"):
        heading = re.search(r"^\w+ <(\w+)>:$", block, re.M)
        if heading:
            found[heading[1]] = [int(address, 16) for address in re.findall(r"^ *(\w+):\t", block, re.M)]
    return found


class Block:
    def __init__(self):
        self.all = []      # cycles of each pass
        self.start = None  # of the longest
        self.longest = []  # cycles of its passes


def blocks_of(samples, places):
    """Blocks by function's start and end, from the branches alone."""
    blocks = defaultdict(Block)

    def function(address):
        return next((start for start, size in places if start <= address < start + size), None)

    for branches in samples:
        if branches[0][2] >> 4 & 0xffff == 0:
            continue
        target = None
        for source, to, flags in reversed(branches):
            cycles, home = flags >> 4 & 0xffff, function(source)
            if cycles and home:
                block = blocks[home, source]
                block.all.append(cycles)
                start = target if target and function(target) == home and target < source else None
                if start and (block.start is None or start < block.start):
                    block.start, block.longest = start, []
                if start == block.start:
                    block.longest.append(cycles)
            target = to
    return blocks


def check_code(both, path, program, blocks):
    """The columns of annotate --stdio2: cycles at the ends of blocks, instructions per cycle in them."""
    for name, code in instructions(program).items():
        if name not in ("one", "two", "three", "main"):
            continue
        cycles, ipc = {}, {}
        for (home, end), block in sorted(blocks.items(), reverse=True):
            if home != code[0]:
                continue
            if end in code:
                cycles[end] = str(sum(block.all) // len(block.all))
            if block.start:
                inside = [at for at in code if block.start <= at <= end]
                for at in inside:
                    ipc.setdefault(at, f"{len(inside) * len(block.longest) / sum(block.longest):.2f}")
        done = side_by_side.ask(SONDE, "annotate", "--stdio2", "--no-source", "--unverified-symbols", "-i", path, "-s", name)
        columns = [line[7:18].split() for line in done.lines if re.match(r".{18} *(\w+: )?(  |[↓↑→←] )\w", line)][-len(code):]
        wanted = [[word for word in (ipc.get(at), cycles.get(at)) if word] for at in code]
        both.expect(columns == wanted, f"annotate --stdio2 {name}: {columns}, not {wanted}")


def check_changes(both, paths, blocks, places):
    """The rows of diff -c cycles: the functions' blocks, those that changed most first."""
    wanted = []
    for home, _ in places:
        changes = []
        for key, block in blocks[0].items():
            other = blocks[1].get(key)
            start = block.start or home
            if key[0] == home and other and (other.start or home) == start:
                changes.append(sum(other.all) // len(other.all) - sum(block.all) // len(block.all))
        wanted.append(sorted(map(abs, changes), reverse=True))
    for options in ([], ["--cycles-hist"]):
        done = side_by_side.ask(SONDE, "diff", "--unverified-symbols", "-c", "cycles", *options, *paths)
        found = defaultdict(list)
        for line in done.lines:
            row = re.search(r"\] +(-?\d+) .*\[\.\] (\w+)", line)
            if row and not line.startswith("#"):
                found[row[2]].append(abs(int(row[1])))
        both.expect(sorted(found.values()) == sorted(filter(None, wanted)),
                    f"diff -c cycles {options}: {dict(found)}, not {wanted}")


def without_numbers(lines):
    """Source lines are numbered from another line on by perf (docs/differences.md)."""
    return [re.sub(r"^( *: )\d+ +", r"\1", line.rstrip()) for line in lines]


def code_of(tool, path, options):
    trust = ["--unverified-symbols"] if tool == SONDE else []
    done = side_by_side.ask(tool, "annotate", "--stdio", "-i", path, *trust, *options)
    return side_by_side.Said(without_numbers(done.lines), done.status)


def streams_of(tool, paths):
    trust = ["--unverified-symbols"] if tool == SONDE else []
    return side_by_side.ask(tool, "diff", *trust, "--stream", *paths)


def check_bolt(both, path, samples):
    """The lines of data convert --to-bolt: the program is not relocated, so addresses are those of the recording."""
    taken, missed, runs = defaultdict(int), defaultdict(int), defaultdict(int)
    for branches in samples:
        for number, (source, target, flags) in enumerate(branches):
            taken[source, target] += 1
            missed[source, target] += flags & 1
            following = branches[number - 1][0] if number else 0
            if following >= target:
                runs[target, following] += 1
    wanted = [f"B {source:x} {target:x} {count} {missed[source, target]}" for (source, target), count in taken.items()]
    wanted += [f"F {start:x} {end:x} {count}" for (start, end), count in runs.items()]
    done = side_by_side.ask(SONDE, "data", "convert", "--unverified-symbols", "--to-bolt", "-", "-i", path)
    both.lines("data convert --to-bolt", side_by_side.Said(sorted(wanted)), side_by_side.Said(sorted(done.lines), done.status))


def compare_cycles(both, directory, program, places):
    paths = [f"{directory}/{name}.data" for name in ("first", "second")]
    samples = [write_recording(path, program, False, seed) for path, seed in zip(paths, (21, 22))]
    blocks = [blocks_of(drawn, places) for drawn in samples]
    check_bolt(both, paths[0], samples[0])
    for path, sums in zip(paths, blocks):
        check_code(both, path, program, sums)
        for options in [], ["-l"], ["-n"], ["--asm-raw"]:
            both.lines(f"annotate {options}", code_of(PERF, path, options), code_of(SONDE, path, options), least=10, status=0)
    check_changes(both, paths, blocks, places)
    for pair in paths, paths[::-1], paths[:1] * 2:
        both.lines(f"diff --stream {pair}", streams_of(PERF, pair), streams_of(SONDE, pair), least=20, status=0)


def main():
    both = side_by_side.Comparison("branches")
    with tempfile.TemporaryDirectory(prefix="branches-") as directory:
        program = f"{directory}/program"
        Path(f"{program}.c").write_text(PROGRAM, encoding="utf-8")
        subprocess.run(["gcc", "-g", "-O1", "-no-pie", "-o", program, f"{program}.c"], check=True)
        for with_chains in (False, True):
            path = f"{directory}/{'chains' if with_chains else 'branches'}.data"
            write_recording(path, program, with_chains)
            runs = [["--branch-history", *options] for options in BRANCH_HISTORY]
            if with_chains:
                runs += [["--no-branch-stack", *options] for options in CALL_GRAPH]
            for options in runs:
                both.lines(f"{Path(path).name} {' '.join(options)}", said(PERF, path, options), said(SONDE, path, options), status=0)
        compare_cycles(both, directory, program, functions(program))
    both.finish()


if __name__ == "__main__":
    main()
