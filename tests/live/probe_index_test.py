#!/usr/bin/env python3
"""`probe` on a large program, Sonde itself: its units, and which of them have a function, come from what an earlier command kept, or
from looking through the debug information; the answers are the same, whatever became of what was kept."""
import os
import shutil
import subprocess
import sys
import unittest

from own_directory import OwnDirectoryTest

SONDE = os.environ["SONDE"]
# A function, a member function, a qualified one, one of the linker's names, none at all, and one of several units.
QUESTIONS = [["-V", "main"], ["-V", "run_command_line"], ["-V", "ElfFile::parse"], ["-V", "sonde::ElfFile::parse_sections"],
             ["-V", "_ZN5sonde7ElfFile5parseEv"], ["-V", "no_function_has_this_name"],
             ["--max-probes", "4096", "-D", "find_build_id"]]


class ProbeIndexTest(OwnDirectoryTest):
    def setUp(self):
        super().setUp()
        self.cache = self.path / "cache"

    def answers(self, cache, questions=tuple(QUESTIONS), program=SONDE):
        found = []
        for words in questions:
            done = subprocess.run([SONDE, "probe", "-x", str(program), *words], capture_output=True, text=True, timeout=300, check=False,
                                  cwd=self.path, env={**os.environ, "HOME": str(self.path), "SONDE_CACHE": str(cache)})
            found.append((words, done.returncode, done.stdout, done.stderr))
        return found

    def kept(self):
        files = {file.suffix: file for file in self.cache.iterdir() if file.suffix in (".functions", ".units")}
        self.assertEqual(len(files), 2)
        return files

    def test_answers_are_those_without_an_index(self):
        plain = self.answers("off")
        self.assertEqual([status for _, status, _, _ in plain], [0, 0, 0, 0, 0, 255, 0])
        self.assertEqual(self.answers(self.cache), plain)
        made = {suffix: file.stat().st_ino for suffix, file in self.kept().items()}
        self.assertEqual(self.answers(self.cache), plain)
        self.assertEqual({suffix: file.stat().st_ino for suffix, file in self.kept().items()}, made)

    def test_what_is_damaged_is_made_again(self):
        few = QUESTIONS[:2]
        first = self.answers(self.cache, few)
        for file in self.kept().values():
            good = file.read_bytes()
            for damaged in (b"", good[:len(good) // 2], good[:-1] + bytes([good[-1] ^ 1]), b"x" * len(good)):
                file.write_bytes(damaged)
                self.assertEqual(self.answers(self.cache, few), first)
                self.assertEqual(file.read_bytes(), good)

    def test_units_are_those_of_one_file(self):
        """A build id may be that of several files, and a file may be rewritten."""
        few = QUESTIONS[:2]
        program = self.path / "copy"
        shutil.copyfile(SONDE, program)
        first = self.answers(self.cache, few, program)
        units = self.kept()[".units"]
        good = units.read_bytes()
        os.utime(program, (1, 1))
        self.assertEqual(self.answers(self.cache, few, program), first)
        self.assertNotEqual(units.read_bytes(), good)

    def test_without_a_place_to_keep_it(self):
        blocked = self.path / "file"
        blocked.write_text("")
        self.assertEqual(self.answers(blocked / "below", QUESTIONS[:1]), self.answers("off", QUESTIONS[:1]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
