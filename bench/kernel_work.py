"""`kwork report` and `timechart` on recordings that perf makes once: softirqs and work items of a machine under disk load, and
the switches of a messaging load (those of sched.py)."""
from kept import compare_views, kept_recording
from sched import recording_of_messages

# name, arguments, times faster, share of perf's memory
WORK = [
    ("kwork report", ["kwork", "report"], 4, 0.5),
    ("kwork timehist", ["kwork", "timehist"], 4, 0.5),
]
LOAD = "for i in 1 2 3 4 5 6; do ls -R /usr | sort | md5sum; dd if=/dev/zero of=out bs=4k count=20000 oflag=direct; done; rm -f out"


def recording_of_work(kept):
    return kept_recording(kept / "kwork.data", ["perf", "kwork", "record", "-m", "4096"], ["sh", "-c", LOAD], directory=kept)


def compare_kernel_work(bench, sonde, perf, kept, only):
    compare_views(bench, sonde, perf, WORK, lambda: recording_of_work(kept), only)
    if only in "timechart":
        data = ["-i", str(recording_of_messages(kept)), "-o", "/dev/null"]
        bench.compare("timechart", [sonde, "timechart", *data], [perf, "timechart", *data], 2, 1, discard=True)
