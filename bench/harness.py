"""Measures Sonde against perf: the same work with both, alternating (A B A B ...), so that a slow moment of the machine affects
both.

    bench = Bench(runs=7)
    bench.compare("report --stdio", ["sonde", "report", ...], ["perf", "report", ...])
    print(bench.table()); bench.write_json("bench.json")

For each side: the medians of wall-clock time, CPU time and peak memory (ru_maxrss of the process, by wait4, including the peak of
the children it waited for). A ratio is perf's median divided by Sonde's: above 1, Sonde is ahead. Of our commands also the part of
their CPU time that passes (0.5 where two cores are busy throughout), and, where it is asked for, the time on one core. A command's
output is written to a file and then deleted, so that writing is part of the work; but very large output (script: a gigabyte) goes to
/dev/null.
"""
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field


@dataclass
class Measure:
    wall_s: float
    cpu_s: float
    peak_kib: int
    status: int
    output_bytes: int


@dataclass
class Comparison:
    name: str
    sonde: list  # of Measure
    perf: list
    goal: float | None = None        # times faster than perf
    memory_goal: float | None = None  # share of perf's memory
    one_core: list = field(default_factory=list)  # Sonde, on one core

    def median(self, side, what):
        return statistics.median(getattr(m, what) for m in getattr(self, side)) if getattr(self, side) else None

    def passing(self):
        """Time that passes by the CPU time of it."""
        wall, cpu = self.median("sonde", "wall_s"), self.median("sonde", "cpu_s")
        return wall / cpu if wall and cpu else None

    def ratio(self, what):
        ours, theirs = self.median("sonde", what), self.median("perf", what)
        return theirs / ours if ours and theirs else None


def measure(command, directory=None, environment=None, discard=False):
    """Runs one command to its end. Peaks below the 16 MiB of the Python that starts it cannot be seen."""
    with open(os.devnull, "wb") if discard else tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.monotonic()
        child = subprocess.Popen(command, stdout=out, stderr=err, stdin=subprocess.DEVNULL, cwd=directory,
                                 env={**os.environ, **(environment or {})})
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            err.seek(0)
            sys.stderr.write(f"bench: status {child.returncode} of {' '.join(command)}\n{err.read(300).decode(errors='replace')}\n")
        return Measure(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss, child.returncode,
                       os.fstat(out.fileno()).st_size)


class Bench:
    def __init__(self, runs=5, directory=None):
        self.runs = runs
        self.directory = directory
        self.comparisons = []

    def compare(self, name, sonde, perf, goal=None, memory_goal=None, runs=None, discard=False, one_core=False):
        """Alternates both commands. `perf` may be None if perf cannot do it."""
        found = Comparison(name, [], [], goal, memory_goal)
        for _ in range(runs or self.runs):
            found.sonde.append(measure(sonde, self.directory, discard=discard))
            if one_core:
                found.one_core.append(measure(["taskset", "-c", "0", *sonde], self.directory, discard=discard))
            if perf:
                found.perf.append(measure(perf, self.directory, discard=discard))
        self.comparisons.append(found)
        print(f"  {row(found)}", file=sys.stderr, flush=True)
        return found

    def failed(self):
        """Names of comparisons in which one of our commands failed: their times mean nothing."""
        return [c.name for c in self.comparisons if any(m.status != 0 for m in c.sonde)]

    def table(self):
        return "\n".join([HEADING] + [row(c) for c in self.comparisons])

    def write_json(self, path, recorders=(), overheads=(), pages=()):
        document = {
            "machine": {"cpus": os.cpu_count(), "kernel": platform.release(), "machine": platform.machine()},
            "comparisons": [{
                "name": c.name, "goal": c.goal, "memory_goal": c.memory_goal,
                "wall_ratio": c.ratio("wall_s"), "cpu_ratio": c.ratio("cpu_s"), "memory_ratio": c.ratio("peak_kib"),
                "passing": c.passing(), "sonde": [asdict(m) for m in c.sonde], "perf": [asdict(m) for m in c.perf],
                "one_core": [asdict(m) for m in c.one_core],
            } for c in self.comparisons],
        }
        if recorders:
            document["recorders"] = [r.document() for r in recorders]
        if overheads:
            document["overheads"] = [o.document() for o in overheads]
        if pages:
            document["pages"] = [p.document() for p in pages]
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file, indent=1)
            file.write("\n")


HEADING = (f"{'':50} {'sonde':>9} {'of cpu':>7} {'1 core':>9} {'perf':>9} {'faster':>8} {'by cpu':>8} {'goal':>6}   "
           f"{'sonde':>8} {'perf':>8} {'memory':>8}")


def row(c):
    def text(value, form, unit=""):
        return "-" if value is None else format(value, form) + unit

    def mib(side):
        peak = c.median(side, "peak_kib")
        return None if peak is None else peak / 1024

    return (f"{c.name:50} {text(c.median('sonde', 'wall_s'), '.3f', 's'):>9} {text(c.passing(), '.2f'):>7} "
            f"{text(c.median('one_core', 'wall_s'), '.3f', 's'):>9} {text(c.median('perf', 'wall_s'), '.3f', 's'):>9} "
            f"{text(c.ratio('wall_s'), '.1f', 'x'):>8} {text(c.ratio('cpu_s'), '.1f', 'x'):>8} {text(c.goal, '.2g' if c.goal and c.goal < 1 else '.0f', 'x'):>6}   "
            f"{text(mib('sonde'), '.0f', 'M'):>8} {text(mib('perf'), '.0f', 'M'):>8} {text(c.ratio('peak_kib'), '.1f', 'x'):>8}")
