#!/usr/bin/env python3
"""Python scripts under `perf script` and `sonde script`: those that perf ships (found where it is installed), and one of ours that
prints everything it gets. The recordings are made here. Needs root and perf."""
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import kernel_turn
import side_by_side

SONDE = os.environ["SONDE"]
PERF = side_by_side.needed_perf()
SHIPPED = Path(side_by_side.ask(PERF, "--exec-path").lines[0], "scripts/python")

EVERYTHING = """
import sys
print(sys.argv[1:])
def trace_begin(): print("begin")
def trace_end(): print("end")
def process_event(event): print(event)
def trace_unhandled(name, context, fields, event): print(name, fields, event)
def context_switch(*x): print("switch", x)
def throttle(*x): print("throttle", x)
def unthrottle(*x): print("unthrottle", x)
def stat__interval(*x): print("interval", x)
def stat__cs(*x): print("cs", x)
def stat__page_faults_u(*x): print("faults", x)
globals()["stat__page-faults_u"] = stat__page_faults_u  # perf's name for it (docs/differences.md)
"""

# Rows instead of events.
ROWS = """
import sys
perf_db_export_mode = True
perf_db_export_calls = "calls" in sys.argv
perf_db_export_callchains = "callchains" in sys.argv
def printer(name): return lambda *row: print(name, row)
for name in ("evsel", "machine", "thread", "comm", "comm_thread", "dso", "symbol", "branch_type", "sample", "context_switch",
             "call_path", "call_return"):
    globals()[name + "_table"] = printer(name)
"""

# What export-to-sqlite needs of Qt, on Python's own SQLite.
QTSQL = """
import sqlite3
class QSqlDatabase:
    @staticmethod
    def addDatabase(kind): return QSqlDatabase()
    def setDatabaseName(self, name): self.name = name
    def open(self):
        global connection
        connection = sqlite3.connect(self.name, isolation_level=None)
        return True
class QSqlQuery:
    def __init__(self, db): self.values = []
    def prepare(self, text): self.text = text
    def addBindValue(self, value): self.values.append(value)
    def exec_(self, text=None):
        self.rows = connection.execute(text or self.text, self.values)
        self.values = []
        return True
    def next(self): return self.rows.fetchone() is not None
"""

# Every argument is looked at, in a different way.
USES = """
def raw_syscalls__sys_enter(event_name, context, common_cpu, common_secs, common_nsecs, common_pid, common_comm, common_callchain, id, args):
    print((lambda: (id, args, common_comm))())
def raw_syscalls__sys_exit(event_name, context, common_cpu, common_secs, common_nsecs, common_pid, common_comm, common_callchain, id, ret):
    print(sorted((k, v) for k, v in locals().items() if k != "context"))
class Handler:
    def __call__(self, *x): print(x[0], x[2:])
syscalls__sys_enter_openat = Handler()
"""

