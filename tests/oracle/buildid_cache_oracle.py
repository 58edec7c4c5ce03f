#!/usr/bin/env python3
"""The build-id cache of perf and of Sonde: the same directory, byte for byte, and each reads and changes the other's.

    buildid_cache_oracle.py BUILD [--perf PERF]
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

TRUE, CAT, LS = ("/usr/bin/true", "/usr/bin/cat", "/usr/bin/ls")


class BuildIdCache(unittest.TestCase):
    perf = sonde = None

    def setUp(self):
        self.top = os.path.realpath(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.top)

    def run_tool(self, tool, home, *words, status=0):
        os.makedirs(f"{self.top}/{home}", exist_ok=True)
        environment = {"HOME": f"{self.top}/{home}", "PATH": os.environ["PATH"], "PERF_CONFIG": "/dev/null"}
        done = subprocess.run([tool, *words], env=environment, cwd=self.top, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, status, f"{words}: {done.stderr}")
        return done.stdout

    def cache(self, tool, home, *words, status=0):
        return self.run_tool(tool, home, "buildid-cache", *words, status=status)

    def tree(self, home):
        found = {}
        for directory, _, files in os.walk(f"{self.top}/{home}/.debug"):
            for name in files:
                path = os.path.join(directory, name)
                with open(path, "rb") as file:
                    found[os.path.relpath(path, self.top + "/" + home)] = file.read()
            for name in os.listdir(directory):
                path = os.path.join(directory, name)
                if os.path.islink(path):
                    found[os.path.relpath(path, self.top + "/" + home)] = os.readlink(path)
        return found

    def both(self, *words):
        self.cache(self.perf, "theirs", *words)
        self.cache(self.sonde, "ours", *words)
        self.assertEqual(self.tree("ours"), self.tree("theirs"), words)

    def test_verbs_leave_the_same_directory(self):
        shutil.copy(LS, self.top + "/prog")
        python = os.path.realpath("/usr/bin/python3")  # has USDT probes, and is reached by a symlink
        for words in (["-a", f"{TRUE},{CAT}"], ["-a", "/usr/bin/python3"], ["-r", python], ["-a", "prog"]):
            self.both(*words)
        shutil.copy(CAT, self.top + "/new")
        os.replace(self.top + "/new", self.top + "/prog")
        self.both("-r", CAT)
        self.both("-a", "prog")
        self.both("-u", TRUE)
        self.both("-p", "prog")
        self.both("-P")

    def test_lists_agree(self):
        for adder, home in ((self.perf, "one"), (self.sonde, "two")):
            self.cache(adder, home, "-a", f"{TRUE},{LS},/usr/lib/x86_64-linux-gnu/libc.so.6")
            theirs = self.cache(self.perf, home, "-l")
            self.assertEqual(self.cache(self.sonde, home, "-l"), theirs)
            self.assertEqual(len(theirs.splitlines()), 3)

    def test_each_takes_away_what_the_other_added(self):
        for adder, remover in ((self.perf, self.sonde), (self.sonde, self.perf)):
            self.cache(adder, "home", "-a", f"{TRUE},{CAT},{LS}")
            self.cache(remover, "home", "-r", TRUE)
            self.cache(remover, "home", "-p", CAT)
            self.assertEqual([line.split()[1] for line in self.cache(adder, "home", "-l").splitlines()], [LS])
            self.cache(remover, "home", "-P")
            self.assertEqual(self.cache(adder, "home", "-l"), "")

    def test_an_updated_object_takes_the_place(self):
        """The same build id, another file: the new one is cached."""
        shutil.copy(TRUE, self.top + "/copy")
        with open(self.top + "/copy", "ab") as file:
            file.write(b"more")
        for tool, home in ((self.perf, "theirs"), (self.sonde, "ours")):
            self.cache(tool, home, "-a", TRUE)
            self.cache(tool, home, "-u", "copy")
            [line] = self.cache(tool, home, "-l").splitlines()
            self.assertEqual(line.split()[1], self.top + "/copy")

    def test_a_recording_fills_it_alike_and_nothing_is_missing(self):
        work = ["-q", "-F", "2999", "-e", "cpu-clock", "-o", "data", "--", "sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do ls /usr/bin /usr/lib; done >/dev/null"]
        self.run_tool(self.sonde, "ours", "record", *work)
        ids = self.run_tool(self.sonde, "ours", "buildid-list", "-i", "data").splitlines()
        self.assertGreater(len(ids), 1)
        self.assertEqual(self.cache(self.sonde, "ours", "-M", "data"), "")
        # perf takes the kernel's symbol list for a file that should have a build id, and complains; nothing is missing
        self.assertEqual(self.cache(self.perf, "ours", "-M", "data"), "")
        for missing in (self.cache(self.sonde, "empty", "-M", "data"), self.cache(self.perf, "empty", "-M", "data")):
            self.assertEqual(sorted(missing.splitlines()), sorted(ids))
        self.cache(self.sonde, "again", "-a", "data")
        still = self.cache(self.sonde, "again", "-M", "data")
        self.assertTrue(all(line.endswith("]") for line in still.splitlines()), still)

    def test_what_cannot_be_added_is_said(self):
        with open(self.top + "/text", "w") as file:
            file.write("no object\n")
        self.cache(self.sonde, "home", "-a", f"nothing,text,{TRUE}", status=255)
        self.assertEqual(self.cache(self.sonde, "home", "-l").split()[1:], [TRUE])
        self.cache(self.sonde, "home", status=129)
        self.cache(self.sonde, "home", "-l", "-P", status=129)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--perf", default=shutil.which("perf"))
    arguments, rest = parser.parse_known_args()
    if not arguments.perf:
        print("no perf here")
        return 77
    BuildIdCache.perf = arguments.perf
    BuildIdCache.sonde = os.environ.get("SONDE") or os.path.join(arguments.build, "sonde")
    program = unittest.main(argv=[sys.argv[0], *rest], exit=False)
    return 0 if program.result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
