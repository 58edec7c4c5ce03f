#!/usr/bin/env python3
"""record --call-graph bpf: functions of Python in call chains. A program says of itself which chains it has, with lines, and how
much processor time each of its functions took; the samples must agree. SONDE_PYTHONS names further interpreters, separated by
colons. Needs root."""
import collections
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

import calm
import own_tmp
from interpreted_program import RATE, SONDE, InterpretedProgramTest

PERF = shutil.which("perf")
FIRST, LAST = (3, 8), (3, 13)

# `spin` takes processor time; before that it notes who called it, and from which line. Each way of calling reaches it through
# another part of the interpreter.
PROGRAM = r"""
import ctypes, functools, json, os, sys, threading, time

chains, taken = [], {}
lock = threading.Lock()


def name_of(code):
    return getattr(code, "co_qualname", code.co_name)


def spin(share):
    frame = sys._getframe(1)
    chain = []
    while frame is not None:
        chain.append([name_of(frame.f_code), frame.f_code.co_filename, frame.f_lineno])
        frame = frame.f_back
    begin = time.thread_time()
    total = 0
    while time.thread_time() - begin < share * SECONDS:
        for i in range(2000):
            total += i
    with lock:
        chains.append(chain)
        taken[chain[0][0]] = taken.get(chain[0][0], 0) + time.thread_time() - begin


def plain():
    spin(0.3)


class Shape:
    def area(self):
        spin(0.2)

    @functools.cached_property
    def size(self):
        self.area()
        return 1


def numbers():
    spin(0.1)
    yield 1
    yield from more_numbers()


def more_numbers():
    spin(0.1)
    yield 2


def key_of(number):
    spin(0.05)
    return number


def handler():
    try:
        raises()
    except ValueError:
        spin(0.1)


def raises():
    raise ValueError


def compared(left, right):
    spin(0.1)
    return 0


def ünïcode_ñame():
    spin(0.1)


def deep(levels):
    if levels > 0:
        deep(levels - 1)
    else:
        spin(0.2)


def decoded(pairs):
    spin(0.1)
    return pairs


def in_thread():
    spin(0.2)


async def awaited():
    spin(0.1)


async def coroutine():
    await awaited()


def driver():
    try:
        coroutine().send(None)
    except StopIteration:
        pass


def native_callback():
    callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))(compared)
    array = (ctypes.c_int * 2)(2, 1)
    ctypes.CDLL(None).qsort(array, 2, 4, callback)


def main():
    plain()
    Shape().size
    sum(numbers())
    sorted([2, 1], key=key_of)
    handler()
    driver()
    native_callback()
    ünïcode_ñame()
    deep(60)
    json.loads("{}", object_pairs_hook=decoded)
    exec(compile("(lambda: spin(0.1))()", "<string>", "exec"), {"spin": spin})
    threads = [threading.Thread(target=in_thread) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def report(path):
    with open(path, "w") as file:
        json.dump({"chains": chains, "taken": taken}, file)


main()
child = os.fork()
if child == 0:
    chains.clear()
    taken.clear()
    plain()
    report(sys.argv[1] + ".child")
    os._exit(0)
os.waitpid(child, 0)
report(sys.argv[1])
"""


SUBINTERPRETER = r"""
import threading
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters


def outside():
    interpreters.run_string(interpreters.create(), '''
import time
def inside():
    begin = time.thread_time()
    while time.thread_time() - begin < 1:
        for i in range(2000):
            pass
inside()
''')


outside()
thread = threading.Thread(target=outside)
thread.start()
thread.join()
"""


