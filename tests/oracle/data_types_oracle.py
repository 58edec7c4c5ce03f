#!/usr/bin/env python3
"""Data types: `report -s type,typeoff` and `annotate --data-type` on a program whose accesses are known, with offsets and sizes
from gdb.

The program walks arrays, lists, and address-taken, stack and thread-local variables, through pointers that are not variables.
Samples fall where the machine puts them, so a function may show only some of its accesses, but never a wrong one, and every one
that touches memory must have a type.

  SONDE=build/release/sonde tests/oracle/data_types_oracle.py
"""
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

SONDE = os.environ["SONDE"]
PROGRAM = r"""
#include <cstdio>
#include <cstdlib>
#include <cstring>

struct Inner { int a; int b; };
struct Item { long key; Inner inner; double weight; char tag[8]; };
struct Node { long value; Node* next; char pad[48]; Item* item; };
struct Table { int count; Item slots[64]; union { long l; double d; } either; };
struct Weighed { Weighed* next; long key; Inner inner; double weights[4]; };
namespace shapes {
class Counter {
 public:
  void __attribute__((noinline)) add(long n) { for (long i = 0; i < n; ++i) *(volatile long*)&hits_ = i; }
  long hits() const { return hits_; }
 private:
  char head_[16] = {};
  long hits_ = 0;
};
}

Table table;
static thread_local Item of_thread;

__attribute__((noinline)) long walk_items(volatile Item* items, int n) {
  long sum = 0;
  for (int i = 0; i < n; ++i) sum += items[i].inner.b;
  return sum;
}
__attribute__((noinline)) long walk_list(const Node* node) {
  long sum = 0;
  while (node) { sum += node->value + node->item->inner.a; node = node->next; }
  return sum;
}
__attribute__((noinline)) void walk_table(int n) {
  volatile Table* t = &table;
  for (int i = 0; i < n; ++i) { table.slots[i & 63].key = i; t->count = i; }
}
__attribute__((noinline)) void fill(Item* item) { *(volatile long*)&item->key = 3; }
__attribute__((noinline)) long walk_stack(int n) {
  volatile Item local;
  memset((void*)&local, 0, sizeof local);
  long sum = 0;
  for (int i = 0; i < n; ++i) { local.inner.b = i; sum += local.inner.a; }
  fill((Item*)&local);
  return sum + local.key;
}
__attribute__((noinline)) void walk_thread(int n) {
  volatile Item* item = &of_thread;
  for (int i = 0; i < n; ++i) item->weight = i;
}

// The place of the array is counted into the index: 8(%rdi,%rdx,8), where `key` is at 8.
__attribute__((noinline)) void weigh(Weighed* node, long key) {
  for (; node; node = node->next) node->weights[key & 3] += 1.5;
}

int main(int argc, char** argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 1;
  const int n = 4096;
  Item* items = (Item*)calloc(n, sizeof(Item));
  Node* nodes = (Node*)calloc(n, sizeof(Node));
  Weighed* weighed = (Weighed*)calloc(n, sizeof(Weighed));
  for (int i = 0; i + 1 < n; ++i) weighed[i].next = &weighed[i + 1];
  for (int i = 0; i < n; ++i) {
    nodes[i].next = i + 1 < n ? &nodes[i + 1] : nullptr;
    nodes[i].item = &items[i * 17 % n];
  }
  shapes::Counter counter;
  long total = 0;
  for (int r = 0; r < rounds; ++r) {
    total += walk_items(items, n) + walk_list(nodes) + walk_stack(n);
    walk_table(n);
    walk_thread(n);
    weigh(weighed, r);
    counter.add(n);
  }
  printf("%ld %ld\n", total, counter.hits());
}
"""
# Types in the units that use them, or in separate type units; in the program, or in files beside it.
VARIANTS = ((), ("-fdebug-types-section",), ("-gdwarf-4", "-fdebug-types-section"), ("-gsplit-dwarf", "-fdebug-types-section"))
NOTHING = {"(unknown) +0 (no field)", "(stack operation) +0 (no field)", "(stack canary) +0 (no field)"}
ACCESSES = {
    "walk_items": {"struct Item +0xc (inner.b)"},
    "walk_list": {"struct Node +0 (value)", "struct Node +0x8 (next)", "struct Node +0x40 (item)", "struct Item +0x8 (inner.a)"},
    "walk_table": {"struct Item +0 (key)", "struct Table +0x8 (slots[0].key)", "struct Table +0 (count)"},
    "walk_stack": {"struct Item +0x8 (inner.a)", "struct Item +0xc (inner.b)", "struct Item +0 (key)", "struct Item +0x10 (weight)"},
    "walk_thread": {"struct Item +0x10 (weight)"},
    "weigh": {"struct Weighed +0 (next)", "struct Weighed +0x18 (weights[0])"},
    "shapes::Counter::add": {"class shapes::Counter +0x10 (hits_)"},
}
ROW = re.compile(r"^\s*\d+\.\d\d +(0|0x[0-9a-f]+) +(0|0x[0-9a-f]+)  ( *)([^\t]*?)(?:\t(.*?))?( \{|;)$")


