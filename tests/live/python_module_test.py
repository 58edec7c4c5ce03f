#!/usr/bin/env python3
"""The Python module `perf`: programs written for perf's own get the same records from it, and the same text. Debian's module, where
it is installed, is the second observer; the kernel's own accounts are the others. Needs root."""
import ast
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

OURS = Path(os.environ["SONDE"]).parent / "python"
THEIRS = "/usr/lib/python3/dist-packages"

# Prints what one child does, in the order of its records' times: the module's user is the program itself.
WATCH = r"""
import os, perf, sys
cpus = perf.cpu_map()
threads = perf.thread_map(os.getpid())
evsel = perf.evsel(type=perf.TYPE_SOFTWARE, config=perf.COUNT_SW_DUMMY, task=1, comm=1, mmap=1, freq=0, wakeup_events=1,
                   watermark=1, sample_id_all=1, context_switch=0,
                   sample_type=perf.SAMPLE_PERIOD | perf.SAMPLE_TID | perf.SAMPLE_CPU | perf.SAMPLE_TIME)
evsel.open(cpus=cpus, threads=threads, inherit=1)
evlist = perf.evlist(cpus, threads)
assert evlist.add(evsel) == 1 and len(evlist) == 1
evlist.mmap()
child = os.fork()
if child == 0:
    os.execv("/bin/true", ["true"])
os.waitpid(child, 0)
assert evlist.poll(timeout=-1) > 0
assert len(evlist.get_pollfd()) == len(cpus)
seen = []
for cpu in cpus:
    while True:
        event = evlist.read_on_cpu(cpu)
        if not event:
            break
        assert event.sample_cpu == cpu
        if event.sample_pid == child or getattr(event, "pid", None) == child:
            seen.append((event.sample_time, type(event).__name__, repr(event), event.sample_id, event.sample_stream_id,
                         event.sample_period, event.sample_ip, event.sample_addr))
for _, *line in sorted(seen):
    print(*line)
"""

# A class of its own, as perf's examples have it; the fields of the tracepoint are attributes.
TRACEPOINT = r"""
import os, perf
class tracepoint(perf.evsel):
    def __init__(self, system, name):
        perf.evsel.__init__(self, type=perf.TYPE_TRACEPOINT, config=perf.tracepoint(system, name), freq=0, sample_period=1,
                            wakeup_events=1, sample_type=perf.SAMPLE_PERIOD | perf.SAMPLE_TID | perf.SAMPLE_CPU |
                            perf.SAMPLE_RAW | perf.SAMPLE_TIME)
evsel = tracepoint("sched", "sched_process_exec")
cpus, threads = perf.cpu_map(), perf.thread_map(os.getpid())
evsel.open(cpus=cpus, threads=threads, inherit=1)
evlist = perf.evlist(cpus, threads)
evlist.add(evsel)
evlist.mmap()
child = os.fork()
if child == 0:
    os.execv("/bin/true", ["true"])
os.waitpid(child, 0)
for cpu in cpus:
    while event := evlist.read_on_cpu(cpu):
        print(event, event.filename, event.pid == child, event.old_pid == child, event.common_pid == child, event.sample_period,
              event.type == perf.RECORD_SAMPLE, isinstance(event, perf.sample_event))
print(perf.tracepoint("sched", "no_such_event"), perf.tracepoint(sys="sched", name="sched_switch"))
"""


def run(directory, program, **variables):
    environment = dict(os.environ, PYTHONPATH=str(directory), **variables)
    return subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False,
                          timeout=60)


def without_numbers(text):
    """Process ids, times and addresses are those of one run."""
    text = re.sub(r"(pid|tid|ppid|ptid|time|start): (0x)?[0-9a-f]+", r"\1: N", text)
    return re.sub(r"/usr/bin/true|/bin/true", "/bin/true", text)


