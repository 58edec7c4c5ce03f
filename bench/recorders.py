"""The cost of recording the whole machine as fast as the kernel allows: what the recorders lose, and what they use.

Both record the same load, alternating (-F max -a -g while the workload keeps every processor busy): once with the same rings
(-m), once with each tool's default rings. CPU time is the recorder's own: its target is a `sleep`. The kernel lowers the maximum
frequency when sampling takes too long, so the sample counts of two recordings differ; the percentages can be compared.
"""
import os
import signal
import statistics
import struct
import subprocess
import sys
from dataclasses import asdict, dataclass

from harness import measure

SECONDS = 3
PERF_RECORD_LOST, PERF_RECORD_SAMPLE, PERF_RECORD_LOST_SAMPLES = 2, 9, 13
# Pages per ring: perf's default for root without -m, and Sonde's.
SETTINGS = [("-m 128", ["-m", "128"]), ("-m 512", ["-m", "512"]), ("default rings", [])]


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


def count(path):
    """(samples, lost), from the records themselves: neither tool's reader is involved."""
    data = path.read_bytes()
    at, size = struct.unpack_from("<QQ", data, 40)  # the header's data section
    end = at + size
    samples = lost = told = 0
    while at + 8 <= end:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        if kind == PERF_RECORD_SAMPLE:
            samples += 1
        elif kind == PERF_RECORD_LOST:
            lost += struct.unpack_from("<Q", data, at + 16)[0]
        elif kind == PERF_RECORD_LOST_SAMPLES:
            told += struct.unpack_from("<Q", data, at + 8)[0]
        at += max(length, 8)
    # LOST records losses before it in the ring, LOST_SAMPLES the sum at the end: the same, except for the last losses.
    return samples, max(lost, told)


def record_once(tool, load, directory, options):
    # Killed as a process group: on a busy machine it would go on long after the recording.
    busy = subprocess.Popen([str(load), str(SECONDS * 10), "4"], stdout=subprocess.DEVNULL, start_new_session=True)
    path = directory / "fast.data"
    used = measure([tool, "record", "-q", "-F", "max", "-a", "-g", *options, "-o", str(path), "--", "sleep", str(SECONDS)])
    os.killpg(busy.pid, signal.SIGKILL)
    busy.wait()
    samples, lost = count(path)
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
        lines = [f"{self.name:36} {'samples':>9} {'lost':>8} {'lost %':>7} {'cpu':>8} {'us/sample':>10} {'peak':>7}"]
        for side in ("sonde", "perf"):
            m = lambda what, side=side: self.median(side, what)
            lines.append(f"  {side:34} {m('samples'):>9.0f} {m('lost'):>8.0f} {100 * m('lost_share'):>6.1f}% {m('cpu_s'):>7.2f}s "
                         f"{m('cpu_us_per_sample'):>10.2f} {m('peak_kib') / 1024:>6.0f}M")
        return "\n".join(lines)

    def document(self):
        return {"name": self.name, "sonde": [asdict(r) for r in self.sonde], "perf": [asdict(r) for r in self.perf]}


def compare_recorders(name, sonde, perf, load, directory, runs):
    """One result per setting."""
    results = []
    for setting, options in SETTINGS:
        result = Recorders(f"{name}, {setting}", [], [])
        for _ in range(runs):
            result.sonde.append(record_once(sonde, load, directory, options))
            result.perf.append(record_once(perf, load, directory, options))
        print(result.table(), file=sys.stderr)
        results.append(result)
    return results
