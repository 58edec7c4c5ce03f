#!/usr/bin/env python3
"""`perf timechart` and `sonde timechart` side by side. The pictures look different, but must show the same: how often and how
long CPUs slept in which state, and which calls read, wrote, polled and failed. Ours is read from the data in the picture, perf's
from its rectangles and their titles. Needs root and perf.

How long each thread ran on each CPU is compared with `perf sched timehist` on the same recording: perf's picture loses runs (it
may show 1 of 45 ms) that its own table has. perf keeps one call per process, so it loses some calls of multithreaded processes;
most processes that poll have several threads."""
import collections
import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

import calm
import kernel_turn
import side_by_side

SONDE = os.environ["SONDE"]
PERF = side_by_side.needed_perf()
LOAD = ["sh", "-c", "for i in 1 2 3; do ls -R /usr/share/doc | sort | md5sum; cat /usr/share/doc/*/copyright | wc; sleep 0.1; done"]
ALL = ["-n", "1000000"]  # every thread
EVERY_CALL = ["--io-merge-dist", "0", "--io-min-time", "0"]
PERF_IO = {"disk": ("disk read", "disk write"), "net": ("network in", "network out"), "sync": ("sync",), "poll": ("poll",),
           "error": ("failed",)}
RUN = re.compile(r" *[\d.]+ \[(\d+)\] .*\[(-?\d+)(?:/-?\d+)?\] +[\d.]+ +[\d.]+ +([\d.]+) *$")  # CPU, thread, ms
SLEEP = re.compile(r'<rect class="c(\d)" x="[\d.]+" width="([\d.]+)" y="([\d.]+)"')
CALL = re.compile(r'<title>fd=(-?\d+) error=(-?\d+) merges=(\d+)</title>\n<rect x="[\d.]+" width="[\d.]+" y="[\d.]+" height="[\d.]+" '
                  r'class="(\w+)"')

both = side_by_side.Comparison("timechart")


def draw(directory, recording, arguments):
    """perf's picture, and the contents of ours."""
    pictures = [directory / "perf.svg", directory / "sonde.svg"]
    for tool, picture in zip((PERF, SONDE), pictures):
        done = subprocess.run([tool, "timechart", "-i", recording, "-o", picture, *ALL, *arguments], capture_output=True, text=True)
        if done.returncode != 0:
            raise AssertionError(f"{tool} timechart {arguments}: status {done.returncode}: {done.stderr}")
    text = pictures[1].read_text()
    return pictures[0].read_text(), json.loads(re.search(r"const timeline = (.*?);\nconst layout", text, re.DOTALL)[1])


def record(directory, name, tool, options):
    """Without losses: what ran where they were is a guess, and perf's another than ours."""
    path = directory / f"{name}.data"
    for _ in calm.tries(f"timechart {name}: the kernel dropped events", 5):
        # To a file: if stdout is a pipe, perf writes the recording itself to it.
        with open(directory / "log", "w", encoding="utf-8") as log, kernel_turn.taken():
            subprocess.run([tool, "timechart", "record", *options, *LOAD], check=True, stdout=log, stderr=log, cwd=directory)
        (directory / "perf.data").rename(path)
        stats = subprocess.run([PERF, "report", "--stats", "-i", path], capture_output=True, text=True).stdout
        drawn = subprocess.run([SONDE, "timechart", "-i", path, "-o", directory / "tried.svg"], capture_output=True)
        if not re.search(r"LOST events: +[1-9]", stats) and drawn.returncode == 0:
            break
    return path


def check_runs(path, ours):
    """perf's table truncates a run to microseconds; ours has nanoseconds, and marks what was cut off. perf does not know who a
    thread was that has just ended (-1): what other threads lack on a CPU is attributed to that one there. Where the kernel dropped a
    switch, perf gives all of the time to the thread that leaves next, and ours to none."""
    table = subprocess.run([PERF, "sched", "timehist", "-i", path], check=True, capture_output=True, text=True).stdout
    ran, runs = collections.Counter(), collections.Counter()
    for cpu, tid, length in filter(None, (RUN.match(line) and RUN.match(line).groups() for line in table.splitlines())):
        ran[int(tid), int(cpu)] += float(length) * 1e6
    for number, cpu in enumerate(ours["cpus"]):
        for _, length, thread, cut in cpu["runs"]:
            runs[ours["threads"][thread]["tid"], number] += 0 if cut else length
    unknown = collections.Counter()
    for _, length, cpu in ours["unknown"]:
        unknown[cpu] += length
    both.expect(len(ran) > 10, f"{path.name}: perf knows runs of {len(ran)} threads")
    nameless = {cpu: ran.pop((-1, cpu), 0) for cpu in range(len(ours["cpus"]))}
    lacking = collections.Counter()
    for (tid, cpu), length in runs.items():
        if tid > 0:
            lacking[cpu] += length - ran[tid, cpu]
    off = {key: (ran[key], runs[key])
           for key in ran | runs if key[0] > 0 and ran[key] - runs[key] > 2e5 + 0.02 * ran[key] + unknown[key[1]]}
    # The first run of a CPU has no beginning.
    both.expect(len(off) <= len(ours["cpus"]), f"{path.name}: ran ns, perf's and ours: {off}")
    for cpu, ended in nameless.items():
        # perf truncates each run to microseconds. Ours may have a run that perf's table lacks.
        allowed = 2e6 + 1e3 * len(ours["cpus"][cpu]["runs"]) + unknown[cpu]
        more = allowed + 0.05 * (ours["end_ns"] - ours["start_ns"])
        both.expect(-more <= ended - lacking[cpu] <= allowed, f"{path.name}: CPU {cpu}: ended {ended}, lacking {lacking[cpu]} ns")


