"""The cost of recording the whole machine as fast as the kernel allows: what the recorders lose, and what they use.

Both record the same load in turn (-F max -a -g while the workload keeps every processor busy). Samples, and those that were
lost, are counted by perf in both recordings. CPU time is the recorder's own: its target is a `sleep`.
"""
import re
import statistics
import subprocess
import sys
from dataclasses import asdict, dataclass

from harness import measure

SECONDS = 3


@dataclass
class Recorded:
    samples: int
    lost: int
    cpu_s: float
    peak_kib: int
    bytes: int

    @property
    def lost_share(self):
        return self.lost / max(1, self.samples + self.lost)

    @property
    def cpu_us_per_sample(self):
        return 1e6 * self.cpu_s / max(1, self.samples)


def count(perf, path):
    """(samples, lost) as perf reads the file."""
    text = subprocess.run([perf, "report", "--stats", "-i", str(path)], check=True, capture_output=True, text=True).stdout

    def events(name):
        found = re.search(rf"^\s+{name} events:\s+(\d+)", text, re.M)
        return int(found.group(1)) if found else 0

    lost = 0
    if events("LOST") or events("LOST_SAMPLES"):
        dump = subprocess.run([perf, "script", "-D", "-i", str(path)], capture_output=True, text=True, errors="replace").stdout
        lost = sum(int(n) for n in re.findall(r"PERF_RECORD_LOST(?:_SAMPLES)?.*?: (?:id \d+:lost |lost )(\d+)", dump))
    return events("SAMPLE"), lost


def record_once(tool, perf, load, directory):
    busy = subprocess.Popen([str(load), str(SECONDS * 2), "4"], stdout=subprocess.DEVNULL)
    path = directory / "fast.data"
    used = measure([tool, "record", "-q", "-F", "max", "-a", "-g", "-o", str(path), "--", "sleep", str(SECONDS)])
    busy.wait()
    samples, lost = count(perf, path)
    size = path.stat().st_size
    path.unlink()
    return Recorded(samples, lost, used.cpu_s, used.peak_kib, size)


@dataclass
class Recorders:
    name: str
    sonde: list  # of Recorded
    perf: list

    def median(self, side, what):
        return statistics.median(getattr(r, what) for r in getattr(self, side))

    def table(self):
        lines = [f"{self.name:24} {'samples':>9} {'lost':>8} {'lost %':>7} {'cpu':>8} {'us/sample':>10} {'peak':>7}"]
        for side in ("sonde", "perf"):
            m = lambda what, side=side: self.median(side, what)
            lines.append(f"  {side:22} {m('samples'):>9.0f} {m('lost'):>8.0f} {100 * m('lost_share'):>6.1f}% {m('cpu_s'):>7.2f}s "
                         f"{m('cpu_us_per_sample'):>10.2f} {m('peak_kib') / 1024:>6.0f}M")
        return "\n".join(lines)

    def document(self):
        return {"name": self.name, "sonde": [asdict(r) for r in self.sonde], "perf": [asdict(r) for r in self.perf]}


def compare_recorders(name, sonde, perf, load, directory, runs):
    result = Recorders(name, [], [])
    for _ in range(runs):
        result.sonde.append(record_once(sonde, perf, load, directory))
        result.perf.append(record_once(perf, perf, load, directory))
    print(result.table(), file=sys.stderr)
    return result
