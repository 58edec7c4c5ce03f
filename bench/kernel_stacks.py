"""What whole stacks cost the program that is recorded: --call-graph bpf, which walks them in the kernel, beside frame pointers (which
see only the innermost frame of such a program) and stack copies. All in turn, on the C++ compiler.

Samples per second are those per second of CPU time that the target took with its interrupts: what a core sustains at that rate,
if none are lost.
"""
import statistics
import sys

from stacks import Stacks, count_of, run

# A rate that people choose, and one at which most of the core's time goes into samples.
SETTINGS = [("-F 4000", ["-F", "4000"]), ("-F 20000", ["-F", "20000"])]
MODES = ["fp", "bpf", "dwarf"]
GOAL = 1.5  # times the target's CPU time under -g, at most; at the first rate


def record_once(sonde, mode, options, directory):
    path = directory / "kernel_stacks.data"
    elapsed, cpu, all_cpu = run([sonde, "record", "-q", "-e", "cpu-clock", "-N", "--call-graph", mode, *options, "-o", str(path), "--"],
                                directory)
    size = path.stat().st_size
    samples, lost = count_of(path, sonde)
    path.unlink()
    return Stacks(samples, lost, size, elapsed, cpu, all_cpu)


class KernelStacks:
    def __init__(self, name, has_goal):
        self.name, self.has_goal, self.alone, self.modes = name, has_goal, [], {mode: [] for mode in MODES}

    def least_cpu(self, mode):
        """On a busy machine the others say more about the load."""
        return min(r.cpu_s for r in self.modes[mode])

    def ratio(self):
        return self.least_cpu("bpf") / self.least_cpu("fp")

    def failed(self):
        return self.has_goal and self.ratio() > GOAL

    def table(self):
        alone = min(self.alone)
        lines = [f"{self.name:40} {'samples':>8} {'lost %':>7} {'B/sample':>9} {'its cpu':>8} {'alone':>6} {'samples/s':>10}",
                 f"  {'without a recorder':38} {'':>8} {'':>7} {'':>9} {alone:>7.2f}s {'1.00':>6}"]
        for mode, runs in self.modes.items():
            median = lambda what, runs=runs: statistics.median(getattr(r, what) for r in runs)
            cpu = self.least_cpu(mode)
            rate = max(r.samples / r.cpu_s for r in runs)
            lines.append(f"  --call-graph {mode:25} {median('samples'):>8.0f} {100 * median('lost_share'):>6.1f}% "
                         f"{median('bytes_per_sample'):>9.0f} {cpu:>7.2f}s {cpu / alone:>6.2f} {rate:>10.0f}")
        goal = f" (goal: at most {GOAL})" if self.has_goal else ""
        lines.append(f"  the target takes {self.ratio():.2f} times as long with bpf as with fp{goal}")
        return "\n".join(lines)

    def document(self):
        return {"name": self.name, "goal": GOAL if self.has_goal else None, "ratio": self.ratio(), "alone": self.alone,
                "modes": {mode: [vars(r) for r in runs] for mode, runs in self.modes.items()}}


def compare_kernel_stacks(name, sonde, directory, runs):
    results = []
    for setting, options in SETTINGS:
        result = KernelStacks(f"{name}, {setting}", setting == SETTINGS[0][0])
        for _ in range(runs):
            result.alone.append(run([], directory)[1])
            for mode in MODES:
                result.modes[mode].append(record_once(sonde, mode, options, directory))
        print(result.table(), file=sys.stderr)
        results.append(result)
    return results
