#!/usr/bin/env python3
"""`perf bench` and `sonde bench` side by side: the same command lines, with tiny loads, and the texts compared line by line with the
numbers replaced. What perf 6.1 lacks is compared with the text that it must have. Nothing may be left behind. Needs root and perf."""
import difflib
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

import kernel_turn

SONDE = os.environ["SONDE"]
PERF = shutil.which("perf")
failures = []
passed = 0


def run(tool, arguments, **options):
    done = subprocess.run([tool, "bench", *arguments.split()], text=True, timeout=120, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    return done.stdout, done.returncode


def masked(text):
    """The text without numbers, and without the blanks whose count depends on them."""
    text = text.replace(SONDE, "sonde").replace("numa numa-mem", "numa mem").replace("perf", "sonde")
    text = text.replace('"sonde bench -f simple numa', '"sonde bench numa')
    # Ours are not the kernel's own code, and memset's store (docs/differences.md).
    text = text.replace("like that of arch", "in arch").replace("stosq-based", "movsq-based").replace("stosb-based", "movsb-based")
    # perf lowers the limit, we only raise it.
    text = re.sub(r"(?m)^Setting RLIMIT_NOFILE.*\n", "", text)
    text = re.sub(r"0x[0-9a-f]+", "P", text)
    text = re.sub(r"\d+(\.\d+)?|\binf\b", "N", text)
    text = re.sub(r" *P\b", " P", text)
    text = re.sub(r" +N,", " N,", text)
    text = re.sub(r"\b[KMG]B/sec$", "B/sec", text, flags=re.MULTILINE)
    text = text.replace("add: N; mod: N; del: Ns ops", "add: N ops; mod: N ops; del: N ops")
    # How far a slow run has come is printed once a second.
    return [re.sub(r"^ *N ", " N ", line.rstrip()) for line in text.splitlines() if not re.match(r" *# +N% +\[N mins\]", line)]


def check(name, ours, theirs):
    global passed
    if ours == theirs:
        passed += 1
        return
    difference = difflib.unified_diff([str(t) for t in theirs], [str(o) for o in ours], "perf", "sonde", lineterm="", n=1)
    failures.append(f"--- {name}\n" + "\n".join(difference))


def same(arguments, order=list):
    """`order`: sorted, where perf's threads print as they come."""
    theirs, their_status = run(PERF, arguments)
    ours, our_status = run(SONDE, arguments)
    check(arguments, [f"status {our_status}", *order(masked(ours))], [f"status {their_status}", *order(masked(theirs))])


def same_in_both_formats(arguments):
    same(arguments)
    same(f"-f simple {arguments}")


def prints(arguments, expected):
    """For what perf 6.1 lacks."""
    ours, status = run(SONDE, arguments)
    check(arguments, [f"status {status}", *masked(ours)], ["status 0", *masked(expected)])


def refuses(arguments, words, limits=None):
    """One line, with these words, and a failure."""
    text, status = run(SONDE, arguments, preexec_fn=limits)
    lines = [line for line in text.splitlines() if not line.startswith("# ")]
    check(f"refusal: {arguments}", [status != 0, words in text, len(lines)], [True, True, 1])


def children_of(parent):
    """Processes, from /proc; also those whose parent is gone have the benchmark's name in their command line."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                if parent in file.read():
                    found.append(int(name))
        except OSError:
            pass
    return found


def leaves_nothing(arguments, number):
    """A benchmark that is stopped by a signal takes its processes along."""
    marked = "/proc/self/exe-of-bench-%d-%d" % (os.getpid(), number)
    process = subprocess.Popen([marked, "bench", *arguments.split()], executable=SONDE, stdout=subprocess.PIPE)
    while process.poll() is None and len(children_of(marked.encode())) < 2:
        time.sleep(0.01)
    process.send_signal(number)
    process.communicate(timeout=60)
    for _ in range(500):
        if not children_of(marked.encode()):
            break
        time.sleep(0.01)
    check(f"{arguments}, signal {number}", children_of(marked.encode()), [])


def lists():
    """Ours have every benchmark that perf's have; what they say of each is their own."""
    def names(text):
        return re.findall(r"(?m)^ *([\w-]+): ", text)
    for collection in ("sched", "syscall", "mem", "futex", "epoll", "breakpoint", "internals", "numa"):
        text, status = run(SONDE, collection)
        theirs, _ = run(PERF, collection)
        check(f"list {collection}", [status, len(names(theirs)) > 0, [n for n in names(theirs) if n not in names(text)]], [0, True, []])
    text, _ = run(SONDE, "")
    theirs, _ = run(PERF, "")
    check("list", sorted({*names(text)} - {"uprobe", "Usage"}), sorted({*names(theirs)} - {"Usage"}))
    same("nonsense")
    same("sched nonsense")


def sched():
    same_in_both_formats("sched messaging -g 1 -l 5")
    same_in_both_formats("sched messaging -g 2 -l 5 -p -t")
    same_in_both_formats("sched pipe -l 100")
    same("sched pipe -T -l 100")
    same("sched pipe -l 0")
    prints("sched pipe -n -T -l 100", run(PERF, "sched pipe -T -l 100")[0])
    prints("sched seccomp-notify -l 50", """# Running 'sched/seccomp-notify' benchmark:
# Executed 50 system calls

     Total time: 0.001 [sec]

       1.0 usecs/op
         1 ops/sec
""")
    refuses("sched pipe -G no-such-group,x -l 1", "cgroup no-such-group")
    refuses("sched messaging -g 1 -t", "Too many open files",
            lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (30, 30)))
    leaves_nothing("sched pipe", signal.SIGTERM)
    leaves_nothing("sched messaging -l 1000000", signal.SIGINT)
    leaves_nothing("sched messaging -l 1000000", signal.SIGKILL)
    leaves_nothing("sched seccomp-notify -l 100000000", signal.SIGKILL)


