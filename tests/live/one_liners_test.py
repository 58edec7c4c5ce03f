#!/usr/bin/env python3
"""perf's one-liners, as one_liners.txt lists them, run under perf's name; docs/one-liners.md tells what became of each. This test
fails where the page says otherwise. Needs root.

    python3 tests/live/one_liners_test.py build/release [--update] [PATTERN]

--update writes the page anew. With a pattern, the lines that contain it run, and their output is shown.
"""
import concurrent.futures
import dataclasses
import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import calm
import own_tmp

SONDE = Path(os.environ["SONDE"]).resolve()
SOURCE = Path(os.environ["SONDE_SOURCE"]).resolve()
LINES = SOURCE / "tests/live/one_liners.txt"
PAGE = SOURCE / "docs/one-liners.md"
PATIENCE = 90  # seconds that one line may take on a busy machine
NOTHING = "records nothing"
AT_ONCE = 3  # sections
UNTIL_SEEN = 3  # lines of a display that has no end, before it is interrupted
WORKS, COUNTS, RECORDS, REFUSED = "works", "counts", "records", "refused: "
IF_ANY = "records, if there is any"
PROBES = {"Dynamic tracing": ("probe_libc:*", "probe_command:*", "sdt_libstdcxx:*"), "Other commands": ("watched:*",)}  # what a section leaves behind
# `sleep N` in a line ends when the running command has used so much CPU time (in ticks): it is seen, however busy the machine is.
SLEEP = """#!/bin/bash
used() {{ read -ra stat < /proc/{pid}/stat; echo $((stat[13] + stat[14])); }}
end=$(($(used) + 8))
while [ "$(used)" -lt $end ]; do /bin/sleep 0.02; done
"""
BPF_PROGRAM = r"""
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
struct {
  __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
  __uint(key_size, 4);
  __uint(value_size, 4);
  __uint(max_entries, __NR_CPUS__);
} channel SEC(".maps");
SEC("sched:sched_process_exec") int on_exec(void* context) {
  __u64 told = 0x100;
  bpf_perf_event_output(context, &channel, BPF_F_CURRENT_CPU, &told, sizeof told);
  return 0;
}
char _license[] SEC("license") = "GPL";
int _version SEC("version") = LINUX_VERSION_CODE;
"""
JAVA_PROGRAM = """
public class Work {
  static int sum(int from) {
    int sum = from;
    for (int i = 0; i < 1000; i++) sum = sum * 31 + i;
    return sum;
  }
  public static void main(String[] arguments) {
    int sum = 0;
    for (int i = 0; i < 400000; i++) sum += sum(i);
    System.out.println(sum);
  }
}
"""

PREAMBLE = """# One-liners

These are command lines that perf users know, from talks, books and manuals, and what became of each when it ran with Sonde under
the name `perf`. `./dev docs --update` writes this page; a test (`tests/live/one_liners_test.py`) fails where it says something else.

It ran as root on Linux 6.18, on a virtual machine without hardware counters, whose kernel was built without kernel probes. So the
lines that need those are refused, with the message shown here. They run in emulated machines that have both
([guests.md](guests.md)).

`command`, `PID` and `FILE` stand for a small program that does a little of everything (`tests/programs/activity.c`), and `sleep`
ends as soon as that program has been seen. Where a line names something of another machine, "as" tells what ran instead; LIBC is
the C library there, LIBSTDCXX that of C++. .NET is missing: Debian does not have it ([jit.md](jit.md) tells how it is used).

| outcome | meaning |
|---|---|
| counts | it printed counts; events that the machine does not have are named |
| records | it wrote a recording with samples |
| records, if there is any | it wrote a recording; such an event need not happen in a moment |
| works | it did what it says, and succeeded |
| refused | it ended with an error: this message |
"""


@dataclasses.dataclass
class Line:
    section: str
    quoted: str
    adapted: str = ""
    setup: str = ""
    interrupted: bool = False
    rare: bool = False
    note: str = ""

    @property
    def words(self):
        return self.adapted or self.quoted


def read_lines():
    lines, section = [], ""
    for text in LINES.read_text(encoding="utf-8").splitlines():
        if text.startswith("## "):
            section = text[3:]
        elif text.startswith("  "):
            word, _, rest = text.strip().partition(" ")
            setattr(lines[-1], {"as": "adapted"}.get(word, word), rest or True)
        elif text and not text.startswith("#"):
            lines.append(Line(section, text))
    return lines


