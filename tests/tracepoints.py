"""Builds tracepoint recordings for tests, from a description of which fields an event has, and what its samples contain.

    recording = tracepoints.Recording({"block:block_rq_issue": [("dev_t", "dev"), ("sector_t", "sector")]})
    recording.add("block:block_rq_issue", time_ns=1000, cpu=0, tid=7, dev=8, sector=100)
    recording.write("perf.data")
"""
import os
import struct
import subprocess
from pathlib import Path

# C type: (struct's letter, bytes, signed)
TYPES = {"pid_t": ("i", 4, 1), "int": ("i", 4, 1), "unsigned int": ("I", 4, 0), "dev_t": ("I", 4, 0), "sector_t": ("Q", 8, 0),
         "long": ("q", 8, 1), "unsigned long": ("Q", 8, 0), "void *": ("Q", 8, 0), "char[16]": ("16s", 16, 0),
         "__data_loc char[]": ("I", 4, 1)}  # the last: a string after all fields
COMMON = [("unsigned short", "common_type", 0, 2, 0), ("unsigned char", "common_flags", 2, 1, 0),
          ("unsigned char", "common_preempt_count", 3, 1, 0), ("int", "common_pid", 4, 4, 1)]
COMMON_SIZE = 8
FIRST_ID = 101
# The kernel's description of its ring buffer; perf requires it.
HEADER_PAGE = ("\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
               "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n")
HEADER_EVENT = "# compressed entry header\n"


