#!/usr/bin/env python3
"""`sched record --summary` and `sched latency --live`: the sums from the kernel agree with the events of the same run. Needs
root."""
import os
import re
import subprocess
import unittest
from pathlib import Path

from own_directory import OwnDirectoryTest

SONDE = os.environ["SONDE"]
# Two processes that wake each other some thousand times, under unique names. The shell keeps running: it waited for its start
# before events were recorded.
LOAD = """
cat > "$DIRECTORY/pingpong.py" <<'END'
import os
from pathlib import Path
def call(name):
    Path("/proc/self/comm").write_text(name)
def leave(name):
    print(name, Path("/proc/self/schedstat").read_text(), flush=True)
there, back = os.pipe(), os.pipe()
if os.fork() == 0:
    call("sonde-pong")
    for _ in range(3000):
        os.read(there[0], 1); os.write(back[1], b"x")
    leave("sonde-pong"); os._exit(0)
call("sonde-ping")
for _ in range(3000):
    os.write(there[1], b"x"); os.read(back[0], 1)
os.wait(); leave("sonde-ping"); os._exit(0)
END
python3 "$DIRECTORY/pingpong.py"; exit $?
"""
ROW = re.compile(r"^  (\S.*):\(?(\d+)\)? +\| +([\d.]+) ms \| +(\d+) \| avg: *([\d.]+) ms \| max: *([\d.]+) ms \| max start: *([\d.]+) s \| "
                 r"max end: *([\d.]+) s$")


