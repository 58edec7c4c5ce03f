#!/usr/bin/env python3
"""`probe` on this kernel, in programs: what probes record is what the program says of itself; probes are made all or none, and
nothing is left of those that belong to a run. Needs root."""
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
from probe_events import remove_probes
from tracefs import TRACEFS

SONDE = os.environ["SONDE"]
# No other run of this test has these names.
APP = f"liveapp{os.getpid()}"
GROUP = f"livetest{os.getpid()}"
HERE = f"{GROUP}:here"
# Says what it calls, with what, and what came of it.
PROGRAM = r"""
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
struct item { int id; char name[16]; struct item* next; };
static jmp_buf out;
__attribute__((noinline)) long measure(long size, const char* text) {
  return size * 2 + (long)strlen(text);
}
__attribute__((noinline)) int visit(struct item* item, int depth) {
  int id = item->id + depth;
  return item->next ? visit(item->next, depth + 1) + id : id;
}
__attribute__((noinline)) int deep(int n) { return n == 0 ? 0 : deep(n - 1) + 1; }
__attribute__((noinline)) int leave(int n) {
  if (n == 0) longjmp(out, 1);
  return leave(n - 1) + 1;
}
int main(int count, char** words) {
  int rounds = count > 1 ? atoi(words[1]) : 3;
  struct item second = {40, "second", 0}, first = {30, "first", &second};
  for (int i = 0; i < rounds; ++i) {
    char text[16];
    snprintf(text, sizeof text, "text%d", i);
    long result = measure(i + 1000, text);
    printf("size=%d text=\"%s\" result=%ld\n", i + 1000, text, result);
  }
  visit(&first, 2);
  if (!setjmp(out)) leave(3);
  deep(count > 2 ? atoi(words[2]) : 5);
  fflush(stdout);
  if (count > 3) pause();
  return 0;
}
"""


RETURNING = r"""
struct pair { long a, b; };
__attribute__((noinline)) double real(int n) { asm volatile(""); return n / 2.0; }
__attribute__((noinline)) struct pair both(int n) { asm volatile(""); return (struct pair){n, n + 1}; }
__attribute__((noinline)) const char* text(int n) { asm volatile(""); return n % 2 ? "odd" : "even"; }
__attribute__((noinline)) long negative(int n) { asm volatile(""); return -n; }
int main(void) {
  volatile long sum = 0;
  for (int i = 1; i <= 2; ++i) sum += (long)real(i) + both(i).b + *text(i) + negative(i);
  return 0;
}
"""


def probes():
    return (TRACEFS / "uprobe_events").read_text().splitlines()


