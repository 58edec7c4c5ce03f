#!/usr/bin/env python3
"""strace's text of system calls and ours, for the same run of trace_arguments.c: both trace it at once, and after normalising the
spelling (SPELLINGS and below) the arguments and the result of every call are the same text. Needs root, strace and a kernel that
accepts BPF programs.

    tests/oracle/trace_arguments_oracle.py [BUILD_DIR]      $SONDE is the binary
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from collections import defaultdict, namedtuple
from pathlib import Path

SONDE = os.environ.get("SONDE") or str(Path(sys.argv[1] if len(sys.argv) > 1 else "build/release").resolve() / "sonde")
STRACE = shutil.which("strace")
SOURCE = Path(__file__).resolve().with_name("trace_arguments.c")
SETTINGS = "[trace]\n\tshow_zeros = yes\n\tshow_prefix = yes\n\tshow_arg_names = no\n"
# Waits for "go" with calls that both tracers show, so that both are known to be tracing; then becomes the program.
LAUNCHER = "while [ ! -e go ]; do sleep 0.02; done; exec ./program"
LEAST_CALLS = 100  # different ones

OURS = re.compile(r"^ *[\d.?]+ \([^)]*\): .{0,14}/(\d+) ( \.\.\. \[continued\]: )?(\w+)\((.*)$")
THEIRS = re.compile(r"^(\d+) +(<\.\.\. )?(\w+)(?:\(| resumed>)(.*)$")
OUR_CUT, THEIR_CUT = re.compile(r"\) +\.\.\.$"), re.compile(r" <unfinished \.\.\.>$")
# `cut`: another thread's line came in between; output arguments are then not shown.
Call = namedtuple("Call", "name arguments result cut")

# Normalises what both spell differently.
SPELLINGS = [
    (re.compile(r"AT_FDCWD<[^>]*>"), "AT_FDCWD"),
    (re.compile(r"/\* (\d+)\+? vars? \*/"), "/* vars */"),
    (re.compile(r"\b(\d+) \([^()\[]{1,16}\)"), r"\1"),  # names of processes
    (re.compile(r"\bAF_(LOCAL|UNIX)\b"), "AF_UNIX"),
    (re.compile(r"\b(FUTEX_\w+)\|FUTEX_PRIVATE_FLAG"), r"\1_PRIVATE"),
    (re.compile(r", si_utime=\d+, si_stime=\d+"), ""),  # waitid does not write them
]
PERMISSIONS = {"S_IRUGO": 0o444, "S_IWUGO": 0o222, "S_IXUGO": 0o111, "S_IRWXU": 0o700, "S_IRWXG": 0o70, "S_IRWXO": 0o7,
               "S_IRUSR": 0o400, "S_IWUSR": 0o200, "S_IXUSR": 0o100, "S_IRGRP": 0o40, "S_IWGRP": 0o20, "S_IXGRP": 0o10,
               "S_IROTH": 0o4, "S_IWOTH": 0o2, "S_IXOTH": 0o1}
# Descriptors in results or in lists of arguments: strace adds names to them.
NAMED_IN_LISTS = re.compile(r"(?<=[\[ =])(\d+)<[^<>]*>(?:\(deleted\))?")


def flags_in_order(match):
    """O_RDWR|O_CREAT: the order of bits does not matter; permissions among them become one number."""
    words = match[0].split("|")
    mode = sum(PERMISSIONS[word] for word in words if word in PERMISSIONS)
    rest = [word for word in words if word not in PERMISSIONS]
    return "|".join(sorted([*rest, f"0{mode:o}"] if len(rest) < len(words) else rest))


def spelt(text):
    for pattern, word in SPELLINGS:
        text = pattern.sub(word, text)
    text = re.sub(r"\b[A-Z][A-Z0-9_a-z]+(?:\|\w+)*\b", flags_in_order, text)
    return re.sub(r"\b0x[0-9a-f]+\b", lambda number: str(int(number[0], 16)), text)


# Sockets and pipes behind descriptors: we ask /proc, which no longer knows them if the program was faster.
ASKED_NAMES = re.compile(r"(\d+)<((?:socket|pipe|anon_inode):[^<>]*)>")


def spelt_arguments(call, calls_arguments):
    text = ASKED_NAMES.sub(r"\1", spelt(calls_arguments))
    if call in ("pipe2", "socketpair", "poll", "ppoll", "select"):
        text = NAMED_IN_LISTS.sub(r"\1", text)
    if call in ("dup2", "dup3"):  # what the new descriptor was before
        text = re.sub(r"(\d+)(?:<[^>]*>)?, (\d+)(?:<[^>]*>)?", r"\1, \2", text)
    if call in ("preadv", "pwritev"):  # an offset in one word, or in two
        text = re.sub(r", 0$", "", text)
    if call == "clone":
        named = dict(re.findall(r"(\w+)=([^,]+)", text))
        if named:  # strace's order is that of the library's function
            text = ", ".join([named["flags"], named["child_stack"], named["child_tidptr"]])
    return text


def spelt_result(call, result):
    result = NAMED_IN_LISTS.sub(r"\1", " " + result).strip()
    result = re.sub(r"^0x[0-9a-f]+ \(flags (.*)\)$", r"\1", result)  # fcntl's
    result = re.sub(r",? *(in \[[^\]]*\]|left \{[^}]*\})", "", result).replace(" ()", "")  # the remaining time of a wait
    return spelt(result)


def parsed(text, pattern, cut, is_ours):
    """Calls by thread, in order."""
    threads, begun = defaultdict(list), {}
    for line in text.splitlines():
        match = pattern.match(line)
        if not match:
            continue
        thread, goes_on, name, rest = match[1], bool(match[2]), match[3], match[4]
        if cut.search(rest):
            begun[thread] = cut.sub("", rest)
            continue
        arguments, _, result = rest.rpartition(" = ")
        arguments = re.sub(r"\)\s*$", "", arguments)
        if goes_on:
            arguments = begun.pop(thread, "") + ("" if is_ours else arguments)
        threads[thread].append(Call(name, arguments, result.strip(), goes_on))
    return threads


def of_program(threads):
    """What the launcher did from its execve of the program on."""
    for calls in threads.values():
        for i, call in enumerate(calls):
            if call.name == "execve" and '"./program"' in call.arguments:
                return calls[i:]
    raise AssertionError("no execve of the program is shown")


@unittest.skipUnless(STRACE, "strace is not installed")
class TraceArgumentsOracle(unittest.TestCase):
    def traced_by_both(self, path):
        (path / ".perfconfig").write_text(SETTINGS)
        subprocess.run(["gcc", "-O1", "-w", "-static", "-o", path / "program", SOURCE], check=True, timeout=120)
        theirs, ours = path / "theirs", path / "ours"
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": path}
        program = subprocess.Popen(["sh", "-c", LAUNCHER], **quiet)
        tracers = [subprocess.Popen([STRACE, "-f", "-y", "-o", theirs, "-p", str(program.pid)], **quiet),
                   subprocess.Popen([SONDE, "trace", "--bpf", "-o", ours, "-p", str(program.pid)], **quiet,
                                    env={**os.environ, "HOME": str(path)})]
        self.addCleanup(self.end, [program, *tracers])
        deadline = time.monotonic() + 60
        while not all(file.exists() and '"go"' in file.read_text(errors="replace") for file in (theirs, ours)):
            self.assertIsNone(tracers[1].poll(), "the trace ended before the program began")
            self.assertLess(time.monotonic(), deadline, "the tracers do not look on")
            time.sleep(0.05)
        (path / "go").touch()
        for process in [program, *tracers]:
            process.wait(timeout=60)
        return [parsed(file.read_text(errors="replace"), *how)
                for file, how in ((theirs, (THEIRS, THEIR_CUT, False)), (ours, (OURS, OUR_CUT, True)))]

    @staticmethod
    def end(processes):
        for process in processes:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                process.wait()

    def test_text_is_straces(self):
        with tempfile.TemporaryDirectory() as directory:
            theirs, ours = (of_program(threads) for threads in self.traced_by_both(Path(directory)))
        self.assertEqual([call.name for call in ours], [call.name for call in theirs])
        for their, our in zip(theirs, ours):
            with self.subTest(strace=their, sonde=our):
                self.assertLessEqual(set(ASKED_NAMES.findall(our.arguments)), set(ASKED_NAMES.findall(their.arguments)))
                if not our.cut:
                    self.assertEqual(spelt_arguments(our.name, our.arguments), spelt_arguments(their.name, their.arguments))
                self.assertEqual(spelt_result(our.name, our.result), spelt_result(their.name, their.result))
        self.assertGreaterEqual(len({call.name for call in ours if not call.cut}), LEAST_CALLS)


if __name__ == "__main__":
    unittest.main(argv=["trace_arguments_oracle"])
