#!/usr/bin/env python3
"""`perf sched` and `sonde sched` side by side: the same reports on the same recordings, to the character. The recordings are made
here: a messaging load, one of small processes, an idle machine, one by `sonde sched record`, one with call chains, and a
synthetic one with lost events and migrations. Needs root and perf.

perf 6.1 misreads two things in recordings of recent kernels (docs/differences.md): a prev_state with a bit that says "was
preempted", and, for latency, sched_waking. So the comparison uses copies in which prev_state has only states that both know, and,
for latency, recordings of sched_wakeup. And perf never prints the rows of idle time by call chain, only their header: ours are
compared with the total above them instead."""
import os
import re
import struct
import subprocess
import tempfile
from pathlib import Path

import kernel_turn
import side_by_side
import tracepoints

SONDE = os.environ["SONDE"]
PERF = side_by_side.needed_perf()
MESSAGES = ["perf", "bench", "sched", "messaging", "-g", "1", "-l", "40"]
PROCESSES = ["sh", "-c", "for i in 1 2 3 4 5 6 7 8; do ls /usr/bin | sort | wc -l & sleep 0.005; done; wait"]
IDLE = ["sleep", "0.3"]
WITH_WAKEUP = ["sched_switch", "sched_stat_runtime", "sched_process_fork", "sched_wakeup", "sched_wakeup_new", "sched_migrate_task"]
STATES = {0, 1, 2, 4, 8}  # with the same names in both
PREV_STATE = 32           # its offset in sched_switch
IDLE_CPU = re.compile(r"^  CPU +\d+: +(\d+\.\d{3})  msec$")
IDLE_STACK = re.compile(r"^ +(\d+\.\d{3}) +\d+  \S")  # "  20.778   17  do_wait <- kernel_wait4"

LATENCY = [[], ["-p"], ["-s", "runtime"], ["-s", "max,pid", "-p"], ["-s", "switch", "-p"], ["-C", "0"]]
MAP = [[], ["--compact"], ["--cpus", "1"], ["--compact", "--cpus", "0"], ["-v"], ["--color-cpus", "0", "--color-pids", "1"]]
TIMEHIST = [[], ["-s"], ["-S"], ["-MVw"], ["-n"], ["-nw"], ["-M", "-S"], ["--state"], ["-s", "--state"], ["-I"], ["-I", "-S"],
            ["-I", "-s", "--state"], ["-C", "1"], ["-C", "0", "-S"], ["-V", "-C", "0"], ["--max-stack", "2"], ["--no-call-graph"],
            ["-w", "-p", "PID"], ["-S", "-t", "PID"], ["-MVwS", "--time", "FROM,TO"], ["-S", "--time", ",TO"], ["-s", "--time", "FROM,"]]
# "  perf[2739]   2525   5   15.481 …": task, parent, number of runs, ms
MADE_UP = "made-up.data"
PLANNED = ("nr_", "target-less", "multi-target", "run atoms", "task ")

both = side_by_side.Comparison("sched")


def view(tool, arguments, path):
    return side_by_side.ask(tool, "sched", *arguments, "-i", path)


def without_idle_stacks(lines):
    """The lines except those of "Idle stats by callchain", and what is wrong with these: a CPU's rows are parts of its idle
    time."""
    kept, wrong = [], []
    total = None  # microseconds that the rows of a CPU may still have
    for line in lines:
        if head := IDLE_CPU.match(line):
            total = int(head[1].replace(".", ""))
        elif total is not None and (row := IDLE_STACK.match(line)):
            total -= int(row[1].replace(".", ""))
            if total < 0:
                wrong.append(f"more than the CPU's idle time: {line}")
            continue
        kept.append(line)
    return kept, wrong


def check(path, arguments):
    theirs, ours = view(PERF, arguments, path), view(SONDE, arguments, path)
    kept, wrong = without_idle_stacks(ours.lines)
    title = f"{path.name}: sched {' '.join(arguments)}"
    for what in wrong:
        both.failed(f"{title}: {what}")
    both.lines(title, theirs, ours._replace(lines=kept))


def switch_ids(data, attrs_offset, attrs_size, attr_size):
    """Ids of sched_switch, and its sample_type."""
    number = int(Path("/sys/kernel/tracing/events/sched/sched_switch/id").read_text())
    for at in range(attrs_offset, attrs_offset + attrs_size, attr_size):
        kind, _, config = struct.unpack_from("<IIQ", data, at)
        if (kind, config) == (2, number):
            offset, size = struct.unpack_from("<QQ", data, at + attr_size - 16)
            return set(struct.unpack_from(f"<{size // 8}Q", data, offset)), struct.unpack_from("<Q", data, at + 24)[0]
    raise RuntimeError("no sched_switch in the recording")


