#!/usr/bin/env python3
"""The installed perf's `script` and ours on the same recordings: default lines, every field, records between samples, times,
filters, dumps, headers, errors of -F and pipes. Recordings are made here; those of ../shared/fixtures are added if present.

    tests/oracle/script_oracle.py [BUILD_DIR]      $SONDE is the binary; $SONDE_FIXTURES may name the fixtures
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import kernel_turn

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
    "wallclock": "-e cpu-clock -F 300 -k CLOCK_MONOTONIC",
}

# Arguments of script, by recording.
RUNS = {
    "clock": ["", "--ns", "-F comm,ip", "-F ip,sym,symoff", "-F +pid,-event", "-F ip,dso", "-F misc,ip", "--reltime",
              "--deltatime --ns", "-c gzip", "--dsos /usr/bin/gzip", "--time 10%/2", "--time 0%-10%,30%-40%", "--time 5,",
              "-L", "--header-only", "--header-only -I", "-C 0", "-F", "-F foo", "-F x:comm", "-F hw:trace", "-F comm,+tid",
              "-F symoff", "-F addr", "-F weight", "-F hw:", "-F sw:", "-F comm,trace", "-F comm -F tid", "-F -ip,-sym,-dso",
              "-F sym", "-F trace:", "-F synth:comm", "-F +flags,+insn,+insnlen", "--insn-trace",
              "--insn-trace=raw",
              "-F +synth,+metric,+ipc,+callindent", "-F +tod", "-F +brstackinsn", "--stitch-lbr",
              "-D --pid 1", "-D -c nosuch", "-d", "-a", "--show-kernel-path", "--show-text-poke-events",
              "--addr-range 64"],
    "chains": ["", "-G", "-F +addr,+data_src,+weight,+ins_lat", "-F ip", "-F ip,sym,dso", "--max-stack 3",
               "--stop-bt do_syscall_64", "-D", "-F comm,tid,time,event,ip,sym,dso,trace", "--header"],
    "sizes": ["-F ip,addr,data_page_size,phys_addr,code_page_size", "-F ip,phys_addr"],
    "faults": ["", "-F comm,ip,sym,dso,addr", "-F +addr"],
    "faultchains": ["", "-F +addr"],
    "regs": ["", "-F ip,iregs", "-F ip,sym,uregs", "-F iregs,uregs,ip,dso"],
    "several": ["", "-F sw:comm -F trace:tid,trace", "-F comm -F sw:", "-F +pid -F -cpu", "-F trace:comm -F tid",
                "-F +srcline,-cpu", "-D", "--pid 1", "-F -trace", "-F sw:+cpu", "--switch-on sched:sched_switch",
                "--switch-on page-faults --switch-off sched:sched_switch",
                "--switch-on page-faults --switch-off sched:sched_switch --show-on-off-events", "-F +insn"],
    "tracechains": ["", "-F +pid", "-G", "-F trace:time,trace"],
    "group": ["", "-F event,period"],
    "sideband": ["--show-task-events", "--show-mmap-events", "--show-switch-events -F comm,tid,misc,time",
                 "--show-namespace-events --show-cgroup-events --show-bpf-events", "--show-lost-events",
                 "--show-task-events --show-mmap-events --show-switch-events --show-namespace-events --deltatime"],
    "packed": ["", "--show-mmap-events"],
    "wallclock": ["-F +tod", "-F tod,ip --ns", "-F +tod --show-task-events"],
}

FIXTURE_RUNS = {
    "quipper/perf.data.branch-4.14": ["-F ip,brstack", "-F ip,dso,brstack", "-F ip,brstacksym", "-F ip,dso,brstacksym"],
    "quipper/perf.data.branch_stack_hw_index": ["-F ip,sym,dso,brstacksym"],
    "quipper/perf.data.weight_struct": ["-F +weight,+ins_lat"],
    "wild/a4676d8c.perf.data": ["-F +phys_addr", "-F addr,ip"],
}

# A program whose instructions are at the addresses given by BRANCHES.
CODE = """
.globl _start
.type odd, @function
odd:
  lea (%rdi,%rdi,2), %edx
  lea 1(%rdi), %eax
  test $1, %dil
  cmovne %edx, %eax
  ret
