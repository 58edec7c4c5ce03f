#!/usr/bin/env python3
"""The installed perf's `script` and ours on the same recordings: default lines, every field, records between samples, times,
filters, dumps, headers, errors of -F and pipes. Recordings are made here; those of ../shared/fixtures join in where they are.

    tests/oracle/script_oracle.py [BUILD_DIR]      $SONDE is the binary; $SONDE_FIXTURES may name the fixtures
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SONDE = os.environ.get("SONDE") or str(Path(sys.argv[1] if len(sys.argv) > 1 else "build/release") / "sonde")
SOURCE = Path(os.environ.get("SONDE_SOURCE", Path(__file__).resolve().parents[2]))
FIXTURES = Path(os.environ.get("SONDE_FIXTURES", SOURCE / "../shared/fixtures"))
PROGRAM = "for i in 1 2; do gzip -c /usr/bin/perf | head -c 500000 > /dev/null; ls / > /dev/null; done"

RECORDINGS = {
    "clock": "-e cpu-clock -F 500",
    "chains": "-e cpu-clock -F 500 -g -d -P -T -W",
    "sizes": "-e cpu-clock -F 500 -d --phys-data --data-page-size --code-page-size",
    "faults": "-e page-faults -c 10 -d",
    "faultchains": "-e page-faults -c 10 -d -g",
    "regs": "-e cpu-clock -F 500 -I --user-regs=ip,sp,ax",
    "several": "-e cpu-clock -F 300 -e sched:sched_switch -e page-faults -e syscalls:sys_enter_openat",
    "tracechains": "-e cpu-clock -F 300 -g -e sched:sched_switch",
    "group": "-e {cpu-clock,page-faults,cs}:S -F 500",
    "sideband": "-e cpu-clock -F 300 --all-cgroups --namespaces --switch-events",
    "packed": "-e cpu-clock -F 300 -g -z",
}

# Arguments of script by recording.
RUNS = {
    "clock": ["", "--ns", "-F comm,ip", "-F ip,sym,symoff", "-F +pid,-event", "-F ip,dso", "-F misc,ip", "--reltime",
              "--deltatime --ns", "-c gzip", "--dsos /usr/bin/gzip", "--time 10%/2", "--time 0%-10%,30%-40%", "--time 5,",
              "-L", "--header-only", "--header-only -I", "-C 0", "-F", "-F foo", "-F x:comm", "-F hw:trace", "-F comm,+tid",
              "-F symoff", "-F addr", "-F weight", "-F hw:", "-F sw:", "-F comm,trace", "-F comm -F tid", "-F -ip,-sym,-dso",
              "-F sym", "-F trace:", "--reltime --deltatime", "-F synth:comm"],
    "chains": ["", "-G", "-F +addr,+data_src,+weight,+ins_lat", "-F ip", "-F ip,sym,dso", "--max-stack 3",
               "--stop-bt do_syscall_64", "-D", "-F comm,tid,time,event,ip,sym,dso,trace", "--header"],
    "sizes": ["-F ip,addr,data_page_size,phys_addr,code_page_size", "-F ip,phys_addr"],
    "faults": ["", "-F comm,ip,sym,dso,addr", "-F +addr"],
    "faultchains": ["", "-F +addr"],
    "regs": ["", "-F ip,iregs", "-F ip,sym,uregs", "-F iregs,uregs,ip,dso"],
    "several": ["", "-F sw:comm -F trace:tid,trace", "-F comm -F sw:", "-F +pid -F -cpu", "-F trace:comm -F tid",
                "-F +srcline,-cpu", "-D", "--pid 1", "-F -trace", "-F sw:+cpu"],
    "tracechains": ["", "-F +pid", "-G", "-F trace:time,trace"],
    "group": ["", "-F event,period"],
    "sideband": ["--show-task-events", "--show-mmap-events", "--show-switch-events -F comm,tid,misc,time",
                 "--show-namespace-events --show-cgroup-events --show-bpf-events", "--show-lost-events",
                 "--show-task-events --show-mmap-events --show-switch-events --show-namespace-events --deltatime"],
    "packed": ["", "--show-mmap-events"],
}

FIXTURE_RUNS = {
    "quipper/perf.data.branch-4.14": ["-F ip,brstack", "-F ip,dso,brstack", "-F ip,brstacksym", "-F ip,dso,brstacksym"],
    "quipper/perf.data.branch_stack_hw_index": ["-F ip,sym,dso,brstacksym"],
    "quipper/perf.data.weight_struct": ["-F +weight,+ins_lat"],
    "wild/a4676d8c.perf.data": ["-F +phys_addr", "-F addr,ip"],
}

# Whole recordings whose lines differ for reasons in docs/differences.md, or for another piece of work.
UNLIKE = {
    "perf61/blk.data": "enum names come from BTF",
    "perf61/pmd.data": "user stacks are not unwound",
    "quipper/perf.data.intel_pt-4.14": "instruction traces are not decoded",
}


def run(command, stdin=None):
    done = subprocess.run(command, input=stdin, capture_output=True, timeout=300)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def lines(text):
    """Trailing blanks don't count."""
    return [line.rstrip().replace("sonde script", "perf script") for line in text.split("\n")]