def with_common_states(path):
    """A copy of a recording in which tasks leave in states that both know."""
    data = bytearray(path.read_bytes())
    _, _, attr_size, attrs_offset, attrs_size, begin, size = struct.unpack_from("<7Q", data)
    ids, sample_type = switch_ids(data, attrs_offset, attrs_size, attr_size)
    # Before the raw data: id, ip, pid and tid, time, cpu, period; the call chain; the size.
    head = 8 + 8 * 6
    at = begin
    while at < begin + size:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        if kind == 9 and struct.unpack_from("<Q", data, at + 8)[0] in ids:
            place = at + head
            if sample_type & 1 << 5:
                place += 8 + 8 * struct.unpack_from("<Q", data, place)[0]
            place += 4 + PREV_STATE
            state = struct.unpack_from("<Q", data, place)[0] & 0xff
            struct.pack_into("<Q", data, place, state if state in STATES else 1)
        at += length
    copy = path.with_suffix(".common.data")
    copy.write_bytes(data)
    return copy


def record(directory, name, tool, before, command):
    path = directory / f"{name}.data"
    with kernel_turn.taken():
        subprocess.run([tool, *before, "-o", path, "--", *command], check=True, capture_output=True)
    return with_common_states(path)


def made_up(directory):
    recording = tracepoints.SchedulerRecording(every_event=True)
    recording.cpus(2)
    recording.name(10, "reader")
    recording.name(20, "writer", 19)
    recording.name(511, "shares", 511)  # a table of threads with -1
    ms, idle, reader, writer = 1_000_000, recording.IDLE, ("reader", 10), ("writer", 20)
    shares, ended = ("shares", 511), ("", -1)
    for i in range(20):
        start = (100 + 40 * i) * ms
        recording.waking(start, 1, writer, reader)
        recording.switch(start + i * ms, 0, idle, 0, reader)
        recording.runtime(start + 22 * ms, 0, reader, (22 - i) * ms)
        recording.switch(start + 23 * ms, 0, reader, i % 3, writer)
        recording.migrate(start + 24 * ms, 0, writer, reader, 0, 1)
        if i % 7 == 0:
            recording.lost(start + 25 * ms, 1, i + 1)
        recording.switch(start + 30 * ms, 0, writer, 1, idle)
        recording.switch(start + 31 * ms, 1, idle, 0, shares)
        recording.switch(start + 32 * ms, 1, shares, 1, ended)
        recording.switch(start + 33 * ms, 1, ended, 16, idle)
    return recording.write(directory / MADE_UP)


def window(path):
    """A thread that ran, and a part of the recording's time range."""
    lines = [line for line in view(PERF, ["map", "-v"], path).lines if " => " in line and "swapper" not in line]
    times = [line.split(" secs ")[0].split()[-1] for line in lines]
    return {"PID": lines[len(lines) // 2].rsplit(":", 1)[1].split()[0], "FROM": times[len(times) // 4],
            "TO": times[3 * len(times) // 4]}


def check_all(path, commands):
    places = window(path)
    for arguments in commands:
        filled = list(arguments)
        for word, value in places.items():
            filled = [part.replace(word, value) for part in filled]
        check(path, filled)


def check_replay(path, record_again):
    """What was recorded for each task. How long a round takes cannot be known beforehand. perf gives up where a thread was switched
    away from that had already lost its number (pid -1), as ending ones are: by chance, so it is recorded again."""
    for _ in range(20):
        theirs = view(PERF, ["replay", "-r", "1"], path)
        if theirs.status == 0:
            break
        record_again()
    planned = (one._replace(lines=[line for line in one.lines if line.startswith(PLANNED)])
               for one in (theirs, view(SONDE, ["replay", "-r", "1"], path)))
    both.lines(f"{path.name}: sched replay", *planned, least=4)


def commands(*views):
    return [[name, *options] for name, lists in views for options in lists]


def main():
    by_hand = ["record", "-q", "-a", "-R", "-m", "1024", "-c", "1", *[word for event in WITH_WAKEUP for word in ("-e", "sched:" + event)]]
    # Without user-space chains: perf's timehist has no mappings to find their symbols in.
    stacks = ["sched", "record", "-g", "--kernel-callchains"]
    script = [["script"]]
    every = commands(("map", MAP), ("timehist", TIMEHIST))
    loads = {"wakeups": MESSAGES, "processes": PROCESSES}
    few = commands(("map", MAP[:2]), ("timehist", [["-S"], ["-MVwS"], ["-s", "--state"], ["-I", "-S"]]))
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        with kernel_turn.taken():
            messages = record(directory, "messages", PERF, ["sched", "record"], MESSAGES)
            with_wakeups = {kind: record(directory, kind, PERF, by_hand, load) for kind, load in loads.items()}
            ours = record(directory, "ours", SONDE, ["sched", "record"], PROCESSES)
            idle = record(directory, "idle", PERF, ["sched", "record"], IDLE)
            with_stacks = record(directory, "stacks", PERF, stacks, PROCESSES)
        check_all(messages, every + script)
        for kind, recording in with_wakeups.items():
            check_all(recording, commands(("latency", LATENCY)) + few + script)
            check_replay(recording, lambda kind=kind: record(directory, kind, PERF, by_hand, loads[kind]))
        check_all(ours, few + script)
        check_all(idle, few)
        check_all(with_stacks, few + commands(("timehist", [[], ["--max-stack", "2", "-n"]])))
        check_all(made_up(directory), few)
    both.finish()


if __name__ == "__main__":
    main()
