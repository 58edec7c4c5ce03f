#!/usr/bin/env python3
"""What steers a terminal never reaches one.

Names come from programs and files of others: they may contain escape sequences, control characters of one byte (C0, DEL) and of
two (C1), characters that reorder text, bytes that are not UTF-8, and line ends that would look like rows of ours. All of this must
hold, whatever the command:

  printable   on a terminal, or in a pager, none of it arrives: only characters, line ends, tabs, and colours of ours
  no forgery  no line begins with what stands after a line end in a name
  intact      names without such characters, and all that is ours, arrive as they are
  bytes       a pipe gets the names as they are

The command lines are those of the golden files, with their recordings as they are and with hostile names instead; and commands
and messages that quote what the user, a file or a directory is called.
"""
import concurrent.futures
import os
import pty
import re
import select
import shlex
import subprocess
import sys
import tempfile
import time
import tty
import unittest
from pathlib import Path

SONDE = os.environ["SONDE"]
SOURCE = Path(os.environ["SONDE_SOURCE"])
sys.path.insert(0, str(SOURCE / "tools"))
import golden  # noqa: E402

LONGEST_S = 120
# Each kind, with sequences that Sonde itself never writes; and a forged row.
NASTY = (b"\x1b[8m\x1b]0;PWN\x07\x1bc\x1b[3;3H\xc2\x9b8m\xc2\x90\x9b8m\xe2\x80\xae\xe2\x81\xa7\x7f\x08\xff\rFORGED\nFORGED "
         b"row\x85FORGED")
# Of the path of a file: all but the slash and NUL.
NASTY_NAME = os.fsdecode(NASTY)
# Colours as Sonde writes them.
OURS = re.compile(rb"\x1b\[(?:31|32|33|34|35|41)?m")
STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
SHOWN_INSTEAD = "\ufffd"
EVENT = r'^(event : name = )([^"\n]+?)(, (?:id|type|size|config|\{) )'


def environment(directory, **more):
    return {**golden.environment(str(directory)), "TERM": "dumb", "PERF_PAGER": "cat", "SONDE_CACHE": "off", **more}


def on_terminal(words, directory, **more):
    """What a terminal gets from a command; errors, too."""
    ours, theirs = pty.openpty()
    tty.setraw(theirs)  # line ends stay as they are
    process = subprocess.Popen([SONDE, *words], cwd=directory, env=environment(directory, **more), stdin=subprocess.DEVNULL,
                               stdout=theirs, stderr=theirs, start_new_session=True)
    os.close(theirs)
    end = time.monotonic() + LONGEST_S
    got = bytearray()
    try:
        while select.select([ours], [], [], max(0, end - time.monotonic()))[0]:
            try:
                more_bytes = os.read(ours, 1 << 16)
            except OSError:  # the terminal's other end is closed
                break
            if not more_bytes:
                break
            got += more_bytes
        else:
            process.kill()
            raise AssertionError(f"{words} does not end")
    finally:
        os.close(ours)
        process.wait(LONGEST_S)
    return bytes(got)


def flaws(out):
    """What a terminal must not get."""
    plain = OURS.sub(b"", out)
    try:
        text = plain.decode("utf-8")
    except UnicodeDecodeError as problem:
        return f"not UTF-8: {plain[max(0, problem.start - 60):problem.end + 20]!r}"
    if found := STEERS.search(text):
        return f"steers: {text[max(0, found.start() - 60):found.end() + 20]!r}"
    for line in text.splitlines():
        if line.strip().startswith("FORGED"):
            return f"forged: {line!r}"
    return None


def quoted(name):
    return "".join(chr(b) if 0x20 <= b < 0x7f and chr(b) not in "\"\\" else f"\\x{b:02x}" for b in name)


def hostile(text):
    """A recording as text in which threads, objects and cgroups have hostile names."""
    def renamed(match):
        return f'{match[1]}"{match[2]}{quoted(NASTY)}"'

    text = re.sub(r'\b(comm=)"((?:[^"\\]|\\.)*)"', renamed, text)
    return re.sub(r'\b(path=)"(/(?:[^"\\]|\\.)*)"', renamed, text)


def hostile_events(text):
    """The same for events, by whose names some commands find what they need."""
    return re.sub(EVENT, lambda m: f'{m[1]}"{m[2]}{quoted(NASTY)}"{m[3]}', text, flags=re.M)


