#!/usr/bin/env python3
"""`perf kmem stat` and `sonde kmem stat` side by side: the same reports on the same recordings, to the character. The recordings
are made here, by each tool, of small processes, a copy of files and an idle machine. Needs root and perf.

perf 6.1 gets two things wrong about pages (docs/differences.md): it uses the migrate type names of Linux before 4.4, which is
translated here, and with current kernels it names the allocator as every caller. So page tables are compared without callers, and
tables by caller as sums over them."""
import os
import re
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

import kernel_turn
import side_by_side

SONDE = os.environ["SONDE"]
PERF = side_by_side.needed_perf()
PROCESSES = ["sh", "-c", "for i in 1 2 3 4 5 6; do ls /usr/bin | sort | wc -l & done; wait"]
FILES = ["sh", "-c", "cp -r /usr/include/linux copy && rm -r copy"]
IDLE = ["sleep", "0.2"]
RING_PAGES = "4096"  # hardly anything is lost, even on a busy machine
SLAB = [[], ["--caller"], ["--alloc"], ["--caller", "--alloc"], ["--alloc", "-l", "5"], ["--caller", "-l", "3", "--alloc", "-l", "2"],
        ["--caller", "--raw-ip"], ["--slab", "--caller", "-s", "bytes"], ["--alloc", "-s", "ptr"], ["--caller", "-s", "callsite"],
        ["--caller", "-s", "pingpong,hit"], ["--alloc", "-s", "callsite,frag", "-l", "50"], ["-s", "hit", "--alloc"],
        ["--caller", "--time", "FROM,TO"], ["--alloc", "--time", ",TO"]]
PAGES = [[], ["--alloc"], ["--alloc", "--live"], ["--live"], ["--alloc", "-s", "page"], ["--alloc", "-s", "gfp,order"], ["--alloc", "-l", "7"],
         ["--alloc", "-s", "migtype,hit"], ["--time", "FROM,TO"]]
CALLERS = [["--caller"], ["--caller", "--raw-ip"]]
NAMES = {"RECLAIM": "MOVABLE", "MOVABLE": "RECLAIM"}

both = side_by_side.Comparison("kmem")


def view(tool, arguments, path):
    return side_by_side.ask(tool, "kmem", *arguments, "-i", path, "stat")


def modern(line):
    """perf's line about pages with the migrate type names used since Linux 4.4."""
    line = re.sub(r"\| ( +)(RECLAIM|MOVABLE) \|", lambda m: f"| {m[1]}{NAMES[m[2]]} |", line)
    return line.replace("  Reclaimable       Movable      Reserved", "      Movable   Reclaimable    HighAtomic")


def without_caller(line):
    return line.rsplit(" | ", 1)[0] if line.count(" | ") >= 5 else line


def sums(lines):
    """Everything except the rows, and the rows summed over callers."""
    rest, rows = [], Counter()
    for line in lines:
        parts = [part.strip() for part in line.split(" | ")]
        if len(parts) == 6 and parts[0].isdigit():
            rows["kb", *parts[2:5]] += int(parts[0])
            rows["hits", *parts[2:5]] += int(parts[1])
        else:
            rest.append(without_caller(line))
    return rest + sorted(f"{key}: {value}" for key, value in rows.items())


def check(path, arguments, adapt_theirs=list, adapt_ours=list):
    theirs, ours = view(PERF, arguments, path), view(SONDE, arguments, path)
    both.lines(f"{path.name}: kmem {' '.join(arguments)}", theirs._replace(lines=adapt_theirs(theirs.lines)),
               ours._replace(lines=adapt_ours(ours.lines)), least=6, status=0)


