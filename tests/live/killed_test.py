#!/usr/bin/env python3
"""Recorders that are killed (SIGKILL), at whatever moment: what had been written can be read, has names, and nothing stays attached.
Needs root."""
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from own_directory import OwnDirectoryTest

SONDE = os.environ["SONDE"]
PERF = shutil.which("perf")
LONG = 120  # seconds; longer than any machine takes
SPIN = """
__attribute__((noinline)) static void spin_here(volatile long* sum) { for (int i = 0; i < 100000; i++) *sum += i; }
int main(void) { volatile long sum = 0; while (1) spin_here(&sum); }
"""
# As many page faults as it is told, a hundred at a time; then it waits.
FAULTS = """
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
__attribute__((noinline)) static void touch(volatile char* at) { for (long i = 0; i < 100; i++) at[i * 4096] = 1; }
int main(int argc, char** argv) {
  for (int i = 0; i < atoi(argv[1]); i += 100) {
    char* at = mmap(0, 100 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED || madvise(at, 100 * 4096, MADV_NOHUGEPAGE) != 0) return 1;
    touch(at);
  }
  while (1) pause();
}
"""


class KilledTest(OwnDirectoryTest):
    def setUp(self):
        super().setUp()
        self.environment = {**os.environ, "PERF_BUILDID_DIR": str(self.path / "cache"), "HOME": str(self.path)}
        for name, text in (("spin", SPIN), ("faults", FAULTS)):
            (self.path / f"{name}.c").write_text(text)
            subprocess.run(["cc", "-O1", "-fno-omit-frame-pointer", "-Wl,--build-id", "-o", name, f"{name}.c"], cwd=self.path, check=True)

    def start(self, *arguments, verb="record"):
        # What another recorder wrote says nothing about this one.
        shutil.rmtree(self.path / "perf.data", ignore_errors=True)
        (self.path / "perf.data").unlink(missing_ok=True)
        recorder = subprocess.Popen([SONDE, verb, *map(str, arguments)], cwd=self.path, env=self.environment, text=True, stdin=subprocess.DEVNULL,
                                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(self.end, recorder)
        return recorder

    def end(self, recorder):
        """The command of a recorder that was killed goes on."""
        recorder.kill()
        recorder.wait()
        recorder.stderr.close()
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and os.readlink(entry / "cwd") == str(self.path) and int(entry.name) != os.getpid():
                    os.kill(int(entry.name), signal.SIGKILL)
            except OSError:
                pass

    def kill(self, recorder):
        self.assertIsNone(recorder.poll(), "it ended by itself")
        recorder.kill()
        recorder.wait()

    def wait_for(self, condition, recorder, what):
        end = time.monotonic() + LONG
        while not condition():
            self.assertIsNone(recorder.poll(), f"the recorder ended: {what}")
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.005)

    def sonde(self, *arguments, status=0):
        """A kill may cut a record short that is more than a tenth of a short file: the reader says so, and has the status 1."""
        run = subprocess.run([SONDE, *map(str, arguments)], cwd=self.path, env=self.environment, text=True, capture_output=True, timeout=LONG)
        if re.search(r"were cut off .*% of the recording could not be read, more than a tenth", run.stderr, re.DOTALL):
            status = 1
        self.assertEqual(run.returncode, status, run.stderr)
        return run

    def perf(self, *arguments):
        """It may refuse a file, but not fall over it."""
        if not PERF:
            self.skipTest("no perf to read it with")
        run = subprocess.run([PERF, *map(str, arguments)], cwd=self.path, env=self.environment, text=True, capture_output=True, timeout=LONG)
        self.assertGreaterEqual(run.returncode, 0, run.stderr)
        return run

    def size(self, name="perf.data"):
        """Of a file, or of the files of a directory."""
        path = self.path / name
        if not path.exists():
            return 0
        return sum(file.stat().st_size for file in path.iterdir()) if path.is_dir() else path.stat().st_size

    def build_id(self, name):
        notes = subprocess.run(["readelf", "-n", name], cwd=self.path, text=True, capture_output=True, check=True).stdout
        return re.search(r"Build ID: ([0-9a-f]+)", notes)[1]

    # names

    def test_a_recording_has_names_from_its_first_moment(self):
        recorder = self.start("-e", "cpu-clock", "-o", "perf.data", "--", "./spin")
        self.wait_for(lambda: self.size() > 0, recorder, "no file")
        self.kill(recorder)
        header = self.sonde("report", "--header-only", "-i", "perf.data")
        system = os.uname()
        for line in (f"# hostname : {system.nodename}", f"# os release : {system.release}", f"# arch : {system.machine}"):
            self.assertIn(line, header.stdout)
        self.assertRegex(header.stdout, r"# cmdline : .*record -e cpu-clock -o perf.data -- ./spin")
        self.assertIn("recording that its recorder did not finish", header.stderr)

    def known_ids(self):
        return subprocess.run([SONDE, "buildid-list", "-i", "perf.data"], cwd=self.path, env=self.environment, text=True, capture_output=True).stdout

    def samples_of_spin(self):
        run = subprocess.run([SONDE, "script", "-i", "perf.data", "-F", "ip,sym"], cwd=self.path, env=self.environment, text=True, capture_output=True)
        return "spin_here" in run.stdout

    def test_build_ids_are_written_as_they_become_known(self):
        own = self.build_id("spin")
        for how in ([], ["-g"], ["-z"], ["-N"], ["--aio"], ["--call-graph", "dwarf"], ["--aggregate=1"]):
            with self.subTest(how):
                recorder = self.start("-e", "cpu-clock:u", *how, "-o", "perf.data", "--", "./spin")
                self.wait_for(lambda: own in self.known_ids(), recorder, "its build id was never written")
                self.wait_for(lambda: self.samples_of_spin(), recorder, "no sample was ever written")
                self.kill(recorder)
                report = self.sonde("report", "--stdio", "--no-children", "-g", "none", "-s", "dso,sym", "-i", "perf.data")
                self.assertRegex(report.stdout, r"\d+\.\d+% +spin +\[\.\] spin_here")
                self.assertIn(own, self.perf("buildid-list", "-i", "perf.data").stdout if how == [] else own)
                self.end(recorder)
        # What is at the path now is another program: it must not be believed.
        self.sonde("buildid-cache", "--purge-all")
        shutil.rmtree(self.path / "cache", ignore_errors=True)
        shutil.copy(self.path / "faults", self.path / "spin")
        report = self.sonde("report", "--stdio", "--no-children", "-g", "none", "-s", "dso,sym", "-i", "perf.data")
        self.assertNotRegex(report.stdout, r"\b(spin_here|touch|main)\b")

    def test_a_finished_recording_says_nothing_twice(self):
        """Nor differently: to perf it is the recording that it was."""
        run = subprocess.run([SONDE, "record", "-e", "cpu-clock", "-F", "999", "-g", "-o", "perf.data", "--", "timeout", "0.5", "./spin"],
                             cwd=self.path, env=self.environment, text=True, capture_output=True)
        self.assertEqual(run.returncode, 124, run.stderr)
        ids = self.sonde("buildid-list", "-i", "perf.data").stdout.splitlines()
        self.assertEqual(sorted(ids), sorted(set(ids)))
        self.assertIn(self.build_id("spin"), "".join(ids))
        self.assertEqual(sorted(ids), sorted(self.perf("buildid-list", "-i", "perf.data").stdout.splitlines()))
        content = (self.path / "perf.data").read_bytes()
        self.assertEqual(content.count(os.uname().release.encode() + b"\0"), 1)
        header = self.perf("report", "--header-only", "-i", "perf.data")
        self.assertEqual((header.returncode, header.stderr), (0, ""))
        for line in (f"# hostname : {os.uname().nodename}", f"# os release : {os.uname().release}"):
            self.assertEqual(header.stdout.count(line + "\n"), 1, header.stdout)
        for dump in (self.perf("script", "-i", "perf.data"), self.perf("report", "--stdio", "-i", "perf.data")):
            self.assertEqual(dump.returncode, 0, dump.stderr)

    # sums

    def faults_in(self, file):
        run = subprocess.run([SONDE, "script", "-i", file, "-F", "period,ip,sym", "--comms", "faults"], cwd=self.path, env=self.environment, text=True, capture_output=True)
        samples = re.split(r"\n\s*\n", run.stdout)
        return sum(int(sample.split()[0]) for sample in samples if re.search(r"\btouch\b", sample))

    def test_sums_of_windows_that_are_over(self):
        """Every fault is in the file once its window is over, and is there after a kill: none is lost, none is there twice."""
        for how in ([], ["--no-compression-level"], ["--call-graph", "bpf"]):
            with self.subTest(how):
                recorder = self.start("-N", "-e", "page-faults:u", "-c", "1", "--aggregate=1", *how, "-o", "perf.data", "--", "./faults", 12300)
                self.wait_for(lambda: self.faults_in("perf.data") >= 12300, recorder, "the sums were never written")
                self.kill(recorder)
                self.assertEqual(self.faults_in("perf.data"), 12300)
                report = self.sonde("report", "--stdio", "--no-children", "-g", "none", "-F", "period,sym", "-i", "perf.data")
                self.assertRegex(report.stdout, r"(?m)^ +12300 +\[\.\] touch")
                self.assertIn("recording that its recorder did not finish", report.stderr)
                self.perf("report", "--stdio", "-i", "perf.data")
                self.end(recorder)

    # at any time

    def attached(self):
        """What recorders leave in the kernel if they are careless."""
        def lines(path):
            return sorted(Path(path).read_text().splitlines()) if Path(path).exists() else []
        programs = subprocess.run(["bpftool", "prog", "show"], text=True, capture_output=True).stdout
        names = re.findall(r"name (\w+)", programs)
        instances = Path("/sys/kernel/tracing/instances")
        return {"probes": lines("/sys/kernel/tracing/uprobe_events"), "instances": sorted(entry.name for entry in instances.iterdir()) if instances.exists() else [],
                "programs": sorted(name for name in names if name.startswith(("sum_", "walk_", "sample_", "off_cpu")))}

    def test_twenty_kills(self):
        """As soon as the file has a certain size. Each file can be read to its last whole record, by perf, too."""
        before = self.attached()
        kinds = (["-e", "cpu-clock", "-F", "max", "-g"], ["-e", "cpu-clock", "-F", "max", "-z"], ["-e", "cpu-clock", "-a", "-F", "999", "--threads"],
                 ["-e", "page-faults", "-c", "1", "-d"], ["-e", "cpu-clock", "-F", "999", "--call-graph", "bpf"],
                 ["-e", "cpu-clock", "-F", "999", "--call-graph", "dwarf"], ["--probe", f"{self.path}/spin spin_here"])
        for i in range(20):
            kind = kinds[i % len(kinds)]
            with self.subTest(kind, i=i):
                command = ["./faults", 12300] if "page-faults" in kind else ["./spin"]
                recorder = self.start("-N", *kind, "-o", "perf.data", "--", *command)
                least = 1 + i // len(kinds) * 50_000
                self.wait_for(lambda: self.size() >= least, recorder, f"no {least} bytes")
                self.kill(recorder)
                script = self.sonde("script", "-i", "perf.data", "-F", "ip")
                self.assertIn("recording that its recorder did not finish", script.stderr)
                damaged = re.findall(r"sonde: (.*(?:damaged|no record|not records).*)", script.stderr)
                self.assertEqual(damaged, [])
                if "-z" not in kind:
                    self.perf("script", "-i", "perf.data", "-F", "ip")
                self.end(recorder)
        end = time.monotonic() + LONG
        while self.attached() != before:  # the kernel frees them a moment later
            self.assertLess(time.monotonic(), end, "something is still attached")
            time.sleep(0.05)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])  # ctest passes the build directory, which is not a test
