#!/usr/bin/env python3
"""Where probes go and what they fetch, in all of a program: `sonde probe` against `perf probe` for every function, line and variable
of a program in C and one in C++, without and with optimisation, by gcc and, if it is there, clang.

Whatever perf can do must come out the same: definitions (-D), source lines (-L), variables (-V, also with --externs and --range),
names (-F). Where perf finds nothing, or gives up, nothing is compared. Sonde refuses some of what perf defines: floating-point
numbers and structures as a whole, and variables of which perf mistakes the value for an address; its message must then say so.
Of clang's optimised programs only names and lines are compared: perf takes them for unoptimised ones, and moves probes."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import side_by_side

SONDE = os.environ["SONDE"]
PERF = side_by_side.needed_perf()

C_PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum color { RED, GREEN };
struct inner { int state; char name[16]; };
struct node { struct node *next; struct inner in; struct inner *pin; union { int u1; long u2; }; short arr[4]; char *text;
  enum color c; double weight; };
typedef struct node node_t;
static int counter = 3;
int global_count = 7;
const char *global_name = "x";
struct node global_node;
static inline __attribute__((always_inline)) int twice(int x)
{
  int r = x * 2;
  counter += r;
  return r;
}
static int helper(node_t *n, int k)
{
  int sum = 0;
  for (int i = 0; i < k; i++) {
    int t = n->arr[i & 3] + twice(i);
    sum += t;
  }
  return sum;
}
__attribute__((noinline)) int leaf(struct node *n, unsigned long size, char *s, float f, double d, char c, unsigned char uc,
                                   long long *lp)
{
  int a[10];
  char buf[32];
  struct inner local = n->in;
  const int konst = 5;
  snprintf(buf, sizeof buf, "%s %lu %f", s, size, f + d);
  a[0] = local.state + buf[0] + konst;
  a[1] = c + uc + *lp;
  global_count += a[0] + a[1];
  return helper(n, 4) + global_count;
}
_Bool flagged(_Bool b, enum color col, void (*fn)(int), const volatile unsigned short us)
{
  if (b)
    fn(col);
  return us > 3;
}
static void cb(int v)
{
  counter += v;
}
static long recurse(long depth, struct node *list)
{
  long total = depth;
  if (list && depth < 10)
    total += recurse(depth + 1, list->next);
  while (list) {
    total += list->in.state;
    list = list->next;
  }
  return total;
}
__attribute__((noinline)) unsigned many(int a, int b, int c, int d, int e, int f, int g, int h)
{
  unsigned sum = a + b + c + d;
  sum ^= e + f;
  for (unsigned i = 0; i < 3; i++) {
    unsigned part = sum + g * i;
    if (part & 1)
      sum += part;
    else
      sum -= h;
  }
  return sum;
}
int main(int argc, char **argv)
{
  struct node n;
  long long z = argc;
  memset(&n, 0, sizeof n);
  n.text = argv[0];
  int r = leaf(&n, argc, argv[0], 1.0f, 2.0, 'c', 'u', &z);
  printf("%d %d\n", r, counter);
  r += flagged(argc > 1, GREEN, cb, argc);
  r += recurse(argc, &n) + many(1, 2, 3, 4, argc, 6, 7, 8);
  return r == 17;
}
"""
CPP_PROGRAM = r"""
#include <cstdio>
#include <string>
#include <vector>
namespace outer {
int shared = 4;
class Account {
 public:
  explicit Account(int start) : balance_(start) {}
  int deposit(int amount, const char* why);
  int peek() const { return balance_; }
 private:
  int balance_;
};
int Account::deposit(int amount, const char* why)
{
  int before = balance_;
  balance_ += amount + shared;
  std::printf("%s %d\n", why, before);
  return balance_;
}
struct Base {
  int b = 1;
  virtual int run_base(int v) { return v + b; }
};
}
template <typename T>
T twice(T v)
{
  return v + v;
}
static int walk(const std::vector<int>& numbers, int limit)
{
  int sum = 0;
  for (int number : numbers) {
    if (number > limit)
      break;
    sum += number;
  }
  return sum;
}
int over(int a)
{
  return a + outer::shared;
}
int main(int argc, char** argv)
{
  outer::Account account(argc);
  int x = account.deposit(5, argv[0]) + account.peek();
  outer::Base base;
  std::string s = "abc";
  std::vector<int> v{1, 2, 3};
  auto add = [&](int q) { return q + x; };
  return base.run_base(x) + twice(3) + walk(v, argc) + add(2) + over(1) + int(s.size());
}
"""
FUNCTIONS = {
    "c": {"twice": "x r", "helper": "n k sum i t n->arr[1] n->next->in.state",
          "leaf": "n size s c uc lp a a[2] buf buf:string konst f d local n->in.state n->in.name:string n->pin->state n->text:string "
                  "n->u2 n->c n->weight s:string uc:u32 c:x counter global_count global_name:string global_node.in.state $params",
          "flagged": "b col fn us $params $vars", "cb": "v", "recurse": "depth list total list->next->text:string $vars",
          "many": "a b c d e f g h sum i part $params $vars",
          "main": "argc argv z n r n.in.state n.arr[2] argv[0]:string $vars"},
    "cc": {"deposit": "amount why why:string this before shared $params", "peek": "this", "walk": "limit numbers sum number",
           "over": "a shared", "main": "argc argv x $params", "run_base": "", "Account": "start"},
}
# Why an argument that perf defines may be missing from ours.
REASONS = re.compile(r"floating-point|as a whole|it is computed|is split between|pointer was optimised out|always the same address|"
                     r"which probes cannot re|only its value at the function's entry|is optimised out")



