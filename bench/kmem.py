"""`kmem stat` on recordings of the kernel's allocators under a load of messages. perf makes each once; its length follows from the
number of messages."""
import subprocess
import sys

# name, what is recorded, what is shown, times faster, part of perf's memory
VIEWS = [
    ("kmem stat", [], [], 6, 0.5),
    ("kmem stat --caller --alloc", [], ["--caller", "--alloc"], 6, 0.5),
    ("kmem stat --page --caller", ["--page"], ["--page", "--caller"], 6, 0.5),
]
LOOPS = {"": 1500, "--page": 1500}  # of 400 processes: some million events of objects, fewer of pages


def recording_of_messages(kept, options):
    loops = LOOPS[" ".join(options)]
    path = kept / f"kmem{''.join(options)}-{loops}.data"
    if not path.exists():
        print(f"bench: recording {path.name}", file=sys.stderr)
        subprocess.run(["perf", "kmem", *options, "record", "-q", "-m", "4096", "-o", str(path), "--", "perf", "bench", "sched",
                        "messaging", "-g", "10", "-l", str(loops)], check=True, capture_output=True)
    return path


def compare_kmem(bench, sonde, perf, kept, only):
    for name, recorded, shown, goal, memory_goal in VIEWS:
        if only in name:
            arguments = ["kmem", *shown, "-i", str(recording_of_messages(kept, recorded)), "stat"]
            bench.compare(name, [sonde, *arguments], [perf, *arguments], goal, memory_goal, discard=True)