FUTEXES = """
import threading
lock = threading.Lock()
def work():
    for _ in range(100):
        with lock: sum(range(500))
threads = [threading.Thread(target=work) for _ in range(4)]
for t in threads: t.start()
for t in threads: t.join()
"""
# Two packets, so that there are some.
PACKETS = """
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", 0))
for _ in range(2):
    s.sendto(b"x", s.getsockname())
    s.recv(1)
"""
LIST = ["ls", "-R", "/usr/share/doc/bash", "/usr/include/linux", "/nonexistent"]
SCHED = "sched:sched_wakeup,sched:sched_wakeup_new,sched:sched_switch,sched:sched_migrate_task,sched:sched_process_exec"
NET = "net:net_dev_xmit,net:net_dev_queue,net:netif_receive_skb,irq:softirq_entry,irq:softirq_exit,irq:softirq_raise"
RECORDINGS = {
    "calls": ["record", "-e", "raw_syscalls:sys_enter,raw_syscalls:sys_exit,syscalls:sys_enter_openat", "--", *LIST],
    "futex": ["record", "-e", "syscalls:sys_enter_futex,syscalls:sys_exit_futex", "--", sys.executable, "-c", FUTEXES],
    "sched": ["record", "-g", "-e", SCHED, "--", "sh", "-c", "ls / | sort"],
    "net": ["record", "-a", "-e", NET, "--", sys.executable, "-c", PACKETS],
    # Its handler in netdev-times lacks a field that newer kernels have.
    "skb": ["record", "-e", "skb:consume_skb", "--", sys.executable, "-c", PACKETS],
    "clock": ["record", "-g", "-F", "2000", "-d", "--switch-events", "-e", "cpu-clock", "--", *LIST],
    "regs": ["record", "-F", "2000", "--intr-regs", "--user-regs=ax,ip,sp", "--phys-data", "-W", "-e", "cpu-clock", "--", *LIST],
    "group": ["record", "-F", "2000", "-e", "{cpu-clock,page-faults}:S", "--", *LIST],
    "stat": ["stat", "record", "-I", "50", "-e", "cs,page-faults:u,cycles,instructions", "sleep", "0.12"],
    "stat-cpus": ["stat", "record", "-a", "-A", "-I", "50", "-e", "cs,page-faults:u", "sleep", "0.12"],
}
# Script, recording, arguments.
RUNS = [
    ("syscall-counts", "calls", []), ("syscall-counts", "calls", ["ls"]), ("syscall-counts", "calls", ["two", "words"]),
    ("syscall-counts-by-pid", "calls", []), ("failed-syscalls-by-pid", "calls", []), ("failed-syscalls-by-pid", "calls", ["ls"]),
    ("check-perf-trace", "net", []), ("check-perf-trace", "calls", []), ("futex-contention", "futex", []),
    ("net_dropmonitor", "calls", []), ("netdev-times", "net", []), ("netdev-times", "skb", []),
    ("compaction-times", "calls", []), ("sched-migration", "sched", []),
    ("stat-cpi", "stat", []), ("stat-cpi", "stat-cpus", []), ("stackcollapse", "clock", []),
    ("stackcollapse", "clock", ["--", "--include-tid", "--kernel"]), ("mem-phys-addr", "regs", []), ("flamegraph", "clock", []),
    ("intel-pt-events", "clock", []), ("intel-pt-events", "clock", ["--", "--all-switch-events"]),
    ("event_analyzing_sample", "clock", []), ("event_analyzing_sample", "sched", []),
]

both = side_by_side.Comparison("python scripts")


def record(directory):
    with kernel_turn.taken():
        for name, words in RECORDINGS.items():
            command = words[:2] if words[0] == "stat" else words[:1]
            rest = words[len(command):]
            done = subprocess.run([PERF, *command, "-o", f"{directory}/{name}.data", *rest], capture_output=True, text=True)
            if not Path(directory, f"{name}.data").exists():
                both.failed(f"perf recorded no {name}: {done.stderr}")


def ask(tool, recording, script, arguments):
    database = Path("/dev/shm/perf.db")  # event_analyzing_sample's, which it adds to
    database.unlink(missing_ok=True)
    said = side_by_side.ask(tool, "script", "-i", recording, "-s", script, *arguments)
    database.unlink(missing_ok=True)
    # perf takes the end of the kernel from /proc/kcore of the machine that it runs on (docs/differences.md).
    lines = [re.sub(r"'dso_map_end': 18446744\d+", "'dso_map_end': …", line) for line in said.lines]
    # What failed ends by an abort under perf.
    return side_by_side.Said(lines, min(1, abs(said.status)))