def explained_names(messages, definition):
    """The names, as perf gives them, of the arguments that a reason for leaving them out names itself."""
    asked = definition.split()[1:]
    names = set()
    for line in filter(REASONS.search, messages.splitlines()):
        for quoted in re.findall(r"'([^' ]+)'", line):
            # A reason may name the whole argument, or the variable that it begins with.
            for argument in [quoted] + [one for one in asked if re.split(r"->|\.|\[|:", one)[0] == quoted]:
                what, _, kind = argument.partition(":")
                name = re.sub(r"\[\d+\]", "", re.split(r"->|\.", what)[-1])
                names |= {name, f"{name}_{kind}"}
    return names


problems = []
compared = 0
refused = 0


def run(tool, *arguments):
    done = subprocess.run([tool, "probe", *arguments], capture_output=True, text=True, check=False)
    return done.stdout, done.stderr


def symbols_of(binary):
    """Addresses by name, and what text is shifted by from addresses to offsets in the file (as data are fetched)."""
    table = {}
    for line in subprocess.run(["nm", binary], capture_output=True, text=True, check=True).stdout.splitlines():
        fields = line.split()
        if len(fields) == 3:
            table[fields[2]] = int(fields[0], 16)
            table.setdefault(re.sub(r"^_ZN\d+[a-z]+\d+([a-z]+)E$", r"\1", fields[2]), int(fields[0], 16))
    for line in subprocess.run(["readelf", "-lW", binary], capture_output=True, text=True, check=True).stdout.splitlines():
        fields = line.split()
        if fields[:1] == ["LOAD"] and "E" in fields[6:-1]:
            return table, int(fields[2], 16) - int(fields[1], 16)
    raise AssertionError(f"{binary} has no code")


