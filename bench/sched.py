"""`sched` on a recording of the scheduler under a load of messages: many small events, most of them of no interest to any one
view. perf makes the recording once, of `perf bench sched messaging`; its length follows from the number of messages."""
import subprocess
import sys

# name, arguments, times faster, part of perf's memory
VIEWS = [
    ("sched latency", ["sched", "latency"], 8, 0.2),
    ("sched timehist -s", ["sched", "timehist", "-s"], 8, 0.2),
    ("sched map", ["sched", "map"], 8, 0.2),
    ("sched timehist", ["sched", "timehist"], 6, 0.2),
    ("sched script", ["sched", "script"], 6, 0.2),
]
LOOPS = 9300  # of 400 processes: about 4 million events, 430 MB


def recording_of_messages(kept):
    path = kept / f"sched-{LOOPS}.data"
    if not path.exists():
        print(f"bench: recording {path.name}", file=sys.stderr)
        subprocess.run(["perf", "sched", "record", "-q", "-m", "4096", "-o", str(path), "--", "perf", "bench", "sched", "messaging",
                        "-g", "10", "-l", str(LOOPS)], check=True, capture_output=True)
    return path


def compare_sched(bench, sonde, perf, kept, only):
    for name, arguments, goal, memory_goal in VIEWS:
        if only in name:
            data = ["-i", str(recording_of_messages(kept))]
            bench.compare(name, [sonde, *arguments, *data], [perf, *arguments, *data], goal, memory_goal, discard=True)
