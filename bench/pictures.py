"""Pictures and files for other tools, each made from a recording in one step. perf runs `perf script` for comparison: the
beginning of the usual pipeline, without the scripts after it. The output of both is discarded: some of it is hundreds of
megabytes, and the speed of a disk says nothing about either."""
import os

from kept import kept_recording

# name, arguments before -i FILE, goal (times faster than perf script alone)
OF_A_RECORDING = [
    ("flamegraph; perf: script", ["flamegraph"], 10),
    ("fold; perf: script", ["fold"], 10),
    *((f"export --to {kind}; perf: script", ["export", "--experimental", "--to", kind], 5)
      for kind in ("chrome", "firefox", "folded", "json", "otlp", "perfetto", "pprof", "speedscope")),
]

PAIRS = 1_000_000
READS = ["syscalls:sys_enter_read", "syscalls:sys_exit_read"]
OF_PAIRS = "heatmap of a million pairs; perf: script"


def recording_of_pairs(perf, directory):
    """System call entries and exits, for copying one byte at a time."""
    return kept_recording(directory / f"pairs-{PAIRS}.data", [perf, "record", "-m", "16M", "-e", ",".join(READS)],
                          ["dd", "if=/dev/zero", "of=/dev/null", "bs=1", f"count={PAIRS}"])


def compare_pictures(bench, sonde, perf, recording, directory, only):
    """`recording` makes it, or finds it: called only if something is measured. The recording of pairs is kept in `directory`."""
    for name, arguments, goal in OF_A_RECORDING:
        if only not in name:
            continue
        data = str(recording())
        bench.compare(name, [sonde, *arguments, "-i", data, "-o", os.devnull], [perf, "script", "-i", data], goal, discard=True)
    if only in OF_PAIRS:
        data = str(recording_of_pairs(perf, directory))
        bench.compare(OF_PAIRS, [sonde, "heatmap", "-i", data, "--from", READS[0], "--to", READS[1], "-o", os.devnull],
                      [perf, "script", "-i", data], 5, discard=True)
