"""`lock contention` and `report` on a recording of waits under a messaging load. perf makes it once; its length follows from the
number of messages."""
from kept import kept_recording, messages

# name, arguments, times faster, share of perf's memory
VIEWS = [
    ("lock contention", ["lock", "contention"], 5, 0.5),
    ("lock contention -t", ["lock", "contention", "-t"], 5, 0.5),
    ("lock report", ["lock", "report"], 5, 0.5),
]
LOOPS = 9300  # of 400 processes


def recording_of_messages(kept):
    return kept_recording(kept / f"lock-{LOOPS}.data", ["perf", "lock", "record", "-a", "-m", "4096"], messages(LOOPS))


def compare_lock(bench, sonde, perf, kept, only):
    for name, arguments, goal, memory_goal in VIEWS:
        if only in name:
            data = ["-i", str(recording_of_messages(kept))]
            bench.compare(name, [sonde, *arguments, *data], [perf, "lock", *data, *arguments[1:]], goal, memory_goal, discard=True)
