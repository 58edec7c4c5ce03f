#!/usr/bin/env python3
"""`probe` on a large program, Sonde itself: which units have a function is found in an index that an earlier command kept, or by
looking through the debug information; the answers are the same, whatever became of the index."""
import os
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

    def answers(self, cache, questions=tuple(QUESTIONS)):
        found = []
        for words in questions:
            done = subprocess.run([SONDE, "probe", "-x", SONDE, *words], capture_output=True, text=True, timeout=300, check=False,
                                  cwd=self.path, env={**os.environ, "HOME": str(self.path), "SONDE_CACHE": str(cache)})
            found.append((words, done.returncode, done.stdout, done.stderr))
        return found

    def kept(self):
        return [file for file in self.cache.iterdir() if file.suffix == ".functions"]

    def test_answers_are_those_without_an_index(self):
        plain = self.answers("off")
        self.assertEqual([status for _, status, _, _ in plain], [0, 0, 0, 0, 0, 255, 0])
        self.assertEqual(self.answers(self.cache), plain)
        (index,) = self.kept()
        made = index.stat().st_ino
        self.assertEqual(self.answers(self.cache), plain)
        self.assertEqual(self.kept()[0].stat().st_ino, made)

    def test_a_damaged_index_is_made_again(self):
        few = QUESTIONS[:2]
        first = self.answers(self.cache, few)
        (index,) = self.kept()
        good = index.read_bytes()
        for damaged in (b"", good[:len(good) // 2], good[:-1] + bytes([good[-1] ^ 1]), b"x" * len(good)):
            index.write_bytes(damaged)
            self.assertEqual(self.answers(self.cache, few), first)
            self.assertEqual(index.read_bytes(), good)

    def test_without_a_place_to_keep_it(self):
        blocked = self.path / "file"
        blocked.write_text("")
        self.assertEqual(self.answers(blocked / "below", QUESTIONS[:1]), self.answers("off", QUESTIONS[:1]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