def compare(directory):
    for name, recording, arguments in RUNS:
        script, data = f"{SHIPPED}/{name}.py", f"{directory}/{recording}.data"
        both.lines(f"{name} {recording} {arguments}", ask(PERF, data, script, arguments), ask(SONDE, data, script, arguments), least=0)
    everything = Path(directory, "everything.py")
    everything.write_text(EVERYTHING)
    uses = Path(directory, "uses.py")
    uses.write_text(USES)
    data = f"{directory}/calls.data"
    both.lines("arguments that are used", ask(PERF, data, uses, []), ask(SONDE, data, uses, []), least=100, status=0)
    for recording in RECORDINGS:
        data = f"{directory}/{recording}.data"
        both.lines(f"all of {recording}", ask(PERF, data, everything, ["a", "b"]), ask(SONDE, data, everything, ["a", "b"]), least=3, status=0)


def rows(directory):
    script = Path(directory, "rows.py")
    script.write_text(ROWS)
    for recording in ("clock", "regs"):
        data = f"{directory}/{recording}.data"
        for wishes in ([], ["callchains"], ["calls"], ["calls", "callchains"]):
            both.lines(f"rows of {recording} {wishes}", ask(PERF, data, script, wishes), ask(SONDE, data, script, wishes), least=40,
                       status=0)
    modules = Path(directory, "modules/PySide2")
    modules.mkdir(parents=True)
    Path(modules, "QtSql.py").write_text(QTSQL)
    os.environ["PYTHONPATH"] = f"{modules.parent}:{os.environ.get('PYTHONPATH', '')}"
    for wishes in ([], ["all", "calls", "callchains"]):
        contents = []
        for tool in (PERF, SONDE):
            database = f"{directory}/{Path(tool).name}-{len(wishes)}.db"
            said = ask(tool, f"{directory}/clock.data", f"{SHIPPED}/export-to-sqlite.py", [database, *wishes])
            contents.append(side_by_side.Said(list(sqlite3.connect(database).iterdump()), said.status))
        both.lines(f"export-to-sqlite {wishes}", *contents, least=60, status=0)


def failures(directory):
    """Scripts that cannot be run: their traceback, one line, status 1."""
    data = f"{directory}/calls.data"
    for text, said in (("def trace_begin(): 1 / 0", "trace_begin failed"),
                       ("def raw_syscalls__sys_enter(*x): nonsense", "raw_syscalls__sys_enter failed"),
                       ("def raw_syscalls__sys_enter(a): pass", "raw_syscalls__sys_enter failed"),
                       ("def trace_end(): raise ValueError", "trace_end failed"),
                       ("def broken(:", "cannot be compiled"), ("import no_such_module", "cannot be started")):
        Path(directory, "bad.py").write_text(text + "\n")
        done = subprocess.run([SONDE, "script", "-i", data, "-s", f"{directory}/bad.py"], capture_output=True, text=True)
        last = done.stderr.splitlines()[-1] if done.stderr else ""
        both.expect(done.returncode == 1 and said in last, f"{text!r}: {done.returncode}, {last!r}")
    Path(directory, "exit.py").write_text("import sys\ndef trace_begin(): sys.exit(3)\n")
    done = subprocess.run([SONDE, "script", "-i", data, "-s", f"{directory}/exit.py"], capture_output=True, text=True)
    both.expect(done.returncode == 3 and done.stderr == "", f"sys.exit(3): {done.returncode}, {done.stderr!r}")


def own_modules(directory):
    """The helper modules that Sonde brings give what perf's give."""
    for name, recording in (("check-perf-trace", "net"), ("failed-syscalls-by-pid", "calls"), ("stackcollapse", "clock")):
        script, data = f"{SHIPPED}/{name}.py", f"{directory}/{recording}.data"
        theirs = ask(PERF, data, script, [])
        os.environ["PERF_EXEC_PATH"] = "/nonexistent"
        ours = ask(SONDE, data, script, [])
        del os.environ["PERF_EXEC_PATH"]
        warned = [line for line in theirs.lines if re.match(r"(Install the audit|For example|  # |  etc|$)", line)]
        kept = [line for line in theirs.lines if line not in warned]
        both.lines(f"own modules: {name}", side_by_side.Said(kept, theirs.status),
                   side_by_side.Said([line for line in ours.lines if line not in warned], ours.status))