def check_tasks(directory, path):
    theirs, ours = draw(directory, path, [])
    check_runs(path, ours)
    asleep = [cpu for cpu in ours["cpus"] if cpu.get("idles")]
    span_ns = ours["end_ns"] - ours["start_ns"]
    sleeps, widths = collections.Counter(), collections.Counter()
    for state, width, y in SLEEP.findall(theirs):
        sleeps[y, int(state)] += 1
        widths[y, int(state)] += float(width)
    own, lengths = collections.Counter(), collections.Counter()
    rows = sorted({y for y, _ in sleeps}, key=float)
    both.expect(len(rows) == len(asleep), f"{path.name}: {len(rows)} CPUs sleep, of ours {len(asleep)}")
    for y, cpu in zip(rows, asleep):
        for _, length, state in cpu["idles"]:
            own[y, state] += 1
            lengths[y, state] += length
    # The last one may end with the recording.
    both.expect(all(abs(sleeps[key] - own[key]) <= 1 for key in sleeps | own), f"{path.name}: sleeps {sleeps} {own}")
    scale = sum(widths.values()) / max(1, sum(lengths.values()))
    close = all(abs(widths[key] - lengths[key] * scale) <= 0.01 * sum(widths.values()) for key in widths)
    both.expect(close and (not lengths or 0.5 < scale * span_ns / 1000 < 1.5), f"{path.name}: time asleep {widths} {lengths}")


def check_choices(directory, path):
    """What -p, -w, -t, -f and --symfs leave of the picture; and the chains of what record -g recorded."""
    _, whole = draw(directory, path, ["-f", "--symfs", "/"])
    picture = directory / "chosen.svg"
    subprocess.run([SONDE, "timechart", "-i", path, "-o", picture, "-p", "md5sum", "-w", "700", "-t"], check=True, capture_output=True)
    text = picture.read_text()
    chosen = json.loads(re.search(r"const timeline = (.*?);\nconst layout", text, re.DOTALL)[1])
    names = {thread["tid"]: thread["name"] for thread in whole["threads"]}
    kept = {thread["tid"] for thread in chosen["threads"] if thread["slices"]}
    both.expect(kept == {tid for tid, name in names.items() if name == "md5sum"}, f"{path.name}: -p md5sum keeps {kept} of {names}")
    both.expect('width="700"' in text, f"{path.name}: -w 700")
    both.expect(chosen["cpus"] == whole["cpus"], f"{path.name}: -t on a machine of one package changes the order of CPUs")


def check_io(directory, path, arguments):
    theirs, ours = draw(directory, path, [*arguments, *EVERY_CALL])
    calls = collections.Counter()
    for fd, error, merges, kind in CALL.findall(theirs):
        calls[kind, 0 if kind in ("poll", "error") else int(fd), int(error)] += 1 + int(merges)
    own = collections.Counter()
    for thread in ours["threads"]:
        for _, _, state, fd, error, _, times, _ in thread["slices"]:
            kind = next(kind for kind, names in PERF_IO.items() if ours["states"][state] in names)
            own[kind, 0 if kind in ("poll", "error") else fd, -error] += times
    kinds = collections.Counter(), collections.Counter()
    for sums, counted in zip(kinds, (calls, own)):
        for (kind, _, _), count in counted.items():
            sums[kind] += count
    both.expect(calls and all(abs(kinds[0][kind] - kinds[1][kind]) <= 5 + 0.02 * kinds[0][kind] for kind in PERF_IO if kind != "poll"),
           f"{path.name} {arguments}: " + str({key: (calls[key], own[key]) for key in calls | own if calls[key] != own[key]}))


def record_io(directory, name, tool):
    """Where the machine makes a hundred thousand calls meanwhile, our picture joins them, across kinds too: then once more."""
    for _ in calm.tries("timechart -I: the machine made too many calls to draw each", 6):
        path = record(directory, name, tool, ["-I"])
        picture = directory / "joined.svg"
        subprocess.run([SONDE, "timechart", "-i", path, "-o", picture, *ALL, *EVERY_CALL], check=True, capture_output=True)
        if "are joined" not in picture.read_text():
            break
    return path


def main():
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        with kernel_turn.taken():
            tasks = record(directory, "tasks", PERF, [])
            ours = record(directory, "ours", SONDE, [])
            path = record(directory, "chains", SONDE, ["-g"])
            io, our_io = record_io(directory, "io", PERF), record_io(directory, "our-io", SONDE)
        check_tasks(directory, tasks)
        check_tasks(directory, ours)
        lines = side_by_side.ask(PERF, "script", "-i", path, "-F", "event,ip").lines
        both.expect(sum(bool(re.match(r"\t +[0-9a-f]+", line)) for line in lines) > 100, "timechart record -g: no chains")
        check_choices(directory, path)
        check_io(directory, io, [])
        for arguments in ([], ["--io-skip-eagain"]):
            check_io(directory, our_io, arguments)
    both.finish()


if __name__ == "__main__":
    main()
