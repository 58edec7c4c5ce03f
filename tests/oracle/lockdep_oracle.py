#!/usr/bin/env python3
"""`perf lock report` and `info` beside Sonde's, to the character, on recordings as kernels with CONFIG_LOCK_STAT produce them:
lock_acquire, lock_acquired, lock_contended, lock_release. Few kernels have these events, so the recordings are synthetic; perf
reads them like any others. Needs perf.

They contain: threads that hold nested locks, that are readers, recursive readers, that try; waits of all sizes; every event after
every other, so that each step that contradicts the previous one occurs; uses of which only the end was recorded; and the
contention events of other kernels in between.

With -t perf prints the lock's name if it is long (docs/differences.md), so only the figures are compared; for a mixture with
contention events not even these, because perf's average for a thread then depends on its last event."""
import itertools
import os
import random
import re
import subprocess
import tempfile
from pathlib import Path

import side_by_side
import tracepoints

SONDE = os.environ["SONDE"]
PERF = side_by_side.needed_perf()
KEYS = ["acquired", "contended", "avg_wait", "wait_total", "wait_max", "wait_min"]
VIEWS = [["report"], ["report", "-v"], ["report", "-q"], ["report", "-t"], ["report", "-c"], ["report", "-t", "-c"],
         *(["report", "-k", key] for key in KEYS), *(["report", "-c", "-k", key] for key in KEYS[2:]),
         *(["report", "-t", "-k", key] for key in KEYS[1:3]), ["report", "-F", "acquired,wait_min"], ["report", "-E", "3"],
         ["report", "-E", "2", "-c", "-F", "contended,avg_wait", "-k", "wait_max"], ["report", "-t", "-E", "2", "-v"],
         ["info", "-t"], ["info", "-m"]]
WHAT = ["acquire", "contended", "acquired", "release"]
US = 1000
COLUMNS_WIDTH = 74  # of `report`, after the name
NAMES = ["&rq->__lock", "tasklist_lock", "&mm->mmap_lock", "&(&zone->lock)->rlock/1", "rcu_read_lock", "&sb->s_type->i_mutex_key#14"]

both = side_by_side.Comparison("lockdep")


def named(recording):
    for tid, name in ((10, "reader"), (20, "a-name-of-15-ch"), (30, "w")):
        recording.name(tid, name)
    return recording


def orderly(directory):
    """Nested locks, readers, tries and waits, in the order in which the kernel produces them."""
    recording = named(tracepoints.LockdepRecording())
    time = 1000 * US
    for i in range(60):
        tid = (10, 20, 30)[i % 3]
        held = []
        for depth in range(1 + i % 3):
            which = (i + depth) % len(NAMES)
            lock = 0xffff888100000000 + which * 64 + (i % 2) * 0x10000
            flags = (0, 0, tracepoints.LockdepRecording.READ, tracepoints.LockdepRecording.TRY, 3)[(i + depth) % 5]
            recording.use(time, tid, "acquire", lock, NAMES[which], flags)
            if not flags:
                if i % 4 == 0:
                    time += 3 * US
                    recording.use(time, tid, "contended", lock, NAMES[which])
                time += (i * i + 1) * US // 7
                recording.use(time, tid, "acquired", lock, NAMES[which])
            elif flags == 2 and i % 2:
                recording.use(time + 1, tid, "acquire", lock, NAMES[which], flags)
                recording.use(time + 2, tid, "release", lock, NAMES[which])
            held.append((lock, which))
            time += US
        for lock, which in reversed(held):
            recording.use(time, tid, "release", lock, NAMES[which])
            time += US
    return recording.write(directory / "orderly.data")


def every_pair(directory):
    """Each sequence of three steps, each on a lock of its own: everything that can be contradictory."""
    recording = named(tracepoints.LockdepRecording())
    steps = [("acquire", 0), ("acquire", 1), ("acquire", 2), ("contended", 0), ("acquired", 0), ("release", 0)]
    time = 1000 * US
    for number, sequence in enumerate(itertools.product(steps, repeat=3)):
        lock = 0xffffffff82000000 + number * 0x48
        for what, flags in sequence:
            recording.use(time, 10 + 10 * (number % 3), what, lock, f"lock_{number % 50}", flags)
            time += (number + 1) * US
    return recording.write(directory / "every-pair.data")


def torn(directory, name, mixture):
    """Any event at any time, with some lost. `mixture`: also contention events."""
    chance = random.Random(7)
    contention = {name: fields for name, (_, fields) in tracepoints.LockRecording().events.items()}
    recording = named(tracepoints.LockdepRecording(contention if mixture else None))
    time = 1000 * US
    for _ in range(3000):
        time += chance.randrange(1, 5000)
        tid, which = chance.choice((10, 20, 30, 40)), chance.randrange(len(NAMES))
        lock = 0xffff888100000000 + which * 64 + chance.randrange(3) * 0x1000
        if mixture and chance.random() < 0.1:
            recording.add(f"lock:contention_{chance.choice(('begin', 'end'))}", time, 0, tid, lock_addr=lock + 8, flags=1)
        elif chance.random() < 0.01:
            recording.lost(time, 0, 5)
        else:
            recording.use(time, tid, chance.choice(WHAT), lock, NAMES[which], chance.choice((0, 0, 0, 1, 2, 3)))
    return recording.write(directory / name)


def view(tool, arguments, path):
    done = subprocess.run([tool, "lock", *arguments, "-i", path] if tool == SONDE else
                          [tool, "lock", "-i", path, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if tool == SONDE:
        return side_by_side.Said(done.stdout.splitlines(), done.returncode)
    # perf's tables are on standard error, after its messages about losses.
    said = re.sub(r"Warning:\nProcessed \d+ events and lost \d+ chunks!\n\nCheck IO/CPU overload!\n\n", "", done.stderr) + done.stdout
    lines = said.splitlines()
    start = next((i for i, line in enumerate(lines) if re.match(r" *(Name|Thread ID|Address of) ", line)), 0)
    return side_by_side.Said(lines[start:], done.returncode)


def figures_only(said, only):
    return said._replace(lines=[line[-COLUMNS_WIDTH:] for line in said.lines]) if only else said


def main():
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        mixture = torn(directory, "mixture.data", True)
        for path in orderly(directory), every_pair(directory), torn(directory, "torn.data", False), mixture:
            for arguments in VIEWS:
                by_thread = arguments[0] == "report" and "-t" in arguments
                if not (by_thread and path == mixture):
                    theirs, ours = (figures_only(view(tool, arguments, path), by_thread) for tool in (PERF, SONDE))
                    both.lines(f"{path.name}: lock {' '.join(arguments)}", theirs, ours, least=3, status=0)
        both.expect(all(view(tool, ["contention"], mixture).status == 0 for tool in (PERF, SONDE)), "contention of a mixture")
        for tool in PERF, SONDE:
            done = subprocess.run([tool, "lock", "contention", "-i", directory / "orderly.data"], stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True)
            both.expect(done.returncode != 0 and "lock contention evsel not found" in done.stderr, f"{tool} lock contention without any")
    both.finish()


if __name__ == "__main__":
    main()
