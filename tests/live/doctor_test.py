#!/usr/bin/env python3
"""`doctor` says what then happens: as root and as nobody, each kind of event is tried with `stat` and `record`. Needs root."""
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

import debug_registers
from own_directory import OwnDirectoryTest

SONDE = os.environ["SONDE"]
AS_NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]


class DoctorTest(OwnDirectoryTest):
    def states(self, *words, user=()):
        done = subprocess.run([*user, SONDE, "doctor", *words], text=True, capture_output=True, cwd="/", check=False)
        found = {subject: state for state, subject in re.findall(r"^  (ok|in part|no) +(\S+(?: \S+)*)  ", done.stdout, re.M)}
        self.assertEqual(done.returncode, 1 if "no" in found.values() else 0, done.stdout + done.stderr)
        return found

    def works(self, *words, user=()):
        done = subprocess.run([*user, SONDE, *words], text=True, capture_output=True, cwd="/", check=False)
        return done.returncode == 0 and "<not supported>" not in done.stderr

    def check(self, user):
        found = self.states(user=user)
        whole = self.works("stat", "-a", "-e", "cpu-clock", "--", "true", user=user)
        own = self.works("stat", "-e", "cpu-clock:u", "--", "true", user=user)
        self.assertEqual(found["events"], "ok" if whole else "in part" if own else "no")
        self.assertEqual(found["hardware counters"] != "no", self.works("stat", "-e", "cycles:u", "--", "true", user=user))
        self.assertEqual(found["tracepoints"] == "ok", self.works("list", "sched:sched_switch", user=user)
                         and "sched_switch" in subprocess.run([*user, SONDE, "list", "sched:sched_switch"], text=True, capture_output=True,
                                                              cwd="/", check=False).stdout)
        return found

    @unittest.skipUnless(shutil.which("gdb") and shutil.which("gcc"), "needs gdb and gcc")
    def test_breakpoints_fire_for_gdb_too(self):
        self.assertEqual(self.check(())["hardware breakpoints"] == "ok", debug_registers.fire())

    def test_root_is_told_what_works(self):
        found = self.check(())
        self.assertEqual(found["events"], "ok")
        self.assertEqual(found["BPF"] == "ok", Path("/sys/kernel/btf/vmlinux").exists())
        self.assertEqual(found["kernel symbols"], "ok")

    def test_nobody_is_told_what_does_not(self):
        os.chmod(self.path, 0o755)
        found = self.check(AS_NOBODY)
        self.assertNotEqual(found["BPF"], "ok")

    def test_programs_by_path_name_and_process(self):
        sleeper = subprocess.Popen(["sleep", "100"])
        self.addCleanup(sleeper.wait)
        self.addCleanup(sleeper.kill)
        found = self.states(str(sleeper.pid), "sh", sys.executable)
        self.assertIn("frame pointers", found)
        for word in ("no-such-program", "999999999", "/etc/passwd"):
            done = subprocess.run([SONDE, "doctor", word], text=True, capture_output=True, check=False)
            self.assertEqual(done.returncode, 255)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=["doctor"])
