"""What counting costs the counted: a program that does little but system calls, alone and under both tools in turn.

The time is the program's own word for its loop (dd's last line), so that neither the start of a tool nor its end is in it.
The least of several runs is compared: on a busy machine the others say more about the load than about the counting.
"""
import os
import re
import statistics
import subprocess
import sys
from dataclasses import dataclass

DD = ["dd", "if=/dev/zero", "of=/dev/null", "bs=512", "count=1000k"]
CALLS = 2 * 1000 * 1024  # a read and a write for each block


def seconds_of(command):
    """dd's own measurement of its loop."""
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True,
                          env={**os.environ, "LC_ALL": "C"})
    return float(re.search(r"copied, ([\d.e-]+) s,", done.stderr).group(1))


@dataclass
class Overhead:
    name: str
    seconds: dict  # side: seconds of its runs
    goal = 1.0     # at most perf's

    def least(self, side):
        return min(self.seconds[side])

    def overhead(self, side):
        return self.least(side) - self.least("bare")

    def ratio(self):
        """perf's overhead over Sonde's: above 1, Sonde is ahead."""
        return self.overhead("perf") / max(self.overhead("sonde"), 1e-9)

    def table(self):
        lines = [f"{self.name:44} {'least':>8} {'median':>8} {'overhead':>9} {'per call':>9}"]
        for side, seconds in self.seconds.items():
            over = self.overhead(side)
            lines.append(f"  {side:42} {self.least(side):>7.3f}s {statistics.median(seconds):>7.3f}s {over:>8.3f}s "
                         f"{1e9 * over / CALLS:>7.0f}ns")
        lines.append(f"  perf's overhead is {self.ratio():.1f} times Sonde's (goal: at least {self.goal:.0f})")
        return "\n".join(lines)

    def document(self):
        return {"name": self.name, "goal": self.goal, "ratio": self.ratio(), "seconds": self.seconds}


def compare_overheads(name, sonde, perf, events, runs):
    """Bare, sonde, perf, and again."""
    counted = ["stat", "-e", events, "--", *DD]
    found = Overhead(name, {"bare": [], "sonde": [], "perf": []})
    for _ in range(runs):
        found.seconds["bare"].append(seconds_of(DD))
        found.seconds["sonde"].append(seconds_of([sonde, *counted]))
        found.seconds["perf"].append(seconds_of([perf, *counted]))
    print(found.table(), file=sys.stderr)
    return found


# What tracing the calls of dd may cost: the most that a run may take, in runs of dd alone, and how much of perf's overhead.
TRACES = {
    "trace -o FILE": (["-o", os.devnull], None, 3.0),
    "trace -s": (["-s", "-o", os.devnull], 3.5, 1.0),
    "trace -e accept": (["-e", "accept", "-o", os.devnull], 1.2, 1.0),
}


@dataclass
class TraceOverhead(Overhead):
    most: float = 0  # times dd alone; 0: only perf's overhead counts
    lost: str = ""

    def times(self, side):
        return self.least(side) / self.least("bare")

    def failed(self):
        return bool(self.lost) or (self.most and self.times("sonde") > self.most) or self.ratio() < self.goal

    def table(self):
        times = ", ".join(f"{side} {self.times(side):.2f}x" for side in self.seconds if side != "bare")
        goal = f", at most {self.most}x" if self.most else ""
        return super().table() + f"\n  {times}{goal}{'; LOST: ' + self.lost if self.lost else ''}"


def trace_seconds(tool, arguments):
    """dd's own measurement under `trace`, and what was said of losses."""
    done = subprocess.run([tool, "trace", *arguments, "--", *DD], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          check=True, env={**os.environ, "LC_ALL": "C"})
    said = [line for line in done.stderr.splitlines() if "lost" in line.lower()]
    return float(re.search(r"copied, ([\d.e-]+) s,", done.stderr).group(1)), said


def compare_traces(only, sonde, perf, runs):
    """dd alone, under our trace and under perf's, in turn."""
    compared = []
    for name, (arguments, most, goal) in TRACES.items():
        if only not in name:
            continue
        found = TraceOverhead(f"dd under {name}", {"bare": [], "sonde": [], "perf": []}, most=most or 0)
        found.goal = goal
        for _ in range(runs):
            found.seconds["bare"].append(seconds_of(DD))
            seconds, said = trace_seconds(sonde, arguments)
            found.lost = found.lost or " ".join(said)
            found.seconds["sonde"].append(seconds)
            found.seconds["perf"].append(trace_seconds(perf, arguments)[0])
        print(found.table(), file=sys.stderr)
        compared.append(found)
    return compared
