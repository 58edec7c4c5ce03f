"""`kwork report` and `timechart` on recordings that perf makes once: softirqs and work of a machine under a load of disk, and the switches
of a load of messages (those of sched.py)."""
import subprocess
import sys

from sched import recording_of_messages

# name, arguments, times faster, part of perf's memory
WORK = [
    ("kwork report", ["kwork", "report"], 4, 0.5),
    ("kwork timehist", ["kwork", "timehist"], 4, 0.5),
]
LOAD = "for i in 1 2 3 4 5 6; do ls -R /usr | sort | md5sum; dd if=/dev/zero of=out bs=4k count=20000 oflag=direct; done; rm -f out"


def recording_of_work(kept):
    path = kept / "kwork.data"
    if not path.exists():
        print(f"bench: recording {path.name}", file=sys.stderr)
        subprocess.run(["perf", "kwork", "record", "-q", "-m", "4096", "-o", str(path), "--", "sh", "-c", LOAD], check=True,
                       capture_output=True, cwd=kept)
    return path


def compare_kernel_work(bench, sonde, perf, kept, only):
    for name, arguments, goal, memory_goal in WORK:
        if only in name:
            data = ["-i", str(recording_of_work(kept))]
            bench.compare(name, [sonde, *arguments, *data], [perf, *arguments, *data], goal, memory_goal, discard=True)
    if only in "timechart":
        data = ["-i", str(recording_of_messages(kept)), "-o", "/dev/null"]
        bench.compare("timechart", [sonde, "timechart", *data], [perf, "timechart", *data], 2, 1, discard=True)
