#!/usr/bin/env python3
"""`perf report` and `sonde report` with branches in call chains, to the character except for trailing blanks. No machine here
records branches, so the recordings are assembled: of a program that is compiled here, with paths drawn at random, the same ones
in every run, through loops, calls and returns. Needs gcc and perf."""
import os
import random
import re
import subprocess
import tempfile
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


def write_recording(path, program, with_chains):
    draw = random.Random(21)
    places = functions(program)
    lines = [EVENT % ("CALLCHAIN|" if with_chains else "", program)]
    for number in range(SAMPLES):
        # Few paths, so that some are walked more than once.
        paths = random.Random(draw.randrange(40))
        branches = path_of(paths, places)
        start, size = paths.choice(places)
        ip = start + paths.randrange(size)
        chain = [ip, branches[0][0] + paths.randrange(1, 10)] + [place + 4 for place, _ in paths.choices(places, k=paths.randrange(40))]
        words = ",".join(f"{word:#x}" for branch in branches for word in branch)
        text = f" chain=user,{','.join(f'{address:#x}' for address in chain)}" if with_chains else ""
        lines.append(f"SAMPLE id=7 mode=user ip={ip:#x} pid=20 tid=20 time={1000 * (number + 2)} cpu=0 period={paths.randrange(1, 400)}"
                     f"{text} branches={words}\n")
    Path(f"{path}.txt").write_text("".join(lines), encoding="utf-8")
    subprocess.run([SONDE, "assemble", f"{path}.txt", path], check=True)


def said(tool, path, options):
    trust = ["--unverified-symbols"] if tool == SONDE else []
    done = side_by_side.ask(tool, "report", "--stdio", "-i", path, *trust, *options)
    # perf calls what fractal graphs leave out a call trace, too.
    lines = [line.rstrip().replace("[...] (calltrace)", "[...]") for line in done.lines if not line.startswith("#")]
    return side_by_side.Said([line for line in lines if line], done.status)


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
    both.finish()


if __name__ == "__main__":
    main()
