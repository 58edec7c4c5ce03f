#!/usr/bin/env python3
"""Code between branches as text (`script -F disasm`, `brstackdisasm`, `--xed`), against objdump, and branch counters (`brcntr`,
`report --total-cycles`, `annotate`), against what was drawn. perf 6.1 has none of these. Recordings are assembled: no machine
here records branches.

    tests/oracle/branch_code_oracle.py [BUILD_DIR]      $SONDE is the binary
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from script_oracle import AFTER, BRANCHES, CALL, CODE, JUMP, ODD, RETURN, SONDE, assembled, flags

COUNTED = "branch-instructions:ppp", "branch-misses"
WHO = "pid=4000001 tid=4000001"
# PMU capabilities: branch_counter_nr 2, branch_counter_width 2.
CAPS = "".join(len(text).to_bytes(4, "little").hex() + text.hex() for text in
               (b"branch_counter_nr\0\0\0", b"2\0\0\0", b"branch_counter_width\0\0\0\0", b"2\0\0\0"))
# Newest first: from, to, cycles, and how often each event occurred.
STACK = [(JUMP, CALL, 4, 2, 0), (RETURN, AFTER, 6, 1, 3), (CALL, ODD, 2, 0, 0), (JUMP, CALL, 8, 3, 1), (RETURN, AFTER, 1, 0, 1)]
AGAIN = [(JUMP, CALL, 8, 1, 0), (RETURN, AFTER, 6, 0, 0), (CALL, ODD, 2, 0, 0)]


def sonde(*words, status=0):
    done = subprocess.run([SONDE, *words], capture_output=True, text=True)
    assert done.returncode == status, (words, done)
    return done.stdout if status == 0 else done.stderr


def counted_recording(folder, program, caps=f"feature CPU_PMU_CAPS: hex:02000000{CAPS}", types="ANY|COUNTERS"):
    event = "type = 0, config = {}, { sample_period, sample_freq } = 1000, sample_type = IP|TID|TIME|CPU|PERIOD|BRANCH_STACK|" \
            "IDENTIFIER, branch_sample_type = {}, sample_id_all = 1, read_format = ID|GROUP"
    lines = [f"event : name = {name}, id = {{ {7 + i} }}, " + event.replace("{}", str(4 + i), 1).replace("{}", types)
             for i, name in enumerate(COUNTED)]
    lines += ['feature BRANCH_STACK:', 'feature GROUP_DESC: "{anon_group}" 0 2', 'feature ARCH: "x86_64"', caps, f'COMM {WHO} comm="odd" exec time=1000 id=7 cpu=0',
              f'MMAP2 mode=user {WHO} start=0x401000 length=0x1000 offset=0x1000 path="{program}" protection=5 flags=2 time=1000 id=7 '
              "cpu=0"]
    for time, (ip, stack) in enumerate(((AFTER, STACK), (ODD, AGAIN)), 2):
        branches = ",".join(f"{start:#x},{end:#x},{flags(cycles):#x}" for start, end, cycles, *_ in stack)
        counters = ",".join(str(a | b << 2) for *_, a, b in stack)
        counters = f"branch_counters={counters} " if "COUNTERS" in types else ""
        lines.append(f"SAMPLE id=7 mode=user ip={ip:#x} {WHO} time={time}000 cpu=0 period=1000 branches={branches} {counters}")
    (folder / "counted.txt").write_text("\n".join(lines) + "\n")
    sonde("assemble", folder / "counted.txt", folder / "counted.data")
    return folder / "counted.data"


class BranchCodeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory(dir=".")
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = Path(temporary.name).resolve()
        program = cls.program = cls.folder / "odd"
        (cls.folder / "odd.s").write_text(CODE)
        subprocess.run(["cc", "-nostdlib", "-static", "-Wl,-Ttext=0x401000", "-o", program, "odd.s"], cwd=cls.folder, check=True)
        listing = subprocess.run(["objdump", "-d", "--no-show-raw-insn", program], capture_output=True, text=True, check=True).stdout
        cls.texts = {int(address, 16): text.strip() for address, text in re.findall(r"^ +([0-9a-f]+):\t(.*)$", listing, re.M)}
        cls.stacks = assembled(cls.folder, "branches", 1000, program)
        cls.counted = counted_recording(cls.folder, program)

    def script(self, *words, data=None, status=0):
        return sonde("script", "--unverified-symbols", "-i", data or self.stacks, *words, status=status)

    def with_texts(self, lines):
        """Lines of brstackinsn with objdump's text instead of bytes."""
        def text(match):
            return match[1] + f"{self.texts.get(int(match[2], 16), match[3].rstrip()):<30}"
        return [re.sub(r"^(\t([0-9a-f]{16})\t)(insn: (?:[0-9a-f]{2} )+ *)", text, line) for line in lines]

    @staticmethod
    def words(lines):
        return [line.split() for line in lines]

    def test_blocks_are_objdumps_text(self):
        bytes_ = self.script("-F", "ip,brstackinsn").splitlines()
        texts = self.script("-F", "ip,brstackdisasm").splitlines()
        self.assertGreater(sum("call   401000 <odd>" in line for line in texts), len(BRANCHES) // 2)
        whole = [pair for pair in zip(self.with_texts(bytes_), texts)
                 if "insn:" not in pair[0]]  # a branch from inside of an instruction is none of objdump's
        self.assertGreater(len(whole), len(texts) - 3)
        for expected, shown in whole:
            self.assertEqual(shown.split(), expected.split())

    def test_the_sampled_instruction(self):
        lines = self.script("-F", "ip,disasm").splitlines()
        self.assertEqual(self.words(lines), [[f"{ip:x}", *self.texts[ip].split()] for ip, _ in BRANCHES if ip in self.texts])
        self.assertEqual(len(lines), len(BRANCHES))

    def test_xed_shows_text_for_bytes(self):
        self.assertEqual(self.script("--xed", "-F", "ip,insn,insnlen"), self.script("-F", "ip,disasm,insnlen"))
        self.assertEqual(self.script("--xed", "-F", "ip,brstackinsnlen"), self.script("-F", "ip,brstackinsnlen,brstackdisasm"))
        self.assertEqual(self.script("--xed", "--insn-trace"), self.script("--insn-trace=disasm"))
        self.assertEqual(self.script("--insn-trace=raw"), self.script("--insn-trace"))
        self.assertIn("--xed: no instructions are shown", self.script("--xed", status=255))

    # --- counters ---

    def test_counters_of_each_branch(self):
        text = self.script("-F", "ip,brstackinsn,brcntr", data=self.counted)
        self.assertTrue(text.startswith("# Branch counter abbr list:\n# branch-instructions:ppp = A\n# branch-misses = B\n"))
        # Oldest first; 3 is as far as two bits count.
        self.assertEqual(re.findall(r"br_cntr: (\S+)\t#", text), ["B", "AAA+B", "-", "ABBB+", "AA", "-", "-", "A"])
        text = self.script("-v", "-F", "ip,brstackinsn,brcntr", data=self.counted)
        self.assertNotIn("abbr list", text)
        self.assertEqual(re.findall(r"br_cntr: (.*) \t#", text)[1], "branch-instructions:ppp 3+ branch-misses 1")

    def test_what_is_missing_is_named(self):
        self.assertIn("no instructions to show them at", self.script("-F", "ip,brcntr", data=self.counted, status=255))
        self.assertIn("-j any,counter", self.script("-F", "ip,brstackinsn,brcntr", status=255))
        folder = self.folder / "unknown"
        folder.mkdir()
        data = counted_recording(folder, self.program, caps="# no capabilities")
        self.assertIn("how wide its branch counters are", self.script("-F", "ip,brstackinsn,brcntr", data=data, status=255))

    def test_counters_of_blocks(self):
        # Passes that end with JUMP: A 2, 3 (full), 1, B 0, 1, 0; with RETURN: A 1, 0, 0, B 3 (full), 1, 0; with CALL: none.
        drawn = {JUMP: (20, "|AA+ |B   |", "A=2+,B=1 "), RETURN: (13, "|A   |BB+ |", "A=1 ,B=2+"), CALL: (4, "|-   |-   |", "A=- ,B=- ")}
        report = ["report", "--stdio", "--unverified-symbols", "-i", self.counted, "--total-cycles"]
        text = sonde(*report)
        self.assertIn("# Branch counter abbr list:\n# branch-instructions:ppp = A\n# branch-misses = B\n", text)
        self.assertEqual(re.findall(r"% +(\d+) .*? (\|.*\|) ", text), [(str(cycles), letters) for cycles, letters, _ in drawn.values()])
        text = sonde(*report, "-v")
        self.assertEqual(re.findall(r" (A=.{2},B=.{2}) ", text), [numbers for *_, numbers in drawn.values()])
        text = sonde("annotate", "--stdio2", "--unverified-symbols", "-i", self.counted, "_start")
        self.assertRegex(text, r" IPC +Cycle +Branch Counter +\(Average IPC")
        self.assertEqual(re.findall(r" (\d+) +(\|.*\|) .* (call|jne) ", text),
                         [("2", drawn[CALL][1], "call"), ("6", drawn[JUMP][1], "jne")])

    def test_ipc_of_functions(self):
        """The column IPC has the averages of annotate's headings."""
        text = sonde("report", "-b", "--stdio", "--unverified-symbols", "-s", "symbol", "-i", self.counted)
        rows = dict(re.findall(r"% +\[\.\] (\w+) +(\d.*?) *$", text, re.M))
        self.assertEqual(sorted(rows), ["_start", "odd"])
        for function, shown in rows.items():
            code = sonde("annotate", "--stdio2", "--unverified-symbols", "-i", self.counted, function)
            ipc, coverage = re.search(r"\(Average IPC: (\S+), IPC Coverage: (\S+)%\)", code).groups()
            self.assertEqual(re.findall(r"[\d.]+", shown), [ipc, coverage])
            self.assertGreater(float(ipc), 0)


if __name__ == "__main__":
    if not shutil.which("objdump") or not shutil.which("cc"):
        print("objdump or cc is not installed")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
