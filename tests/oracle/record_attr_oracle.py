#!/usr/bin/env python3
"""What `record` asks of the kernel, against the installed perf: the attrs, CPUs, groups and flags of every perf_event_open of the
same command line (`record -vv`). The events with which both watch for BPF programs are left out: Sonde's are not shown.

    record_attr_oracle.py BUILD_DIR [FILE]    FILE: other command lines, one per line
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

SONDE = os.environ["SONDE"]
AT_ONCE = 6
COMMANDS = """
-e cpu-clock true
-g true
-a -- true
-e cycles:u true
-e cycles:k true
-e cpu-clock -g true
-e cpu-clock -a -g -F 99 true
-e cpu-clock --call-graph dwarf true
-e cpu-clock --call-graph dwarf,100 true
-e cpu-clock --call-graph fp,20 true
--call-graph lbr true
-e cpu-clock,cs true
-e cpu-clock -e cs -c 7 true
-e '{cpu-clock,cs}' true
-e '{cpu-clock,cs}' -a true
-e '{cpu-clock,cs}:S' true
-e '{cpu-clock,cs}:S' --running-time true
-e cpu-clock --group -e cs true
-e sched:sched_process_exec true
-e sched:sched_process_exec -a -g true
-e sched:sched_switch -e sched:sched_process_exec true
-e '{cpu-clock,sched:sched_switch}' true
-e cpu-clock -d true
-e cpu-clock -n -a true
-e cpu-clock -s true
-e cpu-clock -W true
-e cpu-clock -R true
-e cpu-clock -i true
-e cpu-clock -C 0 true
-e cpu-clock --phys-data --data-page-size --code-page-size true
-e cpu-clock -k mono true
-e cpu-clock -I true
-e cpu-clock --user-regs=ax,bx true
-e cpu-clock --namespaces --all-cgroups true
-e cpu-clock --switch-events -a true
-e cpu-clock -D 10 sleep 0.05
-e cpu-clock -a -D -1 true
-e cpu-clock --per-thread true
-e cpu-clock --all-user true
-e cpu-clock --all-kernel true
-e cpu-clock --kernel-callchains -g true
-e cpu-clock -F max true
-e cpu-clock --overwrite true
-e cpu-clock --timestamp-filename true
-e cpu-clock --clang-opt x true
-e cpu-clock --buildid-mmap true
-e cpu-clock --no-buffering true
-e cpu-clock --sample-cpu --sample-identifier true
-e cpu-clock --no-bpf-event true
-e cpu-clock -g --user-callchains true
-e cpu-clock -F 99 --strict-freq true
-e sched:sched_switch --exclude-perf -a true
-e cpu-clock --synth no true
-e cpu-clock --mmap-flush 4 true
-e cpu-clock --timestamp-boundary true
-e cpu-clock -B --proc-map-timeout 100 -a true
-e cpu-clock --num-thread-synthesize 2 -a true
-e cpu-clock/freq=99,call-graph=fp,max-stack=4/ true
-e cpu-clock/time=0/ true
-e cpu-clock/call-graph=no/ -g true
-e cpu-clock:S true
-e cpu-clock:P true
-e cpu-clock:pp true
-e cpu-clock:D true
-e cpu-clock:e true
-e cpu-clock:G true
-e cpu-clock:HI true
-e cpu-clock:uh true
-e '{cpu-clock,cs}:D' true
-e '{cpu-clock:u,cs}:k' true
-e cs/call-graph=dwarf/ true
-e cs/call-graph=dwarf,stack-size=4096/ true
-e cs/stack-size=1024/ true
-e cs/max-stack=3/ true
-e cs/max-stack=3/ -g true
-e cs/period=7/ -e cs/freq=9/ true
-e cs/period/ true
-e cs/inherit/ -i true
-e cs/overwrite/ true
-e cs/no-overwrite/ --overwrite true
-e cs/percore/ true
-e cs/aux-output/ true
-e cs/branch_type=any/ true
-e cs/config=3,name=x/u true
-e sched:sched_switch/call-graph=fp/ true
-e sched:sched_switch:u true
-e 'sched:sched_process_*' true
-e mem:0x1000/8:rw:u true
-e mem:0x1000:x true
-e software/config=3/ true
-e bpf-output/no-inherit,name=evt/ true
-e mem:0x1000:w true
-e msr/tsc/ true
-b -e cpu-clock true
-e instructions true
""".strip().splitlines()


def without_choices(attr):
    """When unwinding copied stacks while recording, Sonde asks for the frame-pointer chain, too; perf does not. Groups whose samples have
    all values are inherited, as by perf since 6.13."""
    left_out = set()
    if any(line.startswith("sample_stack_user") for line in attr):
        left_out.add("exclude_callchain_user")
    if any(line.startswith("sample_type") and "READ" in line for line in attr):
        left_out.add("inherit")
    return [line for line in attr if line.split(" ")[0] not in left_out]


def opens(tool, command):
    with tempfile.TemporaryDirectory() as directory:
        if tool == SONDE:  # by perf's name, -g means what it means for perf
            tool = pathlib.Path(directory) / "perf"
            tool.symlink_to(pathlib.Path(SONDE).resolve())
        run = subprocess.run(f"timeout 60 {tool} record -vv -o {directory}/x.data {command}", shell=True, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace")
    calls, attr, inside = [], [], False
    for line in run.stdout.splitlines():
        if line.startswith("------"):
            inside = not inside
            attr = [] if inside else attr
        elif inside:
            attr.append(" ".join(line.split()))
        elif line.startswith("sys_perf_event_open failed") and calls:
            calls.pop()  # what is asked for first, on a kernel that has less, is each tool's own choice
        elif line.startswith("sys_perf_event_open:"):
            call = re.sub(r" = \d+", "", line)
            call = re.sub(r"pid \d+", "pid N", re.sub(r"group_fd \d+", "group_fd G", call))
            calls.append((without_choices(attr), call))
    calls = [c for c in calls if not ("config 0x9" in c[0] and "watermark 1" in c[0])]
    if chosen := re.search(r"-C (\d+) ", command):  # perf opens the sideband's event on all CPUs since 6.7, and so does Sonde
        calls = [c for c in calls if "config 0x9" not in c[0] or f"cpu {chosen[1]} " in c[1] + " "]
    return run.returncode, calls


def main():
    differences = 0
    commands = pathlib.Path(sys.argv[2]).read_text().splitlines() if len(sys.argv) > 2 else COMMANDS
    # perf mostly waits, a second each time, for a thread of its own.
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = list(pool.map(lambda command: [opens(tool, command) for tool in ("perf", SONDE)], commands))
    for command, (theirs, ours) in zip(commands, answers):
        if theirs == ours:
            continue
        differences += 1
        print(f"record {command}: status {theirs[0]} and {ours[0]}, {len(theirs[1])} and {len(ours[1])} opens")
        for their, our in zip(theirs[1], ours[1]):
            if their != our:
                print("  perf: ", sorted(set(their[0]) - set(our[0])), their[1])
                print("  sonde:", sorted(set(our[0]) - set(their[0])), our[1])
                break
    print(f"{len(commands)} command lines, {differences} differ")
    return differences != 0


sys.exit(main())
