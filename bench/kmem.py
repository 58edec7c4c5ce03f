"""`kmem stat` on recordings of the kernel's allocators under a messaging load. perf makes each once; its length follows from the
number of messages."""
from kept import kept_recording, messages

# name, what is recorded, what is shown, times faster, share of perf's memory
VIEWS = [
    ("kmem stat", [], [], 6, 0.5),
    ("kmem stat --caller --alloc", [], ["--caller", "--alloc"], 6, 0.5),
    ("kmem stat --page --caller", ["--page"], ["--page", "--caller"], 6, 0.5),
]
LOOPS = {"": 1500, "--page": 1500}  # of 400 processes: a few million object events, fewer page events


def recording_of_messages(kept, options):
    loops = LOOPS[" ".join(options)]
    return kept_recording(kept / f"kmem{''.join(options)}-{loops}.data", ["perf", "kmem", *options, "record", "-m", "4096"],
                          messages(loops))


def compare_kmem(bench, sonde, perf, kept, only):
    for name, recorded, shown, goal, memory_goal in VIEWS:
        if only in name:
            arguments = ["kmem", *shown, "-i", str(recording_of_messages(kept, recorded)), "stat"]
            bench.compare(name, [sonde, *arguments], [perf, *arguments], goal, memory_goal, discard=True)
