#!/usr/bin/env python3
"""`perf stat` and `sonde stat` side by side: the same command lines with both, compared field by field with the numbers replaced;
counts that the program determines compared as they are; files of `stat record` read by the other tool; and synthetic counts of
hardware that this machine may not have, as both show them. Needs root and perf."""
import atexit
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile

import calm

SONDE = os.environ["SONDE"]
PERF = shutil.which("perf")
DIRECTORY = tempfile.mkdtemp()
atexit.register(shutil.rmtree, DIRECTORY)
failures = []
passed = 0

# Intentional differences: docs/differences.md.
KNOWN = [
    (re.compile(r'"metric-unit" : "\(null\)"'), '"metric-unit" : ""'),  # perf prints a null pointer
    # The same in our own words.
    (re.compile(r"^Workload failed: ", re.MULTILINE), "cannot run '/nonexistent': "),
    (re.compile(r"^warning: processing task data, aggregation mode not set$", re.MULTILINE),
     "the counts are those of tasks, not of CPUs: they are shown as they were recorded"),
]


def run(tool, arguments, timeout=120):
    """Standard error, where stat writes, and the status."""
    done = subprocess.run([tool, "stat", *arguments], cwd=DIRECTORY, text=True, timeout=timeout, errors="replace",
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.stderr, done.returncode


def without_known(text):
    for pattern, instead in KNOWN:
        text = pattern.sub(instead, text)
    return text


def without_numbers(text):
    text = without_known(text)
    text = re.sub(r"\b[KMG]/sec", "/sec", text)
    text = re.sub(r"[+-]?\d+\.\d+|\d+", "N", text)
    # An error of exactly 0 isn't shown; a column of numbers is as wide as its widest.
    text = re.sub(r" *\( \+- *N% \)", "", text)
    return [re.sub(" +", " ", line).strip() for line in text.splitlines()]


def check(name, ours, theirs):
    global passed
    if ours == theirs:
        passed += 1
        return
    difference = difflib.unified_diff(theirs, ours, "perf", "sonde", lineterm="", n=0)
    failures.append(f"--- {name}\n" + "\n".join(difference))


def check_format(arguments, status=None, said=None):
    """A count of 0, or one that was never scheduled, may differ between two runs: then both run again. `status`: what ours must be
    where perf's is not the command's; `said`: a line that ours must have, and perf's may lack."""
    without = lambda text: [line for line in without_numbers(text) if line != said]
    for _ in calm.tries(f"stat {' '.join(arguments)}: a count of 0 differs between two runs", 4):
        theirs, their_status = run(PERF, arguments)
        ours, our_status = run(SONDE, arguments)
        if without(ours) == without(theirs):
            break
    name = "stat " + " ".join(arguments)
    check(name, without(ours), without(theirs))
    if said is not None and said not in ours.splitlines():
        failures.append(f"--- {name}: '{said}' is missing")
    if our_status != (their_status if status is None else status):
        failures.append(f"--- {name}: status {our_status}, perf's {their_status}, expected {status}")


# Busy for a while on every CPU, so that nothing is "not counted".
PROGRAM = ["sh", "-c", "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done"]
WORK = ["sh", "-c", "ls -R /usr/lib | sha256sum; sleep 0.05"]
SOFTWARE = ["-e", "task-clock,context-switches,page-faults"]
ALONE = ["-e", "page-faults,cycles"]  # no clock: no rates
FORMS = [[], ["-x,"], ["-j"]]

COMMANDS = [
    [], ["-d"], ["-ddd"], SOFTWARE, ALONE, ["-e", "page-faults:u"], ["-e", "{page-faults,minor-faults}"],
    ["-e", "raw_syscalls:sys_enter,task-clock"], ["-r", "3"], ["-n"], ["-e", "duration_time,task-clock"],
    ["--no-scale", *SOFTWARE], ["-i", *SOFTWARE], ["-e", "page-faults/name=other/"],
]
MODES = [[], ["-A"], ["--per-core"], ["--per-die"], ["--per-socket"], ["--per-node"]]


def check_commands():
    for options in COMMANDS:
        for form in FORMS:
            check_format([*options, *form, "--", *PROGRAM])
    check_format(["-x", "\\t", *SOFTWARE, "--", *PROGRAM])
    check_format(["-x", ";", "-r", "2", *SOFTWARE, "--", *PROGRAM])
    # perf says 0 in about one run of forty, and in most on a busy machine: if the command ends before perf waits for it, perf does
    # not ask how. It then does not say that it was killed, either.
    check_format(["-e", "page-faults", "--", "sh", "-c", "exit 3"], status=3)
    check_format(["--pre", "true", "--post", "true", *SOFTWARE, "--", *PROGRAM])
    check_format(["--", "/nonexistent"])
    # A killed command is 128 + its signal here, 0 there.
    check_format(["-e", "page-faults", "--", "sh", "-c", "kill -9 $$"], status=128 + 9, said="sh: Killed")
    check_format(["-p", str(os.getpid()), *ALONE, "--", "sleep", "0.01"])
    check_format(["--per-thread", "-t", str(os.getpid()), *ALONE, "--", "sleep", "0.01"])
    check_format(["-C", "0", "-e", "cpu-clock,cycles", "--", "sleep", "0.01"])


def check_modes():
    for mode in MODES:
        for form in FORMS:
            for events in (["-e", "cpu-clock,page-faults,cycles"], ["-e", "cpu-clock:u,page-faults"]):
                check_format(["-a", *mode, *form, *events, "--", *WORK])
            check_format(["-a", *mode, *form, "-I", "60000", "-e", "cpu-clock,cycles", "--", *WORK])
    for form in FORMS:
        check_format(["-a", "-I", "100", "--interval-count", "1", "--summary", *form, "-e", "cpu-clock", "--", "sleep",
                      "0.3"])


def counts(text):
    """{event: value} of CSV."""
    fields = [line.split(",") for line in text.splitlines() if "," in line]
    return {field[2]: field[0] for field in fields}


def as_lines(found):
    return [f"{event} {value}" for event, value in sorted(found.items())] or ["no counts"]


def check_counts():
    """The system calls of a program that always does the same."""
    events = ",".join(f"syscalls:sys_enter_{name}" for name in ("execve", "openat", "close", "write", "exit_group"))
    for command in (["true"], ["cat", "/etc/passwd"], ["sh", "-c", "for i in 1 2 3 4 5; do echo $i; done"],
                    ["sh", "-c", "cat /etc/passwd | cat"]):
        arguments = ["-x,", "-e", events, "--", *command]
        theirs, ours = counts(run(PERF, arguments)[0]), counts(run(SONDE, arguments)[0])
        check("counts of " + " ".join(command), as_lines(ours), as_lines(theirs))
    arguments = ["-x,", "-r", "3", "-e", "syscalls:sys_enter_exit_group,syscalls:sys_enter_openat", "--", "true"]
    theirs, ours = counts(run(PERF, arguments)[0]), counts(run(SONDE, arguments)[0])
    check("counts of three runs", as_lines(ours), as_lines(theirs))


# Real programs, each doing the same every time.
REAL = {
    "true": ["true"],
    "ls": ["ls", "-R", "/usr/include/linux"],
    "cat": ["cat", "/etc/passwd", "/etc/group"],
    "find": ["find", "/usr/share/doc", "-maxdepth", "1"],
    "grep": ["grep", "-rc", "define", "/usr/include/linux/netfilter"],
    "sort": ["sort", "-r", "/etc/services"],
    "gzip": ["sh", "-c", "gzip -c /usr/include/stdio.h > /dev/null"],
    "sha256sum": ["sha256sum", "/bin/sh", "/bin/ls"],
    "tar": ["tar", "cf", "archive.tar", "/usr/include/linux/netfilter", "-P"],
    "awk": ["awk", "BEGIN { for (i = 0; i < 100000; i++) sum += i; print sum }"],
    "sed": ["sed", "-n", "s/a/b/gp", "/etc/services"],
    "shell": ["sh", "-c", "i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done; true | cat; exit 0"],
    "python": [sys.executable, "-S", "-c", "print(sum(range(100000)))"],
}
COUNTED = [f"syscalls:sys_enter_{name}" for name in ("execve", "openat", "close", "read", "write", "exit_group")]
# How far the ranges of several runs may be apart: processor time depends on what else runs.
NOISY = {"page-faults": 1.1, "minor-faults": 1.1, "task-clock": 2}


def range_of(runs, event):
    values = [float(run_counts[event]) for run_counts in runs]
    return min(values), max(values)


def disagreements(ours, theirs):
    """Values that are the same in all runs must be the same in both tools; for all others the ranges must overlap, or nearly so."""
    found = []
    for event in [*COUNTED, *NOISY]:
        apart = NOISY.get(event, 1)
        (low, high), (their_low, their_high) = range_of(ours, event), range_of(theirs, event)
        if low == high and their_low == their_high and low != their_low:
            found.append(f"{event}: {low}, perf's {their_low}")
        elif low > their_high * apart or high * apart < their_low:
            found.append(f"{event}: {low} .. {high}, perf's {their_low} .. {their_high}")
    return found


def check_real_commands():
    """Side by side, alternating. A difference that is due to chance does not occur three times."""
    arguments = ["-x,", "-e", ",".join([*COUNTED, *NOISY]), "--"]
    for name, command in REAL.items():
        for _ in calm.tries(f"counts of {name} side by side", 3):
            runs = {PERF: [], SONDE: []}
            for tool in (PERF, SONDE) * 4:
                runs[tool].append(counts(run(tool, [*arguments, *command])[0]))
            found = disagreements(runs[SONDE], runs[PERF])
            if not found:
                break
        check(f"counts of {name} side by side", found, [])


def shown(tool, file, options):
    text, status = run(tool, [*options[0], "report", *options[1], "-i", file])
    return [line.rstrip() for line in without_known(text).splitlines()] + [f"status {status}"]


def without_metrics(lines):
    """Intervals that perf reads from a file lack the time, and their rates are over the mean of all clocks so far."""
    return [re.sub(r"(#.*| |,[\d.]*,[A-Za-z/ ]*)$", "", line).rstrip() for line in lines]


REPORTS = [([], []), ([], ["-A"]), ([], ["--per-core"]), ([], ["--per-socket"]), ([], ["--per-die"]),
           ([], ["--per-node"]), (["-x,"], []), (["-x,"], ["--per-core"])]
RECORDINGS = [
    ("command", [*SOFTWARE], PROGRAM),
    ("unsupported", ["-e", "cycles,page-faults"], PROGRAM),
    ("own-times", ["-e", "duration_time,user_time,page-faults,system_time,task-clock"], PROGRAM),
    ("cpus", ["-a", "-e", "cpu-clock,page-faults"], WORK),
    ("intervals", ["-a", "-I", "50", "-e", "cpu-clock,context-switches"], ["sleep", "0.2"]),
    ("cores", ["-a", "--per-core", "-e", "cpu-clock"], WORK),
    ("group", ["-a", "-e", "{cpu-clock,page-faults},raw_syscalls:sys_enter"], WORK),
    ("threads", ["--per-thread", "-p", str(os.getpid()), "-e", "page-faults"], ["sleep", "0.01"]),
]


def check_recordings():
    """A file of either tool reads the same in both."""
    for writer, tool in (("perf", PERF), ("sonde", SONDE)):
        for name, options, command in RECORDINGS:
            file = f"{writer}.{name}.data"
            run(tool, [*options, "record", "-o", file, "--", *command])
            for report in REPORTS:
                both = [shown(reader, file, report) for reader in (SONDE, PERF)]
                if writer == "perf" and both[1][-1] != "status 0":
                    continue  # it refuses its own files with tracepoints beside a group
                if name == "intervals":
                    both = [without_metrics(lines) for lines in both]
                check(f"report of {file} {report}", *both)


SECOND = 1_000_000_000
HARDWARE = [  # name, type, config, value, fraction of the time that it ran
    ("task-clock", 1, 1, SECOND, 1), ("cycles", 0, 0, 2_500_000_000, 1), ("instructions", 0, 1, 5_000_000_000, 1),
    ("stalled-cycles-frontend", 0, 7, 900_000_000, 1), ("stalled-cycles-backend", 0, 8, 400_000_000, 1),
    ("branches", 0, 4, 70_000_000, 1), ("branch-misses", 0, 5, 1_234_567, 1), ("cache-references", 0, 2, 1_000_000, 1),
    ("cache-misses", 0, 3, 54_321, 3), ("L1-dcache-loads", 3, 0, 900_000, 1), ("L1-dcache-load-misses", 3, 0x10000, 90_000, 1),
    ("LLC-loads", 3, 2, 8_000, 7), ("LLC-load-misses", 3, 0x10002, 5_555, 7), ("L1-icache-loads", 3, 1, 70_000, 1),
    ("L1-icache-load-misses", 3, 0x10001, 1, 1), ("dTLB-loads", 3, 3, 12_345, 1), ("dTLB-load-misses", 3, 0x10003, 45, 1),
    ("iTLB-loads", 3, 4, 4_444, 1), ("iTLB-load-misses", 3, 0x10004, 33, 1), ("bus-cycles", 0, 6, 100, 1),
    ("page-faults", 1, 2, 100, 1),
]


# What --topdown and --transaction count, on processors that support them.
SPECIAL = {
    "topdown": [("slots", 4, 0x400, 1_000_000, 1), ("topdown-retiring", 4, 0x8000, 250_000, 1),
                ("topdown-bad-spec", 4, 0x8100, 52_000, 1), ("topdown-fe-bound", 4, 0x8200, 320_000, 1),
                ("topdown-be-bound", 4, 0x8300, 378_000, 1)],
    # Besides the slots issued, perf looks at this machine's events to name the remainder.
    "topdown-": [("topdown-total-slots", 4, 0x3c, 1_000_000, 1), ("topdown-slots-retired", 4, 0x2c2, 600_000, 1),
                 ("topdown-fetch-bubbles", 4, 0x19c, 100_000, 1)],
    "transactions": [("cycles", 0, 0, 900_000, 1), ("cpu/cycles-t/", 4, 0x10003c, 400_000, 1), ("cpu/tx-start/", 4, 0x1c9, 3_000, 1),
                     ("cpu/el-start/", 4, 0x1c8, 500, 1), ("cpu/cycles-ct/", 4, 0x20010003c, 300_000, 1)],
}


def made_up(name, events, excluded=()):
    """A file of `stat record` with these counts, made by the project's assembler."""
    lines = ['feature CMDLINE: "stat" "record"', "feature NRCPUS: 2 2", "feature STAT: "]
    for i, (event, kind, config, _, _) in enumerate(events):
        more = ", exclude_kernel: 1, exclude_hv: 1" if i in excluded else ""
        lines.append(f'event : name = "{event}", id = {{ {i + 1} }}, type: {kind}, size: 128, config: {config:#x}, '
                     f"sample_type: IDENTIFIER, read_format: TOTAL_TIME_ENABLED|TOTAL_TIME_RUNNING, disabled: 1, "
                     f"inherit: 1, exclude_guest: 1{more}")
    for i, (_, kind, config, _, _) in enumerate(events):
        if kind == 1 and config < 2:
            lines += [f'EVENT_UPDATE id={i + 1} unit="msec"', f"EVENT_UPDATE id={i + 1} scale=0.000001"]
    lines += ["THREAD_MAP tids=100", "CPU_MAP cpus=-1", "STAT_CONFIG terms=0,1,1,0,2,1"]
    for i, (_, _, _, value, share) in enumerate(events):
        lines.append(f"STAT id={i + 1} cpu=4294967295 thread=0 value={value} enabled={SECOND} running={SECOND // share}")
    lines.append(f"STAT_ROUND type=1 time={2 * SECOND}")
    with open(f"{DIRECTORY}/{name}.txt", "w") as text:
        text.write("\n".join(lines) + "\n")
    subprocess.run([SONDE, "assemble", f"{name}.txt", f"{name}.data"], cwd=DIRECTORY, check=True)


def check_metrics():
    """Text to the character; all metrics, and what happens if some of their counts are missing."""
    cases = {
        "everything": (HARDWARE, ()),
        "parts": ([event for event in HARDWARE if event[0] in ("instructions", "branch-misses", "cache-misses")], ()),
        # Without cycles perf calls the backend 0.00 % idle.
        "nothing": ([(n, t, c, 0, s) for n, t, c, _, s in HARDWARE if n != "stalled-cycles-backend"], ()),
        "modes": ([HARDWARE[1], HARDWARE[2], HARDWARE[2]], (0, 2)),
        "twice": ([HARDWARE[1], ("cycles", 0, 0, SECOND, 1), HARDWARE[2]], ()),
    }
    for group in ("topdown", "topdown-", "transactions"):
        events = SPECIAL[group]
        cases[group] = (events, ())
        cases[group + " in part"] = (events[:3], ())
    for name, (events, excluded) in cases.items():
        made_up(name, events, excluded)
        check("made-up " + name, *[shown(reader, f"{name}.data", ([], [])) for reader in (SONDE, PERF)])


def main():
    if not PERF:
        print("no perf to compare with")
        return 77
    check_commands()
    check_modes()
    check_counts()
    check_real_commands()
    check_recordings()
    check_metrics()
    print("\n".join(failures))
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
