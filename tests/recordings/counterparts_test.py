#!/usr/bin/env python3
"""Two versions of one program under different names, as in `stat --vs ./old -- ./new`, compared: what did not change shows no
change in tables, folded stacks, pictures and pages, each says what it took for one, and --by-name takes them for two. Recordings
are assembled here, of programs that are compiled here."""
import os
import re
import subprocess
import sys
import unittest

from explorer_data import unpacked
from own_directory import OwnDirectoryTest

SONDE = os.environ["SONDE"]
PROGRAM = """
volatile int sink;
#ifdef NEW
__attribute__((noinline)) void extra(int n) { for (int i = 0; i < n; ++i) sink += i; }
#endif
__attribute__((noinline)) void parse(int n) { for (int i = 0; i < n; ++i) sink += i; }
__attribute__((noinline)) void emit(int n) { for (int i = 0; i < n; ++i) sink += i; }
__attribute__((noinline)) void work(int n) { parse(n); emit(n); sink = n; }
void _start(void) {
#ifdef NEW
  extra(1);
#endif
  for (;;) work(sink);
}
"""
HEAD = """\
feature ARCH: "x86_64"
event : name = cpu-clock, id = {{ 7 }}, type = 1, {{ sample_period, sample_freq }} = 4000, \\
  sample_type = IP|TID|TIME|CPU|CALLCHAIN|PERIOD|IDENTIFIER, freq = 1, sample_id_all = 1
COMM pid={pid} tid={pid} comm="{comm}" time=1000 cpu=0 event=0
"""
MAPPED = """\
MMAP2 mode=user pid={pid} tid={pid} start={start:#x} length={length:#x} offset={offset:#x} path="{path}" protection=5 flags=2 \
time=1001 cpu=0 event=0
"""
SAMPLE = "SAMPLE id=7 mode=user ip={ip:#x} pid={pid} tid={pid} time={time} cpu=0 period=10 chain=user,{chain}\n"
SAID = "compares old with new as one program"


