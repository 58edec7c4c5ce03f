#!/usr/bin/env python3
"""tools/check_opens.py finds code that opens files by itself, and this tree has none."""
import os
import subprocess
import sys
import unittest
from pathlib import Path

SOURCE = Path(os.environ["SONDE_SOURCE"])
sys.path.insert(0, str(SOURCE / "tools"))
import check_opens  # noqa: E402


def lines_of(text):
    return [int(problem.split(":")[1]) for problem in check_opens.problems_of("layer/file.cc", text)]


class OpensTest(unittest.TestCase):
    def test_readers_are_found(self):
        for line in ("Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));", "int fd = ::openat(at, name,\n    flags);", "std::ifstream in(path);",
                     'FILE* file = fopen(path, "r");', "auto fd = env.sys.open(path, O_RDONLY);", "syscall(SYS_openat2, root, path, &how);",
                     "std::fstream both;"):
            self.assertEqual(lines_of("\n" + line), [2], line)

    def test_writers_and_others_are_not(self):
        for line in ("Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT,\n  0600));", "Fd fd(::open(path, O_PATH));", "// ::open(path, O_RDONLY)",
                     "Result<ElfFile> elf = ElfFile::open(path);", 'std::string text = "do_sys_openat2";', "stream.open(path);"):
            self.assertEqual(lines_of(line), [], line)

    def test_looks_below_other_roots_are_found(self):
        place = 'std::string path = fmt::format("/proc/{}/root{}", pid, file);\n'
        for line in ("::stat(path.c_str(), &status);", "std::filesystem::canonical(path, error);", "::access(path.c_str(), R_OK);",
                     "::unlink(path.c_str());"):
            self.assertEqual(lines_of(place + line), [2], line)
            self.assertEqual(lines_of(line), [], line)

    def test_this_tree(self):
        run = subprocess.run([sys.executable, SOURCE / "tools/check_opens.py"], capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 0, run.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
