#!/usr/bin/env python3
"""Symbols of programs in other mount, pid and user namespaces, of deleted, replaced and memory-only ones; bundles and archives of
recordings. Two builds of one program tell which file was used: one has a function inside_work, the other outside_work. Needs
root."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
from pathlib import Path

SONDE = os.environ["SONDE"]
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
__attribute__((noinline)) unsigned long FUNCTION(unsigned long n) {
  volatile unsigned long sum = 0;
  for (unsigned long i = 0; i < n; ++i) sum += i ^ sum >> 3;
  return sum;
}
int main(int count, char** words) {
  /* Runs for some processor time, or for ever. */
  const char* tenths = getenv("TENTHS");
  clock_t end = clock() + CLOCKS_PER_SEC / 10 * (tenths ? atoi(tenths) : 5);
  if (count > 1) printf("ready\n"), fflush(stdout);
  while (count > 1 || clock() < end) FUNCTION(100000);
  return (int)(words[0][0] == 0);
}
"""
FREQUENCY = ["-e", "cpu-clock:u", "-F", "999"]


def can_overlay():
    with tempfile.TemporaryDirectory() as top:
        script = f"cd {top} && mkdir l u w m && mount -t tmpfs none {top}/u && mkdir u/u u/w u/l && mount -t overlay overlay -o lowerdir=u/l,upperdir=u/u,workdir=u/w m"
        return subprocess.run(["unshare", "-m", "sh", "-c", script], capture_output=True).returncode == 0


def refuses(*flags):
    """Whether this machine (a chroot, a container) does not allow such namespaces."""
    return subprocess.run(["unshare", *flags, "true"], capture_output=True).returncode != 0


class ContainersTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        builds = tempfile.TemporaryDirectory()
        cls.addClassCleanup(builds.cleanup)
        cls.builds = Path(builds.name)
        source = cls.builds / "program.c"
        source.write_text(PROGRAM)
        for name, options in (("inside", []), ("outside", []), ("bare_inside", ["-Wl,--build-id=none"]),
                              ("bare_outside", ["-Wl,--build-id=none"])):
            function = f"-DFUNCTION={name.removeprefix('bare_')}_work"
            subprocess.run(["gcc", "-O1", "-g", "-static", function, *options, "-o", cls.builds / name, source], check=True)

    def setUp(self):
        self.top = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.top)
        (self.top / "home").mkdir()
        (self.top / "empty").mkdir()
        self.program = self.top / "program"

    def install(self, name):
        """Replaces the old file with a new one, as package managers and compilers do."""
        shutil.copy(self.builds / name, self.top / "new")
        os.replace(self.top / "new", self.program)

    def sonde(self, *words, home="home", status=0):
        environment = {"TENTHS": "5", **os.environ, "HOME": str(self.top / home), "PERF_CONFIG": "/dev/null"}
        for name in ("PERF_BUILDID_DIR", "DEBUGINFOD_URLS"):
            environment.pop(name, None)
        run = subprocess.run([SONDE, *map(str, words)], cwd=self.top, env=environment, text=True, timeout=300,
                             stdin=subprocess.DEVNULL, capture_output=True)
        self.assertEqual(run.returncode, status, f"{words}\n{run.stdout}{run.stderr}")
        self.errors = run.stderr
        return run.stdout

    def record(self, *words):
        return self.sonde("record", "-q", "-o", "data", *FREQUENCY, *words)

    def report(self, *words, home="home", path="data"):
        return self.sonde("report", "--stdio", "-i", path, "--sort", "dso,sym", *words, home=home)

    def start(self, *command):
        """A program that runs until the test ends; returns when it is running."""
        process = subprocess.Popen([*map(str, command)], cwd=self.top, text=True, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, start_new_session=True)
        self.addCleanup(self.stop, process)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def stop(self, process):
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            process.stdout.close()

    def pid_of_program(self, process):
        """The program itself, below the process that put it into its namespaces."""
        pid = process.pid
        while True:
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            if not children:
                return pid
            pid = int(children[0])

    def container(self, then, *, more=()):
        """In its own mount, pid and user namespaces `self.top/mnt` has a file system that nobody else sees."""
        if refuses("-U", "-r", "-m", "-p", "-f"):
            self.skipTest("this machine refuses new user, mount and pid namespaces")
        (self.top / "mnt").mkdir(exist_ok=True)
        script = f"mount -t tmpfs none {self.top}/mnt && cp {self.builds}/inside {self.top}/mnt/app && {then}"
        return ["unshare", "-U", "-r", "-m", "-p", "-f", *more, "sh", "-c", script]

    def test_a_container_that_lives(self):
        process = self.start(*self.container(f"exec {self.top}/mnt/app on"))
        program = self.pid_of_program(process)
        self.record("-N", "-p", program, "--", "sleep", "0.5")
        self.assertFalse((self.top / "home/.debug").exists())
        self.assertIn("inside_work", self.report())
        self.stop(process)
        # It is the child of the process that was waited for: it may be there a little longer.
        while Path(f"/proc/{program}").exists():
            time.sleep(0.01)
        self.assertNotIn("inside_work", self.report())

    def test_a_recorder_in_a_container(self):
        """It sees tasks outside, but all under the number 0. They are named after none of them."""
        namespaces = ("-p", "-f", "--mount-proc")
        if refuses(*namespaces):
            self.skipTest("this machine refuses new pid namespaces")
        for name in ("spinner", "stranger"):
            shutil.copy(self.builds / "outside", self.top / name)
        spinner = self.start(str(self.top / "spinner"), "on")
        for name in ("begin", "end"):
            os.mkfifo(self.top / name)
        recorder = self.start("unshare", *namespaces, SONDE, "record", "-a", "-q", "-N", *FREQUENCY, "-o", "inside.data", "--",
                              "sh", "-c", f"echo ready; echo > {self.top}/begin; cat {self.top}/end")
        (self.top / "begin").read_text()
        subprocess.run([str(self.top / "stranger")], env=dict(os.environ, TENTHS="0"), check=True)

        def used_ms():
            fields = Path(f"/proc/{spinner.pid}/stat").read_text().rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) * 1000 // os.sysconf("SC_CLK_TCK")
        enough = used_ms() + 100
        while used_ms() < enough:
            time.sleep(0.01)
        (self.top / "end").write_text("now\n")
        recorder.stdout.read()
        self.assertEqual(recorder.wait(), 0)
        tasks = [line.split() for line in self.sonde("script", "-F", "comm,tid", "-i", "inside.data").splitlines()]
        outside = [name for *name, tid in tasks if tid == "0"]
        self.assertGreater(len(outside), 20, "samples of the spinner")
        self.assertEqual({" ".join(name) for name in outside}, {"[outside this PID namespace]"})
        for command in (["report", "--stdio", "-s", "comm,pid"], ["script", "-F", "comm,tid,pid"], ["fold"],
                        ["export", "--to", "chrome"], ["export", "--to", "speedscope"]):
            text = self.sonde(*command, "-i", "inside.data")
            self.assertRegex(text, "outside[ _]this[ _]PID[ _]namespace", command)
            for name in ("spinner", "stranger", "swapper"):
                self.assertNotIn(name, text, command)
        self.assertIn("of tasks outside of the PID namespace", self.errors)
        self.stop(spinner)

    def test_a_container_that_is_gone(self):
        process = self.start(*self.container(f"exec {self.top}/mnt/app on"))
        self.record("-p", self.pid_of_program(process), "--", "sleep", "0.5")
        self.stop(process)
        self.assertIn("inside_work", self.report())
        self.assertIn(f"{self.top}/mnt/app", self.sonde("buildid-cache", "-l"))

    def test_a_container_that_ends_before_the_recording(self):
        """Its files disappeared with it; the recorder held them open."""
        self.enterContext(unittest.mock.patch.dict(os.environ, TENTHS="20"))  # long enough for the recorder to have a look
        self.record("--", *self.container(f"{self.top}/mnt/app; exit 0"))
        self.assertIn("inside_work", self.report())

    def test_the_process_ended_but_its_container_lives(self):
        """NAMESPACES records tell in which mount namespace it was; another process there has the file."""
        if refuses("-m"):
            self.skipTest("this machine refuses new mount namespaces")
        (self.top / "mnt").mkdir()
        script = f"mount -t tmpfs none {self.top}/mnt && cp {self.builds}/inside {self.top}/mnt/app && echo ready && exec sleep 600"
        keeper = self.start("unshare", "-m", "sh", "-c", script)
        self.record("-N", "--namespaces", "--", "nsenter", f"--mount=/proc/{keeper.pid}/ns/mnt", f"{self.top}/mnt/app")
        self.assertIn("inside_work", self.report())

    def test_one_path_two_files(self):
        if refuses("-m"):
            self.skipTest("this machine refuses new mount namespaces")
        self.enterContext(unittest.mock.patch.dict(os.environ, TENTHS="20"))  # long enough for the recorder to have a look
        self.install("outside")
        script = f"{self.program}; unshare -m sh -c 'mount --bind {self.builds}/inside {self.program} && {self.program}; exit 0'"
        self.record("-a", "--", "sh", "-c", script)
        for home in ("home", "home"):
            text = self.report("--comm", "program")
            self.assertRegex(text, r"program +\[\.\] inside_work")
            self.assertRegex(text, r"program +\[\.\] outside_work")
            self.program.unlink(missing_ok=True)  # then from the cache alone

    def test_overlayfs(self):
        self.enterContext(unittest.mock.patch.dict(os.environ, TENTHS="20"))  # long enough for the recorder to have a look
        if not can_overlay():
            self.skipTest("overlayfs cannot be mounted here")
        (self.top / "mnt").mkdir()
        app = self.top / "mnt/merged/app"
        # The host has a file of that path, too.
        app.parent.mkdir()
        shutil.copy(self.builds / "outside", app)
        script = (f"cd {self.top}/mnt && mkdir o && mount -t tmpfs none o && mkdir o/l o/u o/w && cp {self.builds}/inside o/l/app && "
                  f"mount -t overlay overlay -o lowerdir=o/l,upperdir=o/u,workdir=o/w merged && {{ {app}; exit 0; }}")
        self.record("--", "unshare", "-m", "sh", "-c", script)
        text = self.report()
        self.assertIn("inside_work", text)
        self.assertNotIn("outside_work", text)

    def test_a_deleted_program(self):
        for keep in (True, False):
            self.install("inside")
            process = self.start(self.program, "on")
            self.program.unlink()
            self.record(*([] if keep else ["-N"]), "-p", process.pid, "--", "sleep", "0.5")
            self.assertIn("inside_work", self.report(home="empty"))
            self.stop(process)
            self.assertEqual("inside_work" in self.report(), keep)
            shutil.rmtree(self.top / "home/.debug", ignore_errors=True)

    def test_a_deleted_program_that_was_replaced(self):
        self.install("inside")
        process = self.start(self.program, "on")
        self.install("outside")
        self.record("-p", process.pid, "--", "sleep", "0.5")
        self.stop(process)
        text = self.report()
        self.assertIn("inside_work", text)
        self.assertNotIn("outside_work", text)

    def test_a_replaced_program_shows_no_wrong_symbols(self):
        for one, other in (("inside", "outside"), ("bare_inside", "bare_outside")):
            self.install(one)
            self.record("-N", "--", self.program)
            self.assertIn("inside_work", self.report())
            self.assertEqual(self.errors, "")
            self.install(other)
            text = self.report()
            self.assertNotIn("_work", text)
            [line] = self.errors.splitlines()
            self.assertIn(str(self.program), line)
            self.assertIn("build-id cache", line)
            shutil.rmtree(self.top / "empty")
            (self.top / "empty").mkdir()

    def test_a_replaced_program_by_the_cache(self):
        self.install("inside")
        self.record("--", self.program)
        self.install("outside")
        self.assertIn("inside_work", self.report())
        self.assertEqual(self.errors, "")

    def test_a_program_that_was_never_a_file(self):
        """A memfd: the mapping is named "/memfd:app (deleted)"."""
        launcher = "import os; f = os.memfd_create('app'); os.write(f, open('{}', 'rb').read()); os.execve(f, ['app', *{}], {{}})"
        process = self.start(sys.executable, "-c", launcher.format(self.builds / "inside", ["on"]))
        self.record("-p", process.pid, "--", "sleep", "0.5")
        self.assertIn("inside_work", self.report(home="empty"))
        self.stop(process)
        self.assertIn("inside_work", self.report())

    def test_target_ns(self):
        process = self.start(*self.container(f"exec {self.top}/mnt/app on"))
        self.sonde("buildid-cache", "--target-ns", self.pid_of_program(process), "-a", f"{self.top}/mnt/app")
        self.assertIn(f"{self.top}/mnt/app", self.sonde("buildid-cache", "-l"))
        self.sonde("buildid-cache", "--target-ns", self.pid_of_program(process), "-r", f"{self.top}/mnt/app")
        self.assertEqual(self.sonde("buildid-cache", "-l"), "")

    def test_a_bundle_needs_nothing_else(self):
        self.install("inside")
        self.sonde("record", "-o", "data", "-e", "cpu-clock", "-F", "999", "-g", "--bundle", "--", self.program)
        self.assertIn("data.bundle", self.errors)
        reports = (["report", "--stdio"], ["report", "--stdio", "--sort", "srcline"], ["script", "-F", "+srcline"], ["evlist"],
                   ["buildid-list"], ["report", "--stdio", "--sort", "dso,sym", "-g", "caller"])
        before = [self.sonde(*words, "-i", "data") for words in reports]
        self.assertIn("inside_work", before[0])
        self.assertIn("program.c:", before[1])
        self.install("outside")
        shutil.rmtree(self.top / "home/.debug")
        elsewhere = self.top / "elsewhere"
        os.replace(self.top / "data.bundle", elsewhere)
        os.unlink(self.top / "data")
        after = [self.sonde(*words, "-i", elsewhere, home="empty") for words in reports]
        self.assertEqual([text.replace(str(elsewhere), "data") for text in after], before)
        self.assertFalse((self.top / "empty/.debug").exists())
        with open(elsewhere, "rb") as file:
            piped = subprocess.run([SONDE, "report", "--stdio", "-i", "-"], stdin=file, capture_output=True, text=True,
                                   env={**os.environ, "HOME": str(self.top / "empty")}, timeout=300)
        self.assertIn("inside_work", piped.stdout)

    def test_a_bundle_of_a_recording_that_exists(self):
        for build in ("inside", "bare_inside"):
            self.install(build)
            self.record("-N", "--", self.program)
            self.sonde("archive", "--bundle", "-o", "b", "data")
            self.install("outside")
            self.assertIn("inside_work", self.report(home="empty", path="b"))
            self.assertEqual(self.errors, "")
            listed = subprocess.run("zstd -dc b | tar tf - || tar --zstd -tf b", shell=True, cwd=self.top, capture_output=True, text=True)
            if shutil.which("zstd"):
                self.assertIn("perf.data", listed.stdout.splitlines())

    def test_what_a_bundle_lacks_is_said(self):
        self.install("inside")
        self.record("-N", "--", self.program)
        self.program.unlink()
        self.sonde("archive", "-b", "-i", "data")
        [line] = self.errors.splitlines()
        self.assertIn("1 object could not be found", line)
        self.assertIn(str(self.program), line)

    def test_damaged_bundles_get_one_line(self):
        self.install("inside")
        self.record("--bundle", "--", self.program)
        whole = (self.top / "data.bundle").read_bytes()
        for cut in (5, 100, len(whole) // 2, len(whole) - 1):
            (self.top / "cut").write_bytes(whole[:cut])
            self.sonde("report", "--stdio", "-i", "cut", status=255)
            self.assertEqual(len(self.errors.splitlines()), 1, self.errors)
            self.assertIn("cut", self.errors)
        (self.top / "none").write_bytes(b"\x28\xb5\x2f\xfd" + bytes(100))
        self.sonde("report", "--stdio", "-i", "none", status=255)

    def test_archives_are_unpacked_by_either(self):
        self.install("inside")
        self.record("--", self.program)
        self.sonde("archive", "data")
        self.program.unlink()
        self.assertNotIn("inside_work", self.report(home="empty"))
        self.sonde("archive", "--unpack", "data.tar.bz2", home="empty")
        self.assertIn("inside_work", self.report(home="empty"))
        (self.top / "third/.debug").mkdir(parents=True)
        subprocess.run(["tar", "xf", "data.tar.bz2", "-C", "third/.debug"], cwd=self.top, check=True)
        self.assertIn("inside_work", self.report(home="third"))
        text = (self.top / "data.tar.bz2").read_bytes()
        (self.top / "cut").write_bytes(text[:len(text) // 2])
        self.sonde("archive", "--unpack", "cut", home="empty", status=255)
        self.assertEqual(len(self.errors.splitlines()), 1, self.errors)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
