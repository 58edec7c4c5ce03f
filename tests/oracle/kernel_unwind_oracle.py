#!/usr/bin/env python3
"""Chains unwound in the kernel against copies of the same stacks, frame by frame.

Real programs are recorded with --call-graph bpf,raw, so that each sample has both; $SONDE_TOOLS/unwound_dump replaces the chains of a
recording by those that the copies give. What differs is counted by kind: where a chain is the beginning of the other ("longer": the
copy ended first), and where it has other frames. Needs root.

  SONDE=build/release/sonde SONDE_TOOLS=build/release/tests tests/oracle/kernel_unwind_oracle.py build/release [PROGRAM...]
"""
import collections
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import own_tmp
from both_chains import agree, kind_of, walked_chains
from stack_programs import CPLUSPLUS

SONDE, TOOLS = os.environ["SONDE"], os.environ["SONDE_TOOLS"]
COPY_BYTES = 57344  # with the longest chain it still fits into a record
FEWEST = 100  # samples with user frames, of each program

PYTHON = """
import json, zlib
def descend(depth): return json.dumps([[i] for i in range(2000)]) if depth == 0 else descend(depth - 1)
for i in range(800): zlib.compress(descend(i % 40).encode())
"""
NODE = """
const work = n => n < 2 ? n : work(n - 1) + work(n - 2);
let sum = 0;
for (let i = 0; i < 40; i++) { sum += work(27); sum += JSON.stringify([...Array(60000).keys()].sort()).length; }
"""
JAVA = """
import java.util.*;
public class Work {
  static int work(int n) { return n < 2 ? n : work(n - 1) + work(n - 2); }
  public static void main(String[] words) {
    Map<String, Integer> counts = new TreeMap<>();
    for (int i = 0; i < 12; i++) {
      counts.merge("work", work(30), Integer::sum);
      for (int j = 0; j < 40000; j++) counts.merge(Integer.toString(j * 7919 % 5000), 1, Integer::sum);
    }
    System.out.println(counts.size());
  }
}
"""


def programs(directory):
    """(name, command)"""
    data = directory / "input"
    data.write_bytes(pathlib.Path(SONDE).read_bytes()[:6_000_000])
    yield "xz", ["xz", "-T2", "-2", "--block-size=1MiB", "-c", data]
    yield "python3", ["/usr/bin/python3", "-c", PYTHON]
    source = directory / "count.cc"
    source.write_text(CPLUSPLUS)
    yield "g++", ["g++", "-O2", "-std=c++20", "-c", "-o", "/dev/null", source]
    yield "openssl", ["openssl", "dgst", "-sha3-512", *[data] * 60]
    if shutil.which("node"):
        yield "node", ["node", "-e", NODE]
        yield "node with frame pointers", ["node", "--perf-basic-prof", "--interpreted-frames-native-stack", "-e", NODE]
    if shutil.which("javac"):
        (directory / "Work.java").write_text(JAVA)
        subprocess.run(["javac", "-d", directory, directory / "Work.java"], check=True)
        yield "java", ["java", "-cp", directory, "Work"]
        yield "java with frame pointers", ["java", "-XX:+PreserveFramePointer", "-cp", directory, "Work"]


def compare(name, recording, directory):
    """Returns what was found by kind, and the first of each kind that is not equal."""
    unwound = directory / "unwound.data"
    subprocess.run([pathlib.Path(TOOLS) / "unwound_dump", recording, unwound], check=True, stdout=subprocess.DEVNULL)
    by_walk, by_copy = walked_chains(SONDE, recording), walked_chains(SONDE, unwound)
    if by_walk.keys() != by_copy.keys():
        raise RuntimeError(f"{name}: {len(by_walk)} samples became {len(by_copy)}")
    kinds, examples = collections.Counter(), {}
    for sample, walked in by_walk.items():
        if not walked:
            kinds["copied only"] += bool(by_copy[sample])
            continue
        kind = kind_of(walked, by_copy[sample])
        kinds[kind] += 1
        if kind != "equal":
            examples.setdefault(kind, []).append((sample, walked, by_copy[sample]))
    return kinds, examples


def text_of(chain):
    return " ".join(f"{address:x}" for address in chain)


def main():
    if os.geteuid() != 0:
        print("BPF programs on events need root")
        return 77
    failures, compared = [], 0
    print(f"{'':26} {'compared':>8} {'equal':>7} {'%':>7} {'shorter':>8} {'longer':>7} {'different':>9} {'copied only':>11}")
    with tempfile.TemporaryDirectory(dir=os.environ.get("SONDE_TMP")) as made:
        directory = pathlib.Path(made)
        for name, command in programs(directory):
            if sys.argv[2:] and name not in sys.argv[2:]:
                continue
            recording = directory / "both.data"
            run = subprocess.run([SONDE, "record", "-q", "-e", "cpu-clock", "-F", "999", "-N", "--no-interpreters", "--call-graph",
                                  f"bpf,{COPY_BYTES},raw", "-o", recording, "--", *command], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, text=True, check=False, cwd=directory)
            if run.returncode != 0:
                failures.append(f"{name}: {run.stderr}")
                continue
            kinds, examples = compare(name, recording, directory)
            count = sum(kinds[kind] for kind in ("equal", "shorter", "longer", "different"))
            compared += count
            print(f"{name:26} {count:>8} {kinds['equal']:>7} {100 * kinds['equal'] / max(1, count):>6.2f}% {kinds['shorter']:>8} "
                  f"{kinds['longer']:>7} {kinds['different']:>9} {kinds['copied only']:>11}", flush=True)
            if count < FEWEST:
                failures.append(f"{name}: only {count} samples to compare")
            if not agree(kinds):
                failures += [f"{name}, {kind}, thread and time {sample}:\n  walked   {text_of(walked)}\n  unwound  {text_of(copy)}"
                             for kind, found in examples.items() for sample, walked, copy in found[:3]]
    print("\n".join(failures))
    print(f"{compared} passed, 0 failed" if not failures else f"{compared} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    own_tmp.take()
    sys.exit(main())
