#!/usr/bin/env python3
"""Losses are counted once, and as what they were: of a tracepoint that is hit a known number of times, samples and lost samples are
that number, whichever recorder made the recording; the heading of `report`, the closing lines, `diff` and the page say the same.
The recorder is stopped while the ring fills, so that there are losses on any machine. Needs root."""
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import explorer_data

SONDE = os.environ["SONDE"]
PERF = shutil.which("perf")
EVENT = "syscalls:sys_enter_getppid"
LONG = 120


def eventually(what, condition):
    deadline = time.monotonic() + LONG
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"never: {what}")
        time.sleep(0.01)


def is_stopped(pid):
    return all(Path(task, "stat").read_text().rpartition(") ")[2][0] == "T" for task in Path(f"/proc/{pid}/task").iterdir())


class LossesTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.path = Path(directory.name)
        self.calls = 0

    def sonde(self, *words):
        done = subprocess.run([SONDE, *map(str, words)], cwd=self.path, encoding="utf-8", errors="replace", stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=LONG)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def start(self, tool, *words):
        """A recorder of this process's calls, which has begun."""
        os.mkfifo(self.path / "control")
        os.mkfifo(self.path / "ack")
        recorder = subprocess.Popen(
            [tool, "record", "-a", "-m", "1", "-e", EVENT, "--filter", f"common_pid == {os.getpid()}", "-D", "-1",
             f"--control=fifo:{self.path}/control,{self.path}/ack", "-o", "perf.data", *words],
            cwd=self.path, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        self.addCleanup(recorder.stdout.close)
        self.addCleanup(recorder.wait)
        self.addCleanup(recorder.kill)
        self.control = os.open(self.path / "control", os.O_RDWR)
        self.ack = os.open(self.path / "ack", os.O_RDWR)
        self.addCleanup(os.close, self.control)
        self.addCleanup(os.close, self.ack)
        self.command("enable")
        return recorder

    def command(self, word):
        os.write(self.control, word.encode() + b"\n")
        self.assertIn(b"ack", os.read(self.ack, 100))

    def call(self, times):
        for _ in range(times):
            os.getppid()
        self.calls += times

    def fill(self, recorder):
        """More calls than rings hold, then some that find room again, so that LOST records tell of the others."""
        recorder.send_signal(signal.SIGSTOP)
        eventually("it stops", lambda: is_stopped(recorder.pid))
        self.call(20000)
        recorder.send_signal(signal.SIGCONT)
        self.command("ping")
        for _ in range(50):
            self.call(1)
            time.sleep(0.002)

    def end(self, recorder):
        # The last losses are followed by nothing that could tell of them.
        recorder.send_signal(signal.SIGSTOP)
        eventually("it stops", lambda: is_stopped(recorder.pid))
        self.call(5000)
        recorder.send_signal(signal.SIGCONT)
        self.command("disable")
        recorder.send_signal(signal.SIGINT)
        return recorder.communicate(timeout=LONG)[0]

    def counts(self, file):
        """Samples, and lost ones as the heading has them; what the closing line says was lost of all kinds."""
        stats = self.sonde("report", "-i", file, "--stats").stdout
        samples = int(re.search(r"\bSAMPLE events: +(\d+)", stats)[1])
        report = self.sonde("report", "-i", file, "--stdio")
        lost = int(re.search(r"# Total Lost Samples: (\d+)", report.stdout)[1])
        closing = re.search(r"sonde: (\d+) events? (?:was|were) lost", report.stderr)
        gaps = re.search(r"# Lost: (up to )?(\d+) of (\d+) samples", report.stdout)
        if lost > 0:
            self.assertEqual((gaps[1], int(gaps[2]), int(gaps[3])), (None, lost, samples + lost), report.stdout)
        return samples, lost, int(closing[1]) if closing else 0

    def lost_records(self, file):
        """What LOST and LOST_SAMPLES records say: the sum of the former, and those of the latter by event's id."""
        dump = self.sonde("report", "-i", file, "-D").stdout
        in_rings = sum(map(int, re.findall(r"PERF_RECORD_LOST: id:\d+: lost:(\d+)", dump)))
        return in_rings, sum(map(int, re.findall(r"PERF_RECORD_LOST_SAMPLES: id:\d+: lost samples :(\d+)", dump)))

    def check(self, file):
        samples, lost, closing = self.counts(file)
        in_rings, by_event = self.lost_records(file)
        self.assertGreater(lost, 15000)
        self.assertEqual(samples + lost, self.calls)
        # Both kinds of records are there and tell of the same; the counts per event know the last ones, too, and lost mappings.
        self.assertGreater(in_rings, 15000)
        self.assertGreaterEqual(by_event, in_rings)
        self.assertEqual(closing, by_event)
        self.assertGreaterEqual(closing, lost)
        diff = self.sonde("diff", file, file).stdout + self.sonde("diff", file, file).stderr
        self.assertIn(f"lost {lost} samples", diff)
        self.sonde("view", "-i", file, "-o", "page.html")
        self.assertIn(f"{lost:,} samples were lost", explorer_data.unpacked((self.path / "page.html").read_text()))
        return lost

    def test_of_our_recorder(self):
        recorder = self.start(SONDE)
        self.fill(recorder)
        said = self.end(recorder)
        lost = self.check("perf.data")
        told = int(re.search(r"sonde: (\d+) events were lost", said)[1])
        self.assertEqual(told, self.counts("perf.data")[2], said)
        self.assertGreaterEqual(told, lost)
        if PERF:
            # perf adds what its dummy lost, mappings and names.
            heading = subprocess.run([PERF, "report", "--stdio", "-i", self.path / "perf.data"], text=True, stdout=subprocess.PIPE,
                                     stderr=subprocess.DEVNULL, check=True).stdout
            self.assertEqual(int(re.search(r"# Total Lost Samples: (\d+)", heading)[1]), told)

    @unittest.skipUnless(PERF, "no perf to record with")
    def test_of_perfs_recorder(self):
        recorder = self.start(PERF)
        self.fill(recorder)
        self.end(recorder)
        self.check("perf.data")

    def test_of_each_file_of_several(self):
        recorder = self.start(SONDE, "--switch-output")
        self.fill(recorder)
        recorder.send_signal(signal.SIGUSR2)
        eventually("a file is complete", lambda: len(list(self.path.glob("perf.data.*"))) > 0)
        self.fill(recorder)
        self.end(recorder)
        files = sorted(self.path.glob("perf.data.*"))
        self.assertEqual(len(files), 2)
        counts = [self.counts(file) for file in files]
        self.assertEqual(sum(samples + lost for samples, lost, _ in counts), self.calls)
        for samples, lost, closing in counts:
            self.assertGreater(lost, 15000)
            self.assertGreaterEqual(closing, lost)

    def test_a_pipe_that_is_followed(self):
        """The closing line of a reader that gets the records in pieces."""
        recorder = self.start(SONDE)
        self.fill(recorder)
        self.end(recorder)
        expected = self.counts("perf.data")[2]
        for words in (["script", "-F", "comm,ip"], ["script", "-F", "comm,time,event,trace"], ["report", "--stdio"]):
            with open(self.path / "perf.data", "rb") as file:
                inject = subprocess.run([SONDE, "inject", "-i", "-", "-o", "-"], stdin=file, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, timeout=LONG)
            piped = inject.stdout if inject.returncode == 0 else (self.path / "perf.data").read_bytes()
            done = subprocess.run([SONDE, *words, "-i", "-"], input=piped, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=LONG)
            said = done.stderr.decode()
            self.assertEqual(int(re.search(r"sonde: (\d+) events were lost", said)[1]), expected, (words, said))


if __name__ == "__main__":
    unittest.main(argv=[__file__])
