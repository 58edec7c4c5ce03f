#!/usr/bin/env python3
"""The text of tracepoints against the kernel's own. The same events go to a tracefs instance, whose clock is perf's, and into a
recording; a sample and a line of the instance with the same CPU, event and time must have the same text.

What the kernel hides or prints differently is normalised first: addresses from %p (it prints a hash) and the size and module
after a symbol. The instance is removed at the end. Needs root and tracefs."""
import collections
import os
import pathlib
import re
import subprocess
import sys

TRACING = pathlib.Path("/sys/kernel/tracing")
EVENTS = """sched:sched_switch sched:sched_wakeup sched:sched_process_exec sched:sched_process_fork sched:sched_process_exit
signal:signal_generate signal:signal_deliver irq:softirq_entry timer:timer_start timer:hrtimer_start timer:hrtimer_cancel
kmem:kmem_cache_alloc kmem:kfree ext4:ext4_da_write_begin
writeback:writeback_dirty_inode block:block_rq_issue task:task_rename raw_syscalls:sys_exit workqueue:workqueue_queue_work
ipi:ipi_send_cpumask ipi:ipi_send_cpu jbd2:jbd2_run_stats jbd2:jbd2_checkpoint_stats""".split()
WORK = ("for i in 1 2 3; do /bin/ls /etc >/dev/null; dd if=/dev/zero of=scratch bs=4k count=64 conv=fsync 2>/dev/null; "
        "sleep 0.01 & kill -USR1 $!; wait; done; sync; rm -f scratch")
SONDE = os.environ.get("SONDE", "perf")
WINDOW_NS = 5000
MINIMUM = 12  # events that must be seen with equal text

KERNEL_LINE = re.compile(r"^ *(.+)-(\d+) +\[(\d+)\] +\S+ +(\d+\.\d+): (\w+): ?(.*)$")
OUR_LINE = re.compile(r"^ *\[(\d+)\] +(\d+\.\d+): +([\w-]+):(\w+): ?(.*)$")


def write(path, text):
    path.write_text(text)


def print_format(event):
    text = (TRACING / "events" / event.replace(":", "/") / "format").read_text()
    return text[text.index("print fmt:"):]


def hidden_words(event):
    """The text before each %p in the print format: "ptr="."""
    return set(re.findall(r"(\w+[=:] ?)%p(?![A-Za-z])", print_format(event)))


def comparable(event, text):
    text = text.rstrip()
    for word in HIDDEN[event]:
        text = re.sub(re.escape(word) + r"(0x[0-9a-f]+|[0-9a-f]{8,16}|\(nil\))", word + "ADDRESS", text)
    text = re.sub(r"(\+0x[0-9a-f]+)/0x[0-9a-f]+( \[\w+\])?", r"\1", text)
    # Each recorder reads the state of a task that exits for itself: its parent may collect it (Z, then X) in between.
    text = re.sub(r"prev_state=[XZ]\b", "prev_state=X or Z", text)
    # The kernel's %#x writes 0x before a zero, C's does not.
    return re.sub(r"\b0x0\b", "0", text)


def nanoseconds(time):
    seconds, fraction = time.split(".")
    return int(seconds) * 10**9 + int(fraction.ljust(9, "0"))


def kernel_lines(instance):
    lines = collections.defaultdict(list)
    for line in (instance / "trace").read_text(errors="replace").splitlines():
        match = KERNEL_LINE.match(line)
        if match and match[5] in NAMES:
            event = NAMES[match[5]]
            lines[int(match[3]), event].append((nanoseconds(match[4]), comparable(event, match[6])))
    return lines


def our_lines(recording):
    out = subprocess.run([SONDE, "script", "--ns", "-i", recording, "-F", "cpu,time,event,trace"], capture_output=True, text=True,
                         errors="replace", check=True, timeout=120).stdout
    lines = collections.defaultdict(list)
    for line in out.splitlines():
        match = OUR_LINE.match(line)
        if match:
            event = f"{match[3]}:{match[4]}"
            lines[int(match[1]), event].append((nanoseconds(match[2]), comparable(event, match[5])))
    return lines


def record(instance):
    write(instance / "trace_clock", "perf")
    write(instance / "buffer_size_kb", "16384")
    for event in EVENTS:
        write(instance / "events" / event.replace(":", "/") / "enable", "1")
    subprocess.run([SONDE, "record", "-q", "-a", "-m", "4M", "-e", ",".join(EVENTS), "-o", "text.data", "--", "sh", "-c", WORK],
                   check=True, timeout=300, stdout=subprocess.DEVNULL)
    write(instance / "tracing_on", "0")


def pair(ours, theirs, are_equal):
    """Pairs events within WINDOW_NS; returns the pairs and the rest of both. Each side read the clock itself."""
    pairs, left, start = [], [], 0
    used = [False] * len(theirs)
    for time, text in ours:
        while start < len(theirs) and theirs[start][0] < time - WINDOW_NS:
            start += 1
        at = start
        while at < len(theirs) and theirs[at][0] <= time + WINDOW_NS:
            if not used[at] and (not are_equal or theirs[at][1] == text):
                break
            at += 1
        if at < len(theirs) and theirs[at][0] <= time + WINDOW_NS:
            used[at] = True
            pairs.append((text, theirs[at][1]))
        else:
            left.append((time, text))
    return pairs, left, [line for line, is_used in zip(theirs, used) if not is_used]


def compare(ours, kernel):
    """An event on one side only was lost by the other, or came while the events were being enabled; a difference is an event on
    both sides that does not match."""
    equal, different = collections.Counter(), collections.defaultdict(list)
    for key, lines in ours.items():
        pairs, left, right = pair(sorted(lines), sorted(kernel.get(key, [])), True)
        equal[key[1]] += len(pairs)
        different[key[1]] += pair(left, right, False)[0]
    return equal, different


def main():
    instance = TRACING / "instances" / f"sonde_{os.getpid()}"
    instance.mkdir()
    try:
        record(instance)
        kernel = kernel_lines(instance)
    finally:
        instance.rmdir()  # also disables the events
    equal, different = compare(our_lines("text.data"), kernel)
    for event in EVENTS:
        print(f"{event:40} {equal[event]:7} equal {len(different[event]):5} different")
        for ours, theirs in different[event][:2]:
            print(f"    ours   {ours}\n    kernel {theirs}")
    seen = sum(1 for count in equal.values() if count > 0)
    if seen < MINIMUM:
        print(f"only {seen} events were seen with equal text, of at least {MINIMUM}")
    return 1 if any(different.values()) or seen < MINIMUM else 0


if not os.access(TRACING / "instances", os.W_OK):
    print("no tracefs here, or not as root")
    sys.exit(77)
EVENTS = [event for event in EVENTS if (TRACING / "events" / event.replace(":", "/") / "format").exists()]
NAMES = {event.split(":")[1]: event for event in EVENTS}
HIDDEN = {event: hidden_words(event) for event in EVENTS}
sys.exit(main())
