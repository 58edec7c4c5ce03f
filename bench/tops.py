"""The overhead of watching: `top --stdio` with both tools, alternating, each on a terminal of its own, while the workload keeps
every processor busy. CPU time is that of the process between two moments after startup (symbols have been read by then); startup
is shown separately.
"""
import os
import pty
import re
import signal
import statistics
import subprocess
import sys
import threading
import time

TOP = ["top", "--stdio", "-e", "cpu-clock", "-d", "2", "-E", "20"]
SETTLE_S, WATCH_S = 4, 12
MOST_SHARE = 0.03  # of one core
PARTS_OF_PERF = 0.5


def cpu_seconds(pid):
    fields = open(f"/proc/{pid}/stat", encoding="utf-8").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def watch(tool):
    """CPU seconds of startup, share of a core afterwards, and records that it reports as lost."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp(tool, [tool, *TOP])
    said = []

    def read():
        try:
            while data := os.read(terminal, 65536):
                said.append(data)
        except OSError:
            pass
    reader = threading.Thread(target=read)
    reader.start()
    time.sleep(SETTLE_S)
    start, began = cpu_seconds(pid), time.monotonic()
    time.sleep(WATCH_S)
    share = (cpu_seconds(pid) - start) / (time.monotonic() - began)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    reader.join()
    os.close(terminal)
    lost = re.findall(rb"lost: \d+/(\d+) drop: \d+/(\d+)", b"".join(said))
    return {"start_s": start, "share": share, "lost": int(lost[-1][0]) + int(lost[-1][1]) if lost else None}


class Tops:
    def __init__(self, name):
        self.name = name
        self.runs = {"sonde": [], "perf": []}

    def median(self, side, what):
        return statistics.median(run[what] for run in self.runs[side])

    def failed(self):
        ours = self.median("sonde", "share")
        return any(run["lost"] is None for run in self.runs["sonde"]) or ours > MOST_SHARE or \
            ours > PARTS_OF_PERF * self.median("perf", "share")

    def table(self):
        lines = [f"{self.name:44} {'of a core':>10} {'start':>8} {'lost':>8}"]
        for side, runs in self.runs.items():
            lines.append(f"  {side:42} {100 * self.median(side, 'share'):>9.2f}% {self.median(side, 'start_s'):>7.2f}s "
                         f"{max(run['lost'] or 0 for run in runs):>8}")
        return "\n".join(lines) + f"\n  goal: at most {100 * MOST_SHARE:.0f}% and {PARTS_OF_PERF} of perf's"

    def document(self):
        return {"name": self.name, "goal_share": MOST_SHARE, "goal_part": PARTS_OF_PERF, "runs": self.runs}


def compare_tops(name, sonde, perf, load, runs):
    found = Tops(name)
    for _ in range(runs):
        for side, tool in (("sonde", sonde), ("perf", perf)):
            busy = subprocess.Popen([str(load), str(10 * (SETTLE_S + WATCH_S)), "4"], stdout=subprocess.DEVNULL,
                                    start_new_session=True)
            found.runs[side].append(watch(tool))
            os.killpg(busy.pid, signal.SIGKILL)
            busy.wait()
    print(found.table(), file=sys.stderr)
    return found