class Module(unittest.TestCase):
    def both(self, program):
        ours = run(OURS, program)
        self.assertEqual(0, ours.returncode, ours.stderr)
        if not glob.glob(THEIRS + "/perf.*.so"):
            return ours.stdout, ours.stdout
        theirs = run(THEIRS, program)
        self.assertEqual(0, theirs.returncode, theirs.stderr)
        return ours.stdout, theirs.stdout

    def test_records_of_a_child(self):
        ours, theirs = self.both(WATCH)
        self.assertEqual(without_numbers(theirs), without_numbers(ours))
        for part in ("type: fork", "type: exit", "comm: true", "filename: [vdso]"):
            self.assertIn(part, ours)

    def test_fields_of_a_tracepoint(self):
        ours, theirs = self.both(TRACEPOINT)
        self.assertEqual(theirs, ours)
        self.assertIn("{ type: sample } /bin/true True True True 1 True True", ours)

    def test_has_what_perfs_module_has(self):
        names = r"""
import perf
for name in sorted(dir(perf)):
    value = getattr(perf, name)
    if name[0] != "_":
        print(name, value if isinstance(value, int) else "")
"""
        ours, theirs = self.both(names)
        self.assertEqual([], [line for line in theirs.splitlines() if line not in ours.splitlines()])

    def test_pmus_are_those_of_list(self):
        names = run(OURS, r"""
import perf
for pmu in perf.pmus():
    assert str(pmu) == f"pmu({pmu.name()})"
    if pmu.name() != "tracepoint":
        for event in pmu.events():
            print(pmu.name(), event["name"], event.get("alias", "-"))
""")
        told = {tuple(line.split(" ")[:2]) for line in names.stdout.splitlines()}
        self.assertIn(("software", "page-faults"), told)
        for name in ("context-switches", "cpu-clock"):
            self.assertIn(("software", name), told)
        listed = subprocess.run([os.environ["SONDE"], "list", "sw", "pmu"], capture_output=True, text=True, check=True).stdout
        known = {re.split(r" OR |  ", line.strip())[0] for line in listed.splitlines() if "[" in line}
        self.assertEqual({name for _, name in told}, known - {"sonde_step//"})  # which only record has

    def test_counts(self):
        ours = run(OURS, r"""
import mmap, os, perf, resource
threads = perf.thread_map(os.getpid())
cpus = perf.cpu_map()
evlist = perf.parse_events("page-faults,task-clock", cpus, threads)
assert str(evlist) == "evlist([page-faults,task-clock])", evlist
evlist.open()
evlist.enable()
before = resource.getrusage(resource.RUSAGE_SELF)
memory = mmap.mmap(-1, 512 * 4096)
memory.madvise(mmap.MADV_NOHUGEPAGE)
for page in range(512):
    memory[page * 4096] = 1
after = resource.getrusage(resource.RUSAGE_SELF)
evlist.disable()
counted = [[e.read(c, t) for c in e.cpus() for t in e.threads()] for e in evlist]
faults, clock = (sum(v.val for v in values) for values in counted)
assert faults >= after.ru_minflt - before.ru_minflt >= 512, (faults, before, after)
assert 0 < clock, clock
assert all(v.run <= v.ena and v.values == [v.val, v.ena, v.run, v.id, v.lost] for values in counted for v in values)
assert sum(evlist[0].read(c, t).val for c in cpus for t in threads) == 0  # since the last read
evlist.close()
print("ok")
""")
        self.assertEqual(("ok\n", ""), (ours.stdout, ours.stderr))

    def test_several_events_of_one_ring(self):
        ours = run(OURS, r"""
import os, perf
cpus, threads = perf.cpu_map(), perf.thread_map(os.getpid())
evlist = perf.parse_events("syscalls:sys_enter_getppid,syscalls:sys_exit_getppid", cpus, threads)
evlist.config()
for event in evlist:
    event.tracking = False
evlist.config()
evlist.open()
evlist.mmap(pages=4)
evlist.enable()
for _ in range(5):
    os.getppid()
evlist.disable()
seen = []
for cpu in cpus:
    while event := evlist.read_on_cpu(cpu):
        seen.append((event.sample_time, str(event.evsel), getattr(event, "ret", None)))
for _, name, value in sorted(seen):
    print(name, value == os.getppid())
""")
        self.assertEqual("", ours.stderr)
        self.assertEqual(["evsel(syscalls:sys_enter_getppid) False", "evsel(syscalls:sys_exit_getppid) True"] * 5,
                         ours.stdout.splitlines())

    def test_metrics_are_those_of_stat(self):
        ours = run(OURS, r"""
import perf
for metric in perf.metrics():
    print(metric["MetricName"], ";".join(metric["MetricGroup"]), metric["MetricExpr"], sep="|")
""")
        self.assertEqual("", ours.stderr)
        listed = subprocess.run([os.environ["SONDE"], "list", "-j", "metric"], capture_output=True, text=True).stdout
        expected = [f"{m['MetricName']}|{m['MetricGroup']}|{m['MetricExpr']}" for m in json.loads(listed) if "MetricName" in m]
        self.assertEqual(sorted(expected), ours.stdout.splitlines())
        self.assertGreater(len(expected), 10)

    def test_a_metric_is_computed_from_its_counters(self):
        ours = run(OURS, r"""
import math, mmap, os, perf
threads = perf.thread_map(os.getpid())
evlist = perf.parse_metrics("page_faults_per_second,cpus_utilized", None, perf.cpu_map(), threads)
print(evlist.metrics(), evlist)
evlist.open()
memory = mmap.mmap(-1, 1 << 22)
for rounds in (300, 20):
    evlist.enable()
    for page in range(rounds):
        memory[4096 * page + (2 << 20 if rounds == 20 else 0)] = 1
    evlist.disable()
    for cpu in evlist.all_cpus():
        rate = evlist.compute_metric("page_faults_per_second", cpu, threads[0])
        used = evlist.compute_metric(metric="cpus_utilized", cpu=cpu, thread=threads[0])
        reads = {str(event): event.read(cpu, threads[0]) for event in evlist}
        faults, clock = (next(v for k, v in reads.items() if name in k) for name in ("page-faults", "task-clock"))
        if faults.run == 0:
            assert math.isnan(rate)
        else:
            assert math.isclose(rate, faults.val * faults.ena / faults.run * 1e9 / (clock.val * clock.ena / clock.run)), (rate, reads)
            assert 0 < used < 1.5, used
    # Nothing has been counted since.
    assert all(math.isnan(evlist.compute_metric("cpus_utilized", cpu, threads[0])) for cpu in evlist.all_cpus())
print("ok")
""")
        self.assertEqual("", ours.stderr)
        self.assertEqual(["['page_faults_per_second', 'cpus_utilized'] evlist([page-faults,task-clock])", "ok"],
                         ours.stdout.splitlines())

    def test_the_vendors_metrics_are_there_where_files_are_configured(self):
        with tempfile.TemporaryDirectory() as directory:
            files = Path(directory, "files")
            files.mkdir()
            (files / "metrics.json").write_text(json.dumps({"Metrics": [
                {"MetricName": "Slack", "MetricGroup": "Mine;Yours", "Formula": "1 - A.B / 2", "BriefDescription": "what is left",
                 "UnitOfMeasure": "percent"}]}))
            Path(directory, "config").write_text(f"[events]\n\tdirectory = {files}\n")
            ours = run(OURS, "import perf\nprint([m for m in perf.metrics() if m['MetricName'] == 'Slack'])\nperf.parse_metrics('mine')",
                       PERF_CONFIG=str(Path(directory, "config")))
        self.assertEqual([{"MetricGroup": ["Mine", "Yours"], "MetricName": "Slack", "MetricExpr": "1 - A.B / 2",
                           "BriefDescription": "what is left", "ScaleUnit": "1percent"}], ast.literal_eval(ours.stdout))
        self.assertIn("ValueError: metric Slack: it needs 'A.B', which is not known here", ours.stderr)

    def test_errors_say_what_is_wrong(self):
        for program, error in [
            ("perf.cpu_map('x')", "ValueError: cpu_map: not a list of CPUs, as in 0-3,8: 'x'"),
            ("perf.thread_map(2**22 + 1)", "LookupError: No such process: 4194305"),
            ("perf.evsel(sample_freq=1, sample_period=1)", "ValueError: evsel: sample_freq and sample_period: give one of them"),
            ("perf.evsel(type=77).open(perf.cpu_map(), perf.thread_map())",
             "FileNotFoundError: [Errno 2] evsel.open: type 77, config 0x0: No such file or directory"),
            ("perf.evsel().open(3)", "TypeError: a perf.cpu_map is wanted, not 3"),
            ("l = perf.evlist(perf.cpu_map(), perf.thread_map()); l.mmap()",
             "ValueError: evlist.mmap: no events: add and open some first"),
            ("l = perf.evlist(perf.cpu_map(), perf.thread_map()); l.add(perf.evsel()); l.mmap()",
             "OSError: [Errno 9] evlist.mmap: Bad file descriptor"),
            ("perf.evlist(perf.cpu_map(), perf.thread_map()).mmap(pages=3)",
             "ValueError: evlist.mmap: pages=3: a power of two is wanted"),
            ("perf.evlist(perf.cpu_map(), perf.thread_map()).read_on_cpu(0)",
             "TypeError: Unknown CPU '0': no ring was mapped for it"),
            ("perf.sample_event()", "TypeError: cannot create 'perf.sample_event' instances"),
            ("perf.parse_metrics('no_such_metric')", "ValueError: Cannot find metric or group `no_such_metric'"),
            ("perf.parse_metrics('ghz').compute_metric('cpus_utilized', 0, -1)",
             "TypeError: Unknown metric 'cpus_utilized': metrics() has this evlist's"),
            ("perf.parse_metrics('cpus_utilized').compute_metric('cpus_utilized', 0, -1)",
             "TypeError: Unknown CPU '0' or thread '-1' for metric 'cpus_utilized': its events are not open there"),
            ("perf.parse_events('no_such_event')", "ValueError: event syntax error: 'no_such_event'"),
        ]:
            with self.subTest(program):
                result = run(OURS, "import perf\n" + program)
                self.assertEqual(1, result.returncode)
                self.assertIn(error, result.stderr)


if __name__ == "__main__":
    if not (OURS / "perf.abi3.so").exists():
        print("there is no perf.abi3.so: builds with sanitizers do not make it")
        sys.exit(77)
    unittest.main(argv=["python_module_test"], verbosity=2)
