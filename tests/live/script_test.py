#!/usr/bin/env python3
"""`record -o - | script -i -`: lines come while the recorder runs, and either side may end first. The recorded programs run until
a file appears, so what is seen before that was not read from a finished recording. Needs root."""
import os
import re
import signal
import subprocess
import sys
import threading
import unittest

from own_directory import OwnDirectoryTest

SONDE = os.environ["SONDE"]
PATIENCE_S = 120  # when to give up; nothing here waits for a fixed time


class FollowTest(OwnDirectoryTest):
    def setUp(self):
        super().setUp()
        self.stop = self.path / "stop"

    def start(self, *script_arguments, record=("-e", "cpu-clock", "-F", "2000", "-m", "1"), program="true"):
        """A recorder of a busy shell that ends when `stop` appears, and a script that follows it."""
        loop = f"while [ -d {self.path} ] && [ ! -e {self.stop} ]; do {program}; done"
        recorder = subprocess.Popen([SONDE, "record", *record, "-o", "-", "--", "sh", "-c", loop], cwd=self.path,
                                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        script = subprocess.Popen([SONDE, "script", *script_arguments], cwd=self.path, stdin=recorder.stdout,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        recorder.stdout.close()
        watchdog = threading.Timer(PATIENCE_S, lambda: (recorder.kill(), script.kill()))
        watchdog.start()
        self.addCleanup(watchdog.cancel)
        self.addCleanup(script.stderr.close)
        self.addCleanup(script.stdout.close)
        for process in (script, recorder):
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
        self.addCleanup(self.stop.touch)  # the program must not outlive its recorder
        return recorder, script

    def lines(self, script, count):
        seen = [script.stdout.readline() for _ in range(count)]
        self.assertTrue(seen[-1], "script ended early: " + (script.stderr.read() if script.poll() is not None else ""))
        return seen

    def test_lines_come_while_the_recorder_runs(self):
        recorder, script = self.start("-i", "-")
        for line in self.lines(script, 100):
            self.assertRegex(line, r"^ *sh +\d+ +\d+\.\d{6}: +\d+ cpu-clock: +[0-9a-f]+ ")
        self.assertIsNone(recorder.poll())
        self.stop.touch()
        self.assertTrue(script.stdout.read())
        self.assertEqual(recorder.wait(), 0)
        self.assertEqual(script.wait(), 0)

    def test_processes_come_and_go(self):
        recorder, script = self.start("-F", "comm,tid,time,ip,sym,dso", "--show-task-events", "--show-lost-events", "-i", "-",
                                      program="/bin/true")
        seen = ""
        while seen.count("PERF_RECORD_EXIT") < 600:  # more than the machine remembers
            seen += "".join(self.lines(script, 50))
        self.assertIsNone(recorder.poll())
        self.assertRegex(seen, r"(?m)^ *true +\d+ .*ld-linux")
        # Every thread has its name, except those whose beginning was lost on a busy machine.
        nameless = re.findall(r"(?m)^ *:\d+ .*", seen)
        lost = re.findall(r".*PERF_RECORD_LOST.*", seen)
        self.assertTrue(lost or not nameless, f"{len(nameless)} without a name: {nameless[:3]}")
        self.stop.touch()
        times = [float(word) for word in re.findall(r" (\d+\.\d{6}): +[0-9a-f]+ ", script.stdout.read())]
        self.assertEqual(times, sorted(times))
        self.assertEqual(script.wait(), 0)

    def test_the_reader_goes_first(self):
        recorder, script = self.start("-i", "-")
        self.lines(script, 1)
        script.stdout.close()
        # It may still write what it has when it has seen that the reader is gone.
        self.assertIn(script.wait(), (-signal.SIGPIPE, 128 + signal.SIGPIPE))
        self.assertFalse(self.stop.exists())

    def test_ctrl_c(self):
        recorder, script = self.start("-i", "-")
        self.lines(script, 10)
        script.send_signal(signal.SIGINT)
        rest = script.stdout.read()
        self.assertEqual(script.wait(), 0)
        self.assertTrue(rest == "" or rest.endswith("\n"))
        self.assertFalse(self.stop.exists())

    def test_what_arrives_in_pieces(self):
        """Every record is split somewhere; the text is that of the whole file."""
        recording = subprocess.run([SONDE, "record", "-e", "cpu-clock", "-g", "-o", "-", "--", "ls", "-R", "/usr/share"],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
        (self.path / "pipe.data").write_bytes(recording)
        whole = subprocess.run([SONDE, "script", "-f", "-i", self.path / "pipe.data"], stdout=subprocess.PIPE).stdout
        script = subprocess.Popen([SONDE, "script"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        feeder = threading.Thread(target=lambda: self.feed(script.stdin, recording))
        feeder.start()
        self.assertEqual(script.stdout.read(), whole)
        self.assertGreater(whole.count(b"cpu-clock"), 5)
        feeder.join()
        script.stdout.close()
        self.assertEqual(script.wait(), 0)

    def feed(self, pipe, recording):
        for i in range(0, len(recording), 997):
            pipe.write(recording[i:i + 997])
            pipe.flush()
        pipe.close()


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("following recordings needs root")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])  # ctest passes the build directory, which is not a test
