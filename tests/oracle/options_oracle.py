#!/usr/bin/env python3
"""Options that no other comparison uses: perf and Sonde with the same words. Recordings are made here. Needs root and perf."""
import os
import re
import subprocess
import tempfile

import calm
import kernel_turn
import side_by_side

SONDE = os.environ["SONDE"]
PERF = side_by_side.needed_perf()
PROGRAM = """
volatile long sum;
__attribute__((noinline)) void one(int n) { for (int i = 0; i < n; ++i) sum += i; }
__attribute__((noinline)) void two(int n) { for (int i = 0; i < n; ++i) sum += 3 * i; }
int main() { for (int i = 0; i < 100; ++i) one(1000000), two(500000); }
"""
MANGLED = "namespace space { int one(int n) { return n + 1; } struct A { int two(int); }; int A::two(int n) { return n; } }\nint main() {}\n"
RECORDINGS = {
    "prog": ["record", "-e", "cpu-clock:u", "-F", "1000", "--sample-cpu"],
    "other": ["record", "-e", "cpu-clock:u", "-F", "1000", "--sample-cpu"],
    "kwork": ["kwork", "-k", "irq,softirq", "record"],
    "sched": ["sched", "record"],
}
# A task that runs, sleeps, and runs on with another priority.
CHANGES_PRIORITY = "sh -c 'sleep 0.01; renice -n 9 -p $$; sleep 0.01'; exec \"$0\""
# Words with a recording's name in braces: the same lines.
READERS = """
annotate --stdio -i {prog} -f one
annotate --stdio -i {prog} --source two
annotate --stdio -i {prog} --demangle --demangle-kernel one
annotate --stdio -i {prog} -C 0,1 two
annotate --stdio -i {prog} --objdump=/usr/bin/objdump one
annotate --stdio -i {prog} --itrace=i one
annotate --stdio -i {prog} --no-source --asm-raw two
diff {prog} {other} --cpu 0
diff -m {prog} {other}
diff {prog} {other} --cpu 0,1
diff {prog} {other} --pid 1
diff {prog} {other} --tid 1
report --stdio -q -i {prog} --showcpuutilization
script -i {prog} --show-round-events -F comm,ip,sym
script -i {prog} --show-round-events -F comm,event
kwork -k irq,softirq timehist -i {kwork} --kallsyms /proc/kallsyms --symfs /
kwork -k irq,softirq latency -i {kwork} --cpu 0
sched timehist -i {sched} --symfs / --kallsyms /proc/kallsyms
probe -x {mangled} -F
probe -x {mangled} -F --demangle
probe -x {mangled} -F --no-demangle
probe -x {mangled} --no-demangle -F *space*
probe -F --demangle-kernel
"""
# Later than perf 6.1, or without an effect on these recordings: Sonde with and without the last words says the same.
WITHOUT_EFFECT = """
annotate --stdio -i {prog} one | --skip-empty
annotate --stdio -i {prog} one | --tui
script -i {prog} -F ip,sym,srcline | --addr2line /usr/bin/addr2line
script -i {prog} | --merge-callchains
list sw | --debug
buildid-list -i {prog} | -v
kallsyms _text | -v
"""
# The same samples, before the same tables.
DUMPED = """
script --dump-unsorted-raw-trace -i {prog}
diff -D {prog} {other}
kwork -D -k irq,softirq report -i {kwork}
kwork -k irq,softirq latency --dump-raw-trace -i {kwork}
"""
# Counting the same command: the same lines but for the numbers.
COUNTED = """
-e cpu-clock,page-faults --all-user
-e cpu-clock,page-faults --all-kernel
-e cs --no-scale
-e cs,page-faults --scale
--hybrid-merge -e cs
--no-merge -e cs
-I 1000 -x, --summary --no-csv-summary -e cs
-a -A --percore-show-thread -e cs/percore/
--metric-no-group --metric-no-merge -e cs
"""

# Refused by both, each in its own words.
REFUSED = """
--cputype core -e cs
--smi-cost
-I 1000 --interval-clear -e cs
"""

# Tracing `echo`: both show the one call that writes.
TRACED = """
--comm
--filter-pids 1
--sort-events
--no-inherit
--sched
--syscalls
--proc-map-timeout 100
--min-stack 1
--print-sample
"""

both = side_by_side.Comparison("options")


def record(directory):
    program = f"{directory}/prog"
    subprocess.run(["gcc", "-g", "-O1", "-x", "c", "-o", program, "-"], input=PROGRAM, text=True, check=True)
    subprocess.run(["g++", "-g", "-O0", "-x", "c++", "-o", f"{directory}/mangled", "-"], input=MANGLED, text=True, check=True)
    with kernel_turn.taken():
        for name, words in RECORDINGS.items():
            # On one CPU, so that both recordings have samples of it.
            # perf stays there, too: a program that it starts elsewhere may leave a sample in that ring, which perf shows too late.
            load = [program] if name != "sched" else ["sh", "-c", CHANGES_PRIORITY, program]
            command = ["taskset", "-c", "0", PERF, *words, "-o", f"{directory}/{name}.data", "--", *load]
            subprocess.run(command, check=True, capture_output=True)


