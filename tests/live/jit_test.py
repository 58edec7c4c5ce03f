#!/usr/bin/env python3
"""Code generated at run time: nearly all samples in it have names, for Node, Java and Python, with perf maps and jitdumps, inside
and outside a namespace. Needs root, Node and a JDK."""
import contextlib
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

import own_tmp
from own_directory import OwnDirectoryTest

SONDE = os.environ["SONDE"]
AGENT = Path(SONDE).parent / "libsonde-jvmti.so"
PERF = shutil.which("perf")
LONG = 240  # nothing takes that long; waiting processes end by themselves then
NAMED = 0.95
BUSY_MS = 1500

NODE = """
function inner(x) { return x < 2 ? x : inner(x - 1) + inner(x - 2); }
function hotloop(n) { let s = 0; for (let i = 0; i < n; i++) s += Math.sqrt(i) * inner(i & 15); return s; }
const end = Date.now() + Number(process.argv[2]);
let total = 0;
while (Date.now() < end) total += hotloop(2000);
console.log(total > 0);
"""
JAVA = """
public class Hot {
  static int inner(int n) { int s = 0; for (int i = 0; i < n; i++) s += i * i % 7; return s; }
  static int outer(int n) { int s = 0; for (int i = 0; i < 200; i++) s += inner(n); return s; }
  public static void main(String[] a) {
    long end = System.currentTimeMillis() + Long.parseLong(a[0]), t = 0;
    while (System.currentTimeMillis() < end) t += outer(500);
    System.out.println(t);
  }
}
"""
PYTHON = """
import sys, time
def inner(n):
    return sum(i * i % 7 for i in range(n))
def outer():
    return inner(2000)
end = time.time() + int(sys.argv[1]) / 1000
while time.time() < end:
    outer()
"""


def is_generated(dso):
    return re.search(r"perf-\d+\.map|jit-\d+\.dump|jitted-", dso) is not None or dso.startswith("//anon")


