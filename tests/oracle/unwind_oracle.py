#!/usr/bin/env python3
"""Call chains from copied stacks: Sonde's unwinder against perf's, which is libunwind, and libdw's, on the same recordings.

The recordings are of real optimised programs without frame pointers: threads (xz), an interpreter deep in recursion (python), the
C++ compiler, exceptions thrown in threads, hand-written assembly (openssl). Chains must be equal to libunwind's, except for the
frame with address -1 with which perf ends a chain that its stack copy truncates, and for frames in no object with which perf goes
on where Sonde ends a chain (_Unwind_Resume writes the registers of the frame that it goes to over those of its own caller); 99.9 %
(of a short recording all but three) must be equal to libdw's, or extend them.
docs/unwinding.md explains the others.

  SONDE=build/release/sonde tests/oracle/unwind_oracle.py
"""
import os
import pathlib
import subprocess
import sys
import tempfile

from stack_programs import CPLUSPLUS

SONDE = os.environ["SONDE"]
PERF = "/usr/bin/perf"
LIBDW = pathlib.Path(os.environ["SONDE_TOOLS"]) / "libdw_chains_dump"
NO_OBJECT = ("([unknown])", "(//anon)", "([heap])", "([stack])")
FEWEST = 300  # chains, for a meaningful comparison

PYTHON = """
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
def deep(n): return fib(16) if n == 0 else deep(n - 1)
for i in range(60): deep(i)
"""


EXCEPTIONS = """
#include <algorithm>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
struct Guard {
  std::string text;
  ~Guard() { if (text.size() > 99) std::abort(); }
};
__attribute__((noinline)) int dive(int depth, unsigned seed) {
  Guard guard{std::string(depth % 40, 'x')};
  if (depth == 0) {
    if (seed % 3 != 0) throw std::runtime_error("deep");
    return 1;
  }
  std::vector<int> values(64);
  for (int& value : values) value = static_cast<int>(seed = seed * 1664525 + 1013904223) >> 8;
  std::sort(values.begin(), values.end(), [](int a, int b) { return a % 1009 < b % 1009; });
  return dive(depth - 1, seed) + values[7];
}
void work(int rounds) {
  std::map<std::string, int> seen;
  for (int i = 0; i < rounds; ++i) {
    try {
      seen["fine"] += dive(i % 30, static_cast<unsigned>(i) * 2654435761u);
    } catch (const std::exception& error) {
      ++seen[error.what() + std::to_string(i % 100)];
    }
  }
}
int main(int, char** words) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back(work, std::atoi(words[1]));
  for (std::thread& thread : threads) thread.join();
}
"""


def workloads(directory):
    data = directory / "input"
    data.write_bytes(pathlib.Path(SONDE).read_bytes()[:6_000_000])
    yield "xz", ["xz", "-T2", "-2", "--block-size=1MiB", "-c", data]
    yield "python", ["/usr/bin/python3", "-c", PYTHON]
    # The compiler itself, not its driver: perf looks up what an exec'd child maps where its parent had it.
    source = directory / "source.cc"
    source.write_text(CPLUSPLUS)
    compiler, triplet = (subprocess.run(["g++", f"-print-{what}"], capture_output=True, text=True, check=True).stdout.strip()
                         for what in ("prog-name=cc1plus", "multiarch"))
    yield "cc1plus", [compiler, "-quiet", "-O2", "-std=c++20", "-imultiarch", triplet, "-D_GNU_SOURCE", source, "-o",
                      "/dev/null"]
    throwing = directory / "throwing"
    source.write_text(EXCEPTIONS)
    subprocess.run(["g++", "-O2", "-pthread", source, "-o", throwing], check=True)
    yield "exceptions", [throwing, "12000"]
    yield "openssl", ["openssl", "speed", "-seconds", "1", "-bytes", "4096", "sha256"]


def chains(tool, recording, frame=lambda words: words[0]):
    """[(thread and time, [address, ...]), ...] leaf first; frame gives what is kept of a frame's words, address and object."""
    words = [tool, recording] if tool == LIBDW else [tool, "script", "--no-inline", "-i", recording, "-F", "tid,time,ip,dso"]
    text = subprocess.run(words, capture_output=True, text=True, check=True, timeout=300).stdout
    found = []
    for line in text.splitlines():
        if not line.strip():
            continue
        if line[0] in "\t":
            found[-1][1].append(frame(line.split()))
        else:
            found.append((line.strip(), []))
    return found


