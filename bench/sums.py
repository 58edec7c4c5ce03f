"""What profiling costs that is always on: recorders of sums and of samples watch the same programs in the same minute.

Each load runs for the whole time, and has recorders of its own (-p), so that loads are told apart whatever else the machine does; the
recorders of the whole machine (-a) say what the recorder itself costs, its start and its end included. CPU time of the programs in the
kernel is that of what is sampled, not of the recorder.
"""
import os
import shutil
import signal
import subprocess
import sys
import time

SECONDS = 60
# The BPF programs of a machine, here those of the other recorders, would be the larger part of each file.
RATE = ["-e", "cpu-clock", "-F", "99", "--no-bpf-event"]
PYTHON = "def inner(n):\n  return sum(i * i for i in range(n))\ndef outer():\n  while True: inner(1000)\nouter()"
# Steady work, as servers do it, and a compiler, nearly each of whose stacks is new.
LOADS = {"openssl": ["openssl", "speed", "-seconds", "600", "rsa2048"],
         "xz": ["sh", "-c", "exec xz -T1 -6 -c /dev/zero >/dev/null"],
         "python": ["/usr/bin/python3", "-c", PYTHON],
         "redis": ["sh", "-c", "redis-server --port 7799 --save '' --daemonize no & sleep 1; "
                   "exec redis-benchmark -p 7799 -q -l -P 16 -t set,get,lpush,lrange_100 -r 100000"],
         "compiler": ["sh", "-c", "echo '#include <regex>\nint main(){ return std::regex_match(\"a\", std::regex(\"a\")); }' >sums.cc; "
                      "while :; do c++ -O2 -c -o /dev/null sums.cc; done"]}
WAYS = {"": ["record"], "-g": ["record", "-g"], "--call-graph bpf": ["record", "--call-graph", "bpf"],
        "--call-graph dwarf,raw": ["record", "--call-graph", "dwarf,raw"],
        "--aggregate": ["record", "--aggregate"], "--aggregate --call-graph bpf": ["record", "--aggregate", "--call-graph", "bpf"]}
PAIRS = {"--aggregate": "-g", "--aggregate --call-graph bpf": "--call-graph bpf"}  # with the same chains
MACHINE_WIDE = ["--aggregate", "--aggregate --call-graph bpf"]
MOST_CPU = {"--aggregate": 0.01}  # of one core


def descendants(pid):
    """Of a process and itself."""
    found = [pid]
    for parent in found:
        tasks = f"/proc/{parent}/task"
        for task in os.listdir(tasks) if os.path.exists(tasks) else []:
            with open(f"{tasks}/{task}/children", encoding="ascii") as children:
                found += [int(child) for child in children.read().split()]
    return found


class Sums:
    def __init__(self, name):
        self.name = name
        self.bytes = {}   # by load and way
        self.cpu = {}     # by way, of the recorders of the machine: share of a core

    def failed(self):
        return any(self.cpu[way] > most for way, most in MOST_CPU.items())

    def table(self):
        loads = list(self.bytes)
        lines = [f"{self.name:40} " + " ".join(f"{load:>12}" for load in loads) + f" {'of a core':>10} {'goal':>6}"]
        for way in WAYS:
            cpu = f"{100 * self.cpu[way]:.2f} %" if way in self.cpu else ""
            goal = f"{100 * MOST_CPU[way]:.0f} %" if way in MOST_CPU else ""
            sizes = []
            for load in loads:
                part = f" 1/{self.bytes[load][PAIRS[way]] / self.bytes[load][way]:.0f}" if way in PAIRS else ""
                sizes.append(f"{self.bytes[load][way] / 1000:>8.0f}{part:>6}" if part else f"{self.bytes[load][way] / 1000:>8.0f}")
            lines.append(f"  record {way:31} " + " ".join(f"{size:>12}" for size in sizes) + f" {cpu:>10} {goal:>6}")
        return "\n".join([*lines, "  (kB in a minute at -F 99; 1/N: of what the same chains take without --aggregate)"])

    def document(self):
        return {"name": self.name, "goals": MOST_CPU, "bytes": self.bytes, "cpu": self.cpu}


def compare_sums(name, sonde, directory):
    found = Sums(name)
    loads = {load: subprocess.Popen(command, cwd=directory, start_new_session=True, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL)
             for load, command in LOADS.items() if load != "redis" or shutil.which("redis-server")}
    recorders, files = [], {}
    try:
        time.sleep(3)
        for load, process in loads.items():
            # A compiler's processes come and go: they are followed from their shell on.
            pids = ",".join(map(str, descendants(process.pid) if load != "compiler" else [process.pid]))
            for number, (way, words) in enumerate(WAYS.items()):
                files[load, way] = directory / f"sums-{load}-{number}.data"
                recorders.append((way, None, subprocess.Popen([sonde, *words, "-q", *RATE, "-p", pids, "-o", files[load, way]],
                                                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)))
        for number, way in enumerate(MACHINE_WIDE):
            files["machine", way] = directory / f"sums-machine-{number}.data"
            recorders.append((way, "machine", subprocess.Popen([sonde, *WAYS[way], "-q", *RATE, "-a", "-o", files["machine", way]],
                                                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)))
        time.sleep(SECONDS)
        for _, _, recorder in recorders:
            recorder.send_signal(signal.SIGINT)
        for way, where, recorder in recorders:
            _, _, usage = os.wait4(recorder.pid, 0)
            recorder.returncode = 0
            if where == "machine":
                found.cpu[way] = (usage.ru_utime + usage.ru_stime) / SECONDS
    finally:
        for process in loads.values():
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    for (load, way), path in files.items():
        if load != "machine":
            found.bytes.setdefault(load, {})[way] = path.stat().st_size
        path.unlink()
    print(found.table(), file=sys.stderr)
    return found