class JitTest(OwnDirectoryTest):
    def setUp(self):
        super().setUp()
        self.environment = {**os.environ, "PERF_BUILDID_DIR": str(self.path / "cache")}
        self.environment.pop("JAVA_TOOL_OPTIONS", None)
        for name, text in (("load.js", NODE), ("Hot.java", JAVA), ("load.py", PYTHON)):
            (self.path / name).write_text(text)

    def run_it(self, *words, status=0):
        run = subprocess.run([str(w) for w in words], cwd=self.path, text=True, timeout=LONG, env=self.environment,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        self.assertEqual(run.returncode, status, run.stderr)
        return run

    def record(self, *words):
        return self.run_it(SONDE, "record", "-F", "499", "-o", "perf.data", *words)

    def samples(self, file="perf.data", tool=SONDE):
        """(symbol, object) of each sample's own address."""
        text = self.run_it(tool, "script", "-i", file, "-G", "-F", "ip,sym,dso").stdout
        found = re.findall(r"^\s*[0-9a-f]+ (.*) \(([^()]*(?:\(deleted\))?)\)$", text, re.M)
        self.assertTrue(found, text[:1000])
        return found

    def check_names(self, function, file="perf.data", tool=SONDE):
        generated = [symbol for symbol, dso in self.samples(file, tool) if is_generated(dso)]
        self.assertGreater(len(generated), 20)
        named = [symbol for symbol in generated if symbol != "[unknown]"]
        unnamed = len(generated) - len(named)
        self.assertGreaterEqual(len(named), NAMED * len(generated), f"{unnamed} of {len(generated)} have no name")
        self.assertTrue(any(function in symbol for symbol in named), sorted(set(named))[:20])

    def check_folds(self, *functions):
        """Folded stacks have the same names, annotated, and none that would be different in the next run."""
        folded = self.run_it(SONDE, "fold", "--no-frame-functions", "--jit", "-i", "perf.data").stdout
        frames = {frame for line in folded.splitlines() for frame in line.rpartition(" ")[0].split(";")}
        generated = [frame for frame in frames if frame.endswith("_[j]")]
        for function in functions:
            self.assertTrue(any(function in frame for frame in generated), sorted(frames)[:50])
        self.assertFalse([frame for frame in frames if re.search("/0x[0-9a-f]{8}", frame)])
        text = self.run_it(SONDE, "script", "-i", "perf.data").stdout
        (self.path / "script.txt").write_text(text)
        self.assertEqual(self.run_it(SONDE, "fold", "--jit", "script.txt").stdout, folded)

    def need(self, program):
        found = shutil.which(program)
        self.assertIsNotNone(found, f"{program} is not installed: ./dev deps")
        return found

    def compile_java(self):
        self.need("javac")
        self.run_it("javac", "Hot.java")

    def python_with_trampolines(self, flag):
        """A Python that supports the flag; 3.12 introduced perf, 3.13 perf_jit."""
        oldest = {"perf": (3, 12), "perf_jit": (3, 13)}[flag]
        code = f"import sys; sys.exit(sys.version_info < {oldest} or not sys.is_stack_trampoline_active())"
        own = glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin/python3.1?"))
        for program in [shutil.which("python3"), *sorted(own)]:
            if program and subprocess.run([program, "-X", flag, "-c", code], stderr=subprocess.DEVNULL,
                                          cwd=self.path).returncode == 0:
                return program
        self.skipTest("no Python here has perf's trampolines")

    def start_in_namespace(self, *words):
        """A process in its own mount and pid namespaces, with a /tmp that only it sees. Returns its pid here."""
        alone = ["unshare", "-p", "-m", "--fork", "--mount-proc"]
        if subprocess.run([*alone, "true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
            self.skipTest("this machine refuses new mount and pid namespaces")
        shell = "mount -t tmpfs none /tmp && cp ./* /tmp && cd /tmp && exec \"$@\""  # what was under /tmp is still "." here
        outer = subprocess.Popen([*alone, "sh", "-c", shell, "sh", *map(str, words)],
                                 cwd=self.path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self.environment)
        self.addCleanup(outer.wait)
        children = Path(f"/proc/{outer.pid}/task/{outer.pid}/children")
        inner = self.wait_for(lambda: int(children.read_text().split()[0]) if children.read_text().strip() else None)
        self.addCleanup(self.end, inner)
        return inner

    def end(self, pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    def wait_for(self, condition):
        end = time.monotonic() + LONG
        while time.monotonic() < end:
            if answer := condition():
                return answer
            time.sleep(0.05)
        self.fail("waited in vain")

    def busy(self, pid):
        """True once the process has computed for a while, so that its code is compiled."""
        ticks = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11])
        return ticks > os.sysconf("SC_CLK_TCK")

    # Node

    def test_node_map(self):
        self.record("--", self.need("node"), "--perf-basic-prof", "load.js", BUSY_MS)
        self.check_names("inner")
        self.check_folds("inner", "hotloop")

    def test_node_dump(self):
        self.record("-k", "mono", "--", self.need("node"), "--perf-prof", "load.js", BUSY_MS)
        self.check_names("inner")
        lines = self.run_it(SONDE, "report", "--stdio", "-s", "srcline", "-i", "perf.data").stdout
        self.assertRegex(lines, r"load\.js:2\b")
        code = self.run_it(SONDE, "annotate", "--stdio", "-i", "perf.data").stdout
        self.assertTrue(re.search(r"<(?:JS|LazyCompile):\S*inner [^>]*>:(?:\n.*){3,40}?\n +\d*[1-9]\d*\.\d+ : +[0-9a-f]+: +\w", code), code[:3000])
        self.run_it(SONDE, "inject", "-j", "-i", "perf.data", "-o", "jitted.data")
        self.check_names("inner", "jitted.data")
        if PERF:
            self.check_names("inner", "jitted.data", PERF)
            ours = self.samples("jitted.data", PERF)
            for symbol in {symbol for symbol, dso in ours if is_generated(dso) and "inner" in symbol}:
                words = ["annotate", "--stdio", "-i", "jitted.data", symbol]
                theirs, mine = (re.findall(r"^ +[\d.]+ : .*$", self.run_it(tool, *words).stdout, re.M) for tool in (PERF, SONDE))
                self.assertTrue(theirs and theirs == mine, f"annotate {symbol} differs")
            self.run_it(PERF, "inject", "-j", "-i", "perf.data", "-o", "perfs.data")  # over our images
            self.assertTrue(self.samples("perfs.data") == ours)

    def test_node_in_a_namespace(self):
        pid = self.start_in_namespace(self.need("node"), "--perf-basic-prof", "load.js", LONG * 1000)
        self.wait_for(lambda: self.busy(pid))
        self.record("-p", pid, "--", "sleep", "1")
        self.assertFalse(Path(f"/tmp/perf-{pid}.map").exists())
        self.check_names("inner")

    def test_node_in_a_namespace_is_gone(self):
        pid = self.start_in_namespace(self.need("node"), "--perf-basic-prof", "load.js", LONG * 1000)
        self.wait_for(lambda: self.busy(pid))
        self.addCleanup(Path(f"/tmp/perf-{pid}.map").unlink, missing_ok=True)
        self.record("--jit", "auto", "-p", pid, "--", "sleep", "1")
        self.end(pid)
        self.wait_for(lambda: not Path(f"/proc/{pid}/root/tmp").exists())
        self.check_names("inner")

    # Java

    def test_java_writes_its_map_at_its_exit(self):
        self.compile_java()
        self.record("--jit", "auto", "--", "java", "-cp", ".", "Hot", BUSY_MS)
        self.check_names("Hot.")
        self.check_folds("Hot.")

    def test_java_that_runs_is_asked(self):
        self.compile_java()
        java = subprocess.Popen(["java", "-cp", ".", "Hot", str(LONG * 1000)], cwd=self.path, stdout=subprocess.DEVNULL,
                                env=self.environment)
        self.addCleanup(java.wait)
        self.addCleanup(java.kill)
        self.wait_for(lambda: self.busy(java.pid))
        run = self.record("--jit", "auto", "-p", java.pid, "--", "sleep", "1")
        self.assertNotIn("wrote no map", run.stderr)
        self.check_names("Hot.")

    def test_java_in_a_namespace_is_asked(self):
        self.compile_java()
        pid = self.start_in_namespace("java", "-cp", ".", "Hot", LONG * 1000)
        self.wait_for(lambda: self.busy(pid))
        self.addCleanup(Path(f"/tmp/perf-{pid}.map").unlink, missing_ok=True)
        run = self.record("--jit", "auto", "-p", pid, "--", "sleep", "1")
        self.assertNotIn("wrote no map", run.stderr)
        self.check_names("Hot.")

    def test_java_agent(self):
        if not AGENT.exists():
            self.skipTest("a virtual machine cannot load an agent that is under a sanitizer: none was built")
        self.compile_java()
        # The kernel does not know the dump: it copies the stacks, and readers unwind them.
        for how in ("dwarf", "bpf"):
            with self.subTest(how=how):
                self.check_java_agent(how)

    def check_java_agent(self, how):
        self.record("-k", "mono", "--call-graph", how, "--", "java", f"-agentpath:{AGENT}={self.path}",
                    "-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints", "-cp", ".", "Hot", BUSY_MS)
        self.check_names("Hot.")
        text = self.run_it(SONDE, "script", "-i", "perf.data", "-F", "comm,ip,sym").stdout
        self.assertTrue("int Hot.inner(int) (inlined)" in text)
        chains = [chain for chain in text.split("\n\n") if "Hot.outer" in chain]
        # libc's own functions around it have names only if its symbols are installed.
        whole = [chain for chain in chains if re.search(r"ThreadJavaMain|start_thread|clone", chain)]
        self.assertGreater(len(chains), 20)
        self.assertGreaterEqual(len(whole), NAMED * len(chains))
        lines = self.run_it(SONDE, "report", "--stdio", "-g", "none", "-s", "srcline", "-i", "perf.data").stdout
        self.assertRegex(lines, r"Hot\.java:3\b")

    # Python

    def test_python_map(self):
        python = self.python_with_trampolines("perf")
        flags = self.run_it(python, "-c", "import sysconfig; print(sysconfig.get_config_var('PY_CORE_CFLAGS'))").stdout
        if "-fno-omit-frame-pointer" not in flags:  # trampolines are only ever found as callers
            self.skipTest(f"{python} was built without frame pointers")
        self.record("-g", "--", python, "-X", "perf", "load.py", BUSY_MS)
        text = self.run_it(SONDE, "script", "-i", "perf.data", "-F", "ip,sym,dso").stdout
        frames = re.findall(r"^\s*[0-9a-f]+ (.*) \(.*perf-\d+\.map\)$", text, re.M)
        self.assertGreater(len(frames), 20)
        named = [frame for frame in frames if frame != "[unknown]"]
        self.assertGreaterEqual(len(named), NAMED * len(frames))
        self.assertTrue(any(frame.startswith("py::inner:") for frame in named))
        self.check_folds("py::inner:", "py::outer:", "py::<module>:")

    def test_python_dump(self):
        self.record("-k", "mono", "--call-graph", "dwarf", "--", self.python_with_trampolines("perf_jit"), "-X", "perf_jit",
                    "load.py", BUSY_MS)
        text = self.run_it(SONDE, "script", "-i", "perf.data", "--no-inline", "-F", "comm,ip,sym").stdout
        chains = [chain for chain in text.split("\n\n") if "py::inner:" in chain]
        self.assertGreater(len(chains), 20)
        whole = [chain for chain in chains if "py::<module>:" in chain and "main" in chain]
        self.assertGreaterEqual(len(whole), NAMED * len(chains))


if __name__ == "__main__":
    own_tmp.take()
    unittest.main(argv=sys.argv[:1], verbosity=2)
