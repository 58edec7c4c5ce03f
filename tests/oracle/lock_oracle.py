#!/usr/bin/env python3
"""`perf lock` and `sonde lock` side by side: the same reports on the same recordings, to the character. The recordings are made
here, by each tool, of threads that map memory and of many small processes. Needs root and perf.

perf prints these tables on standard error. It does not follow forks, so it has no name (":123") for a thread that never changed
it (docs/differences.md); and `report -t` prints a location instead of a thread if its name is long. Names of threads are compared
only if perf has one."""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import kernel_turn
import side_by_side
import tracepoints

SONDE = os.environ["SONDE"]
PERF = side_by_side.needed_perf()
# Threads of one process that map memory wait for each other on any machine.
MAPPINGS = [sys.executable, "-c", """
import mmap, threading, time
def work(end):
    while time.monotonic() < end:
        for _ in range(100):
            mmap.mmap(-1, 1 << 16)[0:4096] = bytes(4096)
end = time.monotonic() + 0.5
threads = [threading.Thread(target=work, args=(end,)) for _ in range(8)]
for thread in threads:
    thread.start()
"""]
PROCESSES = ["sh", "-c", 'for i in 1 2 3 4 5 6 7 8; do ls /usr/bin | sort | wc -l & done; "$@"; wait', "sh", *MAPPINGS]
VIEWS = [["contention"], ["contention", "-t"], ["contention", "-v"], ["contention", "-k", "contended"], ["contention", "-k", "wait_max"],
         ["contention", "-k", "avg_wait", "-E", "5"], ["contention", "-F", "wait_min,contended"], ["contention", "-q"],
         ["contention", "-t", "-k", "wait_min", "-F", "wait_min"], ["contention", "-k", "wait_total", "-F", "avg_wait,wait_max", "-E", "3"],
         ["contention", "--stack-skip", "1"], ["contention", "--max-stack", "5", "-v"], ["contention", "--stack-skip", "6", "-k", "contended"],
         ["report"], ["report", "-k", "contended"], ["report", "-k", "wait_total", "-E", "4"], ["report", "-c"], ["report", "-t"],
         ["report", "-k", "wait_max", "-F", "wait_max,acquired"], ["report", "-c", "-k", "wait_min"], ["report", "-v", "-k", "avg_wait"],
         ["report", "-q"], ["info", "-t"], ["info", "-m"]]
UNNAMED = re.compile(r":\d+$")
COLUMNS_WIDTH = 74  # of `report`, after the name

both = side_by_side.Comparison("lock")


def view(tool, arguments, path):
    done = subprocess.run([tool, "lock", *arguments, "-i", path] if tool == SONDE else
                          [tool, "lock", "-i", path, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    lines = (done.stderr if tool == PERF else done.stdout).splitlines()
    if tool == PERF:
        lines += done.stdout.splitlines()
        # What -v prints about the session.
        start = next((i for i, line in enumerate(lines) if re.match(r" *(Name|contended|acquired|wait|avg|total|max|min|Thread|Address) ", line)), 0)
        lines = lines[start:]
    return side_by_side.Said(lines, done.returncode)


def without_names(arguments, theirs, ours):
    """Both outputs without the names of threads that perf does not know."""
    if arguments[0] == "report" and "-t" in arguments:
        return [line[-COLUMNS_WIDTH:] for line in theirs], [line[-COLUMNS_WIDTH:] for line in ours]
    if arguments != ["info", "-t"] and "-t" not in arguments:
        return theirs, ours
    kept = []
    for i, line in enumerate(theirs):
        if not UNNAMED.search(line):
            continue
        theirs[i] = UNNAMED.sub("", line)
        if i < len(ours):
            kept.append(ours[i])
            ours[i] = ours[i][:len(theirs[i])]
    if kept and not any(re.search(r"[a-z]", line) for line in kept):
        both.failed(f"{' '.join(arguments)}: no name where perf has none")
    return theirs, ours


def check(path, arguments):
    theirs, ours = view(PERF, arguments, path), view(SONDE, arguments, path)
    their_lines, our_lines = without_names(arguments, theirs.lines, ours.lines)
    both.lines(f"{path.name}: lock {' '.join(arguments)}", theirs._replace(lines=their_lines), ours._replace(lines=our_lines),
               least=1 if "-q" in arguments or arguments[0] == "info" else 3, status=0)


def record(directory, name, tool, before, command):
    """Without callers in user space: where a program keeps no frame pointers they are any numbers, and one that looks like a marker
    of a context makes perf drop the whole chain (docs/differences.md)."""
    path = directory / f"{name}.data"
    with kernel_turn.taken():
        subprocess.run([tool, "lock", "record", "--kernel-callchains", *before, "-o", path, "--", *command], check=True, capture_output=True)
    return path


def made_up(directory):
    """Ends without begins, begins without ends, two begins in a row, lost events, a row of nothing else."""
    recording = tracepoints.LockRecording()
    recording.name(10, "reader")
    recording.name(20, "writer")
    us = 1000
    for i in range(40):
        start = (100 + 50 * i) * us
        lock = 0xffff888100000000 + (i % 5) * 64
        recording.begin(start, 10, lock, recording.MUTEX, i % 3)
        if i % 7 == 0:
            recording.begin(start + us, 10, lock, recording.MUTEX | recording.SPIN, i % 3)
        if i % 5 != 4:
            recording.end(start + (i + 1) * us, 10, lock, i % 3)
        if i % 6 == 0:
            recording.end(start + (i + 2) * us, 10, lock, i % 3)
        recording.begin(start + 3 * us, 20, lock, recording.SPIN, 2)
        recording.end(start + 4 * us, 20, lock, 2)
        if i % 11 == 0:
            recording.lost(start + 5 * us, 0, i + 1)
    recording.name(30, "waiter")
    recording.begin(10_000 * us, 30, 0xffff888100001000, recording.WRITE, 4)  # the only wait there, not over at the end
    return recording.write(directory / "made-up.data")


def check_events(directory):
    """Both tools record the same events, to the same depth."""
    lists = []
    for tool in PERF, SONDE:
        path = record(directory, "events", tool, [], ["true"])
        text = subprocess.run([PERF, "evlist", "-v", "-i", path], capture_output=True, text=True).stdout
        lists.append(sorted(re.findall(r"^(lock:\w+):.*?(sample_max_stack: \d+)", text, re.M)))
    both.expect(lists[0] == lists[1] and len(lists[0]) == 2, f"lock record: perf {lists[0]}, sonde {lists[1]}")


def main():
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        with kernel_turn.taken():
            check_events(directory)
            recordings = [record(directory, "mappings", PERF, [], MAPPINGS), record(directory, "processes", PERF, ["-a"], PROCESSES),
                          record(directory, "ours", SONDE, ["-a"], MAPPINGS)]
        for path in (*recordings, made_up(directory)):
            for arguments in VIEWS:
                check(path, arguments)
    both.finish()


if __name__ == "__main__":
    main()