def syscall():
    same_in_both_formats("syscall basic -l 100")
    for name in ("getpgid", "fork", "execve"):
        prints(f"syscall {name} -l 5", run(PERF, "syscall basic -l 5")[0].replace("basic", name).replace("getppid", name))


def mem():
    same_in_both_formats("mem memcpy -s 1KB -l 3")
    same_in_both_formats("mem memset -s 4MB -l 2")
    same("mem memset -s 64kb -f default")
    same_in_both_formats("mem find_bit -i 1 -j 3")
    theirs = run(PERF, "mem memcpy -f help")[0]
    prints("mem memcpy -f help", theirs)
    prints("mem memcpy -s 1MB -k 4KB -f default", run(PERF, "mem memcpy -s 1MB -f default")[0])
    for function, summary in (("demand", "Demand loaded"), ("populate", "Eagerly populated")):
        prints(f"mem mmap -s 4MB -r 3 -f {function}", f"""# Running 'mem/mmap' benchmark:
# function '{function}' ({summary} mmap())
# Copying 4MB bytes ...

      1.0 GB/sec
""")
    refuses("mem memcpy -f nonsense", "Unknown function: nonsense")
    refuses("mem memcpy -s 1000TB -f default", "cannot map")


def futex():
    for options in ("-r 0 -t 2 -f 4", "-r 0 -t 1 -f 1 -S", "-r 0 -t 2 -s"):
        same(f"futex hash {options}")
    same("-f simple futex hash -r 0 -t 2")
    same("-r 2 futex wake -t 2")
    same("-r 1 -f simple futex wake -t 3 -w 2 -S -s")
    same("-r 2 futex wake-parallel -t 4 -w 2")
    same("-r 1 futex wake-parallel -t 2 -s")
    same("-r 2 futex requeue -t 3")
    same("-r 1 futex requeue -t 3 -B -S")
    same("-r 1 futex requeue -t 2 -q 9 -s")
    same("-r 2 futex requeue -p -t 3")
    same("futex lock-pi -r 0 -t 2")
    same("futex lock-pi -r 0 -t 2 -M -s")
    refuses("futex wake-parallel -t 4 -w 3", "do not divide")


def epoll():
    for options in ("-r 0 -t 2 -f 4", "-r 0 -t 2 -f 4 -v -m", "-r 0 -t 1 -f 1 -E -v -N 2", "-r 0 -t 2 -f 3 -S -B -R -n"):
        same(f"epoll wait {options}", sorted)
    same_in_both_formats("epoll ctl -r 0 -t 2 -f 4")
    same("epoll ctl -r 0 -t 2 -f 1 -v -N 1")
    same("epoll ctl -r 0 -t 2 -f 3 -R -n")
    refuses("epoll ctl -f 4 -N 9 -r 0", "the kernel allows")


def breakpoint_():
    same_in_both_formats("breakpoint thread -b 1 -p 2 -t 2")
    same_in_both_formats("breakpoint enable -p 1 -a 1")
    same("-r 3 breakpoint enable")
    refuses("breakpoint thread -b 99", "breakpoints are in use")


def internals():
    same_in_both_formats("internals synthesize -i 2")
    same("internals synthesize -t -m 1 -M 2 -I 2")
    same("internals kallsyms-parse -i 2")
    for events in ("-n 1", "-n 3 -a", "-e cpu-clock,dummy -n 2 -C 0", f"-p {os.getpid()}"):
        same(f"internals evlist-open-close -i 2 {events}")
    same("internals inject-build-id -i 2 -m 3 -n 3")
    same("internals inject-build-id -i 1 -m 30 -n 3 -v")
    prints("internals pmu-scan -i 2", """# Running 'internals/pmu-scan' benchmark:
Computing performance of sysfs PMU event scan for 2 times
  Average core PMU scanning took: 1.0 usec (+- 1.0 usec)
  Average PMU scanning took: 1.0 usec (+- 1.0 usec)
""")