def format_text(name, number, fields, print_fmt='"of a test"'):
    lines = [f"name: {name}", f"ID: {number}", "format:"]
    lines += [f"\tfield:{kind} {field};\toffset:{offset};\tsize:{size};\tsigned:{signed};"
              for kind, field, offset, size, signed in COMMON] + [""]
    offset = COMMON_SIZE
    for kind, field in fields:
        _, size, signed = TYPES[kind]
        declared = f"char {field}[16]" if kind == "char[16]" else f"{kind} {field}"
        offset = -(-offset // min(size, 8)) * min(size, 8)
        lines.append(f"\tfield:{declared};\toffset:{offset};\tsize:{size};\tsigned:{signed};")
        offset += size
    return "\n".join(lines) + f"\n\nprint fmt: {print_fmt}\n"


def sized(text, how="<Q"):
    data = text.encode()
    return struct.pack(how, len(data)) + data


def tracing_data(events, prints=None, names=None):
    """The format in which trace.dat files begin (trace-cmd.dat(5)); `events`: name -> (id, fields), `prints`: name -> print
    format, `names`: name -> the system and event that stand here for it."""
    data = b"\x17\x08\x44tracing" + b"0.6\0" + bytes([0, 8]) + struct.pack("<I", 4096)
    data += b"header_page\0" + sized(HEADER_PAGE) + b"header_event\0" + sized(HEADER_EVENT) + struct.pack("<I", 0)
    systems = {}
    for name, (number, fields) in events.items():
        system, own = (names or {}).get(name) or name.split(":", 1)
        systems.setdefault(system, []).append(format_text(own, number, fields, (prints or {}).get(name, '"of a test"')))
    data += struct.pack("<I", len(systems))
    for system, texts in systems.items():
        data += system.encode() + b"\0" + struct.pack("<I", len(texts)) + b"".join(sized(text) for text in texts)
    return data + sized("", "<I") + sized("", "<I") + sized("")


class Recording:
    """`events`: name -> [(C type, field)], `prints`: name -> print format, `names`: name -> (system, event) in the tracing data. With
    `stacks`, samples may have call chains: lists of addresses, innermost first."""

    def __init__(self, events, stacks=False, prints=None, names=None):
        self.events = {name: (FIRST_ID + i, fields) for i, (name, fields) in enumerate(events.items())}
        self.stacks = stacks
        kinds = "IP|TID|TIME|CPU|RAW|IDENTIFIER" + ("|CALLCHAIN" if stacks else "")
        self.lines = [f"event : name = {name}, id = {{ {number} }}, type = 2, config = {number:#x}, sample_period = 1, "
                      f"sample_type = {kinds}, sample_id_all = 1" for name, (number, _) in self.events.items()]
        self.lines.append("feature TRACING_DATA: hex:" + tracing_data(self.events, prints, names).hex())

    def name(self, tid, name, pid=None):
        self.lines.append(f'COMM pid={pid or tid} tid={tid} comm="{name}" time=1 cpu=0 event=0')

    def add(self, event, time_ns, cpu=0, tid=1, process=None, chain=(), cut=None, context="user", **values):
        """`values`: of the event's fields; `cut`: only this many bytes of them; `context`: kernel's or user's chain."""
        number, fields = self.events[event]
        raw = struct.pack("<HBBi", number, 0, 0, tid)
        texts, fixed = b"", len(raw)
        for kind, _ in fields:
            fixed += -fixed % min(TYPES[kind][1], 8) + TYPES[kind][1]
        for kind, field in fields:
            letter, size, _ = TYPES[kind]
            value = values.get(field, b"" if kind == "char[16]" else 0)
            if kind == "__data_loc char[]":
                text = values.get(field, "").encode() + b"\0"
                value = len(text) << 16 | fixed + len(texts)
                texts += text
            raw += b"\0" * (-len(raw) % min(size, 8))
            raw += struct.pack("<" + letter, value.encode() if isinstance(value, str) else value)
        raw += texts
        stack = f" chain={context},{','.join(map(hex, chain))}" if chain else ""
        self.lines.append(f"SAMPLE id={number} mode=user ip=0x401000 pid={process or tid} tid={tid} time={time_ns} cpu={cpu} "
                          f"raw=hex:{raw[:cut].hex()}{stack}")

    def write(self, path):
        text = Path(path).with_suffix(".txt")
        text.write_text("\n".join(self.lines) + "\n")
        subprocess.run([os.environ["SONDE"], "assemble", text, path], check=True)
        return Path(path)


SWITCH = [("char[16]", "prev_comm"), ("pid_t", "prev_pid"), ("int", "prev_prio"), ("long", "prev_state"),
          ("char[16]", "next_comm"), ("pid_t", "next_pid"), ("int", "next_prio")]
WAKING = [("char[16]", "comm"), ("pid_t", "pid"), ("int", "prio"), ("int", "target_cpu")]
SCHEDULER = {"sched:sched_switch": SWITCH, "sched:sched_waking": WAKING}
EVERY_SCHEDULER = SCHEDULER | {
    "sched:sched_stat_runtime": [("char[16]", "comm"), ("pid_t", "pid"), ("unsigned long", "runtime")],
    "sched:sched_wakeup_new": WAKING,
    "sched:sched_migrate_task": [("char[16]", "comm"), ("pid_t", "pid"), ("int", "prio"), ("int", "orig_cpu"), ("int", "dest_cpu")],
}


class SchedulerRecording(Recording):
    """Threads are (name, tid); IDLE is none. `every_event`: those of `sched record`, not only switches and wakings."""
    IDLE = ("swapper", 0)

    def __init__(self, stacks=False, every_event=False):
        super().__init__(EVERY_SCHEDULER if every_event else SCHEDULER, stacks)

    def cpus(self, count):
        self.lines += [f"# nrcpus online : {count}", f"# nrcpus avail : {count}"]

    def opened_for(self, cpus, tids=(0xffffffffffffffff,)):
        """What recorders say of the CPUs and tasks for which they opened events; by default any task."""
        self.lines += [f"THREAD_MAP tids={','.join(map(hex, tids))}", f"CPU_MAP cpus={','.join(map(str, cpus))}"]

    def every(self, period):
        """The events are recorded once in `period` times."""
        self.lines = [line.replace("sample_period = 1,", f"sample_period = {period},") for line in self.lines]

    def switch(self, time_ns, cpu, leaves, state, comes, chain=()):
        self.add("sched:sched_switch", time_ns, cpu, leaves[1], chain=chain, prev_comm=leaves[0], prev_pid=leaves[1],
                 prev_state=state, next_comm=comes[0], next_pid=comes[1])

    def waking(self, time_ns, cpu, waker, woken, chain=()):
        self.add("sched:sched_waking", time_ns, cpu, waker[1], chain=chain, comm=woken[0], pid=woken[1])

    def runtime(self, time_ns, cpu, who, runtime_ns):
        self.add("sched:sched_stat_runtime", time_ns, cpu, who[1], comm=who[0], pid=who[1], runtime=runtime_ns)

    def migrate(self, time_ns, cpu, by, who, from_cpu, to_cpu):
        self.add("sched:sched_migrate_task", time_ns, cpu, by[1], comm=who[0], pid=who[1], orig_cpu=from_cpu, dest_cpu=to_cpu)

    def comm(self, tid, name, time_ns):
        self.lines.append(f'COMM pid={tid} tid={tid} comm="{name}" time={time_ns} cpu=0 event=0')

    def fork(self, time_ns, parent, child):
        self.lines.append(f"FORK pid={child} ppid={parent} tid={child} ptid={parent} time={time_ns} cpu=0 event=0")

    def lost(self, time_ns, cpu, count):
        self.lines.append(f"LOST id={FIRST_ID} lost={count} time={time_ns} cpu={cpu} event=0")


class LockRecording(Recording):
    """Waits for locks. Call chains consist of kernel functions that are in no symbol list, told apart by a number."""
    SPIN, READ, WRITE, RT, PERCPU, MUTEX = 1, 2, 4, 8, 16, 32
    FUNCTIONS = 0xffffffff81000000

    def __init__(self):
        super().__init__({"lock:contention_begin": [("unsigned long", "lock_addr"), ("unsigned int", "flags")],
                          "lock:contention_end": [("unsigned long", "lock_addr"), ("int", "ret")]}, stacks=True)

    def chain(self, place, leaf):
        return [self.FUNCTIONS + offset for offset in (leaf, 0x20, 0x30, 0x1000 * (place + 1), 0x9000)]

    def begin(self, time_ns, tid, lock, flags, place):
        self.add("lock:contention_begin", time_ns, 0, tid, chain=self.chain(place, 0x10), context="kernel", lock_addr=lock, flags=flags)

    def end(self, time_ns, tid, lock, place):
        self.add("lock:contention_end", time_ns, 0, tid, chain=self.chain(place, 0x18), context="kernel", lock_addr=lock, ret=0)

    def lost(self, time_ns, cpu, count):
        self.lines.append(f"LOST id={FIRST_ID} lost={count} time={time_ns} cpu={cpu} event=0")


class LockdepRecording(Recording):
    """Uses of locks as reported by kernels with CONFIG_LOCK_STAT."""
    TRY, READ = 1, 2
    LOCK = [("__data_loc char[]", "name"), ("void *", "lockdep_addr")]

    def __init__(self, others=None):
        super().__init__({"lock:lock_acquire": [("unsigned int", "flags"), *self.LOCK], "lock:lock_acquired": self.LOCK,
                          "lock:lock_contended": self.LOCK, "lock:lock_release": self.LOCK, **(others or {})})

    def use(self, time_ns, tid, what, lock, name, flags=0):
        """`what`: "acquire", "contended", "acquired" or "release"."""
        self.add(f"lock:lock_{what}", time_ns, 0, tid, name=name, lockdep_addr=lock, flags=flags)

    def lost(self, time_ns, cpu, count):
        self.lines.append(f"LOST id={FIRST_ID} lost={count} time={time_ns} cpu={cpu} event=0")
