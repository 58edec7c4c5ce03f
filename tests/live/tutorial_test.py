#!/usr/bin/env python3
"""docs/tutorial.md, run from beginning to end: each command must succeed, and print the lines that the page shows, apart from
numbers. And the commands that README.md begins with. Needs root.

    python3 tests/live/tutorial_test.py build/release [--update]    the second writes the page's outputs anew
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SONDE = Path(os.environ["SONDE"]).resolve()
SOURCE = Path(os.environ["SONDE_SOURCE"]).resolve()
PAGE = SOURCE / "docs/tutorial.md"
# Of less than one sample in a hundred: those taken while libc made a thread, or in its deepest call.
BY_CHANCE = re.compile(r"^sonde: \d+ call chains? .* \(0\.\d+ %")
BLOCK = re.compile(r"^```console\n(.*?)^```\n", re.M | re.S)


def steps(block):
    """(command, the lines that it is said to print) of a fenced block."""
    for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
        command, *lines = part.rstrip("\n").split("\n")
        yield command, lines


def words_of(line):
    """A line without what differs from run to run: numbers, their units, addresses, the widths of columns, the lines of a tree (a
    caller's only callee has no branch of its own, however nearly it is the only one)."""
    line = re.sub(r"(\bfd: \d+)<[^>]*>", r"\1", line)  # on a busy machine the program has ended before its files are asked for
    line = re.sub(r"0x[0-9a-f]+|\b[0-9a-f]{8,}\b|[+-]?\d[\d,.]*", "#", line)
    line = re.sub(r"# [KMG]/sec", "# /sec", line)
    line = re.sub(r"# [mun]s\b", "# s", line).replace("( ", "(")
    line = re.sub(r"^[ |]*-+#%-+|^[ |]+", "", line)
    return " ".join(line.replace("-", " ").replace(".", " ").split())


def without_the_kernels(lines):
    """A tree of callers without what is below the kernel's entry: how much of it there is, and its functions, depend on the machine."""
    kept, entry = [], None
    for line in lines:
        name = re.search(r"\w[^|]*$", line)
        if entry is not None and (not name or name.start() > entry):
            continue
        entry = name.start() if name and "entry_SYSCALL_64" in line else None
        kept.append(line)
    return kept


class Reader:
    """Somebody who follows the tutorial in a directory of its own, on a machine where nobody else did."""

    def __init__(self, path):
        self.path = path
        (path / "bin").mkdir()
        (path / "bin/sonde").symlink_to(SONDE)
        shutil.copy(SOURCE / "examples/words.c", path)
        self.environment = {**os.environ, "PATH": f"{path}/bin:{os.environ['PATH']}", "HOME": str(path), "LC_ALL": "C.UTF-8",
                            "PERF_BUILDID_DIR": str(path / "buildid")}

        self.type("sonde probe -q -d 'probe_words:*'")

    def type(self, command):
        """Exit status of a command, and what it prints on a terminal's two streams."""
        with tempfile.TemporaryFile("w+", errors="replace") as output:  # not a pipe: `record` would write its data there
            run = subprocess.run(["bash", "-c", "set -o pipefail; " + command], cwd=self.path, env=self.environment, timeout=120,
                                 stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, check=False)
            output.seek(0)
            printed = output.read().strip("\n").replace(str(self.path), "/tmp/tutorial")
        return run.returncode, [line.rstrip() for line in printed.split("\n")] if printed.strip() else []


def succeeded(command, status):
    """`head` ends what writes to it."""
    return status == 0 or ("| head" in command and status == 141)


class TutorialTest(unittest.TestCase):
    def test_every_command_does_what_the_page_says(self):
        blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
        self.assertGreater(len(blocks), 10)
        with tempfile.TemporaryDirectory() as path:
            reader = Reader(Path(path))
            for command, expected in (step for block in blocks for step in steps(block)):
                with self.subTest(command):
                    status, printed = reader.type(command)
                    self.assertTrue(succeeded(command, status), f"status {status}:\n" + "\n".join(printed))
                    expected, printed = ([line for line in lines if not BY_CHANCE.match(line)] for lines in (expected, printed))
                    found = {words_of(line) for line in [*printed, ""]}
                    if "-g caller," in command:  # which branches are large depends on the machine: those of the page are in the whole tree
                        expected = without_the_kernels(expected)
                        found |= set(map(words_of, reader.type(re.sub("caller,[0-9]+", "caller,0.1", command))[1]))
                    missing = [line for line in expected if words_of(line) not in found]
                    self.assertEqual([], missing, "the page shows these lines, the command printed:\n" + "\n".join(printed))
                    self.assertEqual(bool(expected), bool(printed), printed)


class ReadmeTest(unittest.TestCase):
    def setUp(self):
        self.text = (SOURCE / "README.md").read_text(encoding="utf-8")

    def test_its_first_lines_work(self):
        """In a directory with a Makefile, a server, and an old and a new program, as they assume."""
        lines = re.search(r"^```sh\n(.*?)^```", self.text, re.M | re.S).group(1).splitlines()
        self.assertGreaterEqual(len(lines), 3)
        with tempfile.TemporaryDirectory() as path:
            reader = Reader(Path(path))
            (reader.path / "Makefile").write_text("words: words.c\n\tcc -O2 -pthread words.c -o words\n")
            (reader.path / "text").write_text("".join(f"{number}\n" for number in range(1000)))
            for name, options in (("old", ""), ("new", "-DFIXED")):
                reader.type(f"cc -O2 -pthread {options} words.c -o {name}.words; "
                            f"printf '#!/bin/sh\\nexec ./{name}.words text\\n' >{name}; chmod +x {name}")
            (reader.path / "server").symlink_to("old")
            for line in lines:
                status, printed = reader.type(line)
                self.assertEqual(0, status, line + "\n" + "\n".join(printed))
            self.assertIn("<svg", (reader.path / "build.svg").read_text(encoding="utf-8"))
            self.assertIn("gate task-clock>2%: passed", "\n".join(printed))

    def test_its_verbs_exist(self):
        verbs = set(re.findall(r"\./dev (\w+)", self.text))
        self.assertLessEqual({"demo", "test", "bench"}, verbs)
        usage = subprocess.run([SOURCE / "dev", "help"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(set(), {verb for verb in verbs if not re.search(rf"^  {verb}\b", usage, re.M)})

    def test_its_table_has_every_command(self):
        """And so has the page that describes each."""
        listed = subprocess.run([SONDE, "--list-cmds"], capture_output=True, text=True, check=True).stdout.split()
        described = (SOURCE / "docs" / "commands.md").read_text(encoding="utf-8")
        for text, cell in ((self.text, r"^\| [^|]* \| ([^|]*) \|"), (described, r"^\| ([^|]*) \|")):
            named = set(re.findall(r"`([\w-]+)[^`]*`", "\n".join(re.findall(cell, text, re.M))))
            self.assertEqual([], [command for command in listed if command not in named])


def update():
    text = PAGE.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as path:
        reader = Reader(Path(path))

        def replayed(block):
            lines = []
            for command, _ in steps(block.group(1)):
                status, printed = reader.type(command)
                if not succeeded(command, status):
                    sys.exit(f"{command}: status {status}\n" + "\n".join(printed))
                lines += [f"$ {command}", *printed]
            return "```console\n" + "\n".join(lines) + "\n```\n"

        PAGE.write_text(BLOCK.sub(replayed, text), encoding="utf-8")


if __name__ == "__main__":
    if "--update" in sys.argv:
        update()
    else:
        unittest.main(argv=sys.argv[:1])