.size odd, . - odd
.type _start, @function
_start:
  push %rbx
  mov $0, %ebx
  mov $0, %edi
.Lagain:
  call odd
  lea (%rax,%rbx,1), %edi
  add $1, %ebx
  cmp $100, %ebx
  jne .Lagain
  pop %rbx
  ret
.size _start, . - _start
"""
ODD, RETURN, CALL, AFTER, JUMP = 0x401000, 0x40100d, 0x401019, 0x40101e, 0x401027


def flags(cycles=0, mispredicted=False, in_tx=False, aborted=False):
    return mispredicted | (not mispredicted) << 1 | in_tx << 2 | aborted << 3 | cycles << 4


# Newest branch first, after the address of the sample.
ROUND = [(JUMP, CALL, flags(3)), (RETURN, AFTER, flags(7)), (CALL, ODD, flags(1)), (JUMP, CALL, flags(9, True)),
         (RETURN, AFTER, flags())]
BRANCHES = [
    (ODD, [(CALL, ODD, flags(2))] + ROUND),
    (ODD + 6, [(CALL, ODD, flags(2))] + ROUND),
    (JUMP + 3, ROUND),  # a jump is missing
    (AFTER + 3, [(RETURN, AFTER, flags(5, in_tx=True))] + ROUND[2:]),
    (AFTER + 3, [(RETURN, AFTER, flags(5, aborted=True))] + ROUND[2:]),
    (ODD, ROUND),  # before the last branch
    (AFTER, [(RETURN - 1, AFTER, flags())] + ROUND[2:]),  # inside of an instruction
    (AFTER, [(0xffffffff81000010, AFTER, flags()), (CALL, 0xffffffff81000000, flags())] + ROUND[:2]),
    (AFTER, [(RETURN, AFTER, flags())]),
    (AFTER, [(0x7fff00001234, AFTER, flags()), (CALL, 0x7fff00001230, flags())]),
    (AFTER, []),
]
BRANCH_RUNS = ["-F ip,sym,symoff,brstackinsn", "-F ip,brstackinsnlen", "-F ip,sym,insn,insnlen,brstackinsn,brstackinsnlen",
               "-F ip,brstackinsn,srcline", "-F ip,sym,brstackinsn,srccode", "-F ip,sym,srccode",
               "-F ip,brstackinsn --max-blocks 2", "-F ip,sym,brstacksym"]
TRACE_RUNS = ["", "-F +addr", "-F ip,sym,insn", "-F +flags,+callindent", "-F ip,addr,sym,srcline", "-F +srccode"]

# Whole recordings whose lines differ for reasons given in docs/differences.md, or that are not supported yet.
UNLIKE = {
    "perf61/blk.data": "enum names come from BTF",
    "perf61/pmd.data": "user stacks are not unwound",
    "quipper/perf.data.intel_pt-4.14": "around switches, whose code a CPU's trace is of is told by other means",
}


def run(command, stdin=None):
    done = subprocess.run(command, input=stdin, capture_output=True, timeout=300)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def lines(text):
    """Trailing blanks are ignored."""
    return [line.rstrip().replace("sonde script", "perf script") for line in text.split("\n")]


def without_symbol(line):
    return re.sub(r"([0-9a-f]{4,}) .* (\(\S+?( \(deleted\))?\))( insn: .*)?$", r"\1 \2\4", line)


def same_line(ours, theirs):
    """Only ours has the names of PLT entries and deleted objects; perf pads data_src to the longest so far."""
    if ours == theirs:
        return True
    if "@plt" in ours or "/memfd:" in ours:
        return without_symbol(ours) == without_symbol(theirs)
    return "|BLK" in ours and ours.split() == theirs.split()


OTHER_BUILDS = "other builds lie where they were when it was recorded"
# perf's own messages on stderr that ours does not have, and vice versa.
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
        ours = run([SONDE, "script", "--unverified-symbols", "-f", "-i", path, *arguments.split()])
        what = f"{Path(path).name} {arguments}"
        shown = [lines(ours[1]), lines(theirs[1])]
        if OTHER_BUILDS in ours[2]:  # perf shows the names of the current file
            shown = [[without_symbol(line) for line in text] for text in shown]
        self.same(what, *shown)
        self.same(what + " (status)", [str(ours[0])], [str(theirs[0])])
        if theirs[0] == 255 or "Ignoring" in theirs[2] or "Overriding" in theirs[2]:
            # An error is told in our own words.
            said, told = messages(theirs[2]), messages(ours[2])
            if theirs[0] == 255:
                said, told = ([str(bool(text))] for text in (said, told))
            self.same(what + " (messages)", told[:len(said)], said)


def record(directory):
    made = {}
    with kernel_turn.taken():
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
        ours = subprocess.run([SONDE, "script", "--unverified-symbols"], input=raw, capture_output=True).stdout.decode(errors="replace")
        comparison.same("a pipe on stdin", lines(ours), lines(theirs))
    whole = Path(path).read_bytes()
    ours = subprocess.run([SONDE, "script", "--unverified-symbols", "-i", "-"], input=whole, capture_output=True).stdout.decode(errors="replace")
    comparison.same("a file on stdin", lines(ours), lines(run(["perf", "script", "-i", path])[1]))


def assembled(directory, name, period, program):
    """A recording of all branches of BRANCHES; with a period of 1 it is one of single branches. The PID does not exist: perf
    looks for files as the process with that PID would see them."""
    who = "pid=4000001 tid=4000001"
    text = [f"event : name = branches, id = {{ 7 }}, type = 0, config = 4, {{ sample_period, sample_freq }} = {period}, "
            "sample_type = IP|TID|TIME|ADDR|CPU|PERIOD|BRANCH_STACK|IDENTIFIER, branch_sample_type = ANY, sample_id_all = 1",
            'feature ARCH: "x86_64"', f'COMM {who} comm="odd" exec time=1000 cpu=0 event=0',
            f'MMAP2 mode=user {who} start=0x401000 length=0x1000 offset=0x1000 path="{program}" protection=5 flags=2 '
            "time=1000 cpu=0 event=0"]
    for time, (ip, branches) in enumerate(BRANCHES, 2):
        words = ",".join(hex(word) for branch in branches for word in branch)
        text.append(f"SAMPLE id=7 mode=user ip={ip:#x} {who} time={time}000 cpu=0 period={period} addr={CALL:#x} "
                    f"branches={words}")
    (directory / f"{name}.txt").write_text("\n".join(text) + "\n")
    path = str(directory / f"{name}.data")
    subprocess.run([SONDE, "assemble", str(directory / f"{name}.txt"), path], check=True)
    return path


def check_branch_code(comparison, directory):
    """Instructions between branches: no machine here records any, so the recordings are assembled."""
    directory = directory.resolve()
    program = directory / "odd"
    (directory / "odd.s").write_text(CODE)
    made = subprocess.run(["cc", "-g", "-nostdlib", "-static", "-Wl,-Ttext=0x401000", "-o", str(program), "odd.s"], cwd=directory)
    if made.returncode != 0:
        print("no compiler: instructions between branches are left out")
        return
    stacks = assembled(directory, "branches", 1000, program)
    for arguments in BRANCH_RUNS:
        comparison.script(stacks, arguments)
    trace = assembled(directory, "branchtrace", 1, program)
    for arguments in TRACE_RUNS:
        comparison.script(trace, arguments)


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
    """What perf printed where it was recorded: all of a line except its symbols, which depend on the machine."""
    stored = path.with_name(path.name + ".script.txt")
    if not stored.exists() or f"{path.parent.name}/{path.name}" in UNLIKE:
        return

    def place(line):
        line = without_symbol(line)
        line = re.sub(r"(ffffffff[0-9a-f]{8}) \(\S+\)$", r"\1", line)
        return re.sub(r"=(0xffffffff8[0-9a-f]{7}|[A-Za-z_][\w.]*\+0x[0-9a-f]+)\b", "=CODE", line)

    theirs = [place(line) for line in lines(stored.read_text(errors="replace"))]
    ours = [place(line) for line in lines(run([SONDE, "script", "--unverified-symbols", "-f", "-i", str(path)])[1])]
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
        check_branch_code(comparison, Path(directory))
    check_fixtures(comparison)
    print(f"{comparison.compared} comparisons, {comparison.failures} differ")
    return 1 if comparison.failures else 0


if __name__ == "__main__":
    sys.exit(main())
