"""The overhead of counting for the target: a program that does little but system calls, alone and under both tools, alternating.

The time is the program's own measurement of its loop (dd's last line), so that it includes neither the start nor the end of a
tool. The minimum of several runs is compared: on a busy machine the others say more about the load than about the counting.
"""
import os
import re
import shutil
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
    seconds: dict  # side: seconds of each run
    goal = 1.0     # at most perf's

    def least(self, side):
        return min(self.seconds[side])

    def overhead(self, side):
        return self.least(side) - self.least("bare")

    def ratio(self):
        """perf's overhead over Sonde's: above 1, Sonde is ahead."""
        return self.overhead("perf") / max(self.overhead("sonde"), 1e-9)

    def rows(self):
        lines = [f"{self.name:44} {'least':>8} {'median':>8} {'overhead':>9} {'per call':>9}"]
        for side, seconds in self.seconds.items():
            over = self.overhead(side)
            lines.append(f"  {side:42} {self.least(side):>7.3f}s {statistics.median(seconds):>7.3f}s {over:>8.3f}s "
                         f"{1e9 * over / CALLS:>7.0f}ns")
        return "\n".join(lines)

    def table(self):
        return f"{self.rows()}\n  perf's overhead is {self.ratio():.1f} times Sonde's (goal: at least {self.goal:.0f})"

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


# The allowed overhead of tracing dd's calls: the longest that a run may take, in runs of dd alone, and how many times less than
# under perf. Then the equivalent arguments for strace, and the divisor of the calls that perf is given: if it wakes up for each
# of them, all of them can take it half a minute, so it is given a part and its time is scaled up, as is that of strace, which
# stops the program twice for each call.
TRACES = {
    "trace -o FILE": (["-o", "{file}"], None, 3.0, ["-o", "{file}"], 10),
    "trace -s": (["-s", "-o", "{file}"], 3.5, 1.0, ["-c", "-o", "{file}"], 10),
    "trace -e accept": (["-e", "accept", "-o", "{file}"], 1.2, 1.0, ["-e", "trace=accept", "-o", "{file}"], 1),
}
STRACE_PART = 50


@dataclass
class TraceOverhead(Overhead):
    most: float = 0  # times dd alone; 0: only perf's time matters
    lost: str = ""
    perf_part: int = 1

    def times(self, side):
        return self.least(side) / self.least("bare")

    def ratio(self):
        """perf's time over Sonde's, dd's own share included."""
        return self.least("perf") / self.least("sonde")

    def failed(self):
        return bool(self.lost) or (self.most and self.times("sonde") > self.most) or self.ratio() < self.goal

    def table(self):
        times = ", ".join(f"{side} {self.times(side):.2f}x" for side in self.seconds if side != "bare")
        goal = f"; goals: at most {self.most}x" if self.most else "; goals:"
        parts = f"of perf 1 call in {self.perf_part}, of strace 1 in {STRACE_PART}, and their times multiplied"
        return (f"{self.rows()}\n  {parts}\n  in runs of dd alone: {times}; perf takes {self.ratio():.1f} times as long as Sonde{goal} "
                f"perf at least {self.goal:.0f} times{'; LOST: ' + self.lost if self.lost else ', nothing lost'}")


def trace_seconds(tool, arguments, part=1):
    """dd's own measurement under a tracer, for all calls (scaled up if it makes only a part), and what was reported about
    losses."""
    command = [word if not word.startswith("count=") else f"count={1000 * 1024 // part}" for word in DD]
    done = subprocess.run([*tool, *arguments, "--", *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          check=True, env={**os.environ, "LC_ALL": "C"})
    said = [line for line in done.stderr.splitlines() if "lost" in line.lower()]
    return part * float(re.search(r"copied, ([\d.e-]+) s,", done.stderr).group(1)), said


def compare_traces(only, sonde, perf, kept, runs):
    """Alternates dd alone, our trace, perf's and strace. Their output goes to a file in `kept`."""
    compared = []
    has_strace = shutil.which("strace") is not None
    for name, (arguments, most, goal, strace, perf_part) in TRACES.items():
        if only not in name:
            continue
        written = kept / "trace.out"

        def of_file(words):
            return [word.format(file=written) for word in words]

        found = TraceOverhead(f"dd under {name}", {"bare": [], "sonde": [], "perf": []}, most=most or 0,
                              perf_part=perf_part)
        found.goal = goal
        for _ in range(runs):
            found.seconds["bare"].append(seconds_of(DD))
            seconds, said = trace_seconds([sonde, "trace"], of_file(arguments))
            found.lost = found.lost or " ".join(said)
            found.seconds["sonde"].append(seconds)
            found.seconds["perf"].append(trace_seconds([perf, "trace"], of_file(arguments), perf_part)[0])
            if has_strace:
                found.seconds.setdefault("strace", []).append(trace_seconds(["strace"], of_file(strace), STRACE_PART)[0])
            for file in kept.glob(written.name + "*"):
                file.unlink()
        print(found.table(), file=sys.stderr)
        compared.append(found)
    return compared
