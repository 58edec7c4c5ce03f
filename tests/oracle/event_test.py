#!/usr/bin/env python3
"""The installed perf against our event layer: what each argument of -e opens (`perf stat -vv`), how it is named, how an attr is
named and printed (`perf evlist -v` on recordings whose attr is patched), and the error messages."""
import os
import re
import shutil
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

DUMP = Path(os.environ["SONDE"]).parent / "tests/event_attr_dump"

MODIFIERS = "u k h uk kh ukh G H GH uG kH I p pp ppp P uP S D W e b upp upDe uI kS pS uhpppH Hu hk".split()
PLAIN = """
cycles cpu-cycles instructions cache-references cache-misses branch-instructions branches branch-misses bus-cycles
stalled-cycles-frontend idle-cycles-frontend stalled-cycles-backend idle-cycles-backend ref-cycles cpu-clock task-clock
page-faults faults context-switches cs cpu-migrations migrations minor-faults major-faults alignment-faults
emulation-faults dummy bpf-output cgroup-switches duration_time user_time system_time duration_time:u
r0 r003c r80a2 r1a8 rabc red r1234567890abcdef r1a8:u r1a8/name=foo/ r1a8/config1=3/u
L1-dcache-load-miss L1-dcache-load-misses L1-dcache-load-misses:u l1d LLC LLC-loads LLC-load-misses LLC-store-misses
L2-load-miss dTLB-prefetch-misses dTLB-loads iTLB-load-misses branch branch-loads branch-load-misses bpu-load-misses
node node-prefetches node-load-misses L1-dcache-refs L1-dcache-misses L1-icache-loads L1-icache-load-misses
L1-icache-prefetches d-tlb-load-refs L1-dcache-stores LLC-prefetches LLC-prefetch-misses
L1-dcache-loads/name=x/ L1-dcache-loads/config1=7/
cpu-clock/period=1000/ cpu-clock/config=3/ cpu-clock/config1=3/ cpu-clock// cpu-clock//u cpu-clock/name=x/
cpu-clock/name=x:y/ cycles/period=1000/ cycles/config=1/ cycles/config2=0x1234/ cycles/percore/ cycles/metric-id=foo/
cs/name=a,period=3/k cycles/config=0x10,config1=0x20,config2=0x30/pp
mem:0x1000 mem:0x1000:rw mem:0x1000:wr mem:0x1000:x mem:0x1000:x:u mem:0x1000:rwx mem:4096:w mem:0x1000/8
mem:0x1000/8:rw mem:0x1000/8:r mem:0x1000/4:w:u mem:0x1000/2:w mem:0x1000/1:w:k
sched:sched_switch sched:sched_switch:u sched:sched_switch:ppp sch*:sched_switch sched:sched_process_*
syscalls:sys_enter_op* sched:sched_switch,cs raw_syscalls:sys_enter block:*
{cs,faults} {cs,faults}:u {cs,faults}:S {cs,faults:k}:u {cs:u,faults}:S grp{cs,faults} grp{cs,faults}:u {cs}
{cs,faults},cpu-clock {cs,faults}:W {cs,faults}:D {cs,faults}:e {cs:p,faults}:p {cs:G,faults}:H {cs,faults}:k,{cs}
cs,faults,cpu-clock:u msr/tsc/ msr/tsc/u msr/event=0x00/ msr/event=0/ msr/event/ msr/config=0/ msr/tsc,name=foo/
msr/tsc,period=3/ msr// uprobe/ref_ctr_offset=1/ breakpoint/config=1/ software/config=1/ software/config=1/u
tracepoint/config=5/
""".split()

REFUSED = """
cycles:pppp cycles:uu cycles:x cycles:hv cycles:u:k nosuch nosuch:foo sched:nosuch sched:nosuch_* cpu/event=1/
cs/nosuch/ cs/nosuch=3/ cs/time=2/ cs/max-stack=abc/ cs/freq=abc/ cs/config=abc/ cs/branch_type=bogus/ cs/name=/ cs/name/
cs/=3/ cs/,/ cs/a cs/freq=99 cs/config=0x10,/ ,cs cs, cs,,cs {} {cs,{faults}} cs,faults} mem:0x1000:q mem:foo
msr/nosuch=2/ msr/event=0x1ffffffffffffffff/ msr/event=abc/ uprobe/retprobe=2/ breakpoint/bp_type=1/ raw/config=1/
read r r0x1a8 r1234567890abcdef0 cpu_clock 1cycles cycles- slots mem-loads %config mem:0x1000/name=foo/ L1-icache-store
""".split()

# Which events a PMU has depends on the processor.
(PLAIN if Path("/sys/bus/event_source/devices/msr/events/smi").exists() else REFUSED).append("msr/smi/")

# The whole message must be identical to perf's.
SAME_MESSAGE = """
cycles:pppp cycles:uu nosuch:foo cpu/event=1/ cs/time=2/ cs/max-stack=abc/ cs/freq=abc/ cs/config=abc/
raw/config=1/
""".split()

# perf drops the length and what follows it from the name.
OUR_NAMES = {text: text for text in PLAIN if text.startswith("mem:") and "/" in text}

# Set by the command, not by the event.
COMMANDS_OWN = {"size", "sample_type", "read_format", "disabled", "inherit", "enable_on_exec"}


def ask_ours(lines):
    done = subprocess.run([DUMP], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)
    answers, current = {}, None
    for line in done.stdout.splitlines():
        if line.startswith("="):
            current = answers.setdefault(line[1:], [])
        else:
            current.append(line)
    return answers