class ProbeTest(OwnDirectoryTest):
    def setUp(self):
        super().setUp()
        (self.path / "app.c").write_text(PROGRAM)
        subprocess.run(["gcc", "-g", "-O0", "-o", APP, "app.c"], cwd=self.path, check=True)
        self.app = str(self.path / APP)
        self.assertEqual([line for line in probes() if APP in line], [])
        self.addCleanup(self.remove_all)

    def remove_all(self):
        remove_probes(SONDE, f"*{APP}*:* | *{GROUP}*:*")

    def sonde(self, *words, status=0):
        done = subprocess.run([SONDE, *words], cwd=self.path, text=True, capture_output=True, timeout=120,
                              stdin=subprocess.DEVNULL, env=dict(os.environ, HOME=str(self.path)), check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def probe(self, *words, status=0):
        return self.sonde("probe", *words, status=status)

    def wait_for(self, condition):
        deadline = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), deadline, "what was waited for did not come")
            time.sleep(0.01)

    def fields(self, *words):
        """What `script` prints of each sample: event, and the text of its fields."""
        lines = self.sonde("script", "-F", "event,trace", *words).stdout.splitlines()
        return [re.sub(r"\([0-9a-f]+( <- [0-9a-f]+)?\) ?", "", line).split(maxsplit=1) for line in lines]

    # values

    def test_values_are_those_the_program_has(self):
        self.probe("-x", self.app, "-a", "measure size=%di:s64 text=+0(%si):string", "-a", "measure%return result=$retval:s64")
        printed = self.sonde("record", "-o", "perf.data", "-e", f"probe_{APP}:*", "--", self.app, "4").stdout.splitlines()
        seen = self.fields()
        self.assertEqual([row[0] for row in seen], [f"probe_{APP}:measure:", f"probe_{APP}:measure__return:"] * 4)
        joined = [f"{entry[1].strip()} {end[1].strip()}" for entry, end in zip(seen[::2], seen[1::2])]
        self.assertEqual(joined, printed)

    def test_variables_are_those_the_program_has(self):
        self.probe("-x", self.app, "visit id=item->id name=item->name:string depth")
        self.sonde("record", "-o", "perf.data", "-e", f"probe_{APP}:visit", "--", self.app)
        self.assertEqual([row[1].strip() for row in self.fields()],
                         ['id=30 name="first" depth=2', 'id=40 name="second" depth=3'])

    def test_filters_and_counts(self):
        self.probe("-x", self.app, "measure size=%di:s64")
        self.sonde("record", "-o", "perf.data", "-e", f"probe_{APP}:measure", "--filter", "size > 1001", "--", self.app, "5")
        self.assertEqual([row[1].strip() for row in self.fields()], ["size=1002", "size=1003", "size=1004"])
        counted = self.sonde("stat", "-x,", "-e", f"probe_{APP}:measure", "--", self.app, "7").stderr
        self.assertEqual(counted.split(",")[0], "7")
        traced = self.sonde("trace", "--no-syscalls", "-e", f"probe_{APP}:measure", "--", self.app, "2")
        self.assertEqual((traced.stdout + traced.stderr).count(f"probe_{APP}:measure("), 2)

    def test_trace_says_how_long_calls_took(self):
        """The return's line, if the entry is traced, too; the times are its own and the entry's."""
        self.probe("-q", "-x", self.app, "-a", "visit depth", "-a", "visit%return", "-a", "measure%return")
        words = ["--no-syscalls", "-T", "-e", f"probe_{APP}:*", "--", self.app, "2"]
        traced = self.sonde("trace", *words).stderr
        lines = re.findall(rf"(\d+\.\d+) \((.*?)\): .* probe_{APP}:(\w+)\(.*\)", traced)
        self.assertEqual([name for _, _, name in lines], ["measure__return"] * 2 + ["visit"] * 2 + ["visit__return"] * 2)
        took = [words.replace("ms", "").strip() for _, words, _ in lines]
        self.assertEqual(took[:4], [""] * 4)
        # visit() calls itself once: the inner call returns first. Both are rounded to microseconds.
        times = [float(time) for time, _, _ in lines]
        self.assertAlmostEqual(float(took[4]), times[4] - times[3], delta=0.0011)
        self.assertAlmostEqual(float(took[5]), times[5] - times[2], delta=0.0011)
        alone = self.sonde("trace", "--no-syscalls", "-e", f"probe_{APP}:visit__return", "--", self.app).stderr
        self.assertNotIn(" ms): ", alone)

    # making, listing, removing

    def test_a_list_says_where_they_are(self):
        added = self.probe("-x", self.app, f"{GROUP}:here=measure size=%di:u32").stderr
        self.assertIn(f"  {HERE:<20} (on measure in {self.app} with size=%di:u32)\n", added)
        self.assertIn(f"\tsonde record -e {GROUP}:here -aR sleep 1\n", added)
        line = self.probe("-l", f"{GROUP}:*").stdout
        self.assertRegex(line, rf"^  {HERE:<20} \(on measure(@\S+)? in {re.escape(self.app)} with size\)\n$")
        self.assertEqual(self.probe("-d", HERE).stderr, f"Removed event: {GROUP}:here\n")
        self.assertEqual(self.probe("-l", f"{GROUP}:*").stdout, "")

    def test_several_are_made_all_or_none(self):
        done = self.probe("-x", self.app, "-a", f"{GROUP}:good=measure", "-a", f"{GROUP}:bad=measure %nosuch", status=255)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn("%nosuch", done.stderr)
        self.assertEqual([line for line in probes() if GROUP in line], [])

    def test_names_are_unique(self):
        self.probe("-q", "-x", self.app, "measure")
        again = self.probe("-x", self.app, "measure", status=255)
        self.assertIn("already exists", again.stderr)
        self.assertIn("-f", again.stderr)
        self.probe("-q", "-f", "-x", self.app, "measure %di")
        names = [line.split()[0] for line in probes() if APP in line]
        self.assertEqual(names, [f"p:probe_{APP}/measure", f"p:probe_{APP}/measure_1"])

    def test_a_dry_run_makes_nothing(self):
        self.assertIn(f"{GROUP}:dry", self.probe("-n", "-x", self.app, f"{GROUP}:dry=measure").stderr)
        self.assertEqual([line for line in probes() if GROUP in line], [])

    def test_an_interrupted_run_leaves_nothing(self):
        """A signal that arrives between two of many probes."""
        words = [f"--add={GROUP}:p{i}=measure" for i in range(200)]
        run = subprocess.Popen([SONDE, "probe", "-x", self.app, *words], stderr=subprocess.DEVNULL)
        self.wait_for(lambda: run.poll() is not None or any(GROUP in line for line in probes()))
        run.send_signal(signal.SIGINT)
        status = run.wait()
        left = len([line for line in probes() if GROUP in line])
        self.assertIn(left, (200,) if status == 0 else (0, 200), status)

    def test_the_cache_keeps_definitions(self):
        self.probe("-q", "--cache", "-x", self.app, f"{GROUP}:kept=measure size=%di:u32")
        self.probe("-q", "-d", f"{GROUP}:kept")
        self.assertIn(f"{GROUP}:kept=measure size=%di:u32\n", self.probe("--cache", "-l").stdout)
        self.probe("-q", "-x", self.app, "%kept")
        self.assertEqual(len([line for line in probes() if line.startswith(f"p:{GROUP}/kept") and "size=%di:u32" in line]), 1)
        self.assertEqual(self.probe("--cache", "-d", "kept").stderr,
                         f"Removed cached event: {GROUP}:kept=measure size=%di:u32\n")
        self.assertEqual(self.probe("--cache", "-l").stdout, "")

    def test_a_program_in_another_mount_namespace(self):
        inside = self.path / "inside"
        inside.mkdir()
        for fifo in ("go", "done"):
            os.mkfifo(self.path / fifo)
        script = (f"mount -t tmpfs none {inside} && cp {self.app} {inside}/{APP}_inside && echo ready && read word < go && "
                  f"{inside}/{APP}_inside 2 && echo done > done")
        child = subprocess.Popen(["unshare", "-m", "sh", "-c", script], cwd=self.path, stdout=subprocess.PIPE, text=True)
        self.addCleanup(child.kill)
        self.assertEqual(child.stdout.readline(), "ready\n")
        self.probe("-q", "--target-ns", str(child.pid), "-x", f"{inside}/{APP}_inside", "measure size=%di:s64")
        line = next(line for line in probes() if f"{APP}_inside" in line)
        self.assertTrue(line.split()[1].startswith(f"{inside}/{APP}_inside:0x"), line)
        self.sonde("record", "-q", "-a", "-o", "perf.data", "-e", f"probe_{APP}_inside:measure", "--", "sh", "-c",
                   "echo go > go; read word < done")
        child.communicate()
        self.assertEqual([row[1].strip() for row in self.fields()], ["size=1000", "size=1001"])

    def test_errors_are_one_line(self):
        for words, text in ((["-x", self.app, "nosuch"], "nosuch"), (["-x", "/nowhere/app", "f"], "/nowhere/app"),
                            (["-d", f"{GROUP}:nothing"], "does not hit any event"), (["-x", self.app, "f:x"], "line"),
                            (["-x", self.app, "measure %"], "argument '%'"), (["-F", "a &", "-x", self.app], "filter"),
                            (["-x", self.app, "%nosuch:probe"], "has no probe"),
                            (["-x", self.app, "measure+0x10000"], "measure"),
                            (["-x", self.app, "measure:4000"], "4000"), (["-x", self.app, "measure nosuch"], "nosuch"),
                            (["-x", self.app, "--bootconfig", "-D", "measure"], "--bootconfig")):
            done = subprocess.run([SONDE, "probe", *words], text=True, capture_output=True, check=False)
            self.assertNotEqual(done.returncode, 0, words)
            self.assertEqual(done.stderr.count("\n"), 1, f"{words}: {done.stderr}")
            self.assertIn(text, done.stderr)
        if not (TRACEFS / "kprobe_events").exists():
            self.assertIn("CONFIG_KPROBE_EVENTS", self.probe("do_exit", status=255).stderr)

    def test_returned_values_are_of_the_type_that_is_returned(self):
        """A double is in another register, a struct in several, or in memory."""
        (self.path / "ret.c").write_text(RETURNING)
        subprocess.run(["gcc", "-g", "-O1", "-o", "returning", "ret.c"], cwd=self.path, check=True)
        returning = str(self.path / "returning")
        for function, type_name in ("real", "double"), ("both", "struct pair"):
            refused = self.probe("-x", returning, f"{GROUP}:{function}={function}%return $retval", status=255).stderr
            self.assertIn(f"{function} returns {type_name}", refused)
            self.assertEqual(refused.count("\n"), 1)
            self.probe("-x", returning, f"{GROUP}:{function}={function}%return $retval:x64")
        self.probe("-x", returning, f"{GROUP}:text=text%return +0($retval):string")
        self.probe("-x", returning, f"{GROUP}:negative=negative%return value=$retval:s64")
        self.sonde("record", "-o", "perf.data", "-e", f"{GROUP}:negative__return", "--", returning)
        self.assertEqual([row[1].strip() for row in self.fields()], ["value=-1", "value=-2"])
        self.sonde("histogram", "-x", returning, "real%return", "$retval", "--", returning, status=255)

    def test_programs_that_check_their_return_addresses(self):
        """Go's runtime ends a program in which a return probe is hit."""
        subprocess.run(["objcopy", "--add-section", ".note.go.buildid=app.c", self.app, "gopher"], cwd=self.path, check=True)
        refused = self.probe("-x", str(self.path / "gopher"), "measure%return", status=255).stderr
        self.assertIn("is a Go program, which a return probe would end", refused)
        self.probe("-x", str(self.path / "gopher"), f"{GROUP}:here=measure")

    def test_probes_of_one_file_are_removed(self):
        shutil.copy(self.app, self.path / "second")
        for program in self.app, str(self.path / "second"):
            self.probe("-x", program, f"{GROUP}:{Path(program).name.replace('-', '_')}=measure")
        self.probe("-x", str(self.path / "second"), "-d", f"{GROUP}:*")
        left = [line for line in probes() if GROUP in line]
        self.assertEqual(len(left), 1, left)
        self.assertIn(self.app, left[0])

    def test_without_privileges_it_says_what_is_needed(self):
        # setpriv, unlike Python, keeps what it takes to reach a program below root's home.
        done = subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", SONDE, "probe", "-x", "/bin/true",
                               "0x2000"], text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 255)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertRegex(done.stderr, "sudo|not mounted")

    def test_where_tracefs_is_read_only(self):
        mount = f"mount --bind {TRACEFS} {TRACEFS} && mount -o remount,bind,ro {TRACEFS}"
        for words in (f"probe -x {self.app} measure", f"record -o perf.data --probe '{self.app} measure' -- true"):
            done = subprocess.run(["unshare", "-m", "sh", "-c", f"{mount} && exec {SONDE} {words}"], cwd=self.path, text=True,
                                  capture_output=True, check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual(done.stderr, f"cannot make a probe in {self.app}: {TRACEFS} is mounted read-only: "
                             f"mount -o remount,rw {TRACEFS}\n")

    # probes of a run

    def test_probes_of_a_run(self):
        self.sonde("record", "-o", "perf.data", "--probe", "measure size=%di:s64", "--probe", "snprintf", "--", self.app, "2")
        events = [row[0] for row in self.fields()]
        self.assertEqual(events.count(f"probe_{APP}:measure:"), 2)
        self.assertEqual(events.count("probe_libc:snprintf:"), 2)
        counted = self.sonde("stat", "-x,", "--probe", f"{self.app} measure", "--", "sh", "-c", f"{self.app} 4; true").stderr
        self.assertEqual(counted.split(",")[0], "4")
        self.assertEqual([line for line in probes() if APP in line], [])
        done = self.sonde("record", "-o", "perf.data", "--probe", "no_such_function", "--", self.app, status=255)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_nothing_is_left_of_a_killed_run(self):
        run = subprocess.Popen([SONDE, "record", "-o", "perf.data", "--probe", "measure", "--", self.app, "1", "1", "wait"],
                               cwd=self.path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        run.stdout.readline()
        self.assertEqual(len([line for line in probes() if f"sonde_{run.pid}_" in line]), 1)
        children = subprocess.run(["pgrep", "-P", str(run.pid), "-x", APP], text=True, capture_output=True, check=True).stdout
        run.kill()
        run.wait()
        run.stdout.close()
        self.wait_for(lambda: not any(f"sonde_{run.pid}_" in line for line in probes()))
        for child in children.split():
            os.kill(int(child), signal.SIGKILL)

    # latency

    def latency(self, function, *words):
        return self.probe("-x", self.app, "--latency", function, "--", self.app, *words)

    def count_of(self, text):
        rows = sum(int(line.split("|")[1]) for line in text.splitlines() if line.startswith("  ") and "|" in line)
        said = int(re.search(r"(?m)^ +count: +(\d+)$", text)[1])
        self.assertEqual(rows, said)
        return said

    def test_latency_counts_every_call(self):
        text = self.latency("measure", "300").stdout
        self.assertEqual(self.count_of(text), 300)
        values = {name: int(re.search(rf"(?m)^ +{name}: +(\d+)$", text)[1]) for name in ("min time", "p50", "p95", "p99", "max time")}
        self.assertEqual(list(values.values()), sorted(values.values()))
        self.assertEqual([line for line in probes() if APP in line], [])

    def test_a_recording_that_a_killed_run_left_is_removed_by_the_next(self):
        environment = dict(os.environ, TMPDIR=str(self.path))
        words = [SONDE, "probe", "-x", self.app, "--latency", "measure", "--", self.app, "1", "1", "wait"]
        run = subprocess.Popen(words, cwd=self.path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        run.stdout.readline()
        children = subprocess.run(["pgrep", "-P", str(run.pid), "-x", APP], text=True, capture_output=True, check=True).stdout
        run.kill()
        run.wait()
        run.stdout.close()
        left = list(self.path.glob("sonde-recording-*"))
        self.assertEqual(len(left), 1)
        for child in children.split():
            os.kill(int(child), signal.SIGKILL)
        subprocess.run(words[:-2], cwd=self.path, env=environment, stdout=subprocess.DEVNULL, check=True)
        self.assertEqual(list(self.path.glob("sonde-recording-*")), [])
        self.wait_for(lambda: not any(f"sonde_{run.pid}_" in line for line in probes()))

    def test_latency_of_nested_calls(self):
        done = self.latency("deep", "1", "20")
        self.assertEqual((self.count_of(done.stdout), done.stderr), (21, ""))
        # The kernel follows returns up to 64 calls deep; the others are told.
        done = self.latency("deep", "1", "80")
        self.assertEqual(self.count_of(done.stdout) + int(done.stderr.split()[0]), 81)

    def test_latency_of_calls_that_do_not_return(self):
        done = self.latency("leave")
        self.assertRegex(done.stderr, r"4 calls without a return.*\n.*no call returned|no call returned\n4 calls without a return")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
