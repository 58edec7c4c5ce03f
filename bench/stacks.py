"""Recording whole stacks of a program without frame pointers (--call-graph dwarf): file size, the target's time, losses.

Both record the C++ compiler at the same work, alternating. The target's time is its own CPU time and elapsed time, without the
recorder's start and end; it runs once without a recorder, too.
"""
import os
import re
import resource
import statistics
import subprocess
import sys
from dataclasses import asdict, dataclass

from recorders import count

SETTINGS = [("-F 4000", ["-F", "4000"]), ("-F max", ["-F", "max"])]
# What the target prints about itself when it is done: elapsed and CPU seconds.
TARGET = """
import resource, subprocess, sys, time
start = time.monotonic()
subprocess.run(sys.argv[2:], check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
open(sys.argv[1], "w").write(f"{time.monotonic() - start} {used.ru_utime + used.ru_stime}")
"""
SOURCE = """
#include <map>
#include <regex>
#include <string>
#include <unordered_map>
int count(const std::string& text) {
  std::map<std::string, int> words;
  std::regex word("[a-z]+");
  for (std::sregex_iterator i(text.begin(), text.end(), word), end; i != end; ++i) ++words[i->str()];
  return static_cast<int>(words.size());
}
"""


@dataclass
class Stacks:
    samples: int
    lost: int
    bytes: int
    elapsed_s: float  # the target's
    cpu_s: float  # the target's
    all_cpu_s: float  # recorder and target

    @property
    def bytes_per_sample(self):
        return self.bytes / max(1, self.samples)

    @property
    def lost_share(self):
        return self.lost / max(1, self.samples + self.lost)


def compiler(directory):
    """The compiler itself, with two seconds of work."""
    source = directory / "stacks.cc"
    source.write_text(SOURCE)
    ask = lambda what: subprocess.run(["g++", f"-print-{what}"], capture_output=True, text=True, check=True).stdout.strip()
    return [ask("prog-name=cc1plus"), "-quiet", "-O2", "-std=c++20", "-imultiarch", ask("multiarch"), "-D_GNU_SOURCE", str(source),
            "-o", os.devnull]


def run(command, directory):
    """(elapsed, CPU time) of the target, and CPU time of all."""
    said = directory / "stacks.time"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*command, sys.executable, "-c", TARGET, said, *compiler(directory)], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    elapsed, cpu = map(float, said.read_text().split())
    return elapsed, cpu, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def record_once(tool, options, directory, sonde):
    path = directory / "stacks.data"
    elapsed, cpu, all_cpu = run([tool, "record", "-q", "-e", "cpu-clock", "-N", "--call-graph", "dwarf", *options, "-o", str(path),
                                 "--"], directory)
    size = path.stat().st_size
    samples, lost = count_of(path, sonde)
    path.unlink()
    return Stacks(samples, lost, size, elapsed, cpu, all_cpu)


def count_of(path, sonde):
    """Compressed records are counted by a reader."""
    samples, lost = count(path)
    if samples > 0:
        return samples, lost
    ask = lambda *words: subprocess.run([sonde, "report", *words, "--stdio", "-i", path], capture_output=True, text=True,
                                        check=True).stdout
    samples = re.search(r"SAMPLE events: +(\d+)", ask("--stats")).group(1)
    lost = re.search(r"Total Lost Samples: (\d+)", ask("--no-children", "-g", "none")).group(1)
    return int(samples), int(lost)


@dataclass
class StackRecordings:
    name: str
    alone: list  # (elapsed, CPU time)
    sonde: list
    perf: list

    def median(self, side, what):
        return statistics.median(getattr(r, what) for r in getattr(self, side))

    def table(self):
        elapsed, cpu = (statistics.median(run[i] for run in self.alone) for i in (0, 1))
        lines = [f"{self.name:36} {'samples':>9} {'lost %':>7} {'size':>9} {'B/sample':>9} {'target':>8} {'its cpu':>8} {'all cpu':>8}",
                 f"  {'without a recorder':34} {'':>9} {'':>7} {'':>9} {'':>9} {elapsed:>7.2f}s {cpu:>7.2f}s"]
        for side in ("sonde", "perf"):
            m = lambda what, side=side: self.median(side, what)
            lines.append(f"  {side:34} {m('samples'):>9.0f} {100 * m('lost_share'):>6.1f}% {m('bytes') / 1e6:>7.1f}MB "
                         f"{m('bytes_per_sample'):>9.0f} {m('elapsed_s'):>7.2f}s {m('cpu_s'):>7.2f}s {m('all_cpu_s'):>7.2f}s")
        ratio = self.median("perf", "bytes_per_sample") / self.median("sonde", "bytes_per_sample")
        lines.append(f"  bytes for a sample: 1/{ratio:.0f}")
        return "\n".join(lines)

    def document(self):
        return {"name": self.name, "alone": self.alone, "sonde": [asdict(r) for r in self.sonde],
                "perf": [asdict(r) for r in self.perf]}


def compare_stacks(name, sonde, perf, directory, runs):
    results = []
    for setting, options in SETTINGS:
        result = StackRecordings(f"{name}, {setting}", [], [], [])
        for _ in range(runs):
            result.alone.append(run([], directory)[:2])
            result.sonde.append(record_once(sonde, options, directory, sonde))
            result.perf.append(record_once(perf, options, directory, sonde))
        print(result.table(), file=sys.stderr)
        results.append(result)
    return results