class SchedTotals(OwnDirectoryTest):
    def sched(self, *arguments, status=0):
        done = subprocess.run([SONDE, "sched", *arguments], cwd=self.path, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              env={**os.environ, "DIRECTORY": str(self.path)})
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def rows(self, text):
        found = {}
        for line in text.splitlines():
            if match := ROW.match(line):
                name, number, run, switches, average, longest, start, end = match.groups()
                found[name] = (float(run), int(switches), float(average), float(longest), float(start), float(end))
        self.assertTrue(found, text)
        return found

    def test_they_agree_with_the_events(self):
        # The events are recorded inside: they have less of what begins and ends.
        self.sched("record", "--summary", "-o", "sums.data", "--", SONDE, "sched", "record", "-q", "-N", "-k", "mono", "-m", "4096",
                   "-o", "events.data", "--", "sh", "-c", LOAD)
        self.assertLess((self.path / "sums.data").stat().st_size, 1 << 20)
        sums = self.rows(self.sched("latency", "-i", "sums.data").stdout)
        text = self.sched("latency", "-i", "events.data").stdout
        events = self.rows(text)
        # Switches that the kernel drops silently show as CPUs that are left by a task that had not entered.
        dropped = re.search(r"context switch bugs \((\d+)", text)
        dropped = int(dropped[1]) if dropped else 0
        for name in ("sonde-ping", "sonde-pong"):
            sum_run, sum_switches, sum_average, sum_longest, sum_start, sum_end = sums[name]
            self.assertGreater(sum_switches, 1000)
            run, switches, average, longest, start, end = events[name]
            # A thread's totals are sent when it begins to exit, which takes some milliseconds: that it is preempted meanwhile, on a
            # busy machine several times, only the events show.
            self.assertLessEqual(switches, sum_switches + 20)
            # Whoever waits for a task is told before its last switch, which may come after the end of the inner recording.
            self.assertLessEqual(sum_switches - switches, 1 + 2 * dropped)
            if dropped > 0:
                continue
            self.assertAlmostEqual(sum_run, run, delta=0.001 + run / 1000)
            # The two read their clocks one after the other, and a busy host may stop the machine in between.
            self.assertAlmostEqual(sum_average, average, delta=0.05 + average / 10)
            self.assertAlmostEqual(sum_longest, longest, delta=20 + longest / 10)

    @unittest.skipUnless(Path("/proc/self/schedstat").exists(), "the kernel has no /proc/PID/schedstat (CONFIG_SCHED_INFO)")
    def test_they_agree_with_the_kernels_own_counters(self):
        said = self.sched("record", "--summary", "-q", "--", "sh", "-c", LOAD).stdout
        sums = self.rows(self.sched("latency").stdout)
        for name in ("sonde-ping", "sonde-pong"):
            own_run, own_delay, own_switches = map(int, re.search(rf"{name} (\d+) (\d+) (\d+)", said).groups())
            run, switches, average, *_ = sums[name]
            # The counters were read some switches before the end; and a thread that is woken before it has left its CPU counts
            # only there, so it is in the tables of events.
            self.assertAlmostEqual(switches, own_switches, delta=50 + own_switches / 20)
            self.assertAlmostEqual(run, own_run / 1e6, delta=20 + own_run / 1e6 / 2)
            # On a busy machine the few delays after that may be longer than all before.
            self.assertGreater(average * switches, own_delay / 1e6 / 2 - 10)
            self.assertLess(average * switches, own_delay / 1e6 * 1.5 + 500)

    def lives(self, *arguments):
        found = {}
        text = self.sched("latency", "--wall-clock", *arguments).stdout
        for line in text.splitlines():
            if match := re.match(r"^  (\S.*):\(?\d+\)? +\| +([\d.]+) \|" + r" +(\d+)\.(\d) % \|" * 4 + "$", line):
                digits = [int(digit) for digit in match.groups()[2:]]
                shares = [10 * whole + part for whole, part in zip(digits[::2], digits[1::2])]
                self.assertIn(sum(shares), (0, 1000), line)
                found[match[1]] = (float(match[2]), shares)
        self.assertTrue(found, text)
        return found

    def test_lives_divide(self):
        self.sched("record", "--summary", "-q", "-o", "sums.data", "--", SONDE, "sched", "record", "-q", "-N", "-k", "mono", "-m", "4096",
                   "-o", "events.data", "--", "sh", "-c", LOAD)
        sums, events = self.lives("-i", "sums.data"), self.lives("-i", "events.data")
        dropped = "context switch bugs" in self.sched("latency", "-i", "events.data").stdout
        for name in ("sonde-ping", "sonde-pong"):
            self.assertGreater(sums[name][0], 1)
            self.assertGreater(sums[name][1][0], 0)
            # sonde-ping runs on for a moment after the recording of events has ended.
            self.assertAlmostEqual(sums[name][0], events[name][0], delta=100 + events[name][0] / 2)
            if not dropped:
                for a, b in zip(sums[name][1], events[name][1]):
                    self.assertAlmostEqual(a, b, delta=250)
        self.assertIn("sonde-pong", self.lives("--live", "--", "sh", "-c", LOAD))

    def test_per_task_and_histogram(self):
        self.sched("record", "--summary", "-q", "--", "sh", "-c", LOAD)
        text = self.sched("latency", "-p", "--histogram").stdout
        rows = [ROW.match(line) for line in text.splitlines()]
        total = sum(int(row[4]) for row in rows if row)
        self.assertEqual(int(re.search(r"TOTAL: +\| +[\d.]+ ms \| +(\d+)", text)[1]), total)
        self.assertEqual(sum(int(count) for count in re.findall(r"[us.] \| +(\d+) \| [# ]{46} \|", text)), total)
        self.assertIn("2 us -   4 us", text)
        said = self.sched("latency", "-C", "0", status=129).stderr
        self.assertIn("all CPUs", said)

    def test_other_readers_open_it(self):
        self.sched("record", "--summary", "-q", "--", "sh", "-c", LOAD)
        report = subprocess.run([SONDE, "report", "--stdio", "-s", "comm", "-F", "period,sample,comm"], cwd=self.path, capture_output=True, text=True)
        self.assertIn("sched-sums", report.stdout)
        self.assertIn("sonde-pong", report.stdout)

    def test_live(self):
        rows = self.rows(self.sched("latency", "--live", "--", "sh", "-c", LOAD).stdout)
        self.assertGreater(rows["sonde-pong"][1], 1000)
        self.sched("latency", "--live", "--", "sh", "-c", "exit 3", status=3)
        self.assertIn("No such file", self.sched("latency", "--live", "--", "/nonexistent/program", status=255).stderr)

    def test_what_does_not_go_together(self):
        said = self.sched("record", "--summary", "-g", "--", "true", status=129).stderr
        self.assertIn("does not go with --summary", said)
        self.assertIn("--live", self.sched("latency", "true", status=129).stderr)


if __name__ == "__main__":
    unittest.main(argv=["sched_sums"])