class Bench:
    """A directory with the programs that the lines observe, one of which runs all the time."""

    def __init__(self, path):
        self.path = path
        (path / "bin").mkdir()
        (path / "bin/perf").symlink_to(SONDE)
        shutil.copy(SOURCE / "tests/programs/activity.c", path / "command.c")
        subprocess.run(["cc", "-g", "-O1", "-pthread", "-fno-omit-frame-pointer", "command.c", "-o", "command"], cwd=path, check=True)
        (path / "script.js").write_text("let s = 0; for (let i = 0; i < 3e7; i++) s = (s * 31 + i) | 0; console.log(s);\n")
        (path / "Work.java").write_text(JAVA_PROGRAM)
        (path / "kca_from.c").write_text(BPF_PROGRAM)
        self.environment = {**os.environ, "PATH": f"{path}/bin:{os.environ['PATH']}", "HOME": str(path), "LC_ALL": "C.UTF-8",
                            "PERF_BUILDID_DIR": str(path / "buildid"), "PAGER": "cat"}
        self.command = subprocess.Popen(["./command"], cwd=path, stdout=subprocess.DEVNULL)
        (path / "bin/sleep").write_text(SLEEP.format(pid=self.command.pid))
        (path / "bin/sleep").chmod(0o755)
        self.libraries = {name: library(path, file) for name, file in (("LIBC", "libc.so.6"), ("LIBSTDCXX", "libstdc++.so.6"))}

    def close(self):
        self.command.kill()
        self.command.wait()

    def put_in(self, text):
        """The names of this machine's things instead of those that stand for them."""
        text = re.sub(r"\bPID\b", str(self.command.pid), text)
        text = re.sub(r"(?<![\w./-])command(?![\w-])", "./command 20", text)
        text = re.sub(r"\b(LIBC|LIBSTDCXX)\b", lambda match: self.libraries[match.group()], text)
        text = re.sub(r"\bFILE\b", "command.c", text)
        return text.replace("-I 1000", "-I 100")

    def shell(self, text, out, error):
        return subprocess.Popen(["bash", "-c", "set -o pipefail; " + self.put_in(text)], cwd=self.path, env=self.environment,
                                stdin=subprocess.DEVNULL, stdout=out, stderr=error, start_new_session=True)

    def run(self, line):
        """Exit status (None: it had to be killed), and the texts of standard output and standard error."""
        with tempfile.TemporaryFile("w+", errors="replace") as out, tempfile.TemporaryFile("w+", errors="replace") as error:
            if line.setup and self.shell(line.setup, out, out).wait(PATIENCE) != 0:
                out.seek(0)
                raise AssertionError(f"{line.setup}: {out.read()}")
            out.truncate(0)
            out.seek(0)
            child = self.shell(line.words, out, error)
            if line.interrupted:
                self.interrupt(child, out, error, line)
            try:
                status = child.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
                status = None
            out.seek(0)
            error.seek(0)
            return status, out.read(), error.read()

    def interrupt(self, child, out, error, line):
        """Ctrl-C, once a display has shown something, or a counter or recorder was open while the command ran."""
        shows = re.search(r"\bperf (top|trace|sched replay)|-I ", line.quoted)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and child.poll() is None:
            seen = sum(Path(f"/proc/self/fd/{file.fileno()}").read_bytes().count(b"\n") for file in (out, error))
            if seen >= UNTIL_SEEN if shows else opened(child.pid):
                break
            time.sleep(0.01)
        if not shows and child.poll() is None:
            subprocess.run(["./command", "2"], cwd=self.path, check=True)
            subprocess.run([self.path / "bin/sleep"], cwd=self.path, check=True)
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGINT)


def library(path, file):
    """Where the compiler finds it."""
    found = subprocess.run(["g++", f"-print-file-name={file}"], cwd=path, check=True, capture_output=True, text=True).stdout.strip()
    return os.path.realpath(found)