def run(*command, cwd=None):
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd)
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout


def members(layout):
    """{"inner.b": (offset, size)} from the lines of one type."""
    found, names = {}, []
    for line in layout:
        row = ROW.match(line)
        if not row:
            continue
        offset, size, indent, _, name, _ = row.groups()
        depth = len(indent) // 4
        names = names[: max(depth - 1, 0)] + ([name or ""] if depth else [])
        if depth:
            found[".".join(part for part in names if part)] = (int(offset, 16), int(size, 16))
    return found


class DataTypes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.base = Path(cls.directory.name)
        source = cls.base / "shapes.cc"
        source.write_text(PROGRAM)
        cls.recordings = {}
        for compiler in ("g++", "clang++"):
            if not shutil.which(compiler):
                continue
            for i, flags in enumerate(VARIANTS):
                program = cls.base / f"{compiler}-{i}"
                run(compiler, "-O2", "-g", *flags, "-o", program, source, cwd=cls.base)
                recording = cls.base / f"{program.name}.data"
                run(SONDE, "record", "-q", "-e", "cpu-clock:u", "-F", "4000", "-o", recording, program, "8000")
                cls.recordings[" ".join((compiler, *flags))] = (program, recording)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def test_each_function_touches_what_it_should(self):
        for compiler, (_, recording) in self.recordings.items():
            text = run(SONDE, "report", "--stdio", "-i", recording, "-s", "sym,typeoff", "-t", ";", "-q")
            known = 0
            for line in text.splitlines():
                parts = line.split(";")
                if len(parts) < 3 or not parts[1].startswith("[.] "):
                    continue
                function, what = parts[1][4:].strip(), parts[-1].strip()
                function = function.removesuffix("(int)").split("(")[0]
                if function not in ACCESSES:
                    continue
                with self.subTest(compiler=compiler, function=function):
                    self.assertIn(what, ACCESSES[function] | NOTHING)
                known += what not in NOTHING
            self.assertGreaterEqual(known, 3, text)

    def test_no_access_of_the_program_is_unknown(self):
        for compiler, (_, recording) in self.recordings.items():
            for function in ACCESSES:
                text = run(SONDE, "annotate", "--stdio", "-i", recording, "--data-type", "--type-stat", "-q", "-s", function)
                # g++ 12 gives split units the address of the TLS block in the file instead of an offset in it.
                if function == "walk_thread" and compiler.startswith("g++ -gsplit-dwarf"):
                    continue
                if function == "weigh":  # what its index leads to is not known
                    continue
                with self.subTest(compiler=compiler, function=function):
                    self.assertNotIn("total 0,", text)
                    total = int(re.search(r"total (\d+)", text)[1])
                    bad = sum(map(int, re.findall(r"(\d+) : (?:no_var|no_typeinfo|bad_offset|no_dbginfo)", text)))
                    self.assertLessEqual(bad, total * 0.05, text)  # a constant that the compiler put into memory

    def test_layouts_are_those_of_gdb(self):
        if not shutil.which("gdb"):
            self.skipTest("no gdb")
        for compiler, (program, recording) in self.recordings.items():
            if "-gsplit-dwarf" in compiler:  # gdb does not read type units in split files
                continue
            text = run(SONDE, "annotate", "--stdio", "-i", recording, "--data-type", "-q", "-d", program.name)
            checked = 0
            for block in text.split("Annotate type: ")[1:]:
                lines = block.splitlines()
                name = lines[0].split("'")[1]
                if not name.startswith(("struct ", "class ")):
                    continue
                plain = name.split(" ", 1)[1]
                wanted = members(lines)
                questions = []
                for path in wanted:
                    place = f"(('{plain}'*)0)->{path}"
                    questions += ["-ex", f"print/d (long)&({place})", "-ex", f"print/d sizeof({place})"]
                answers = re.findall(r"^\$\d+ = (\d+)", run("gdb", "-batch", "-nx", *questions, program), re.MULTILINE)
                with self.subTest(compiler=compiler, type=name):
                    self.assertEqual(len(answers), 2 * len(wanted))
                    numbers = iter(map(int, answers))
                    self.assertEqual(wanted, {path: (next(numbers), next(numbers)) for path in wanted})
                checked += 1
            self.assertGreaterEqual(checked, 1, text)

    def test_no_debug_information_is_said(self):
        program, recording = next(iter(self.recordings.values()))
        stripped = self.base / "stripped"
        shutil.copy(program, stripped)
        run("strip", "--strip-debug", stripped)
        shutil.copy(stripped, program)
        done = subprocess.run([SONDE, "report", "--stdio", "-i", recording, "-s", "type"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("%  (unknown)", done.stdout)
        self.assertNotIn("struct Node", done.stdout)
        self.assertRegex(done.stderr, re.escape(str(program)) + ": no types of data.*-g")


if __name__ == "__main__":
    unittest.main(argv=["data_types_oracle"])
