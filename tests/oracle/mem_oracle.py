#!/usr/bin/env python3
"""`perf mem` and `sonde mem` side by side: reports and lists of samples of the same recordings, and what is recorded. The recordings
are assembled (memory_recordings.py), those of other machines in the folder FIXTURES if it exists, and one of page faults made here.
Needs root and perf.

perf formats the first sample of -D in another way than all others (docs/differences.md), so it is left out where it is not
separated by commas."""
import os
import re
import subprocess
import tempfile
from pathlib import Path

import kernel_turn
import memory_recordings
import side_by_side

SONDE = os.environ["SONDE"]
PERF = side_by_side.needed_perf()
FIXTURES = Path(os.environ.get("SONDE_SOURCE", ".")).parent / "shared" / "fixtures"
REAL = ["wild/a4676d8c.perf.data", "quipper/perf.data.weight_struct"]
REPORTS = [["report"], ["report", "-t", "load"], ["report", "-t", "store"], ["-t", "store", "report"], ["report", "-p"],
           ["report", "--data-page-size", "-t", "store"], ["report", "-p", "--data-page-size"], ["report", "--sort", "mem,symbol_daddr"],
           ["report", "-s", "snoop,locked,dcacheline"], ["report", "-F", "overhead,tlb,locked"]]
LISTS = [["-D", "report"], ["report", "-D"], ["-D", "-p", "report"], ["report", "-D", "--data-page-size", "-x", ","], ["-D", "-x", ";", "-p", "report"],
         ["report", "-D", "-U"]]

# The values of each aspect of a data source: perf 6.1 does not know these columns, so they are told here from the bits that perf prints.
VALUES = {"op": ["Load", "Store", "Ld+St", "Pfetch", "Exec", "Other"], "cache": ["L1", "L2", "L3", "L4", "L1-buf", "L2-buf", "Other"],
          "mem": ["RAM", "MSC", "Uncach", "CXL", "IO", "PMEM", "Other"], "snoop": ["Hit", "HitM", "Miss", "Other"],
          "dtlb": ["L1-Hit", "L2-Hit", "L?-Hit", "Miss", "Other"]}

both = side_by_side.Comparison("mem")


def lines_of(text):
    """Without perf's tip and the comments around tables."""
    return [line.rstrip() for line in text if not line.startswith("# (Tip") and line.rstrip() not in ("", "#")]


def ask(tool, arguments, path, *more):
    said = side_by_side.ask(tool, "mem", *arguments, *more, "-i", path)
    return said._replace(lines=lines_of(said.lines))


def check(path):
    own = ["--unverified-symbols"]
    for arguments in REPORTS:
        theirs = ask(PERF, [*arguments, "--stdio"], path)
        both.lines(f"{path.name}: mem {' '.join(arguments)}", theirs, ask(SONDE, [*arguments, "--stdio"], path, *own), least=7, status=0)
    for arguments in LISTS:
        theirs, ours = ask(PERF, arguments, path), ask(SONDE, arguments, path, *own)
        if "-x" not in arguments:
            theirs.lines[1:2] = ours.lines[1:2] = []
        both.lines(f"{path.name}: mem {' '.join(arguments)}", theirs, ours, status=0)


def aspects(source):
    """The value of each aspect, from the bits of union perf_mem_data_src (include/uapi/linux/perf_event.h)."""
    op, snoop, tlb, level = source & 31, source >> 19 & 31, source >> 26 & 127, source >> 33 & 15
    rare = "Pfetch" if op & 8 else "Exec" if op & 16 else "Other"
    return {"op": {2: "Load", 4: "Store", 6: "Ld+St"}.get(op, rare),
            "cache": {1: "L1", 2: "L2", 3: "L3", 4: "L4", 5: "L2-buf", 12: "L1-buf"}.get(level, "Other"),
            "mem": {6: "MSC", 8: "Uncach", 9: "CXL", 10: "IO", 13: "RAM", 14: "PMEM"}.get(level, "Other"),
            "snoop": {4: "Hit", 8: "Miss", 16: "HitM"}.get(snoop, "Other"),
            "dtlb": {10: "L1-Hit", 18: "L2-Hit", 26: "L?-Hit"}.get(tlb, "Miss" if tlb & 4 else "Other")}