def without_symbol(line):
    return re.sub(r"([0-9a-f]{4,}) .* (\(\S+?( \(deleted\))?\))$", r"\1 \2", line)


def same_line(ours, theirs):
    """Names of PLT entries and of objects that are deleted are ours alone; perf pads data_src to the longest so far."""
    if ours == theirs:
        return True
    if "@plt" in ours or "/memfd:" in ours:
        return without_symbol(ours) == without_symbol(theirs)
    return "|BLK" in ours and ours.split() == theirs.split()


# perf's own talk on stderr that has no place in ours, and ours that has none in perf's.
SMALL_TALK = re.compile(r"No kallsyms|^Warning|^$|was found|differ|Usage|^    or:|^ +-|^ {20}|damaged|sonde:|^Kernel|^Check")


def messages(text):
    text = text.replace("is notselected", "is not selected")
    return [re.sub(r"^Error: ", "", line.strip()) for line in text.split("\n") if not SMALL_TALK.search(line)]


class Comparison:
    def __init__(self):
        self.failures = self.compared = 0

    def same(self, what, ours, theirs):
        self.compared += 1
        if len(ours) == len(theirs) and all(map(same_line, ours, theirs)):
            return
        self.failures += 1
        print(f"DIFF  {what}: {len(theirs)} lines of perf, {len(ours)} of sonde")
        shown = 0
        for ours_line, theirs_line in zip(ours + ["<end>"], theirs + ["<end>"]):
            if ours_line != theirs_line and shown < 3:
                print(f"  perf  {theirs_line[:200]}\n  sonde {ours_line[:200]}")
                shown += 1

    def script(self, path, arguments):
        theirs = run(["perf", "script", "-f", "-i", path, *arguments.split()])
        ours = run([SONDE, "script", "-f", "-i", path, *arguments.split()])
        what = f"{Path(path).name} {arguments}"
        self.same(what, lines(ours[1]), lines(theirs[1]))
        self.same(what + " (status)", [str(ours[0])], [str(theirs[0])])
        if theirs[0] == 255 or "Ignoring" in theirs[2] or "Overriding" in theirs[2]:
            said = messages(theirs[2])
            self.same(what + " (messages)", messages(ours[2])[:len(said)], said)


def record(directory):
    made = {}
    for name, arguments in RECORDINGS.items():
        path = directory / f"{name}.data"
        done = run(["perf", "record", "-q", *arguments.split(), "-o", str(path), "--", "bash", "-c", PROGRAM])
        if done[0] != 0 or not path.exists():
            print(f"perf record {arguments}: {done[2]}")
            sys.exit(1)
        made[name] = str(path)
    return made