def numa():
    for options in ("-p 1 -t 1 -P 4 -l 1", "-p 2 -t 2 -G 3 -P 2 -T 1 -l 2 -W -R -B", "-p 1 -t 2 -P 2 -L 1 -l 1 -q",
                    "-p 1 -t 1 -T 1 -l 3 -I -r -H 1 -u 5 -q", "-p 1 -t 1 -P 1 -l 1 -z -Z -0"):
        same_in_both_formats(f"numa mem {options}")
    theirs = run(PERF, "numa mem -p 1 -t 1 -P 1 -l 1 -q")[0]
    prints("numa mem -p 1 -t 1 -P 1 -l 1 -q -C 0 -M 0", theirs.replace("-l 1 -q", "-l 1 -q -C 0 -M 0"))
    refuses("numa mem -p 1 -t 1 -M 63", "no node 63")
    # perf's children print, too, and its threads in any order; when it looks at what has converged, and how often, is up to time.
    def details(text):
        text = text.replace("synchronization: ...", "synchronization: ...\n")
        lines = [line for line in text.split("\n") if "PID 0" not in line and line and not re.match(r" # +[\d.]+%", line)]
        return sorted(re.sub(r"^.*(# process)", r"\1", line) for line in lines)
    def same_details(arguments):
        theirs, ours = (masked("\n".join(details(run(tool, arguments)[0]))) for tool in (PERF, SONDE))
        check(arguments, sorted(ours), sorted(theirs))
    same("numa mem -p 2 -t 1 -P 1 -l 2 -S")
    for options in ("-d -l 2", "-dd -t 2 -l 2", "-q -dd -l 2", "-m -s 3", "-q -m -s 3", "-c -s 1", "-x 1 -s 1"):
        same_details(f"numa mem -p 2 -t 1 -P 1 {options}")
    ours = run(SONDE, "numa mem -p 2 -t 1 -P 1 -m -s 60")[0]
    check("converged", re.findall(r"\n #  +\d+\.\d%  \[\d\.\d mins\](?: +\d/\d)+ +\[ *\d/\d \].* l:\d+-\d+ \( *\d+\) \[ *\d+\.\d%\] "
                                  r"\( +\d+\.\ds (converged)\)\n", ours), ["converged"])
    refuses("numa mem -a", "the tests of perf's suite are not here")
    leaves_nothing("numa mem -p 2 -t 1 -s 100", signal.SIGTERM)


def uprobe():
    """The program that prints has run once per call: perf counts its lines."""
    total = "     Total time: 1 usecs"
    prints("uprobe baseline -l 3", f"""# Running 'uprobe/baseline' benchmark:
# Executed 3 usleep(1000) calls
{total}

 1.0 usecs/op
""")
    calls_of = {"trace_printk": 7, "trace_printk_ret": 7, "empty": 0}
    said, lines_of = {}, {}
    with kernel_turn.taken():
        for name in ("empty", "empty_ret", "trace_printk", "trace_printk_ret"):
            said[name] = run(SONDE, f"uprobe {name} -l 3")
        for name in calls_of:
            counted = subprocess.run([PERF, "stat", "-x,", "-e", "bpf_trace:bpf_trace_printk", SONDE, "bench", "uprobe", name, "-l", "7"],
                                     text=True, timeout=60, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            lines_of[name] = counted.stderr.split(",")[0]
    for name, (text, status) in said.items():
        lines = [re.sub(r"[+-]N", "N", line) for line in masked(text)]
        check(f"uprobe {name}", [status, *lines], [0, f"# Running 'uprobe/{name}' benchmark:", "# Executed N usleep(N) calls",
                                                   "     Total time: N usecs N to baseline", "", " N usecs/op N usecs/op to baseline"])
    for name, calls in calls_of.items():
        check(f"lines of {name}", [lines_of[name]], [str(calls)])


def too_much():
    """Numbers that nothing can satisfy are refused before memory runs out."""
    for arguments, words in (("futex hash -t 4000000000", "at most"), ("futex hash -f 4000000000", "each thread can have"),
                             ("breakpoint thread -b 4000000000", "are in use"), ("epoll ctl -f 4000000000", "lower --nfds"),
                             ("mem mmap -s 1000TB -r 1 -f demand", "cannot map"), ("numa mem -T 9000000000", "too much"),
                             ("internals evlist-open-close -n 4000000000", "expected 1 to"),
                             ("internals inject-build-id -m 4000000000", "expected 1 to")):
        text, status = run(SONDE, arguments)
        check(f"too much: {arguments}", [status in (129, 255), words in text], [True, True])


def interrupted():
    """SIGINT ends the time of a run, and its results are shown."""
    for arguments in ("futex hash -t 2 -r 100", "futex lock-pi -t 2 -r 100", "epoll wait -t 2 -r 100", "epoll ctl -t 2 -r 100"):
        process = subprocess.Popen([SONDE, "bench", *arguments.split()], stdout=subprocess.PIPE, text=True)
        first = process.stdout.readline() + process.stdout.readline()
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=60)
        check(f"{arguments}, interrupted", ["Run summary" in first, "Averaged" in rest, process.returncode], [True, True, 0])


def main():
    for part in (lists, sched, syscall, mem, futex, epoll, breakpoint_, internals, numa, uprobe, too_much, interrupted):
        part()
    for failure in failures:
        print(failure)
    print(f"{passed} comparisons agree, {len(failures)} differ")
    return 1 if failures else 0


if __name__ == "__main__":
    if not PERF:
        print("perf is not installed")
        sys.exit(77)
    sys.exit(main())