def check_breakdown(path, fields=("op", "cache", "mem", "snoop", "dtlb")):
    """Each row's shares are those of the weights that perf script lists."""
    ours = ask(SONDE, ["report", "--stdio", "-F", ",".join(["overhead", *fields, "sample", "comm"])], path)
    tables = {}
    for line in ours.lines:
        if match := re.match("# Samples: .* of event '(.*)'", line):
            table = tables.setdefault(match[1], [])
        elif line.startswith("# Overhead") or "%" in line:
            table.append(line.split())
    listed = samples_of(path)
    both.expect(len(listed) > 10 and set(tables) == {event for event, *_ in listed}, f"{path.name}: {len(listed)} samples of {set(tables)}")
    for event, (titles, *rows) in tables.items():
        sums, counts = {}, {}
        for _, comm, weight, source in (sample for sample in listed if sample[0] == event):
            counts[comm] = counts.get(comm, 0) + 1
            for field, value in aspects(source).items():
                row = sums.setdefault(comm, {}).setdefault(field, {})
                row[value] = row.get(value, 0) + (weight or 1)
        columns = [(field, value) for field in fields for value in VALUES[field] if any(value in row[field] for row in sums.values())]
        expected = sorted([*(f"{100 * row[field].get(value, 0) / sum(row[field].values()):.1f}%" for field, value in columns), str(counts[comm]), comm]
                          for comm, row in sums.items())
        both.expect(titles == ["#", "Overhead", *(value for _, value in columns), "Samples", "Command"], f"{path.name}: {event}: titles {titles}")
        both.expect(sorted(row[1:] for row in rows) == expected, f"{path.name}: {event}: {rows} instead of {expected}")


def samples_of(path):
    """(event, command, weight, data source) of each sample, as perf lists them."""
    text = subprocess.run([PERF, "script", "-F", "comm,event,weight,data_src", "-i", path], capture_output=True, text=True, check=True).stdout
    listed = re.findall(r"^ *(\S+) +(\S+): +([0-9a-f]+) \|OP .* (\d+) *$", text, re.M)
    return [(event, comm, int(weight), int(source, 16)) for comm, event, source, weight in listed]


def attributes(path):
    text = subprocess.run([PERF, "evlist", "-v", "-i", path], capture_output=True, text=True, check=True).stdout
    return sorted(text.split(", "))


def check_recording(directory):
    """perf refuses where there are no memory events, so its `record` with the same options is the reference."""
    faults = ["-e", "page-faults", "-c", "1"]
    made = {}
    with kernel_turn.taken():
        for name, command in {"theirs": [PERF, "record", "-W", "-d"], "ours": [SONDE, "mem", "record", "--ldlat", "40"],
                              "their stores": [PERF, "record", "-d", "--phys-data", "--all-user"],
                              "our stores": [SONDE, "mem", "-t", "store", "record", "-p", "-U"]}.items():
            made[name] = directory / f"{name}.data"
            subprocess.run([*command, *faults, "-o", made[name], "--", "ls", "/"], check=True, capture_output=True)
    for theirs, ours in ("theirs", "ours"), ("their stores", "our stores"):
        theirs, ours = attributes(made[theirs]), attributes(made[ours])
        both.expect(theirs == ours, f"mem record: perf {theirs}, sonde {ours}")
    ours = ask(SONDE, ["report", "-D"], made["ours"])
    theirs = subprocess.run([PERF, "script", "-F", "ip,addr", "-i", made["ours"]], capture_output=True, text=True, check=True).stdout
    expected = [(ip, address) for address, ip in re.findall(r"^ *(\w+) +(\w+)$", theirs, re.M)]
    listed = [tuple(word[2:] for word in line.split()[2:4]) for line in ours.lines[1:]]
    both.expect(len(listed) > 20 and listed == expected, f"mem report -D: {len(listed)} samples, perf script {len(expected)}")


def check_refusal(directory):
    """Both end with an error where the machine has no memory events."""
    for arguments in ["record", "-e", "list"], ["record", "-o", directory / "none.data", "--", "true"]:
        said = [subprocess.run([tool, "mem", *arguments], capture_output=True, text=True) for tool in (PERF, SONDE)]
        if said[0].returncode == 0:
            continue
        both.expect(said[1].returncode != 0 and "memory events not supported" in said[1].stderr and said[1].stderr.count("\n") == 1,
                    f"mem {arguments}: {said[1]}")


def main():
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        check(memory_recordings.make(SONDE, directory / "contended.data", samples=500))
        check(memory_recordings.make(SONDE, directory / "chains.data", seed=3, samples=60, chains=True))
        for real in REAL:
            if (FIXTURES / real).exists():
                check(FIXTURES / real)
        for strange in False, True:
            made = memory_recordings.make(SONDE, directory / f"parts{strange}.data", samples=400, kinds="strange" if strange else "contended")
            check_breakdown(made)
            check_breakdown(made, fields=("snoop", "op"))
        if (FIXTURES / REAL[0]).exists():
            check_breakdown(FIXTURES / REAL[0])
        check_recording(directory)
        check_refusal(directory)
    both.finish()


if __name__ == "__main__":
    main()
