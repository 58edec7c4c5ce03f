"""The overhead of watching the scheduler for processes that switch all the time: two processes on one CPU that wait for each
other, alone, while perf records every event, while Sonde does, and while Sonde aggregates in the kernel. The time is the load's
own measurement per round; the minimum of several runs is compared, as in overheads.py."""
import os
import re
import statistics
import subprocess
import sys
from dataclasses import dataclass

ROUNDS = 60000
LOAD = ["taskset", "-c", str(max(os.sched_getaffinity(0))), "perf", "bench", "sched", "pipe", "-l", str(ROUNDS)]
# Relative to the cost of perf's events.
GOALS = {"events": 1.1, "sums": 1 / 3}


def us_per_round(tool):
    done = subprocess.run([*tool, *LOAD], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return float(re.search(r"([\d.]+) usecs/op", done.stdout).group(1))


@dataclass
class SwitchCost:
    name: str
    us: dict     # side: us per round in each run
    bytes: dict  # side: file size

    def cost(self, side):
        return min(self.us[side]) - min(self.us["bare"])

    def failed(self):
        return any(self.cost(side) > goal * self.cost("perf") for side, goal in GOALS.items())

    def table(self):
        lines = [f"{self.name:44} {'least':>8} {'median':>8} {'cost':>8} {'of perf':>8} {'goal':>6} {'file':>10}"]
        for side, us in self.us.items():
            part = f"{self.cost(side) / self.cost('perf'):.2f}"
            goal = f"{GOALS[side]:.2f}" if side in GOALS else "-"
            lines.append(f"  {side:42} {min(us):>6.2f}us {statistics.median(us):>6.2f}us {self.cost(side):>6.2f}us {part:>8} {goal:>6} "
                         f"{self.bytes.get(side, 0) / 1000:>8.0f}kB")
        return "\n".join(lines)

    def document(self):
        return {"name": self.name, "goals": GOALS, "us": self.us, "bytes": self.bytes}


def compare_switches(name, sonde, perf, kept, runs):
    file = {side: kept / f"switches-{side}.data" for side in ("perf", "events", "sums")}
    ways = {"bare": [],
            "perf": [perf, "sched", "record", "-q", "-o", str(file["perf"]), "--"],
            "events": [sonde, "sched", "record", "-q", "-o", str(file["events"]), "--"],
            "sums": [sonde, "sched", "record", "--summary", "-q", "-o", str(file["sums"]), "--"]}
    found = SwitchCost(name, {side: [] for side in ways}, {})
    for _ in range(runs):
        for side, tool in ways.items():
            found.us[side].append(us_per_round(tool))
    for side, path in file.items():
        found.bytes[side] = path.stat().st_size
        for left in kept.glob(path.name + "*"):
            left.unlink()
    print(found.table(), file=sys.stderr)
    return found