def lost_frees(path):
    """How many pages are allocated again without having been freed, and their kB: the recorder lost events in between."""
    script = subprocess.run([PERF, "script", "-F", "event,trace", "-i", path], capture_output=True, text=True).stdout
    live, pages, kilobytes = set(), 0, 0
    for kind, pfn, order in re.findall(r"kmem:mm_page_(alloc|free): .*?pfn=(\w+) order=(\d+)", script):
        if kind == "free":
            live.discard(pfn)
        elif pfn in live:
            pages, kilobytes = pages + 1, kilobytes + (4 << int(order))
        else:
            live.add(pfn)
    return {"hits": pages, "kb": kilobytes}


def check_live_callers(path):
    """perf has one caller for all pages here, and deducts frees from it; ours has many. A page whose free was lost, and that was
    then allocated by another caller with other flags, is deducted by perf only."""
    amounts = []
    for lines in ([modern(line) for line in view(PERF, ["--page", "--caller", "--live"], path).lines],
                  view(SONDE, ["--page", "--caller", "--live"], path).lines):
        amounts.append({key: int(value) for key, value in re.findall(r"^(\('(?:hits|kb)'.*\)): (\d+)$", "\n".join(sums(lines)), re.M)})
    theirs, ours = amounts
    lost = lost_frees(path)
    off = {key: (theirs.get(key, 0), ours.get(key, 0)) for key in theirs | ours
           if abs(theirs.get(key, 0) - ours.get(key, 0)) > lost["hits" if key.startswith("('hits'") else "kb"]}
    both.expect(len(theirs) >= 4 and not off, f"{path.name}: kmem --page --caller --live: {len(theirs)} sums, {lost} of lost frees; perf's and ours: {off}")


def window(path):
    """A part of the recording's time range."""
    script = subprocess.run([PERF, "script", "-i", path, "-F", "time"], capture_output=True, text=True).stdout.split()
    times = [time.rstrip(":") for time in script]
    return {"FROM": times[len(times) // 4], "TO": times[3 * len(times) // 4]}


def check_all(path, slab, page):
    places = window(path)

    def filled(arguments):
        for word, value in places.items():
            arguments = [part.replace(word, value) for part in arguments]
        return arguments

    if slab:
        for arguments in SLAB:
            check(path, filled(arguments))
    if page:
        for arguments in PAGES:
            check(path, ["--page", *filled(arguments)], lambda lines: [without_caller(modern(line)) for line in lines],
                  lambda lines: [without_caller(line) for line in lines])
        for arguments in CALLERS:
            check(path, ["--page", *arguments], lambda lines: sums([modern(line) for line in lines]), sums)
        check_live_callers(path)


def record(directory, name, tool, before, command):
    path = directory / f"{name}.data"
    with kernel_turn.taken():
        subprocess.run([tool, "kmem", *before, "record", "-m", RING_PAGES, "-o", path, "--", *command], check=True, capture_output=True,
                       cwd=directory)
    return path


def check_events(directory):
    """Both tools record the same events."""
    for options in [], ["--page"], ["--slab", "--page"]:
        lists = []
        for tool in PERF, SONDE:
            path = record(directory, "events", tool, options, ["true"])
            text = subprocess.run([PERF, "evlist", "-i", path], capture_output=True, text=True).stdout
            lists.append(sorted(line for line in text.splitlines() if line.startswith("kmem:")))
        both.expect(lists[0] == lists[1], f"kmem {' '.join(options)} record: perf {lists[0]}, sonde {lists[1]}")


def main():
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        with kernel_turn.taken():
            check_events(directory)
            slab = record(directory, "slab", PERF, [], PROCESSES)
            pages = record(directory, "pages", PERF, ["--page"], PROCESSES)
            each = record(directory, "both", PERF, ["--slab", "--page"], FILES)
            ours = record(directory, "ours", SONDE, ["--slab", "--page"], FILES)
            idle = record(directory, "idle", PERF, [], IDLE)
        check_all(slab, True, False)
        check_all(pages, False, True)
        check_all(each, True, True)
        check_all(ours, True, True)
        check_all(idle, True, False)
    both.finish()


if __name__ == "__main__":
    main()
