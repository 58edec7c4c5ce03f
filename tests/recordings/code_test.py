#!/usr/bin/env python3
"""Recordings, assembled here, of a program that is compiled here: inlined functions in call stacks that the processor kept, against
addr2line; and `annotate` where some of the code is missing."""
import os
import re
import subprocess
import sys
import unittest

from own_directory import OwnDirectoryTest

SONDE = os.environ["SONDE"]
PROGRAM = """
volatile int sink;
__attribute__((noinline)) void leaf(int n) { sink = n; }
__attribute__((always_inline)) static inline void twice(int n) { leaf(n); leaf(n + 1); }
__attribute__((always_inline)) static inline void often(int n) { twice(n); sink = n; }
__attribute__((noinline)) void middle(int n) { often(n); sink = n; }
__attribute__((always_inline)) static inline void begin(void) { middle(sink); sink = 0; }
void _start(void) { begin(); for (;;) sink = 1; }
"""
HEAD = """\
feature ARCH: "x86_64"
event : name = cycles, id = {{ 7 }}, {{ sample_period, sample_freq }} = 4000, \\
  sample_type = IP|TID|TIME|CPU|PERIOD|IDENTIFIER{sampled}, freq = 1, sample_id_all = 1{more}
MMAP mode=kernel pid=-1 tid=0 start=0xffffffff81000000 length=0x1000000 offset=0xffffffff81000000 \
path="[kernel.kallsyms]_text" time=0 cpu=0 event=0
COMM pid=20 tid=20 comm="program" time=1000 cpu=0 event=0
MMAP2 mode=user pid=20 tid=20 start={start:#x} length={length:#x} offset={offset:#x} path="{path}" protection=5 flags=2 time=1000 cpu=0 event=0
"""


class CodeTest(OwnDirectoryTest):
    def run_it(self, *command, status=0, stdin=None):
        done = subprocess.run([str(c) for c in command], cwd=self.path, input=stdin, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def setUp(self):
        super().setUp()
        (self.path / "program.c").write_text(PROGRAM)
        self.run_it("gcc", "-O2", "-g", "-fno-optimize-sibling-calls", "-static", "-nostdlib", "-no-pie", "-o", "program", "program.c")
        segments = self.run_it("readelf", "-lW", "program").stdout
        offset, start, length = re.search(r"LOAD +(\w+) (\w+) \w+ (\w+) \w+ R E", segments).groups()
        self.place = {"offset": int(offset, 16), "start": int(start, 16), "length": int(length, 16) + 0xfff & ~0xfff}
        symbols = self.run_it("nm", "program").stdout
        self.starts = {name: int(at, 16) for at, name in re.findall(r"^(\w+) [tT] (\w+)$", symbols, re.MULTILINE)}

    def assemble(self, samples, sampled="", more=""):
        text = HEAD.format(**self.place, path=self.path / "program", sampled=sampled, more=more) + "\n".join(samples) + "\n"
        (self.path / "text").write_text(text)
        self.run_it(SONDE, "assemble", "text", "perf.data")

    def call_of(self, caller, callee):
        code = self.run_it("objdump", "-d", "--no-show-raw-insn", f"--disassemble={caller}", "program").stdout
        return int(re.search(rf"^ *(\w+):\s+call\s+\w+ <{callee}>", code, re.MULTILINE)[1], 16)

    def test_call_stacks_of_the_processor_show_inlined_functions(self):
        calls = [self.call_of("middle", "leaf"), self.call_of("_start", "middle")]
        entries = [(calls[0], self.starts["leaf"]), (calls[1], self.starts["middle"])]
        branches = ",".join(f"{source:#x},{target:#x},0x0" for source, target in entries)
        ip = self.starts["leaf"]
        self.assemble([f"SAMPLE id=7 mode=user ip={ip:#x} pid=20 tid=20 time=5000 cpu=0 period=1 chain=user,{ip:#x} branches={branches}"],
                      "|CALLCHAIN|BRANCH_STACK", ", branch_sample_type = USER|CALL_STACK|NO_FLAGS|NO_CYCLES")

        def chain(*options):
            lines = self.run_it(SONDE, "script", "--unverified-symbols", "-F", "ip,sym", *options).stdout.splitlines()
            return [tuple(line.split(maxsplit=1)) for line in lines if line.strip()]

        expected = []
        for address in [ip, *calls]:
            names = self.run_it("addr2line", "-fie", "program", f"{address:#x}").stdout.splitlines()[::2]
            expected += [f"{name} (inlined)" for name in names[:-1]] + names[-1:]
        self.assertEqual(expected, ["leaf", "twice (inlined)", "often (inlined)", "middle", "begin (inlined)", "_start"])
        self.assertEqual([name for _, name in chain()], expected)
        self.assertEqual([name for _, name in chain("--no-inline")], ["leaf", "middle", "_start"])

    def test_annotate_shows_what_has_code(self):
        (self.path / "kallsyms").write_text("ffffffff81000000 T _text\nffffffff81000100 T do_syscall\nffffffff81000300 t copy_page\n"
                                            "ffffffff81000400 T end_of_code\n")
        places = [("kernel", 0xffffffff81000310, 500), ("user", self.starts["leaf"], 300), ("kernel", 0xffffffff81000110, 200),
                  ("user", self.starts["middle"], 100)]
        self.assemble([f"SAMPLE id=7 mode={mode} ip={ip:#x} pid=20 tid=20 time={time} cpu=0 period={period}"
                       for time, (mode, ip, period) in enumerate(places, 5000)])
        command = [SONDE, "annotate", "--stdio", "--kallsyms", "kallsyms", "--ignore-vmlinux", "--unverified-symbols"]
        done = self.run_it(*command)
        self.assertEqual(re.findall(r"<(\w+)>:$", done.stdout, re.MULTILINE), ["leaf", "middle"])
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertTrue(done.stderr.startswith("Couldn't annotate copy_page, do_syscall: the kernel's code is not here"), done.stderr)
        self.assertTrue(done.stderr.endswith("name its vmlinux with -k, or record with --kcore\n"), done.stderr)
        # What was asked for by name, and is not shown, is an error.
        self.assertEqual(self.run_it(*command, "copy_page", status=1).stdout, "")
        self.assertEqual(self.run_it(*command, "--skip-missing").stderr, "")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