class CounterpartsTest(OwnDirectoryTest):
    def run_it(self, *command, tool=SONDE):
        done = subprocess.run([str(tool), *map(str, command)], cwd=self.path, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def assemble(self, name, comm, pid, objects, chains):
        """`objects`: (path, start, length, offset); `chains`: addresses, the innermost first."""
        text = HEAD.format(pid=pid, comm=comm)
        for path, start, length, offset in objects:
            text += MAPPED.format(pid=pid, path=path, start=start, length=length, offset=offset)
        for i, chain in enumerate(chains):
            text += SAMPLE.format(ip=chain[0], pid=pid, time=2000 + i, chain=",".join(map(hex, chain)))
        (self.path / "text").write_text(text)
        self.run_it("assemble", "text", name)

    def program(self, name, pid, counts, *flags):
        """A recording NAME.data of the program NAME, with so many samples in each function."""
        (self.path / "program.c").write_text(PROGRAM)
        self.run_it("-O1", "-static", "-nostdlib", "-no-pie", *flags, "-o", name, "program.c", tool="gcc")
        segments = self.run_it("-lW", name, tool="readelf").stdout
        offset, start, length = (int(part, 16) for part in re.search(r"LOAD +(\w+) (\w+) \w+ (\w+) \w+ R E", segments).groups())
        at = {symbol: int(address, 16)
              for address, symbol in re.findall(r"^(\w+) T (\w+)$", self.run_it(name, tool="nm").stdout, re.MULTILINE)}
        code = self.run_it("-d", "--no-show-raw-insn", name, tool="objdump").stdout

        def back_in(caller, callee):
            """The return address of that call: five bytes behind it."""
            body = code.partition(f"<{caller}>:")[2].partition("\n\n")[0]
            return int(re.search(rf"^ *(\w+):\s+call\s+\w+ <{callee}>", body, re.MULTILINE)[1], 16) + 5

        def chain(function):
            stack = {"work": ["_start"], "extra": ["_start"]}.get(function, ["work", "_start"])
            return [at[function], *(back_in(caller, callee) for callee, caller in zip([function, *stack], stack))]

        chains = [chain(function) for function, count in counts.items() for _ in range(count)]
        self.assemble(f"{name}.data", name, pid, [(self.path / name, start, length + 0xfff & ~0xfff, offset)], chains)

    def old_and_new(self, new):
        self.program("old", 20, {"work": 2, "parse": 6, "emit": 2})
        self.program("new", 30, new, "-DNEW")

    def rows(self, *options, tool=SONDE):
        """What stands in the rows, without the blanks between columns."""
        lines = self.run_it("diff", "--unverified-symbols", *options, tool=tool).stdout.splitlines()
        return sorted(" ".join(line.split()) for line in lines if line.strip() and not line.startswith("#"))

    def test_what_did_not_change_shows_no_change(self):
        self.old_and_new({"work": 2, "parse": 6, "emit": 2})
        self.assertEqual(self.rows("old.data", "new.data"),
                         ["20.00% +0.00% old [.] emit", "20.00% +0.00% old [.] work", "60.00% +0.00% old [.] parse"])
        self.assertEqual(self.rows("-s", "comm", "old.data", "new.data"), ["100.00% +0.00% old"])
        self.assertEqual(self.rows("-v", "-s", "dso", "old.data", "new.data"), [f"100.00% +0.00% {self.path}/old"])
        self.assertEqual(self.rows("-s", "comm,dso,sym", "old.data", "new.data", "old.data"),
                         ["20.00% +0.00% +0.00% old old [.] emit", "20.00% +0.00% +0.00% old old [.] work",
                          "60.00% +0.00% +0.00% old old [.] parse"])
        folded = self.run_it("fold", "--unverified-symbols", "--diff", "old.data", "new.data")
        self.assertEqual(folded.stdout, "old → new;_start;work 20 20\nold → new;_start;work;emit 20 20\n"
                                        "old → new;_start;work;parse 60 60\n")

        def colors(*files):
            picture = self.run_it("flamegraph", "--unverified-symbols", *files).stdout
            found = re.findall(r'fill="(rgb[^"]*)"', picture)
            self.assertTrue(found)
            return sorted(found)

        self.assertEqual(colors("old.data", "new.data"), colors("old.data", "old.data"))
        self.assertNotEqual(colors("--by-name", "old.data", "new.data"), colors("old.data", "old.data"))

    def test_what_changed_is_below_the_program(self):
        self.old_and_new({"work": 2, "parse": 6, "extra": 2})
        self.assertEqual(self.rows("old.data", "new.data"),
                         ["+20.00% new [.] extra", "20.00% +0.00% old [.] work", "20.00% old [.] emit",
                          "60.00% +0.00% old [.] parse"])
        self.assertEqual(self.run_it("fold", "--unverified-symbols", "--diff", "old.data", "new.data").stdout,
                         "old → new;_start;extra 0 20\nold → new;_start;work 20 20\nold → new;_start;work;emit 20 0\n"
                         "old → new;_start;work;parse 60 60\n")

    def test_it_is_said_and_can_be_turned_off(self):
        self.old_and_new({"work": 2, "parse": 6, "emit": 2})
        shared = ("--unverified-symbols", "old.data", "new.data")
        self.assertIn(f"# {SAID} (not with --by-name)\n", self.run_it("diff", *shared).stdout)
        self.assertNotIn("compares", self.run_it("diff", "-s", "symbol", *shared).stdout)
        self.assertIn(SAID, self.run_it("fold", "--diff", *shared).stderr)
        drawn = self.run_it("flamegraph", *shared)
        self.assertIn(SAID, drawn.stdout)
        self.assertIn(SAID, drawn.stderr)
        self.assertIn("old → new", drawn.stdout)
        self.assertIn("old -&gt; new", subprocess.run([SONDE, "flamegraph", "--encoding", "ISO-8859-1", *shared], cwd=self.path,
                                                      capture_output=True, check=True).stdout.decode("latin-1"))
        self.assertIn(SAID, self.run_it("view", "-o", "page.html", *shared).stderr)
        page = (self.path / "page.html").read_text()
        self.assertIn("old → new", unpacked(page))
        self.assertIn(f"This page {SAID}", page + unpacked(page))

        (self.path / "perf").symlink_to(SONDE)
        perf = self.run_it("diff", *shared, tool=self.path / "perf").stdout
        by_name = self.run_it("diff", "--by-name", *shared).stdout
        self.assertEqual(perf, by_name)
        self.assertNotIn("compares", by_name)
        self.assertEqual(self.rows("--by-name", "-s", "dso", "old.data", "new.data"), ["+100.00% new", "100.00% old"])
        folded = self.run_it("fold", "--diff", "--by-name", *shared)
        self.assertIn("old;_start;work 20 0\n", folded.stdout)
        self.assertIn("new;_start;work 0 20\n", folded.stdout)
        self.assertNotIn("compares", folded.stderr)
        self.assertNotIn(SAID, self.run_it("flamegraph", "--by-name", *shared).stdout)
        self.assertNotIn(SAID, self.run_it("view", "--by-name", "-o", "page.html", *shared).stderr)

    def test_text_of_other_tools(self):
        """Folded stacks say nothing of tasks and objects, only their names do."""
        (self.path / "old.folded").write_text("old;main;parse 6\nold;main;[old] 2\nold;main;[libfoo.so.1.2] 2\n")
        (self.path / "new.folded").write_text("new;main;parse 6\nnew;main;[new] 2\nnew;main;[libfoo.so.1.3] 2\n")
        done = self.run_it("fold", "--diff", "old.folded", "new.folded")
        self.assertEqual(done.stdout, "old → new;main;[libfoo.so.1.3] 2 2\nold → new;main;[new] 2 2\nold → new;main;parse 6 6\n")
        self.assertIn(f"{SAID}, libfoo.so.1.2 with libfoo.so.1.3 as one object", done.stderr)

    def test_executables_and_versions_of_libraries(self):
        """Processes that gave themselves one name, and a newer library; nothing has symbols."""
        for name, pid, library in (("old", 20, "1.2"), ("new", 30, "1.3")):
            self.assemble(f"{name}.data", "server", pid,
                          [(f"/nowhere/{name}", 0x400000, 0x1000, 0), (f"/nowhere/libfoo.so.{library}", 0x7f0000000000, 0x1000, 0)],
                          [[0x400100]] * 3 + [[0x7f0000000100, 0x400200]] * 2)
        self.assertEqual(self.rows("-s", "dso", "old.data", "new.data"), ["40.00% +0.00% libfoo.so.1.2", "60.00% +0.00% old"])
        folded = self.run_it("fold", "--diff", "old.data", "new.data")
        self.assertEqual(folded.stdout, "server;[new] 30 30\nserver;[new];[libfoo.so.1.3] 20 20\n")
        for said in (folded.stderr, self.run_it("diff", "old.data", "new.data").stdout):
            self.assertIn(f"{SAID}, libfoo.so.1.2 with libfoo.so.1.3 as one object", said)

    def test_several_programs_are_not_guessed_at(self):
        (self.path / "before").write_text("a;main;parse 6\nb;main;parse 4\n")
        (self.path / "after").write_text("c;main;parse 6\n")
        done = self.run_it("fold", "--diff", "before", "after")
        self.assertEqual(done.stdout, "a;main;parse 6 0\nb;main;parse 4 0\nc;main;parse 0 6\n")
        self.assertEqual(done.stderr, "")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