def check_pipes(comparison, path):
    """A recording through a pipe, a file through a pipe, and a pipe that is being written."""
    with tempfile.NamedTemporaryFile(suffix=".pipe") as file:
        raw = subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", "300", "-g", "-o", "-", "--", "bash", "-c", PROGRAM],
                             capture_output=True).stdout
        file.write(raw)
        file.flush()
        comparison.script(file.name, "")
        theirs = subprocess.run(["perf", "script", "-i", "-"], input=raw, capture_output=True).stdout.decode(errors="replace")
        ours = subprocess.run([SONDE, "script"], input=raw, capture_output=True).stdout.decode(errors="replace")
        comparison.same("a pipe on stdin", lines(ours), lines(theirs))
    whole = Path(path).read_bytes()
    ours = subprocess.run([SONDE, "script", "-i", "-"], input=whole, capture_output=True).stdout.decode(errors="replace")
    comparison.same("a file on stdin", lines(ours), lines(run(["perf", "script", "-i", path])[1]))


def check_per_event_dump(comparison, path):
    for tool, suffix in (("perf", "theirs"), (SONDE, "ours")):
        copy = Path(path).with_suffix("." + suffix)
        shutil.copy(path, copy)
        run([tool, "script", "-f", "-i", str(copy), "--per-event-dump"])
    ours, theirs = ({f.name.replace(suffix, ""): f.read_text() for f in Path(path).parent.glob(f"*.{suffix}.*.dump")}
                    for suffix in ("ours", "theirs"))
    comparison.same("--per-event-dump: files", sorted(ours), sorted(theirs))
    for name in theirs:
        comparison.same(f"--per-event-dump: {name}", lines(ours.get(name, "")), lines(theirs[name]))


def check_fixtures(comparison):
    if not FIXTURES.exists():
        print(f"the recordings of {FIXTURES} are not here: left out")
        return
    for folder in ("perf61", "quipper", "wild"):
        for path in sorted((FIXTURES / folder).iterdir()):
            name = f"{folder}/{path.name}"
            if path.suffix in (".txt", ".gz", ".buildids", ".pb_text") or name in UNLIKE:
                continue
            if run(["perf", "script", "-f", "-i", str(path)])[0] == 0 and run(["perf", "evlist", "-f", "-i", str(path)])[1]:
                comparison.script(str(path), "")
            for arguments in FIXTURE_RUNS.get(name, []):
                comparison.script(str(path), arguments)
            check_stored_text(comparison, path)


def check_stored_text(comparison, path):
    """What perf printed where it was recorded: all of a line but its symbols, which depend on the machine."""
    stored = path.with_name(path.name + ".script.txt")
    if not stored.exists() or f"{path.parent.name}/{path.name}" in UNLIKE:
        return

    def place(line):
        line = without_symbol(line)
        line = re.sub(r"(ffffffff[0-9a-f]{8}) \(\S+\)$", r"\1", line)
        return re.sub(r"=(0xffffffff8[0-9a-f]{7}|[A-Za-z_][\w.]*\+0x[0-9a-f]+)\b", "=CODE", line)

    theirs = [place(line) for line in lines(stored.read_text(errors="replace"))]
    ours = [place(line) for line in lines(run([SONDE, "script", "-f", "-i", str(path)])[1])]
    if len(theirs) > 1900:  # the stored text was cut
        theirs = theirs[:1900]
        ours = ours[:1900]
    comparison.same(f"{stored.name} as it was printed", ours, theirs)


def main():
    if shutil.which("perf") is None:
        print("no perf installed")
        return 77
    comparison = Comparison()
    with tempfile.TemporaryDirectory(dir=".") as directory:
        made = record(Path(directory))
        for name, runs in RUNS.items():
            for arguments in runs:
                comparison.script(made[name], arguments)
        check_pipes(comparison, made["chains"])
        check_per_event_dump(comparison, made["several"])
    check_fixtures(comparison)
    print(f"{comparison.compared} comparisons, {comparison.failures} differ")
    return 1 if comparison.failures else 0


if __name__ == "__main__":
    sys.exit(main())
