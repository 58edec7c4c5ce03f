#!/usr/bin/env python3
"""BPF programs that take arguments of their probes: what a program is passed is what the probed program prints, and what the
kernel's tracer records for the same definition. Needs root."""
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SONDE = os.environ["SONDE"]

# Each round prints what the probes below are to fetch; the last one passes a pointer to nowhere.
PROBED = r"""
#include <stdint.h>
#include <stdio.h>
#include <string.h>
struct part { int8_t small; uint16_t port; int64_t big; };
struct node { struct node* next; struct part part; unsigned flags : 3, kind : 5; };
static int counter = -5;
static volatile int sink;
__attribute__((noinline)) long work(int n, struct node* p) {
  char text[32];
  long on_stack = n * 1000L - 1;
  memset(text, n, sizeof text);
  __asm__ volatile("nop" ::"r"(text), "m"(on_stack) : "memory");
  puts("");  // on the stack
  return -n * 3L + (p == 0);
}
static inline __attribute__((always_inline)) void inlined(int v) {
  sink = v;
  __asm__ volatile("nop");
}
int main(void) {
  struct node nodes[5];
  for (int i = 0; i < 5; ++i)
    nodes[i] = (struct node){&nodes[(i + 1) % 5], {-i, 65530 + i, -(1L << 40) - i}, i & 7, i + 9};
  for (int i = 0; i < 5; ++i) {
    struct node* p = &nodes[i];
    int n = i - 2;
    --counter;
    long result = work(n, p);
    printf("member %d %d %d\n", n, p->next->part.small, p->part.port);
    printf("bits %ld %d %d\n", (long)p->part.big, p->flags, p->kind);
    printf("global %d %d %ld\n", counter, (int8_t)n, (long)(uint32_t)n);
    printf("stack %ld %d\n", n * 1000L - 1, (char)n);
    printf("returned %ld\ninside %d\ninside %d\n", result, n, n * 7);
    inlined(n);
    inlined(n * 7);
  }
  work(77, (struct node*)8);
  return 0;
}
"""
LINE = PROBED.splitlines().index('  puts("");  // on the stack') + 1
SECTIONS = {
    "member": "member=work n p->next->part.small p->part.port",
    "bits": "bits=work p->part.big p->flags p->kind",
    "global": "global=work counter n:s8 %di:u32",
    "stack": f"stack=probed.c:{LINE} on_stack text[2]",
    "returned": "returned=work%return $retval",
    "inside": "inside=inlined v",
}
HEAD = r"""
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
struct {
  __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
  __uint(key_size, 4);
  __uint(value_size, 4);
  __uint(max_entries, __NR_CPUS__);
} channel SEC(".maps");
__attribute__((noinline)) static int tell(void* context, long which, long error, long* a) {
  long told[] = {which, error, a[0], a[1], a[2]};
  return bpf_perf_event_output(context, &channel, BPF_F_CURRENT_CPU, told, sizeof told);
}
char _license[] SEC("license") = "GPL";
"""
# The function that it calls follows it in the object, and its loop jumps backwards: both are to survive what is put in front.
PROGRAM = r"""
SEC("exec=%s;%s") int on_%d(void* context, int error%s) {
  long a[3] = {0, 0, 0}, given[] = {%s};
  for (int i = 0; i < %d; ++i) {
    a[i] = given[i];
    __asm__ volatile("" ::: "memory");
  }
  return tell(context, %d, error, a) == 0;
}
"""


def program(app, sections):
    text = HEAD
    for index, section in enumerate(sections):
        count = min(len(section.split()) - 1, 3)
        names = [f"given{i}" for i in range(count)]
        text += PROGRAM % (app, section, index, "".join(f", long {name}" for name in names), ", ".join(names) or 0, max(count, 1),
                           index)
    return text


class ProgramArgumentsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.path = Path(directory.name)
        (cls.path / "probed.c").write_text(PROBED)
        subprocess.run(["gcc", "-g", "-O1", "-o", "probed", "probed.c"], cwd=cls.path, check=True)

    def run_sonde(self, *arguments, status=0):
        run = subprocess.run([SONDE, *arguments], cwd=self.path, text=True, timeout=120, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(run.returncode, status, run.stderr)
        return run

    def record(self, *sections):
        (self.path / "prog.c").write_text(program("./probed", sections))
        return self.run_sonde("record", "-o", "perf.data", "-e", "bpf-output/no-inherit,name=told/", "-e",
                              "./prog.c/map:channel.event=told/", "-a", "--", "./probed").stdout

    def told(self):
        """What the programs were passed: (program, error, three arguments)."""
        text = self.run_sonde("script", "-i", "perf.data", "-F", "comm,event,bpf-output").stdout
        for sample in re.findall(r"told:.*\n((?:\s+(?:BPF output: )?[0-9a-f]{4}: .*\n)+)", text):
            digits = "".join(re.findall(r"[0-9a-f]{4}: ((?:[0-9a-f]{2} )+)", sample)).replace(" ", "")
            words = [int.from_bytes(bytes.fromhex(digits[at:at + 16]), "little", signed=True) for at in range(0, 80, 16)]
            yield words[0], words[1], words[2:]

    def test_arguments_are_what_the_program_prints(self):
        printed = self.record(*SECTIONS.values())
        told = list(self.told())
        for index, (name, section) in enumerate(SECTIONS.items()):
            values = [words.split()[1:] for words in printed.splitlines() if words.startswith(name + " ")]
            expected = [[int(value) for value in value_list] for value_list in values]
            self.assertGreaterEqual(len(expected), 5)
            count = len(section.split()) - 1
            got = [arguments[:count] for which, error, arguments in told if which == index and error == 0]
            # The last call, of 77, follows those that are printed, where it has nothing to be read through a pointer.
            self.assertEqual(got[:len(expected)], expected, name)
            self.assertEqual(len(got), len(expected) + (name in ("global", "stack", "returned")), name)
        failed = [(which, arguments) for which, error, arguments in told if error != 0]
        self.assertEqual(sorted(failed), [(0, [0, 0, 0]), (1, [0, 0, 0])])

    def test_the_tracer_records_the_same(self):
        self.record("tracer=work n p->part.port p->part.big")
        told = [arguments for _, error, arguments in self.told() if error == 0]
        text = self.run_sonde("script", "-i", "perf.data", "-F", "event,trace").stdout
        fields = re.findall(r"perf_bpf_probe:tracer: .* n=(\S+) port=(\S+) big=(\S+)", text)
        self.assertEqual(told, [[int(value, 0) for value in values] for values in fields][:5])
        self.assertEqual(len(fields), 6)

    def test_places_with_other_registers_are_events_of_their_own(self):
        self.record("inside=inlined v")
        events = self.run_sonde("evlist", "-i", "perf.data").stdout.split()
        places = [event for event in events if event.startswith("perf_bpf_probe:")]
        self.assertIn(places, (["perf_bpf_probe:inside"], ["perf_bpf_probe:inside", "perf_bpf_probe:inside_1"]))
        self.assertEqual([error for _, error, _ in self.told()], [0] * 10)

    def test_what_no_program_takes_is_said(self):
        wrong = {
            "w=work n p p->next counter": "takes 3 arguments, and the probe has 4",
            "w=work p->part": "name a member of it",
            "w=work nosuch": "no variable 'nosuch'",
            "w=work $comm": "helper function",
            "w=work%return n": "record $retval",
            "w=nosuch n": "no function 'nosuch'",
            "a-b=work n": "cannot be the name of an event",
            "g:w=work n": "an event without a group",
        }
        for section, words in wrong.items():
            (self.path / "wrong.c").write_text(program("./probed", [section]))
            run = self.run_sonde("record", "-o", "perf.data", "-e", "./wrong.c", "--", "true", status=129)
            self.assertIn(words, run.stderr, section)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
