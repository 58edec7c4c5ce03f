#!/usr/bin/env python3
"""What is read as source: debug information may name any file, but only source is shown, and goes into pages. Needs root."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import explorer_data

SONDE = os.environ["SONDE"]
NOBODY = 65534
SECRET = "S3CRET-of-somebody"
# Functions whose lines are claimed to be in other files, and one of its own.
PROGRAM = """
volatile long sum;
__attribute__((noinline)) void honest(void) {
  for (int i = 0; i < 20000; ++i)
    sum += i;  /* honest line */
}
%s
int main(void) {
  for (;;) {
    honest();
%s
  }
}
"""
LIAR = """
# 1 "%s"
__attribute__((noinline)) void liar%d(void) { for (int i = 0; i < 20000; ++i) sum += i; }
"""


class SourceFiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.directory.cleanup)
        top = Path(cls.directory.name)
        top.chmod(0o755)
        cls.build = top / "build"
        cls.build.mkdir()
        closed = top / "closed"
        closed.mkdir(mode=0o700)

        def put(path, mode, owner=0):
            path.write_text(SECRET + "\n")
            path.chmod(mode)
            os.chown(path, owner, owner)
            return path

        secret = put(top / "secret", 0o600)
        lies = [Path("/etc/shadow"), Path("/etc/passwd"), Path("/proc/self/environ"), secret, put(top / "public", 0o644),
                put(cls.build / "private", 0o600)]
        (cls.build / "link.c").symlink_to(secret)
        (cls.build / "device.c").symlink_to("/dev/zero")
        os.mkfifo(cls.build / "fifo.c")
        lies += [cls.build / "link.c", cls.build / "device.c", cls.build / "fifo.c", cls.build / ".." / "secret"]
        cls.lies = lies
        # What root may read, but not the program's owner.
        cls.private = [put(top / "private.c", 0o600), put(closed / "public.c", 0o644), put(cls.build / "own.c", 0o600)]
        cls.open_source = put(top / "open.c", 0o644)
        for name, named, owner in (("liars", lies, 0), ("of_nobody", [*cls.private, cls.open_source], NOBODY)):
            source = cls.build / f"{name}.c"
            text = PROGRAM % ("".join(LIAR % (path, i) for i, path in enumerate(named)) + f'\n# 100 "{source}"\n',
                              "\n".join(f"liar{i}();" for i in range(len(named))))
            source.write_text(text)
            subprocess.run(["gcc", "-g", "-O1", source.name, "-o", name], cwd=cls.build, check=True)
            os.chown(cls.build / name, owner, owner)
            subprocess.run([SONDE, "record", "-q", "-e", "cpu-clock:u", "-F", "2000", "-o", cls.data(name), "--", "timeout", "-s", "INT", "2",
                            cls.build / name], check=False, timeout=60, capture_output=True)

    @classmethod
    def data(cls, name):
        return cls.build / f"{name}.data"

    def outputs(self, name):
        """Everything that shows source."""
        def run(*words):
            done = subprocess.run([SONDE, *map(str, words)], cwd=self.build, capture_output=True, text=True, errors="replace", timeout=120,
                                  stdin=subprocess.DEVNULL)
            return done.stdout + done.stderr

        yield "annotate", run("annotate", "--stdio", "-i", self.data(name))
        yield "annotate -l", run("annotate", "--stdio2", "-i", self.data(name))
        yield "script", run("script", "-F", "ip,sym,srcline,srccode", "-i", self.data(name))
        said = run("view", "-i", self.data(name), "-o", f"{name}.html")
        page = (self.build / f"{name}.html").read_text()
        yield "view", said + page + explorer_data.unpacked(page)
        script = self.build / "lines.py"
        script.write_text("import os, sys\nsys.path.append(os.environ.get('PERF_EXEC_PATH', '') + '/x')\n"
                          "from perf_trace_context import *\nimport perf_trace_context\n"
                          "def process_event(d):\n    print(perf_sample_srccode(perf_script_context))\n")
        yield "script -s", run("script", "-s", script, "-i", self.data(name))

    def test_nothing_but_source_is_shown(self):
        shadow = Path("/etc/shadow").read_text().split("\n")[0]
        passwd = Path("/etc/passwd").read_text().split("\n")[0]
        for what, text in self.outputs("liars"):
            with self.subTest(what):
                self.assertIn("honest line", text)
                for secret in (SECRET, shadow, passwd, "SONDE_SOURCE="):
                    self.assertNotIn(secret, text)

    def test_private_source_of_others_stays_private(self):
        self.open_source.write_text("open line\n")
        self.addCleanup(self.open_source.write_text, SECRET + "\n")
        for what, text in self.outputs("of_nobody"):
            with self.subTest(what):
                self.assertIn("open line", text)
                self.assertNotIn(SECRET, text)
        for path in self.private:
            listed = subprocess.run([SONDE, "probe", "-x", self.build / "of_nobody", "-L", f"{path}:1"], capture_output=True, text=True)
            self.assertNotIn(SECRET, listed.stdout)
            self.assertNotEqual(listed.returncode, 0)

    def test_a_link_to_a_file_of_root_is_nobodys(self):
        """The program lies in a directory of its owner, who replaces it when it has been recorded; the cache has a copy, of root."""
        self.open_source.write_text("open line\n")
        self.addCleanup(self.open_source.write_text, SECRET + "\n")
        home = Path(self.directory.name) / "home"
        home.mkdir()
        os.chown(home, NOBODY, NOBODY)
        program = home / "program"
        shutil.copy(self.build / "of_nobody", program)
        os.chown(program, NOBODY, NOBODY)
        environment = {**os.environ, "PERF_BUILDID_DIR": f"{self.directory.name}/cache"}

        def run(*words):
            return subprocess.run([SONDE, *words], cwd=self.build, env=environment, check=False, timeout=60, text=True, capture_output=True)

        run("record", "-q", "-e", "cpu-clock:u", "-F", "2000", "-o", "linked.data", "--", "timeout", "-s", "INT", "1", program)
        program.unlink()
        program.symlink_to("/bin/true")
        for way in "link", "gone":
            if way == "gone":
                program.unlink()
            shown = run("annotate", "--stdio", "-i", "linked.data")
            self.assertIn("liar0", shown.stdout, shown.stderr)
            self.assertNotIn(SECRET, shown.stdout)
            self.assertNotIn(SECRET, run("script", "-F", "ip,sym,srcline,srccode", "-i", "linked.data").stdout)

    def test_probe_lists_nothing_but_source(self):
        for path in self.lies:
            with self.subTest(path):
                done = subprocess.run([SONDE, "probe", "-x", self.build / "liars", "-L", f"{path}:1"], capture_output=True, text=True, timeout=60)
                self.assertNotIn(SECRET, done.stdout)
                self.assertNotIn("root:", done.stdout)
                self.assertNotEqual(done.returncode, 0)
        # A pattern would tell what is in a file.
        done = subprocess.run([SONDE, "probe", "-x", self.build / "liars", "-n", f"liar3;{SECRET[:4]}*"], capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        done = subprocess.run([SONDE, "probe", "-x", self.build / "liars", "-L", "honest"], capture_output=True, text=True, check=True)
        self.assertIn("honest line", done.stdout)

    def test_a_page_names_the_files_that_it_contains(self):
        done = subprocess.run([SONDE, "view", "-i", self.data("liars"), "-o", "named.html"], cwd=self.build, capture_output=True, text=True,
                              check=True)
        self.assertRegex(done.stderr, r"it contains lines of 1 source file: \S*/build/liars.c \]")
        page = explorer_data.unpacked((self.build / "named.html").read_text())
        self.assertIn(f'["lines of","{self.build}/liars.c"]', page.replace(", ", ","))

    def test_a_prefix_leads_to_source_elsewhere(self):
        moved = Path(self.directory.name) / "moved"
        (moved / str(self.build)[1:]).mkdir(parents=True)
        self.addCleanup(shutil.rmtree, moved)
        text = (self.build / "liars.c").read_text().replace("honest line", "moved line")
        (moved / str(self.build)[1:] / "liars.c").write_text(text)
        done = subprocess.run([SONDE, "annotate", "--stdio", "-i", self.data("liars"), "--prefix", moved, "honest"], capture_output=True,
                              text=True, check=True)
        self.assertIn("moved line", done.stdout)
        listed = subprocess.run([SONDE, "probe", "-x", self.build / "liars", "-s", moved, "-L", "honest"], capture_output=True, text=True,
                                check=True)
        self.assertIn("moved line", listed.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])  # ctest passes the build directory, which is not a test