def allowed(samples):
    """A few samples of a thousand lie where a reader of the tables can only guess (a fork before its exec, an instruction of
    hand-written assembly that its tables do not describe): one of a short recording is no disagreement."""
    return max(3, samples // 1000)


def compare(name, recording):
    ours, theirs = chains(SONDE, recording), chains(PERF, recording, frame=lambda words: (words[0], words[1] not in NO_OBJECT))
    if [who for who, _ in ours] != [who for who, _ in theirs]:
        return [f"{name}: not the same samples"], 0
    differing = []
    equal = 0
    for (who, mine), (_, frames) in zip(ours, theirs):
        other = [address for address, _ in frames]
        if other and other[-1] == "f" * 16:
            other = other[:-1]
            mine = mine[:len(other)]  # where perf gave up, ours may continue
        if mine == other or (mine == other[:len(mine)] and not any(in_object for _, in_object in frames[len(mine):])):
            equal += 1
        else:
            differing.append(f"{name} {who}:\n  sonde {' '.join(mine)}\n  perf  {' '.join(other)}")
    longest = max(len(chain) for _, chain in ours)
    print("\n".join(differing[:3]))
    print(f"{name}: {equal} of {len(ours)} chains equal, the longest has {longest} frames")
    # Until the exec, perf looks objects up where the fork's parent had them: its first chains may be short.
    return (differing if len(differing) > allowed(len(ours)) else []), len(ours)


def compare_with_libdw(name, recording):
    """libdw's chains match ours if they are equal, or a prefix of ours."""
    ours, theirs = chains(SONDE, recording), chains(LIBDW, recording)
    if [who.split()[0] for who, _ in ours] != [who.split()[0] for who, _ in theirs]:
        return [f"{name}: libdw has not the same samples"]
    equal = sum(mine == other for (_, mine), (_, other) in zip(ours, theirs))
    longer = sum(mine != other and mine[:len(other)] == other for (_, mine), (_, other) in zip(ours, theirs))
    others = [f"{name} {who}:\n  sonde {' '.join(mine)}\n  libdw {' '.join(other)}"
              for (who, mine), (_, other) in zip(ours, theirs) if mine[:len(other)] != other]
    print("\n".join(others[:3]))
    print(f"{name}: libdw has {equal} of {len(ours)} equal, {longer} shorter, {len(others)} others")
    return others if len(others) > allowed(len(ours)) else []


INLINING = """
#include <cstdint>
#include <cstdio>
#include <cstdlib>
static inline uint64_t turn(uint64_t x, int by) { return x << by | x >> (64 - by); }
static inline uint64_t mix(uint64_t x) { return turn(x * 0x9e3779b97f4a7c15u, 31) ^ turn(x, 7); }
struct Table {
  uint64_t cells[4096] = {};
  inline void touch(uint64_t key) { for (int i = 0; i < 8; ++i) cells[(key = mix(key)) % 4096] += mix(key + i); }
};
__attribute__((noinline)) uint64_t fill(Table& table, uint64_t rounds) {
  for (uint64_t i = 0; i < rounds; ++i) table.touch(i);
  return table.cells[rounds % 4096];
}
int main(int, char** words) { static Table table; printf("%lu\\n", fill(table, strtoul(words[1], nullptr, 10))); }
"""


def lines_of_program(tool, recording):
    """Per sample the frames of the program: (address, name), inlined ones with the address that they are at."""
    text = subprocess.run([tool, "script", "-i", recording, "-F", "tid,time,ip,sym,symoff,dso"], capture_output=True,
                          text=True, check=True, timeout=300).stdout
    samples = []
    for block in text.split("\n\n"):
        lines = [line for line in block.splitlines() if line.startswith("\t")]
        inside = [line.split(None, 1)[0] for line in lines if line.endswith("/inlining)")]
        samples.append([tuple(line.replace(" (inlined)", "").split(" (")[0].split(None, 1)) for line in lines
                        if line.split(None, 1)[0] in inside])
    return samples


def same_frames(mine, other):
    """addr2line (2.40) names the innermost of several inlined functions after the outermost."""
    around = dict(mine)  # address -> the last name there: the function that is not inlined
    return len(mine) == len(other) and all(a == b or (a[0] == b[0] and b[1] == around[b[0]]) for a, b in zip(mine, other))


def compare_inlined(directory):
    """The functions that the compiler inlined: those that addr2line reports to perf."""
    source, program, recording = (directory / name for name in ("inlining.cc", "inlining", "inlining.data"))
    source.write_text(INLINING)
    subprocess.run(["g++", "-O2", "-g", source, "-o", program], check=True)
    subprocess.run([PERF, "record", "-q", "-F", "2000", "-e", "cpu-clock", "--call-graph", "dwarf,4096", "-o", recording, "--",
                    program, "6000000"], stdout=subprocess.DEVNULL, check=True, timeout=300)
    ours, theirs = lines_of_program(SONDE, recording), lines_of_program(PERF, recording)
    differing = [f"inlined functions:\n  sonde {mine}\n  perf  {other}" for mine, other in zip(ours, theirs)
                 if not same_frames(mine, other)]
    inlined = sum(len(mine) > 2 for mine in ours)
    print(f"inlined functions: {len(ours) - len(differing)} of {len(ours)} chains equal, {inlined} have some")
    if inlined == 0 or len(ours) != len(theirs):
        differing.append("inlined functions: none were seen")
    return differing


def main():
    failures = []
    compared = 0
    with tempfile.TemporaryDirectory(dir=os.environ.get("SONDE_TMP")) as made:
        directory = pathlib.Path(made)
        for name, command in workloads(directory):
            recording = directory / f"{name}.data"
            subprocess.run([PERF, "record", "-q", "-F", "3000", "-e", "cpu-clock", "--call-graph", "dwarf", "-o", recording, "--",
                            *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, timeout=300)
            wrong, count = compare(name, recording)
            failures += wrong[:3] + compare_with_libdw(name, recording)[:3]
            compared += count
        failures += compare_inlined(directory)[:3]
    if compared < FEWEST:
        failures.append(f"only {compared} chains were recorded")
    print("\n".join(failures))
    print(f"{compared} passed, 0 failed" if not failures else f"{compared - len(failures)} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