def opened(session):
    """Whether a process of the session has perf events open."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if os.getsid(int(process.name)) == session and any(
                    "perf_event" in os.readlink(each) for each in (process / "fd").iterdir()):
                return True
        except OSError:
            pass  # it ended meanwhile
    return False


def refusal(text, bench):
    """A message in one line, without prefixes, repeated help and what differs between machines."""
    text = re.sub(r"(?s)\n *Run 'perf list' .*|\n *Usage: .*", "", text)
    text = text.rpartition("\\___ ")[2].rpartition("Error:")[2] if "\\___" not in text else text.rpartition("\\___ ")[2]
    text = re.sub(r"\b(Error|Hint):\s*", "", text)
    text = re.sub(r"linux-image-\S+-dbg", "linux-image-…-dbg", text)
    text = re.sub(r"(?m)^.*\bevents were lost while recording\b.*$", "", text)  # by how busy the machine is
    for name, file in bench.libraries.items():
        text = text.replace(file, name)
    first, *more = [line for line in (" ".join(each.split()) for each in text.splitlines()) if line] or ["nothing found"]
    return (": ".join([first, " ".join(more)]) if more else first).rstrip(".")


def outcome(line, bench, status, out, error):
    if status is None:
        return "does not end"
    if status != 0 and not (line.interrupted and status in (130, -signal.SIGINT)):
        return REFUSED + refusal(error or out, bench)
    if re.search(r"\bperf stat\b", line.words):
        missing = dict.fromkeys(re.findall(r"<not (?:supported|counted)>\s+(\S+)", error))
        return COUNTS + (f"; not on this machine: {', '.join(missing)}" if missing else "")
    if "Captured and wrote" in error:
        if line.rare:
            return IF_ANY
        return RECORDS if re.search(r"\(\d+ samples?\)", error) else NOTHING
    return WORKS


def run_section(lines):
    """The outcome of each line of a section, in order: some use what those before them made."""
    with tempfile.TemporaryDirectory() as path:
        bench = Bench(Path(path))
        try:
            return [(line, *bench.run(line)) for line in lines], bench
        finally:
            bench.close()
            for group in PROBES.get(lines[0].section, ()):
                subprocess.run([SONDE, "probe", "-q", "-d", group], capture_output=True, check=False)


def run_all(lines):
    """[(line, its outcome, its output)]"""
    sections = [list(group) for _, group in itertools.groupby(lines, lambda line: line.section)]
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        results = [([(line, outcome(line, bench, status, out, error), out[-1500:] + error[-1500:])
                     for line, status, out, error in ran])
                   for ran, bench in pool.map(run_section, sections)]
    return [each for section in results for each in section]


def in_table(text):
    return text.replace("|", "\\|")


def row(line, happened):
    shown = f"`{in_table(line.quoted)}`" if "`" not in line.quoted else f"`` {in_table(line.quoted)} ``"
    adapted = f"<br>as `{in_table(line.adapted)}`" if line.adapted else ""
    note = f" ({line.note})" if line.note else ""
    return f"| {shown}{adapted} | {in_table(happened + note)} |"


def page(results):
    parts = [PREAMBLE]
    for section, group in itertools.groupby(results, lambda each: each[0].section):
        parts.append(f"\n## {section}\n\n| line | outcome |\n|---|---|\n")
        parts.append("".join(row(line, happened) + "\n" for line, happened, _ in group))
    return "".join(parts)


def has_more():
    """Whether this machine has counters or kernel probes, which the page's had not: lines that need them may then work."""
    return Path("/sys/bus/event_source/devices/cpu").exists() or Path("/sys/kernel/tracing/kprobe_events").exists()


class OneLinersTest(unittest.TestCase):
    maxDiff = None

    def test_each_line_does_what_the_page_says(self):
        results = run_all(read_lines())
        said = PAGE.read_text(encoding="utf-8")
        self.assertEqual(said.split("\n## ", 1)[0].strip(), PREAMBLE.strip(), "./dev docs --update writes the page anew")
        rows = [each for each in said.splitlines() if each.startswith(("| `", "| ``"))]
        self.assertEqual(len(rows), len(results), "./dev docs --update writes the page anew")
        for expected, (line, happened, output) in zip(rows, results):
            with self.subTest(line.quoted):
                limited = REFUSED in expected or "not on this machine" in expected
                if limited and has_more() and not happened.startswith(REFUSED):
                    continue
                # On a busy machine the load may not come to it while a line records.
                if happened == NOTHING and NOTHING not in expected:
                    for _ in calm.tries(f"one_liners: {line.quoted}: nothing came", 3):
                        [(_, happened, output)] = run_all([line])
                        if happened != NOTHING:
                            break
                # perf, too, leaves guests out where the processor's counters could tell them apart.
                self.assertEqual(expected, row(line, happened.replace(":pppH:", ":ppp:")), output)


def main():
    words = [word for word in sys.argv[2:] if word != "--update"]
    if "--update" in sys.argv:
        PAGE.write_text(page(run_all(read_lines())), encoding="utf-8")
    elif words:
        for line, happened, output in run_all([line for line in read_lines() if words[0] in line.quoted]):
            print(f"{line.quoted}\n  {happened}\n{output}")
    else:
        own_tmp.take()
        unittest.main(argv=sys.argv[:1])


if __name__ == "__main__":
    main()
