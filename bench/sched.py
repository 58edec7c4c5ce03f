"""`sched` on a recording of the scheduler under a messaging load: many small events, most of which no single command needs. perf
makes the recording once, of `perf bench sched messaging`; its length follows from the number of messages."""
from kept import compare_views, kept_recording, messages

# name, arguments, times faster, share of perf's memory
VIEWS = [
    ("sched latency", ["sched", "latency"], 8, 0.2),
    ("sched timehist -s", ["sched", "timehist", "-s"], 8, 0.2),
    ("sched map", ["sched", "map"], 8, 0.2),
    ("sched timehist", ["sched", "timehist"], 6, 0.2),
    ("sched script", ["sched", "script"], 6, 0.2),
]
LOOPS = 9300  # of 400 processes: about 4 million events, 430 MB


def recording_of_messages(kept):
    return kept_recording(kept / f"sched-{LOOPS}.data", ["perf", "sched", "record", "-m", "4096"], messages(LOOPS))


def compare_sched(bench, sonde, perf, kept, only):
    compare_views(bench, sonde, perf, VIEWS, lambda: recording_of_messages(kept), only)
