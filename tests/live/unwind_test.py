#!/usr/bin/env python3
"""Call chains from copied stacks in difficult places (programs/stops.c): against what the program declares, and against gdb at
the same stops. Needs root's counters, a compiler and, for the second part, gdb."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import debug_registers
import stop_cases
from stop_cases import CHAINS, CUT, WHOLE

SONDE = os.environ["SONDE"]
PERF = shutil.which("perf")
GDB = shutil.which("gdb")
STILL = ["setarch", "-R"]  # the vdso stays at the same address
TELL_FRAMES = """
import gdb
class Stop(gdb.Breakpoint):
    def stop(self):
        names, frame = [], gdb.newest_frame()
        while frame is not None:
            names.append("<signal handler called>" if frame.type() == gdb.SIGTRAMP_FRAME else frame.name() or "??")
            frame = frame.older()
        print("STOP", self.location, *names, sep="|")
        return False
"""


@debug_registers.needed
class StopTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.path = Path(directory.name)
        cls.program = cls.path / "stops"
        subprocess.run(["gcc", *stop_cases.COMPILE, "-o", cls.program, stop_cases.SOURCE], check=True)
        cls.symbols = stop_cases.symbols(cls.program)
        # Every instruction that stores or restores a register, or moves the stack pointer.
        cls.instructions = cls.addresses_in(r"<stop_saves>:\n((?: .*\n)+)", "push|pop|sub .*%rsp|add .*%rsp|ret")
        cls.plt = cls.addresses_in(r"<\w+@plt-0x\w+>:\n((?: .*\n)+)", "") + cls.addresses_in(r"<getppid@plt>:\n((?: .*\n)+)", "")

    @classmethod
    def addresses_in(cls, block, wanted):
        text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", cls.program], text=True, stdout=subprocess.PIPE, check=True).stdout
        found = re.search(block, text)
        lines = found.group(1).splitlines() if found else []
        return [int(line.split(":")[0], 16) for line in lines if ":" in line and re.search(wanted, line)]

    def chains(self, recorder, addresses):
        """Address -> the chains of the samples there."""
        found = {}
        for part in stop_cases.in_parts(addresses):
            recording = self.path / "stops.data"
            stop_cases.record(recorder, part, recording, [*STILL, self.program], "--call-graph", "dwarf")
            text = subprocess.run([SONDE, "script", "-i", recording, "-F", "event,ip,sym"], text=True, stdout=subprocess.PIPE,
                                  check=True).stdout
            seen = stop_cases.chains(text)
            found |= {address: seen[f"mem:{address:#x}:x"] for address in part}
        return found

    def recorders(self):
        return [tool for tool in (SONDE, PERF) if tool]

    def test_chains_are_those_of_the_program(self):
        for recorder in self.recorders():
            seen = self.chains(recorder, [self.symbols[name] for name in CHAINS])
            bad = [stop_cases.wrong(name, seen[self.symbols[name]]) for name in CHAINS]
            self.assertEqual("".join(bad), "", recorder)

    def test_at_each_step_of_prologue_and_epilogue(self):
        self.assertGreater(len(self.instructions), 3)
        for recorder in self.recorders():
            for address, seen in self.chains(recorder, self.instructions).items():
                self.assertEqual(set(seen), {stop_cases.SAVES}, f"{recorder} {address:#x}")

    def test_in_the_plt(self):
        self.assertGreater(len(self.plt), 3)
        hit = 0
        for address, seen in self.chains(SONDE, self.plt).items():
            # The first entry serves other functions, too.
            through = [chain for chain in seen if "call_plt" in chain]
            self.assertEqual(set(through) | {("call_plt", "main")}, {("call_plt", "main")}, f"{address:#x}")
            self.assertNotIn((), seen, f"{address:#x}")
            hit += len(through)
        self.assertGreater(hit, 3)

    def test_in_the_vdso(self):
        text = subprocess.run([*STILL, self.program, "vdso"], text=True, stdout=subprocess.PIPE, check=True).stdout
        if text.strip() in ("(nil)", ""):
            self.skipTest("no vdso")
        address = int(text, 16)
        self.assertEqual(set(self.chains(SONDE, [address])[address]), {("call_vdso", "main")})

    def test_gdb_sees_the_same(self):
        if not GDB:
            self.skipTest("no gdb")
        stops = list(dict.fromkeys([self.symbols[name] for name in CHAINS] + self.instructions))
        script = self.path / "stops.py"
        lines = [TELL_FRAMES, *(f"Stop('*{address:#x}')" for address in stops)]
        script.write_text("\n".join(lines))
        text = subprocess.run([GDB, "-batch", "-nx", "-ex", "set backtrace past-main on", "-ex", "handle SIGILL SIGUSR1 nostop noprint pass",
                               "-ex", f"source {script}", "-ex", "run", self.program], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=300).stdout
        theirs = {address: [] for address in stops}
        for line in re.findall(r"^STOP\|(.*)$", text, re.M):
            place, *names = line.split("|")
            theirs[int(place[1:], 16)].append(stop_cases.our_part(names))
        self.assertTrue(all(theirs.values()), text[:2000])
        ours = self.chains(SONDE, stops)
        for address in stops:
            pairs = list(zip(ours[address], theirs[address], strict=True))
            for mine, other in pairs:
                # gdb reads all of the memory: also the stack that the thread has left.
                self.assertEqual(mine, CUT if other == WHOLE and mine == CUT else other, f"{address:#x}")


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("breakpoints of other programs' stacks need root")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])  # ctest passes the build directory, which is not a test
