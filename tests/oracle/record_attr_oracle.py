#!/usr/bin/env python3
"""What `record` asks of the kernel, against the installed perf: the attrs, CPUs, groups and flags of every
perf_event_open of the same command line (`record -vv`). The events by which both watch for BPF programs are left out:
Sonde's don't show."""
import os
import re
import subprocess
import sys
import tempfile

SONDE = os.environ["SONDE"]
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
-e cpu-clock --buildid-mmap true
-e cpu-clock --no-buffering true
-e cpu-clock --sample-cpu --sample-identifier true
-e cpu-clock --no-bpf-event true
-e cpu-clock/freq=99,call-graph=fp,max-stack=4/ true
-e cpu-clock/time=0/ true
-e cpu-clock/call-graph=no/ -g true
-e bpf-output/no-inherit,name=evt/ true
-e mem:0x1000:w true
-e msr/tsc/ true
-b -e cpu-clock true
-e instructions true
""".strip().splitlines()


def opens(tool, command, directory):
    run = subprocess.run(f"timeout 60 {tool} record -vv -o {directory}/x.data {command}", shell=True, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace")
    calls, attr, inside = [], [], False
    for line in run.stdout.splitlines():
        if line.startswith("------"):
            inside = not inside
            attr = [] if inside else attr
        elif inside:
            attr.append(" ".join(line.split()))
        elif line.startswith("sys_perf_event_open:"):
            call = re.sub(r" = \d+", "", line)
            call = re.sub(r"pid \d+", "pid N", re.sub(r"group_fd \d+", "group_fd G", call))
            calls.append((attr, call))
    calls = [c for c in calls if not ("config 0x9" in c[0] and "watermark 1" in c[0])]
    return run.returncode, calls


def main():
    differences = 0
    with tempfile.TemporaryDirectory() as directory:
        for command in COMMANDS:
            theirs, ours = opens("perf", command, directory), opens(SONDE, command, directory)
            if theirs == ours:
                continue
            differences += 1
            print(f"record {command}: status {theirs[0]} and {ours[0]}, {len(theirs[1])} and {len(ours[1])} opens")
            for their, our in zip(theirs[1], ours[1]):
                if their != our:
                    print("  perf: ", sorted(set(their[0]) - set(our[0])), their[1])
                    print("  sonde:", sorted(set(our[0]) - set(their[0])), our[1])
                    break
    print(f"{len(COMMANDS)} command lines, {differences} differ")
    return differences != 0


sys.exit(main())
