"""Recordings that perf makes once and that are kept: commands on them are measured many times."""
import subprocess
import sys


def kept_recording(path, recorder, load, directory=None):
    """`path`, which `recorder`, a command line without -o, records of the command `load`."""
    if not path.exists():
        print(f"bench: recording {path.name}", file=sys.stderr)
        subprocess.run([*recorder, "-q", "-o", str(path), "--", *load], check=True, capture_output=True, cwd=directory)
    return path


def messages(loops):
    """A messaging load between 400 processes."""
    return ["perf", "bench", "sched", "messaging", "-g", "10", "-l", str(loops)]


def compare_views(bench, sonde, perf, views, recording, only):
    """`views`: name, arguments, times faster, share of perf's memory. `recording` is called only if something is measured."""
    for name, arguments, goal, memory_goal in views:
        if only in name:
            data = ["-i", str(recording())]
            bench.compare(name, [sonde, *arguments, *data], [perf, *arguments, *data], goal, memory_goal, discard=True)
