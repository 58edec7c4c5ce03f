#!/usr/bin/env python3
"""`sql` against the installed perf's `script` of the same recording: samples, stacks and fields of tracepoints row by row, and the
views against what their definition gives when it is followed by hand. Python's csv and json read the formats.

    sql_oracle.py [BUILD_DIR]       $SONDE is the binary. Status 77 if there is no perf.
"""
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import kernel_turn

SONDE = os.environ["SONDE"]
PERF = shutil.which("perf")
BUSY = "ls -lR /usr/include | gzip -9 | sha256sum"


def run(*words):
    return subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True).stdout.decode(errors="replace")


class SqlTest(unittest.TestCase):
    maxDiff = 2000

    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.cpu, cls.calls = Path(directory.name) / "cpu.data", Path(directory.name) / "calls.data"
        with kernel_turn.taken():
            run(PERF, "record", "-q", "-g", "-e", "cpu-clock", "-o", cls.cpu, "--", "sh", "-c", BUSY)
            run(PERF, "record", "-q", "-e", "sched:sched_switch,raw_syscalls:sys_enter,raw_syscalls:sys_exit", "-o", cls.calls, "--", "sh",
                "-c", "ls -l /usr/bin | sort | wc -l")

    def query(self, data, text):
        """Rows of texts, without the apostrophe that keeps spreadsheets from names such as `@plt`, a PLT entry of nothing known."""
        rows = csv.reader(io.StringIO(run(SONDE, "sql", "--no-frame-functions", "--format", "csv", "-i", data, text)))
        return [[re.sub("^'(?=[=+@-])", "", cell) for cell in row] for row in rows][1:]

    def test_samples_are_those_of_script(self):
        text = run(PERF, "script", "--ns", "-G", "-F", "comm,pid,tid,time,event,period,ip,sym,dso", "-i", self.cpu)
        pattern = r"^ *(.+?) +(\d+)/(\d+) +(\d+)\.(\d{9}): +(\d+) +(\S+?): +[0-9a-f]+ (.*) \((.*)\)$"
        theirs = [re.match(pattern, line) for line in text.splitlines() if line]
        theirs = [[m[1], m[2], m[3], str(int(m[4] + m[5])), *m.groups()[5:]] for m in theirs]
        ours = self.query(self.cpu, "select comm, pid, tid, time, period, event, symbol, object from samples order by time")
        self.assertGreater(len(ours), 100)
        known = [(own, other) for own, other in zip(ours, theirs) if "@plt" not in own[6] + other[6]]  # perf finds only some
        self.assertEqual(len(ours), len(theirs))
        self.assertEqual([own for own, _ in known], [other for _, other in known])

    def test_groups_have_all_samples(self):
        rows = self.query(self.cpu, "select symbol, count(*), sum(period) from samples group by symbol")
        by_hand = {}
        for symbol, period in self.query(self.cpu, "select symbol, period from samples"):
            count, total = by_hand.get(symbol, (0, 0))
            by_hand[symbol] = (count + 1, total + int(period))
        self.assertEqual({row[0]: (int(row[1]), int(row[2])) for row in rows}, by_hand)
        names = [row[0] for row in rows]
        self.assertEqual(names, sorted(names, key=lambda name: name.encode()))

    def test_stacks_are_the_call_chains(self):
        text = run(PERF, "script", "-F", "time,ip,sym", "--ns", "--max-stack", "1000", "-i", self.cpu)
        chains = {}
        for part in text.split("\n\n"):
            lines = part.strip("\n").splitlines()
            if len(lines) > 1:
                time = re.sub(r"\D", "", lines[0])
                chains[str(int(time))] = [line.split(None, 1)[1] for line in lines[1:]]
        ours = {}
        for time, symbol in self.query(self.cpu, "select time, f.symbol from samples s join stacks f on f.stack = s.stack order by s.id, depth"):
            ours.setdefault(time, []).append(symbol)
        self.assertGreater(len(ours), 100)
        without_plt = lambda chain: [re.sub(r".*@plt$", "[unknown]", name) for name in chain]
        differ = [(without_plt(ours[time]), without_plt(chains[time])) for time in ours
                  if without_plt(ours[time]) != without_plt(chains.get(time, [])) and "plt" not in str(chains.get(time))]
        self.assertEqual(differ, [])
        folded = self.query(self.cpu, "select time, callchain from samples where stack is not null")
        self.assertEqual({time: chain.split(";") for time, chain in folded}, {time: names[::-1] for time, names in ours.items()})

    def test_fields_are_those_of_the_tracepoint(self):
        text = run(PERF, "script", "--ns", "-F", "time,event,trace", "-i", self.calls)
        theirs = re.findall(r"^ *(\d+)\.(\d+): +sched:sched_switch: +prev_comm=(.*) prev_pid=(\d+) prev_prio=(\d+) prev_state=\S+ ==> "
                            r"next_comm=(.*) next_pid=(\d+) next_prio=(\d+)$", text, re.M)
        ours = self.query(self.calls, "select time, prev_comm, prev_pid, prev_prio, next_comm, next_pid, next_prio from sched__sched_switch order by time")
        self.assertGreater(len(ours), 3)
        self.assertEqual(ours, [[str(int(seconds + ns)), *fields] for seconds, ns, *fields in theirs])

    def test_system_calls_are_pairs(self):
        text = run(PERF, "script", "--ns", "-F", "tid,time,event,trace", "-i", self.calls)
        begun, calls = {}, []
        for tid, seconds, ns, which, rest in re.findall(r"^ *(\d+) +(\d+)\.(\d+): +raw_syscalls:sys_(enter|exit): NR (-?\d+ .*)$", text, re.M):
            time, number = int(seconds + ns), rest.split()[0]
            if which == "enter":
                begun[tid] = (time, number)
            elif tid in begun and begun[tid][1] == number:
                start, _ = begun.pop(tid)
                calls.append([start, time - start, int(tid), int(rest.split("= ")[1])])
        ours = [[int(cell) for cell in row] for row in self.query(self.calls, "select time, duration, tid, result from syscalls")]
        self.assertGreater(len(ours), 50)
        self.assertEqual(sorted(ours), sorted(calls))
        names = {row[0] for row in self.query(self.calls, "select distinct name from syscalls")}
        self.assertLessEqual({"openat", "read", "mmap", "close"}, names)

    def test_formats_agree(self):
        words = ["select symbol, count(*) as n, avg(period) as mean, null as gap from samples group by symbol order by n desc, symbol limit 5"]
        rows = self.query(self.cpu, words[0])
        document = json.loads(run(SONDE, "sql", "--no-frame-functions", "--format", "json", "-i", self.cpu, *words))
        self.assertEqual([[row["symbol"], str(row["n"]), row["gap"]] for row in document], [[row[0], row[1], None] for row in rows])
        table = run(SONDE, "sql", "--no-frame-functions", "-i", self.cpu, *words).splitlines()
        self.assertEqual([line.split()[-2] for line in table[2:]], [row[1] for row in rows])
        self.assertEqual({len(line) for line in table[:2]}, {len(table[0])})

    def test_statements_on_standard_input(self):
        text = ".tables\nselect count(*) as n\nfrom samples;\nselect 1 + 1 as two"
        done = subprocess.run([SONDE, "sql", "-i", self.cpu], input=text, text=True, capture_output=True, check=True)
        self.assertIn("samples\nstacks\nframes\n", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^ *n\n-+\n *\d+\ntwo\n---\n  2\n\Z")

    def test_a_wrong_query_is_said(self):
        for query, said in (("select missing from samples", "no such column: missing"), ("select", "incomplete input"), ("drop table samples", "a change of the schema is refused"),
                            (".nonsense", "not known"), (".schema nonsense", "no table")):
            done = subprocess.run([SONDE, "sql", "-i", self.cpu, query], text=True, capture_output=True, check=False)
            self.assertEqual(done.returncode, 255, query)
            self.assertIn(said, done.stderr)
            self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    if PERF is None:
        print("sql: no perf is installed")
        sys.exit(77)
    unittest.main(argv=["sql"])
