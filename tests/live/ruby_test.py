#!/usr/bin/env python3
"""record --call-graph bpf: functions of Ruby in call chains. A program says of itself which chains it has, with lines, and how much
processor time each of its functions took; the samples must agree. Needs root and Ruby 3.1."""
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

from interpreted_program import RATE, SONDE, InterpretedProgramTest

PERF = shutil.which("perf")
RUBY = "/usr/bin/ruby3.1"

# `spin` takes processor time; before that it notes who called it, and from which line. Each way of calling reaches it through
# another part of the interpreter. Ruby lists its C functions among the callers; in a chain they are native frames.
PROGRAM = r"""
# frozen_string_literal: true
require "json"

$spins = []
C_FUNCTIONS = %w[call each each_with_index eval fork gsub instance_eval instance_exec kill loop map next new public_send resume sort sort_by sum
                 times to_proc yield]

def now = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)

def spin(share)
  chain = caller_locations(1).map { |at| [at.label, at.path, at.lineno] }.reject { |label, _, _| C_FUNCTIONS.include?(label) }
  first = now
  total = 0
  while now - first < share * SECONDS
    i = 0
    while i < 2000
      total += i
      i += 1
    end
  end
  $spins << [chain, now - first]
end

def plain
  spin(0.3)
end

class Shape
  def area
    spin(0.2)
  end

  def self.of_all
    new.area
  end

  define_method(:defined) { spin(0.1) }

  def method_missing(name, *)
    name == :nothing ? spin(0.1) : super
  end

  def respond_to_missing?(*) = true

  def to_s
    spin(0.05)
    "shape"
  end

  def <=>(_other)
    spin(0.1)
    0
  end
end

class Square < Shape
  def area
    super
    1
  end
end

def with_blocks
  [1].each do |one|
    one.times { in_block }
  end
end

def in_block = spin(0.1)

def key_of(number)
  spin(0.05)
  number
end

def sorted
  [2, 1].sort_by { |number| key_of(number) }
end

def handler
  raise ArgumentError
rescue ArgumentError
  handled
ensure
  ended
end

def handled = spin(0.1)
def ended = spin(0.05)

def ünïcode_ñame
  spin(0.1)
end

def deep(levels)
  levels > 0 ? deep(levels - 1) : spin(0.2)
end

def thread_body = spin(0.2)
def fiber_body = spin(0.1)
def fiber_again = spin(0.1)
def outside = spin(0.05)

def fibers
  fiber = Fiber.new do
    fiber_body
    Fiber.yield
    fiber_again
  end
  fiber.resume
  outside
  fiber.resume
end

def generated = spin(0.1)

def enumerated
  numbers = Enumerator.new do |to|
    generated
    to << 1
  end
  numbers.next
end

def replaced
  "text".gsub(/x/) { spin(0.05).to_s }
end

def on_signal = spin(0.1)

def signalled
  trap("USR1") { on_signal }
  Process.kill("USR1", Process.pid)
  sleep 0.01
end

def looped
  loop do
    spin(0.05)
    break
  end
end

def by_value = 1.then { |_| spin(0.05) }
def anonymous = ->(share) { spin(share) }.call(0.05)
def evaluated = eval("spin(0.05)", binding, "given.rb", 40)
def long_function
LONG
  spin(0.1)
end

def main
  plain
  Shape.of_all
  Square.new.area
  Shape.new.defined
  Shape.new.nothing
  "#{Shape.new}"
  [Shape.new, Shape.new].sort
  with_blocks
  sorted
  handler
  ünïcode_ñame
  deep(60)
  fibers
  enumerated
  replaced
  signalled
  looped
  by_value
  anonymous
  evaluated
  long_function
  Shape.new.instance_eval { plain_inside }
  2.times.map { Thread.new { thread_body } }.each(&:join)
end

def plain_inside = spin(0.05)

def report(path) = File.write(path, JSON.generate($spins))

main
child = fork do
  $spins.clear
  plain
  report(ARGV[0] + ".child")
  exit!
end
Process.wait(child)
report(ARGV[0])
"""
# Its instructions take several blocks of the index of lines.
LONG = "\n".join(f"  number = {line}\n  number += 1" for line in range(150))


