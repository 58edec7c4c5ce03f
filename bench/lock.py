"""`lock contention` and `report` on a recording of waits under a load of messages. perf makes it once; its length follows from the
number of messages."""
import subprocess
import sys

# name, arguments, times faster, part of perf's memory
VIEWS = [
    ("lock contention", ["lock", "contention"], 5, 0.5),
    ("lock contention -t", ["lock", "contention", "-t"], 5, 0.5),
    ("lock report", ["lock", "report"], 5, 0.5),
]
LOOPS = 9300  # of 400 processes


def recording_of_messages(kept):
    path = kept / f"lock-{LOOPS}.data"
    if not path.exists():
        print(f"bench: recording {path.name}", file=sys.stderr)
        subprocess.run(["perf", "lock", "record", "-q", "-a", "-m", "4096", "-o", str(path), "--", "perf", "bench", "sched", "messaging",
                        "-g", "10", "-l", str(LOOPS)], check=True, capture_output=True)
    return path


def compare_lock(bench, sonde, perf, kept, only):
    for name, arguments, goal, memory_goal in VIEWS:
        if only in name:
            data = ["-i", str(recording_of_messages(kept))]
            bench.compare(name, [sonde, *arguments, *data], [perf, "lock", *data, *arguments[1:]], goal, memory_goal, discard=True)
