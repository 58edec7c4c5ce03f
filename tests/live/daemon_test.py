#!/usr/bin/env python3
"""`daemon`: its sessions record, follow their configuration, and are gone when it is, however it ends; perf's client speaks with it,
and ours with perf's. Needs root."""
import fcntl
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import unittest

from own_directory import OwnDirectoryTest

SONDE = os.environ["SONDE"]
PERF = shutil.which("perf")
PATIENCE_S = 30
CLOCK = ("clock", "-m 1M -e cpu-clock --overwrite --switch-output -a")
TASK = ("task", "-F 99 -e task-clock -a")
DUMMY = ("dummy", "-e dummy -a")


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def eventually(what, condition):
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not within {PATIENCE_S} s")
        time.sleep(0.01)


class DaemonTest(OwnDirectoryTest):
    def setUp(self):
        super().setUp()
        self.base = self.path / "base"
        self.base.mkdir()
        self.config = self.path / "config"
        self.pids = []
        self.addCleanup(self.end_all)

    def end_all(self):
        for pid in [*self.pids, *self.sessions_by_proc()]:
            if is_alive(pid):
                os.kill(pid, signal.SIGKILL)

    def configure(self, *sessions):
        text = f"[daemon]\nbase = {self.base}\n" + "".join(f"[session-{name}]\nrun = {run}\n" for name, run in sessions)
        self.config.write_text(text, encoding="utf-8")

    def run_as(self, tool, *words, status=0):
        done = subprocess.run([tool, "daemon", *words, "--config", str(self.config)], cwd=self.path, text=True, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=60, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def daemon(self, *words, status=0):
        return self.run_as(SONDE, *words, status=status)

    def start(self, tool=SONDE):
        done = self.run_as(tool, "start")
        if tool == SONDE:
            self.assertEqual(done.stdout, "")
        eventually("the lock names the daemon", lambda: (self.base / "lock").read_text(encoding="utf-8").isdigit())
        self.pids.append(int((self.base / "lock").read_text(encoding="utf-8")))
        return self.pids[-1], done.stderr

    def sessions(self, tool=SONDE):
        """PIDs by name, as listed."""
        lines = self.run_as(tool).stdout.splitlines()[1:]
        return {name: int(pid) for pid, name in (re.match(r"\[(\d+):(\w+)\]", line).groups() for line in lines)}

    def sessions_by_proc(self):
        """PIDs of processes that work in the base directory, by another observer."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.readlink(f"/proc/{pid}/cwd").startswith(str(self.base / "session-")):
                    found.append(int(pid))
            except OSError:
                pass
        return sorted(filter(is_alive, found))

    def log(self):
        return (self.base / "output").read_text(encoding="utf-8")

    def assert_nothing_runs(self, pid):
        eventually("the daemon ends", lambda: not is_alive(pid))
        eventually("its sessions end", lambda: self.sessions_by_proc() == [])

    def test_sessions_record_until_it_stops(self):
        self.configure(CLOCK, TASK)
        pid, errors = self.start()
        self.assertEqual(errors, "")
        self.assertEqual(os.readlink(f"/proc/{pid}/fd/0"), "/dev/null")
        self.assertEqual(os.getsid(pid), pid)  # survives its terminal
        listed = self.sessions()
        self.assertEqual(list(listed), ["clock", "task"])
        # A session is listed from its fork on; it enters its directory a moment later.
        eventually("the listed sessions run", lambda: self.sessions_by_proc() == sorted(listed.values()))
        self.assertEqual(self.daemon("ping").stdout, "OK   clock\nOK   task\n")
        self.assertEqual(self.daemon("signal", "--session", "clock").stdout, f"signal 12 sent to session 'clock [{listed['clock']}]'\n")
        eventually("a dump is written", lambda: list((self.base / "session-clock").glob("perf.data.*")))
        self.daemon("stop")
        self.assertEqual(self.sessions_by_proc(), [])  # `stop` waits
        eventually("the daemon ends", lambda: not is_alive(pid))
        self.assertEqual({path.name for path in self.base.iterdir()}, {"lock", "output", "session-clock", "session-task"})
        events = subprocess.run([SONDE, "script", "-F", "event", "-i", self.base / "session-task/perf.data"], text=True,
                                capture_output=True, check=True).stdout
        self.assertEqual(set(events.split()), {"task-clock:"})
        self.assertIn("daemon exited", self.log())

    def test_only_one_daemon_and_clear_refusals(self):
        self.assertIn("no configuration", self.daemon("start", status=255).stderr)
        self.configure(DUMMY)
        self.assertIn("no daemon runs on", self.daemon("ping", status=255).stderr)
        pid, _ = self.start()
        refused = self.daemon("start", status=255).stderr
        self.assertEqual(refused.count("\n"), 1)
        self.assertIn(f"another daemon (pid {pid}) owns {self.base}", refused)
        self.assertEqual(self.daemon("ping", "--session", "other", status=1).stdout, "FAIL other (not found)\n")
        self.assertIn("no session 'other'", self.daemon("signal", "--session", "other", status=255).stderr)
        self.assertIn("base directory", self.daemon("stop", "--base", "/nonexistent", status=255).stderr)
        self.daemon("stop")

    def test_follows_its_configuration(self):
        self.configure(TASK, DUMMY)
        _, _ = self.start()
        before = self.sessions()
        self.configure(("task", "-F 49 -e task-clock -a"), DUMMY, ("more", "-e dummy -a"))
        eventually("a new session runs", lambda: "more" in self.sessions())
        after = self.sessions()
        self.assertEqual(after["dummy"], before["dummy"])
        self.assertNotEqual(after["task"], before["task"])
        self.config.write_text("[session-", encoding="utf-8")  # an editor's first half
        eventually("the error is in the log", lambda: "the sessions stay as they are" in self.log())
        # A session is listed from its fork on; it enters its directory a moment later.
        eventually("the listed sessions run", lambda: self.sessions_by_proc() == sorted(after.values()))
        # Editors replace files instead of writing to them.
        old, self.config = self.config, self.path / "new"
        self.configure(DUMMY)
        self.config.rename(old)
        self.config = old
        eventually("the others end", lambda: self.sessions() == {"dummy": before["dummy"]})
        # What ended is started again by the next write, not before.
        os.kill(before["dummy"], signal.SIGKILL)
        eventually("its end is noticed", lambda: self.sessions() == {})
        self.configure(DUMMY)
        eventually("it runs again", lambda: "dummy" in self.sessions())
        self.assertIn("session 'dummy' killed (signal 9)", self.log())
        self.daemon("stop")

    def test_a_session_that_fails_is_named_once(self):
        self.configure(("bad", "-e nosuchevent -a"), DUMMY)
        pid, errors = self.start()
        self.assertRegex(errors, r"^session 'bad' exited, status=129: event syntax error: 'nosuchevent'.*session-bad/output\)\n\Z")
        self.assertEqual(list(self.sessions()), ["dummy"])
        self.assertEqual(self.daemon("ping").stdout, "OK   dummy\n")
        self.daemon("stop")
        self.assertEqual(self.log().count("running session [bad:"), 1)
        self.assert_nothing_runs(pid)

    def test_signals_end_it_with_its_sessions(self):
        self.configure(TASK, DUMMY)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
            pid, _ = self.start()  # after SIGKILL, nothing stale is in the way of the next one
            os.kill(pid, number)
            self.assert_nothing_runs(pid)
        for _ in range(3):  # `stop` returns once a new one can start
            pid, _ = self.start()
            self.assertEqual(self.daemon("ping").stdout, "OK   task\nOK   dummy\n")
            self.daemon("stop")
        self.assert_nothing_runs(pid)

    def test_holds_nothing_of_its_starter(self):
        self.configure(DUMMY)
        reader, writer = os.pipe()
        with open(self.path / "held", "w", encoding="utf-8") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            subprocess.run([SONDE, "daemon", "start", "--config", self.config], stdin=subprocess.DEVNULL, pass_fds=(writer, held.fileno()),
                           timeout=60, check=True)
            self.pids.append(int((self.base / "lock").read_text(encoding="utf-8")))
        os.close(writer)
        self.assertEqual(os.read(reader, 1), b"")
        os.close(reader)
        with open(self.path / "held", "w", encoding="utf-8") as held:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.daemon("stop")

    def test_foreground(self):
        self.configure(DUMMY)
        with subprocess.Popen([SONDE, "daemon", "start", "-f", "--config", self.config], text=True, stdout=subprocess.PIPE) as process:
            self.pids.append(process.pid)
            eventually("it answers", lambda: (self.base / "control").exists() and "OK" in self.daemon("ping").stdout)
            process.send_signal(signal.SIGTERM)
            text = process.communicate(timeout=60)[0]
        self.assertEqual(process.returncode, 0)
        self.assertIn(f"daemon started (pid {process.pid})", text)
        self.assertTrue(text.endswith("daemon exited\n"), text)
        self.assert_nothing_runs(process.pid)

    def test_damaged_requests_are_dropped(self):
        self.configure(DUMMY)
        self.start()
        for request in (b"", b"\x03", b"\x09" + bytes(71), b"\x03\0\0\0" + b"x" * 68, os.urandom(1000)):
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(str(self.base / "control"))
                client.sendall(request)
                client.shutdown(socket.SHUT_WR)
        self.assertEqual(self.daemon("ping").stdout, "OK   dummy\n")
        self.daemon("stop")

    @unittest.skipUnless(PERF, "perf is not installed")
    def test_perf_speaks_with_it(self):
        self.configure(CLOCK, TASK)
        pid, _ = self.start()
        for words in ([], ["-v"], ["-x,"], ["ping"], ["ping", "--session", "task"], ["signal"]):
            self.assertEqual(self.run_as("perf", *words).stdout, self.daemon(*words).stdout, words)
        self.assertIn(f"(pid {pid}) owns", self.run_as("perf", "start", "-f", status=255).stderr)
        self.run_as("perf", "stop")
        self.assert_nothing_runs(pid)

    @unittest.skipUnless(PERF, "perf is not installed")
    def test_speaks_with_perfs_daemon(self):
        self.configure(CLOCK, TASK)
        pid, _ = self.start("perf")
        eventually("perf's daemon listens", (self.base / "control").exists)
        eventually("its sessions answer", lambda: self.run_as("perf", "ping").stdout == "OK   clock\nOK   task\n")
        for words in ([], ["-v"], ["-x,"], ["ping"], ["ping", "--session", "task"], ["signal"]):
            self.assertEqual(self.daemon(*words).stdout, self.run_as("perf", *words).stdout, words)
        self.assertIn(f"another daemon (pid {pid}) owns", self.daemon("start", status=255).stderr)
        # The same files, and the same lists apart from the PIDs and the name of the tool.
        theirs = self.run_as("perf", "-v").stdout
        files = {path.name for path in self.base.iterdir()}
        self.daemon("stop")
        self.assert_nothing_runs(pid)
        self.start()
        ours = self.daemon("-v").stdout
        self.assertEqual(files, {path.name for path in self.base.iterdir()})
        self.daemon("stop")
        anonymous = [re.sub(r"\[\d+:", "[", text).replace("sonde record", "perf record") for text in (theirs, ours)]
        self.assertEqual(*anonymous)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