def shape(tool, words):
    done = subprocess.run([tool, "stat", *words, "sleep", "0.12"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    # Whether a rate is shown depends on whether anything happened.
    lines = [re.sub(r"[\d.,]*\d", "N", re.sub(r"#.*", "", line)).split() for line in done.stderr.splitlines()]
    return side_by_side.Said([" ".join(line) for line in lines if line], done.returncode)


def traced_writes(tool, line):
    """Writes of a command: whose, how much, and the result. A call that was interrupted is shown in two lines, which are left out."""
    words = ["trace", *line.split(), "-e", "write", "--", "/bin/echo", "hi"]
    done = subprocess.run([tool, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    text = re.sub(r"echo/\d+", "echo", done.stderr)
    calls = re.findall(r"\): ((?:echo )?write)\(.*(count: \d+)\) += (\d+)$", text, re.M)
    return side_by_side.Said([" ".join(call) for call in calls], done.returncode)


def first_line(tool, words):
    done = subprocess.run([tool, "stat", *words, "true"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return side_by_side.Said(done.stderr.splitlines()[:1], int(done.returncode == 0))


def check_priorities(recording):
    """timehist --prio keeps the runs of the priorities that --show-prio shows, and those are the ones of sched_switch."""
    def runs(*words):
        done = side_by_side.ask(SONDE, "sched", "timehist", "-i", recording, "--show-prio", *words)
        # Whose priority has changed is shown with both, if the run before was shown.
        return [" ".join(re.sub(r"\d+->", "", line).split()) for line in done.lines if re.match(r" *[\d.]+ \[", line)]
    by_priority = {}
    for line in runs():
        by_priority.setdefault(re.search(r" (\d+) [\d.]+ [\d.]+ [\d.]+$", line)[1], []).append(line)
    known = set(re.findall(r"prev_prio=(\d+)", "\n".join(side_by_side.ask(SONDE, "script", "-i", recording).lines)))
    both.expect(by_priority and set(by_priority) <= known, f"sched timehist --show-prio: {set(by_priority)} of {known}")
    for priority, lines in by_priority.items():
        both.expect(runs("--prio", priority) == lines, f"sched timehist --prio {priority}: not the runs that have it")


def main():
    with tempfile.TemporaryDirectory() as directory:
        record(directory)
        names = {name: f"{directory}/{name}.data" for name in RECORDINGS} | {"mangled": f"{directory}/mangled"}
        for line in READERS.strip().splitlines():
            words = line.format(**names).split()
            both.lines(line, side_by_side.ask(PERF, *words), side_by_side.ask(SONDE, *words), status=0)
        for line in WITHOUT_EFFECT.strip().splitlines():
            words, more = (part.format(**names).split() for part in line.split("|"))
            both.lines(line, side_by_side.ask(SONDE, *words), side_by_side.ask(SONDE, *words, *more), status=0)
        check_priorities(names["sched"])
        for line in DUMPED.strip().splitlines():
            said = [side_by_side.ask(tool, *line.format(**names).split()) for tool in (PERF, SONDE)]
            both.lines(line, *[side_by_side.Said([text for text in one.lines if "PERF_RECORD_SAMPLE" in text], one.status) for one in said],
                       status=0)
    for line in COUNTED.strip().splitlines():
        both.lines(f"stat {line}", shape(PERF, line.split()), shape(SONDE, line.split()), status=0)
    for words in ([], ["--metric-no-threshold"], ["--record-tpebs", "--tpebs-mode=last"]):
        both.lines(f"stat {words}", shape(PERF, ["-e", "cs"]), shape(SONDE, [*words, "-e", "cs"]), status=0)
    both.lines("list --cputype msr", side_by_side.ask(SONDE, "list", "--unit", "msr"), side_by_side.ask(SONDE, "list", "--cputype", "msr"))
    theirs, ours = (shape(tool, ["--td-level", "1", "-e", "cs"]) for tool in (PERF, SONDE))
    both.lines("stat --td-level: the counts", theirs, ours._replace(lines=ours.lines[1:]), status=0)
    both.expect("no effect without --topdown" in ours.lines[0], f"stat --td-level: {ours.lines[0]}")
    for line in REFUSED.strip().splitlines():
        theirs, ours = (first_line(tool, line.split()) for tool in (PERF, SONDE))
        if "--interval-clear" in line and theirs.status != 0:
            theirs = side_by_side.Said([], 0)  # Debian's perf before 6.1.190 clears a file, too
        both.expect((theirs.status, ours.status) == (0, 0) and ours.lines, f"stat {line}: perf {theirs}, sonde {ours}")
    # Where other tools stop tracing calls meanwhile, Linux 6.18 counts too few syscalls:sys_enter_write, under perf stat, too.
    with kernel_turn.taken():
        for line in TRACED.strip().splitlines():
            for _ in calm.tries(f"trace {line}: a call was interrupted", 4):
                theirs, ours = (traced_writes(tool, line) for tool in (PERF, SONDE))
                if theirs == ours:
                    break
            both.lines(f"trace {line}", theirs, ours, status=0)
    both.finish()


main()