def ask_perf(text):
    """(names, attrs) or the message."""
    done = subprocess.run(["perf", "stat", "-vv", "-x;", "-e", text, "true"], capture_output=True, text=True, timeout=60)
    if done.returncode == 129:
        message = done.stderr[done.stderr.find("event syntax error"):].split("\n\n Usage:")[0].rstrip("\n")
        return None, message
    names, attrs, retry, block = [], [], False, None
    for line in done.stderr.splitlines():
        if line.startswith("switching off"):
            retry = True
        elif line.startswith("perf_event_attr:"):
            block = {}
        elif line.startswith("-----") and block is not None:
            # If an event could not be opened perf tries again with less.
            if not retry:
                attrs.append({k: v for k, v in block.items() if k not in COMMANDS_OWN})
            block, retry = None, False
        elif block is not None:
            name, value = re.match(r"  (\{.*?\}|\S+)\s+(.*)", line).groups()
            block[name] = value
        elif line.count(";") >= 4:
            names.append(line.split(";")[2])
    return names, attrs


def our_attr(text):
    attr = {}
    for name, value in re.findall(r"(\{.*?\}|\w+): ([^,]*)", text):
        if name not in COMMANDS_OWN:
            attr[name] = value
    return attr


def check_words():
    words = [f"{event}:{m}" for event in ("cycles", "cs") for m in MODIFIERS] + PLAIN
    ours = ask_ours(words)
    with ThreadPoolExecutor(2) as pool:
        theirs = dict(zip(words, pool.map(ask_perf, words)))
    for text in words:
        names, attrs = theirs[text]
        if names is None:
            yield f"{text}: perf refuses it: {attrs}"
            continue
        if ours[text] and ours[text][0].startswith("!"):
            yield f"{text}: we refuse it: {ours[text][0]}"
            continue
        got = [line.split("\t") for line in ours[text]]
        want_names = [OUR_NAMES[text]] if text in OUR_NAMES else names
        if want_names and [name for name, _ in got] != want_names:
            yield f"{text}: named {[name for name, _ in got]}, by perf {want_names}"
        if [our_attr(attr) for _, attr in got] != attrs:
            yield f"{text}: attrs {[attr for _, attr in got]}, perf's {attrs}"
    print(f"{len(words)} arguments of -e opened")


def check_refused():
    ours = ask_ours(REFUSED)
    with ThreadPoolExecutor(2) as pool:
        theirs = dict(zip(REFUSED, pool.map(ask_perf, REFUSED)))
    for text in REFUSED:
        names, message = theirs[text]
        if names is not None:
            yield f"{text}: perf takes it"
        if not ours[text][0].startswith("!"):
            yield f"{text}: we take it: {ours[text][0]}"
        elif text in SAME_MESSAGE and ours[text][0][1:] != message.replace("\n", "\\n"):
            yield f"{text}: we say {ours[text][0][1:]}\n  perf says {message!r}"
    print(f"{len(REFUSED)} arguments of -e refused")


def patched_attrs():
    """perf_event_attr structs of 128 bytes: every type and config, every combination that affects a name, every bit."""
    base = {"type": 1, "config": 0, "flags": 1 << 20, "bp_type": 0, "config1": 0, "config2": 0}
    cases = []
    for kind, configs in ((0, range(12)), (1, range(10)), (4, (0, 0x3C, 1 << 63)), (77, (0,))):
        cases += [dict(base, type=kind, config=c) for c in configs]
    for cache in range(8):
        for operation in range(4):
            cases += [dict(base, type=3, config=cache | operation << 8 | result << 16) for result in range(3)]
    cases += [dict(base, type=5, bp_type=t, config1=0x1000, config2=8) for t in range(1, 8)]
    for exclude in range(8):
        for precise in range(4):
            for side in range(4):
                cases.append(dict(base, type=0, flags=exclude << 4 | precise << 15 | side << 19))
    cases += [dict(base, flags=1 << bit) for bit in range(38)]
    for case in cases:
        yield struct.pack("<IIQQQQQIIQQ", case["type"], 128, case["config"], 4000, 0x1FFFFFF & ~(1 << 17), 31, case["flags"],
                          5, case["bp_type"], case["config1"], case["config2"]) + struct.pack(
                              "<QQIiQIHHIIQ", 0x7FFFF, 0xFF0FFF, 8192, -1, 1, 2, 127, 0, 4096, 0, 99)


def check_attrs():
    subprocess.run(["perf", "record", "-q", "-o", "plain.data", "-e", "cpu-clock", "true"], check=True, capture_output=True)
    data = bytearray(Path("plain.data").read_bytes())
    attrs_at = struct.unpack_from("<Q", data, 24)[0]
    data[72:104] = bytes(32)  # no feature sections: no names of events

    def ask(attr):
        file = Path(f"attr-{attr[:56].hex()}.data")
        changed = bytearray(data)
        changed[attrs_at:attrs_at + 128] = attr
        file.write_bytes(changed)
        done = subprocess.run(["perf", "evlist", "-v", "-i", file], capture_output=True, text=True, timeout=60)
        file.unlink()
        return done.stdout.rstrip("\n")

    attrs = list(dict.fromkeys(patched_attrs()))
    ours = ask_ours([f"@{attr.hex()}" for attr in attrs])
    with ThreadPoolExecutor(2) as pool:
        theirs = list(pool.map(ask, attrs))
    for attr, line in zip(attrs, theirs):
        name, text = ours[f"@{attr.hex()}"][0].split("\t")
        if f"{name}: {text}" != line:
            yield f"attr {attr.hex()}:\n  we   {name}: {text}\n  perf {line}"
    print(f"{len(attrs)} attrs named and printed")


def main():
    if not shutil.which("perf") or os.geteuid() != 0:
        print("no perf here, or not root")
        return 77
    problems = [p for check in (check_words, check_refused, check_attrs) for p in check()]
    print(*problems, sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