def interpreters():
    """Executables of different versions, each once."""
    named = [path for path in os.environ.get("SONDE_PYTHONS", "").split(":") if path]
    candidates = [*named, "/usr/bin/python3", sys.executable, *glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin/python3.*[0-9]"))]
    found = {}
    for path in candidates:
        if not os.access(path, os.X_OK):
            continue
        said = subprocess.run([path, "-c", "import sys, sysconfig\n"
                               "print(*sys.version_info[:3], sysconfig.get_config_var('Py_GIL_DISABLED') or 0)"],
                              text=True, stdout=subprocess.PIPE).stdout.split()
        if len(said) == 4 and FIRST <= (int(said[0]), int(said[1])) <= LAST and said[3] == "0":
            found.setdefault((os.path.realpath(path)), path)
    return list(found.values())


class InterpreterTest(InterpretedProgramTest):
    LANGUAGE, SUFFIX = "Python", "py"
    SECONDS = 0.5

    def setUp(self):
        super().setUp()
        (self.path / "program.py").write_text(PROGRAM.replace("SECONDS", str(self.SECONDS)))

    def record(self, python, *options):
        return self.record_chains(*options, command=[python, self.path / "program.py", self.path / "said"])

    def said(self):
        """What the program and its child said of themselves."""
        both = [json.loads((self.path / name).read_text()) for name in ("said", "said.child")]
        taken = collections.Counter()
        for one in both:
            taken.update(one["taken"])
        return {tuple(map(tuple, chain)) for one in both for chain in one["chains"]}, taken

    def test_chains_and_shares_are_those_that_the_program_says(self):
        pythons = interpreters()
        self.assertTrue(pythons)
        for python in pythons:
            with self.subTest(python=python):
                run = self.record(python, "-v")
                self.check_names(run)
                self.check_chains_and_shares(run, *self.said())

    def test_shares_of_a_longer_run_are_within_a_percent(self):
        (self.path / "program.py").write_text(PROGRAM.replace("SECONDS", "2"))
        copied = self.copied(self.record("/usr/bin/python3", "-v").stderr)
        _, taken = self.said()
        counts = collections.Counter()
        for frames in self.samples():
            names = [frame[0] for frame in frames]
            if "spin" in names[:-1]:
                counts[names[names.index("spin") + 1]] += 1
        self.assertGreater(counts.total(), 2000)
        for name, seconds in taken.items():
            # Samples come at equal distances of processor time, so the error is far below that of random ones.
            self.assertAlmostEqual(counts[name] / counts.total(), seconds / sum(taken.values()),
                                   delta=0.01 + copied / counts.total(), msg=name)

    def test_functions_that_run_a_subinterpreter_are_below_its_own(self):
        (self.path / "outside.py").write_text(SUBINTERPRETER)
        for python in interpreters():
            with self.subTest(python=python):
                run = self.run_tool(SONDE, "record", "-v", "-e", "cpu-clock:u", "-F", RATE, "--call-graph", "bpf", "-o", "perf.data",
                                    "--", python, self.path / "outside.py")
                text = self.run_tool(SONDE, "script", "--no-inline", "-i", "perf.data", "-F", "ip,sym,dso").stdout
                blocks = [block for block in text.split("\n\n") if " inside (<string>)" in block]
                whole = [block for block in blocks if re.search(r" outside \(.*outside\.py\)", block)]
                # A second by the main thread, and one by another. Copies are all that may be missing.
                for by_main in (True, False):
                    found = sum(("_start (" in block) == by_main for block in whole)
                    self.assertGreater(found + self.copied(run.stderr), 0.7 * RATE)
                    self.assertGreater(found, 0)
                self.assertLessEqual(len(blocks) - len(whole), self.incomplete(run))

    def test_native_code_between_functions_stays(self):
        for _ in calm.tries("live.interpreters: libraries have no table while the program uses them", 4):
            self.record("/usr/bin/python3")
            text = self.run_tool(SONDE, "script", "--no-inline", "-i", "perf.data", "-F", "ip,sym,dso").stdout
            # Until the tables of a library that is loaded late are there, chains end in it.
            blocks = [block for block in text.split("\n\n")
                      if " compared (" in block and " spin (" in block and " _start (" in block]
            if blocks:
                break
        self.assertTrue(blocks)
        for block in blocks:
            self.assertRegex(block, r"(?s) compared \(.*\(.*libffi.*qsort.* native_callback \(.* main \(.* <module> \(.*main")

    def test_where_it_is_turned_off_the_interpreter_is_shown(self):
        self.record("/usr/bin/python3", "--no-interpreters")
        text = self.run_tool(SONDE, "script", "-i", "perf.data", "-F", "ip,sym,dso").stdout
        self.assertIn("_PyEval_EvalFrameDefault", text)
        self.assertNotIn("program.py", text)

    def test_every_view_names_them(self):
        self.record("/usr/bin/python3")
        self.assertRegex(self.run_tool(SONDE, "report", "--stdio", "--no-children", "-g", "none", "-i", "perf.data").stdout,
                         r"program\.py +\[\.\] spin")
        self.assertIn("ünïcode_ñame", self.run_tool(SONDE, "flamegraph", "-i", "perf.data", "-o", "-").stdout)
        # Also after other commands have copied the recording.
        self.run_tool(SONDE, "inject", "-b", "-i", "perf.data", "-o", "copy.data")
        self.assertRegex(self.run_tool(SONDE, "report", "--stdio", "--no-children", "-g", "none", "-i", "copy.data").stdout,
                         r"program\.py +\[\.\] spin")

    def piped(self, recording, *words):
        """What a command prints that reads a recording as a pipe. cat makes it one: of a file, sizes could be asked for."""
        run = subprocess.run(["sh", "-c", 'cat "$0" | "$@"', recording, *map(str, words)], cwd=self.path, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        self.assertEqual(run.returncode, 0, run.stderr.decode())
        return run

    def test_names_go_through_pipes(self):
        run = subprocess.run([SONDE, "record", "-v", "-e", "cpu-clock:u", "-F", str(RATE), "--call-graph", "bpf", "-o", "-", "--",
                              "/usr/bin/python3", self.path / "program.py", self.path / "said"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(run.returncode, 0, run.stderr)
        (self.path / "piped").write_bytes(run.stdout)

        def functions(name):
            """Those of Python. Native ones have names and lines once a recording has build ids."""
            words = ["script", "-F", "ip,sym,dso,srcline", "--no-inline", "-i"]
            text = self.piped(name, SONDE, *words, "-").stdout.decode()
            return re.findall(r".* \((?:/.*\.py|<.*>)\)\n.*", text)
        text = "\n".join(functions("piped"))
        _, taken = self.said()
        self.assertIn(" plain (", text)
        # Copies explain what was not seen.
        unseen = sum(seconds for name, seconds in taken.items() if f" {name} (" not in text)
        self.assertLessEqual(unseen * RATE / 2, self.copied(run.stderr.decode()))
        # Read as a whole, and as a file that has a section of them.
        self.assertRegex(self.piped("piped", SONDE, "report", "--stdio", "--no-children", "-g", "none", "-i", "-").stdout.decode(),
                         r"program\.py +\[\.\] spin")
        self.assertRegex(self.piped("piped", SONDE, "report", "--header-only", "-i", "-").stdout.decode(),
                         r"interpreted functions : \d+ of ")
        self.piped("piped", SONDE, "inject", "-b", "-i", "-", "-o", "filed.data")
        (self.path / "again").write_bytes(self.run_tool_for_bytes(SONDE, "inject", "-b", "-i", "filed.data", "-o", "-"))
        (self.path / "once-more").write_bytes(self.piped("again", SONDE, "inject", "-b", "-i", "-", "-o", "-").stdout)
        for name in ("filed.data", "again", "once-more"):
            self.assertEqual("\n".join(functions(name)), text, name)

    def run_tool_for_bytes(self, *words):
        return subprocess.run(words, cwd=self.path, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout

    @unittest.skipUnless(PERF, "perf is not installed")
    def test_perf_reads_the_pipe(self):
        data = self.run_tool_for_bytes(SONDE, "record", "-e", "cpu-clock:u", "-F", str(RATE), "--call-graph", "bpf", "-o", "-",
                                       "--", "/usr/bin/python3", self.path / "program.py", self.path / "said")
        (self.path / "piped").write_bytes(data)
        run = self.piped("piped", PERF, "script", "--no-inline", "-i", "-", "-F", "ip,sym")
        self.assertEqual([line for line in run.stderr.decode().splitlines() if line and "lost" not in line], [])
        ours = self.piped("piped", SONDE, "script", "--no-inline", "-i", "-", "-F", "ip,sym")
        addresses, our_addresses = ([line.split()[0] for line in of.stdout.decode().splitlines() if line] for of in (run, ours))
        self.assertEqual(addresses, our_addresses)
        self.assertGreater(len(addresses), 1000)
        self.assertIn("program.py", self.piped("piped", PERF, "report", "--stdio", "-g", "none", "-i", "-").stdout.decode())

    def test_top_names_functions_as_they_appear(self):
        (self.path / "two.py").write_text(
            "import select, sys\n"
            "def earlier():\n    while not select.select([sys.stdin], [], [], 0)[0]: sum(range(20000))\n"
            "def later():\n    while True: sum(range(20000))\n"
            "earlier()\nlater()\n")
        self.check_top("/usr/bin/python3", self.path / "two.py")

    @unittest.skipUnless(PERF, "perf is not installed")
    def test_perf_reads_the_file(self):
        self.record("/usr/bin/python3")
        run = self.run_tool(PERF, "script", "-i", "perf.data", "-F", "ip,sym,dso")
        self.assertEqual([line for line in run.stderr.splitlines() if line and "lost" not in line], [])
        self.assertIn("program.py", run.stdout)
        ours = self.run_tool(SONDE, "script", "--no-inline", "-i", "perf.data", "-F", "ip").stdout
        self.assertEqual(self.run_tool(PERF, "script", "--no-inline", "-i", "perf.data", "-F", "ip").stdout.split(), ours.split())

    def test_processes_that_come_and_go(self):
        (self.path / "many.py").write_text(
            "import subprocess, sys\n"
            "for i in range(5):\n"
            "    subprocess.run([sys.executable, '-c', 'def short():\\n  for i in range(2000000): pass\\nshort()'], check=True)\n")
        run = self.run_tool(SONDE, "record", "-v", "-e", "cpu-clock:u", "-F", RATE, "--call-graph", "bpf", "-o", "perf.data", "--",
                            "/usr/bin/python3", self.path / "many.py")
        text = self.run_tool(SONDE, "script", "-i", "perf.data", "-F", "pid,ip,sym,dso").stdout
        seen = collections.Counter(block.split()[0] for block in text.split("\n\n") if " short (<string>)" in block)
        self.assertGreater(len(seen), 0)
        self.assertLessEqual(len(seen), 5)
        # Each of them makes as many samples as the others, or nearly so; copies explain those without any.
        self.assertLessEqual((5 - len(seen)) * max(seen.values()) / 2, self.copied(run.stderr))


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("BPF programs on events need root")
        sys.exit(77)
    own_tmp.take()
    unittest.main(argv=sys.argv[:1])