class Binary:
    def __init__(self, path, source, language, optimised):
        self.path, self.source, self.language, self.optimised = path, source, language, optimised
        self.is_clang_optimised = optimised and "clang" in path
        self.symbols, self.shift = symbols_of(path)
        self.lines = source.read_text().count("\n")

    def problem(self, what, perf, ours):
        problems.append(f"{self.path}: {what}\n  perf:  {perf}\n  sonde: {ours}")

    def places(self, text):
        """Offset: {argument: fetch} of each definition."""
        found = {}
        for line in text.splitlines():
            kind, where, *arguments = line.split()
            offset = int(where.rsplit(":", 1)[1], 16)
            named = {}
            for argument in arguments:
                name, fetch = argument.split("=", 1) if "=" in argument else ("", argument)
                named[name] = re.sub(r"@(\w+)\+(\d+)", self.file_place, fetch)
            found[(kind.split(":")[0], offset)] = named
        return found

    def file_place(self, match):
        if match[1] not in self.symbols:
            return match[0]
        return f"@+{self.symbols[match[1]] + int(match[2]) - self.shift:#x}"

    def compare_definition(self, definition):
        global compared, refused
        perf, _ = run(PERF, "-x", self.path, "-D", definition)
        if not perf:
            return
        ours, messages = run(SONDE, "-x", self.path, "-D", definition)
        compared += 1
        theirs, mine = self.places(perf), self.places(ours)
        explained = explained_names(messages, definition)
        if not mine and all(set(named) & explained for named in theirs.values()):
            refused += 1
            return
        # Overloads and copies that perf has no symbol for are more places, not others.
        missing = set(theirs) - set(mine)
        more = set(mine) - set(theirs) if self.language == "c" else set()
        left_out = "left out" in messages
        if self.is_clang_optimised and theirs.keys() & mine.keys():
            missing = set()
        missing = [place for place in missing if not (left_out and set(theirs[place]) & explained)]
        if missing or more:
            self.problem(definition, perf, ours + messages)
            return
        for place in set(theirs) & set(mine):
            for name, fetch in theirs[place].items():
                if name not in mine[place]:
                    if name in explained:
                        refused += 1
                    else:
                        self.problem(definition, perf, ours + messages)
                # clang gives pointers no size: perf then leaves the type out.
                elif mine[place][name] not in (fetch, fetch + ":x64"):
                    self.problem(definition, perf, ours + messages)

    def compare_text(self, *arguments):
        global compared
        perf, _ = run(PERF, "-x", self.path, *arguments)
        if not perf or "(null)" in perf:
            return
        ours, messages = run(SONDE, "-x", self.path, *arguments)
        compared += 1
        perf, ours = self.shown(perf, arguments), self.shown(ours, arguments)
        if perf != ours:
            self.problem(" ".join(arguments), perf, ours + messages)

    def compare_limit(self, function):
        """Both refuse a function that is at more places than --max-probes says."""
        global compared
        arguments = ["--max-probes", "1", "-V", function]
        perf, _ = run(PERF, "-x", self.path, *arguments)
        ours, messages = run(SONDE, "-x", self.path, *arguments)
        compared += 1
        if bool(perf) != bool(ours) or bool(ours) == ("raise --max-probes" in messages):
            self.problem(" ".join(arguments), perf, ours + messages)

    def shown(self, text, arguments):
        """Without ranges that contain nothing. C++: perf lists a demangled symbol twice now and then, and names places by symbols that it may not have."""
        text = re.sub(r"(?<=[\[,])(\d+)-\1(,|(?=\]))", "", text).replace(",]", "]")
        if self.language == "c":
            return text
        if arguments[0] == "-F":
            return "\n".join(sorted(set(text.splitlines())))
        return re.sub(r"@<[^>+]*\+", "@<", text)

    def cases(self):
        file = self.source.name
        numbers = range(1, self.lines + 1, 1 if self.path.endswith("gccO2") else 4)
        yield self.compare_text, ["-F"]
        yield self.compare_text, ["-L", file]
        yield self.compare_text, ["-L", f"{file}:10-40"]
        for line in numbers:
            yield self.compare_definition, [f"{file}:{line}"]
        if self.is_clang_optimised:
            return
        for line in numbers[::3]:
            yield self.compare_text, ["-V", f"{file}:{line}"]
        for function, variables in FUNCTIONS[self.language].items():
            yield self.compare_text, ["-L", function]
            yield self.compare_text, ["-V", function]
            yield self.compare_text, ["-V", function, "--externs", "--range"]
            if self.language == "c":  # in C++ perf does not know all places
                yield self.compare_limit, [function]
            yield self.compare_definition, [function]
            yield self.compare_definition, [f"{function}%return $retval"]
            yield self.compare_definition, [f"{function}+4"]
            for variable in variables.split():
                yield self.compare_definition, [f"{function} {variable}"]
            for line in (2, 4, 6):
                yield self.compare_definition, [f"{function}:{line} $vars"]


def builds(directory):
    for language, program, compilers in (("c", C_PROGRAM, ("gcc", "clang-19")), ("cc", CPP_PROGRAM, ("g++", "clang++-19"))):
        source = directory / f"program.{language}"
        source.write_text(program)
        for compiler in filter(shutil.which, compilers):
            for flags in (["-O0"], ["-O2"], ["-O2", "-gdwarf-4"]):
                if "-gdwarf-4" in flags and compiler != "gcc":
                    continue
                binary = directory / f"{compiler.replace('+', 'x').replace('-', '')}{''.join(flags).replace('-', '')}"
                # Compiled in the source's own directory, clang gives the file the number 0, which perf takes for none.
                subprocess.run([compiler, "-g", *flags, "-o", binary, source], check=True, cwd=directory.parent)
                yield Binary(str(binary), source, language, flags[0] != "-O0")


def main():
    with tempfile.TemporaryDirectory() as directory:
        cases = [case for binary in builds(Path(directory)) for case in binary.cases()]
        with ThreadPoolExecutor(2) as pool:
            for done in [pool.submit(check, *arguments) for check, arguments in cases]:
                done.result()
    for problem in problems[:20]:
        print(problem)
    print(f"{compared} answers compared, {len(problems)} differ; {refused} arguments refused as they should be")
    if problems or compared < 300:
        sys.exit(1)


main()
