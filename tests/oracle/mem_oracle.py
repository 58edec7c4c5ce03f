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
           ["report", "-s", "snoop,locked,dcacheline"], ["report", "-F", "overhead,mem,tlb"]]
LISTS = [["-D", "report"], ["report", "-D"], ["-D", "-p", "report"], ["report", "-D", "--data-page-size", "-x", ","], ["-D", "-x", ";", "-p", "report"],
         ["report", "-D", "-U"]]

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
        check_recording(directory)
        check_refusal(directory)
    both.finish()


if __name__ == "__main__":
    main()