def settings(directory):
    """perf_config_get, which perf 6.1 does not have yet, and SchedGui without wxPython."""
    script, config = Path(directory, "settings.py"), Path(directory, "perfconfig")
    config.write_text("[annotate]\n\tobjdump = /opt/objdump\n")
    script.write_text("from perf_trace_context import perf_config_get\n"
                      "print(perf_config_get('annotate.objdump'), perf_config_get('no.such'))\n"
                      "try: perf_config_get(1)\nexcept TypeError: print('refused')\n"
                      "import sys\nsys.modules['wx'] = None\n"
                      "try: import SchedGui\nexcept ImportError as why: print(why)\n")
    os.environ.update(PERF_CONFIG=str(config), PERF_EXEC_PATH="/nonexistent")
    lines = side_by_side.ask(SONDE, "script", "-i", f"{directory}/calls.data", "-s", str(script)).lines
    del os.environ["PERF_CONFIG"], os.environ["PERF_EXEC_PATH"]
    both.expect(lines[:2] == ["/opt/objdump None", "refused"] and "wxPython" in lines[2], f"settings: {lines}")


def by_name(directory):
    """The words after `script`: what is recorded and shown under a script's name, and what is generated."""
    with kernel_turn.taken():
        recorded = subprocess.run([SONDE, "script", "record", "syscall-counts", "-o", "named.data", *LIST[:3]], cwd=directory,
                                  stdin=subprocess.DEVNULL, capture_output=True)
        live = side_by_side.ask(SONDE, "script", "syscall-counts", "--", *LIST[:3])
    both.expect(recorded.returncode == 0, f"record syscall-counts: {recorded.returncode}, {recorded.stderr}")
    both.expect(any(line.startswith("257  ") for line in live.lines), f"syscall-counts, live: {live.lines}")
    data = f"{directory}/named.data"
    theirs = side_by_side.ask(PERF, "script", "report", "syscall-counts", "-i", data)
    both.lines("report syscall-counts", theirs, side_by_side.ask(SONDE, "script", "report", "syscall-counts", "-i", data), least=10)
    both.lines("-i report syscall-counts", theirs, side_by_side.ask(SONDE, "script", "-i", data, "report", "syscall-counts"), least=10)
    theirs = side_by_side.ask(PERF, "script", "--list")
    perl = {path.name.removesuffix("-report") for path in Path(SHIPPED, "../perl/bin").glob("*-report")}
    kept = [line for line in theirs.lines[1:] if line.split()[0] not in perl]
    both.lines("--list", side_by_side.Said([theirs.lines[0], *sorted(kept, key=lambda line: line.split()[0])]),
               side_by_side.ask(SONDE, "script", "--list"), least=10)
    for recording in ("calls", "sched", "clock"):
        data = f"{directory}/{recording}.data"
        made = subprocess.run([SONDE, "script", "-i", data, "-g", "python"], cwd=directory, capture_output=True, text=True)
        both.expect(made.stdout == "generated Python script: perf-script.py\n", f"-g python: {made}")
        script = f"{directory}/perf-script.py"
        both.lines(f"the script generated for {recording}", ask(PERF, data, script, []), ask(SONDE, data, script, []), least=5, status=0)
    for words in (["rwtop"], ["record", "rwtop"], ["nosuch"], ["report", "nosuch"], ["-s", "x.pl"], ["-g", "perl"], ["record"]):
        done = side_by_side.ask(SONDE, "script", "-i", f"{directory}/calls.data", *words)
        both.expect(done.status == 255 and not done.lines, f"{words}: {done}")


def main():
    with tempfile.TemporaryDirectory() as directory:
        record(directory)
        compare(directory)
        rows(directory)
        failures(directory)
        own_modules(directory)
        settings(directory)
        by_name(directory)
    both.finish()


main()