class RubyTest(InterpretedProgramTest):
    LANGUAGE, SUFFIX = "Ruby", "rb"
    SECONDS = 0.5

    def setUp(self):
        super().setUp()
        self.write_program(self.SECONDS)

    def write_program(self, seconds):
        (self.path / "program.rb").write_text(PROGRAM.replace("SECONDS", str(seconds)).replace("LONG", LONG))

    def record(self, *options):
        return self.record_chains(*options, command=[RUBY, self.path / "program.rb", self.path / "said"])

    def said(self):
        """What the program and its child said of themselves."""
        spins = [spin for name in ("said", "said.child") for spin in json.loads((self.path / name).read_text())]
        taken = collections.Counter()
        for chain, seconds in spins:
            taken[chain[0][0]] += seconds
        return {tuple(map(tuple, chain)) for chain, _ in spins}, taken

    def test_chains_and_shares_are_those_that_the_program_says(self):
        run = self.record("-v")
        self.check_names(run)
        self.check_chains_and_shares(run, *self.said())

    def test_native_code_between_functions_stays(self):
        self.record()
        text = self.run_tool(SONDE, "script", "--no-inline", "-i", "perf.data", "-F", "ip,sym,dso").stdout
        blocks = [block for block in text.split("\n\n") if " in_block (" in block and " spin (" in block and " _start (" in block]
        self.assertTrue(blocks)
        for block in blocks:
            self.assertRegex(block, r"(?s) spin \(.* in_block \(.* block \(2 levels\) in with_blocks \(.* rb_vm_exec \(.*"
                             r" block in with_blocks \(.* rb_vm_exec \(.*rb_yield.*rb_ary_each.* with_blocks \(.* main \(.* <main> \(.* _start")
        # The loop itself, which is not exported, is nowhere where it runs a function: rb_vm_exec calls it and nothing else for that.
        for block in blocks:
            lines = block.strip().split("\n")
            for callee, caller in zip(lines, lines[1:]):
                if " rb_vm_exec (" in caller:
                    self.assertIn(".rb)", callee + caller.replace(".so", ""), block)

    def test_calls_that_begin_and_end_do_not_hide_their_callers(self):
        """Most samples are where C is about to call Ruby, or has just done it."""
        (self.path / "program.rb").write_text(
            "def nothing(number) = number\n"
            "def driver\n  numbers = [1, 2, 3, 4]\n  300_000.times { numbers.each { |number| nothing(number) } }\nend\n"
            "driver\n")
        self.record()
        text = self.run_tool(SONDE, "script", "--no-inline", "-i", "perf.data", "-F", "ip,sym,dso").stdout
        blocks = [block for block in text.split("\n\n") if " driver (" in block]
        self.assertGreater(len(blocks), 50)
        for block in text.split("\n\n"):
            if " rb_ary_each (" in block and "program.rb" in block:
                # What called `each` has a function, whatever the thread is doing inside of it.
                self.assertRegex(block, r"(?s) rb_ary_each \(.* block in driver \(.* rb_vm_exec \(.* driver \(.* <main> \(.* _start \(")

    def test_where_it_is_turned_off_the_interpreter_is_shown(self):
        self.record("--no-interpreters")
        text = self.run_tool(SONDE, "script", "-i", "perf.data", "-F", "ip,sym,dso").stdout
        self.assertIn("rb_vm_exec", text)
        self.assertNotIn("program.rb", text)

    def test_sums_and_pipes_name_them(self):
        self.record("--aggregate")
        self.assertRegex(self.run_tool(SONDE, "report", "--stdio", "--no-children", "-g", "none", "-i", "perf.data").stdout,
                         r"program\.rb +\[\.\] spin")
        piped = subprocess.run(["sh", "-c", '"$0" record -v -e cpu-clock:u -F 1500 --call-graph bpf -o - -- "$1" program.rb said | '
                                '"$0" script -i - -F ip,sym,dso --no-inline', SONDE, RUBY], cwd=self.path, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(piped.returncode, 0, piped.stderr)
        # Copies explain what was not seen.
        unseen = sum(seconds for name, seconds in self.said()[1].items() if f" {name} (" not in piped.stdout)
        self.assertLessEqual(unseen * RATE / 2, self.copied(piped.stderr))
        self.assertIn(" plain (", piped.stdout)

    @unittest.skipUnless(PERF, "perf is not installed")
    def test_perf_reads_the_file(self):
        self.record()
        run = self.run_tool(PERF, "script", "--no-inline", "-i", "perf.data", "-F", "ip,sym,dso")
        self.assertEqual([line for line in run.stderr.splitlines() if line and "lost" not in line], [])
        self.assertIn("program.rb", run.stdout)

    def test_top_names_functions_as_they_appear(self):
        (self.path / "two.rb").write_text("def earlier\n  i = 0\n  i += 1 while i < 200000\nend\n"
                                          "def later\n  i = 0\n  i += 1 while i < 200000\nend\n"
                                          "earlier until $stdin.wait_readable(0)\nloop { later }\n")
        self.check_top(RUBY, "-rio/wait", self.path / "two.rb")

    def test_an_interpreter_that_is_not_known_is_named(self):
        """A library that says that it is of another version, and of another build."""
        content = pathlib.Path("/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1").read_bytes()
        build_id = content.index(b"GNU\0", content.index(b"\x14\0\0\0\x03\0\0\0GNU\0")) + 4
        content = content[:build_id] + bytes(20) + content[build_id + 20:]
        self.assertEqual(content.count(b"\x003.1.2\x00"), 1)
        (self.path / "libruby-3.1.so.3.1").write_bytes(content.replace(b"\x003.1.2\x00", b"\x002.9.2\x00"))
        run = subprocess.run([SONDE, "record", "-e", "cpu-clock:u", "-F", str(RATE), "--call-graph", "bpf", "-o", "perf.data", "--",
                              RUBY, "--disable-gems", "-e", "i = 0; i += 1 while i < 10_000_000"], cwd=self.path, text=True,
                             env={**os.environ, "LD_LIBRARY_PATH": str(self.path)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertRegex(run.stderr, r"libruby-3\.1\.so\.3\.1 \(Ruby 2\.9\.2\): its Ruby frames cannot be read: Ruby 3\.1 is known")


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("BPF programs on events need root")
        sys.exit(77)
    if not os.path.exists(RUBY):
        print(f"{RUBY} is not installed: its stacks are the ones that are known")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