class Terminal(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="terminal-")
        self.addCleanup(directory.cleanup)
        self.path = Path(directory.name)

    def check(self, words, **more):
        out = on_terminal(words, self.path, **more)
        self.assertIsNone(flaws(out), words)
        return out

    # The golden files' command lines.

    def runs_of(self, test, change):
        """The outputs of its command lines on a terminal, with recordings changed."""
        parsed = golden.parse(test.read_text(encoding="utf-8"))
        parsed.files = [(heading, name, body if heading.startswith("file ") else change(body)) for heading, name, body in parsed.files]
        with tempfile.TemporaryDirectory(prefix="terminal-") as directory:
            golden.put_files(parsed, SONDE, directory)
            for run in parsed.runs:
                words = [w.replace("@DIR@", directory).replace("@SOURCE@", str(SOURCE)) for w in shlex.split(run.command)]
                yield run, on_terminal(words, directory)

    def sweep(self, change, judge):
        def problems_of(test):
            try:
                return [f"{test.stem}: {run.command}: {problem}" for run, out in self.runs_of(test, change)
                        if (problem := judge(run, out))]
            except golden.BadGolden as bad:
                return [f"{test}: {bad}"]

        tests = sorted((SOURCE / "tests/golden").rglob("*.test"))
        self.assertTrue(tests)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            problems = [p for found in pool.map(problems_of, tests) for p in found]
        self.assertFalse(problems, "\n" + "\n".join(problems[:40]))

    def test_hostile_names_in_golden_recordings(self):
        self.sweep(hostile, lambda run, out: flaws(out))

    def test_hostile_event_names_in_golden_recordings(self):
        self.sweep(hostile_events, lambda run, out: flaws(out))

    def test_what_is_ours_arrives(self):
        def judge(run, out):
            expected = (run.stdout + run.stderr).count(SHOWN_INSTEAD)
            quotes = any(c < " " and c not in "\t\n" for c in run.stdout + run.stderr) or "\\x" in run.stdout
            if not expected and not quotes and SHOWN_INSTEAD.encode() in out:
                at = out.index(SHOWN_INSTEAD.encode())
                return f"replaced: {out[max(0, at - 80):at + 40]!r}"
            return flaws(out)

        self.sweep(lambda text: text, judge)

    # A recording with all of it.

    def record(self):
        name = quoted(NASTY)
        (self.path / "hostile.txt").write_text(f'''event : name = "cpu-clock{name}", id = {{ 7 }}, type = 1, \\
  {{ sample_period, sample_freq }} = 4000, sample_type = IP|TID|TIME|CPU|CALLCHAIN|CGROUP|IDENTIFIER, freq = 1, sample_id_all = 1
feature HOSTNAME: "host{name}"
feature CMDLINE: "record" "{name}"
MMAP mode=kernel pid=-1 tid=0 start=0xffffffff81000000 length=0x4000 offset=0xffffffff81000000 path="[kernel.kallsyms]_text" time=0 cpu=0 id=7
MMAP mode=user pid=10 tid=10 start=0x400000 length=0x1000 offset=0 path="/nowhere/{name}/object" time=0 cpu=0 id=7
COMM pid=10 tid=10 comm="c{name}" time=1000 cpu=0 id=7
SAMPLE id=7 mode=kernel ip=0xffffffff81000310 pid=10 tid=10 time=1000000 cpu=0 chain=kernel,0xffffffff81000310,user,0x400310 cgroup=1
SAMPLE id=7 mode=user ip=0x400311 pid=10 tid=10 time=2000000 cpu=0 chain=user,0x400311 cgroup=1
''')
        (self.path / "kallsyms").write_bytes(b"ffffffff81000000 T _text\nffffffff81000300 T sym\x1b[8m\x1b]0;PWN\x07\xc2\x9b8m\xe2\x80\xae\xff"
                                             b"\nffffffff81000900 T end\n")
        done = subprocess.run([SONDE, "assemble", "hostile.txt", "perf.data"], cwd=self.path, env=environment(self.path),
                              capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    COMMANDS = """
report --stdio --kallsyms kallsyms
report --stdio --kallsyms kallsyms -s comm,dso,sym,cgroup -g none -F overhead,sample,comm,dso,sym
report --stdio --kallsyms kallsyms --header -v
report --stdio --kallsyms kallsyms -g caller -t ,
report --stdio --kallsyms kallsyms --hierarchy -s comm,dso,sym
report --stdio --kallsyms kallsyms --stdio-color always -g flat
report --stdio --kallsyms kallsyms -g folded
report --stdio -D
report --stdio --tasks
report --stdio --mmaps
report --stdio --stats
script --kallsyms kallsyms
script --kallsyms kallsyms -F comm,tid,pid,time,event,ip,sym,dso,symoff,srcline,cgroup,period
script --kallsyms kallsyms -G
script --kallsyms kallsyms -D
script --kallsyms kallsyms --header -I
script --show-mmap-events --show-task-events --show-lost-events --show-cgroup-events
evlist -v
evlist
buildid-list
diff --kallsyms kallsyms perf.data perf.data
fold --kallsyms kallsyms perf.data -o -
flamegraph --kallsyms kallsyms -o -
export --kallsyms kallsyms -f json -o -
export --kallsyms kallsyms -f speedscope -o -
export --kallsyms kallsyms -f chrome -o -
export --kallsyms kallsyms -f firefox -o -
data convert --to-json out.json
assemble --disassemble perf.data
sql --kallsyms kallsyms 'select * from samples'
sql --kallsyms kallsyms --format csv 'select comm, event, symbol from samples'
sql --kallsyms kallsyms --format json 'select comm from samples'
annotate --stdio --kallsyms kallsyms
timeline -o -
kallsyms --kallsyms kallsyms end
""".strip().splitlines()

    def test_commands_on_a_hostile_recording(self):
        self.record()
        for line in self.COMMANDS:
            with self.subTest(line):
                out = self.check(shlex.split(line))
                self.assertTrue(out, line)

    def test_a_pager_is_a_terminal(self):
        self.record()
        for line in ("report --stdio --kallsyms kallsyms", "script --kallsyms kallsyms", "report --stdio -D"):
            with self.subTest(line):
                self.check(shlex.split(line), PERF_PAGER="cat > paged.out")
                paged = (self.path / "paged.out").read_bytes()
                self.assertIn(b"PWN", paged)
                self.assertIsNone(flaws(paged), line)

    def test_a_pipe_gets_the_bytes(self):
        self.record()
        for line in ("report --stdio --kallsyms kallsyms -s comm", "script -F comm,tid", "script -F comm,event", "sql --format csv 'select comm from samples'",
                     "report --stdio --tasks"):
            done = subprocess.run([SONDE, *shlex.split(line)], cwd=self.path, env=environment(self.path), capture_output=True)
            with self.subTest(line):
                self.assertIn(NASTY, done.stdout)

    # Messages that quote.

    QUOTING = """
report --stdio -i @
report --@
report -@
report --stdio -s @
report --stdio -F @
report --stdio --percent-limit @
script -i @
script -F @
script --time @
script -s @
annotate --stdio -i @
annotate --stdio @
@
help @
--@
evlist -i @
buildid-list -i @
buildid-cache --add @
inject -i @
diff @ @
fold @
flamegraph @
export -f @
import @
view @
view -o @/x
sql -i @ 'select 1'
sql 'select "@" from nothing'
archive -i @
record -e @ true
record -p @
record -o @/x true
record --call-graph @ true
record -F @ true
stat -e @ true
stat -p @
stat --post @ @
top --stdio -e @
top --stdio -p @
trace -e @ true
trace -p @
list @
probe -x @ -L main
probe -x @ -F
probe -d @
probe --add @
config @
config @.x=1
daemon --base @ ping
daemon --config @ start
ftrace trace -T @ true
sched timehist -i @
sched latency -i @
kmem stat -i @
lock report -i @
c2c report --stdio -i @
mem report --stdio -i @
timechart -i @
timeline @
heatmap @
kwork report -i @
kvm stat report -i @
kallsyms @
bench @
bench sched @
test @
data convert --to-json @/x -i @
version @
doctor @
histogram @
assemble @ x
assemble --disassemble @
check @
iostat @
""".strip().splitlines()

    def test_messages_that_quote(self):
        self.record()
        empty = self.path / f"empty{NASTY_NAME}"
        for name in (NASTY_NAME, empty.name):
            if name == empty.name:
                empty.write_bytes(b"not a recording")
            for line in self.QUOTING:
                words = [word.replace("@", name) for word in shlex.split(line)]
                with self.subTest(line):
                    self.check(words)

    def test_configuration_that_is_wrong(self):
        for text in (b"[core]\nx" + NASTY.replace(b"\n", b"") + b"\n", b"[" + NASTY.replace(b"\n", b""),
                     b"[report]\npercent-limit = " + NASTY.replace(b"\n", b"") + b"\n"):
            (self.path / "bad.conf").write_bytes(text)
            for line in ("report --stdio", "config -l", "config core.x"):
                with self.subTest(line):
                    self.check(shlex.split(line), PERF_CONFIG=str(self.path / "bad.conf"))


if __name__ == "__main__":
    sys.argv = sys.argv[:1]
    unittest.main()
