#!/usr/bin/env python3
"""Completion, in bash, zsh and fish, of names that somebody else chose: USDT probes, and whatever a program called `sonde` prints.
Nothing of them is evaluated, what means something to a shell is not offered, and no such name is in a cache or a list for machines."""
import json
import os
import re
import shlex
import subprocess
import sys
import time
import unittest
from pathlib import Path

from own_directory import OwnDirectoryTest
from terminal import Terminal

SONDE = os.environ["SONDE"]
PLAIN = re.compile(r"[A-Za-z0-9_.:/,=-]+")
# Words that a shell would act on, each in its own way; what is run leaves a file PWN….
HOSTILE = ["$(touch${IFS}PWN1)", "zz$(touch${IFS}PWN2)", "zz`touch${IFS}PWN3`", "zz*", "*", "zz?", "zz[a-z]*", "zz;touch", "zz&touch", "zz|sh",
           "zz>PWN4", "zz<(touch${IFS}PWN5)", "zz\\a", "zz'q", 'zz"q', "zz{a,b}", "zz$HOME", "~", "zz~", "zz!!", "zz(e:touch${IFS}PWN6:)",
           "zz\x1b]0;PWN\x07", "zz\x7f", "zzé", "zz#", "zz^", "$'zz\\x41'", "${(e)$(touch${IFS}PWN7)}", "=zz()"]
LISTED = ["zzplain:one", "zzplain:two", *HOSTILE]
# A name of an event in the note of a program, and of its provider: the dollar stands for itself in GNU as.
NOTE = r"""
 .text
 .globl main
main: xor %%eax,%%eax
990: nop
 ret
%s
"""
PROBE = r""" .pushsection .note.stapsdt,"?","note"
 .balign 4
 .4byte 992f-991f,994f-993f,3
991: .asciz "stapsdt"
992: .balign 4
993: .8byte 990b,0,0
 .asciz "%s"
 .asciz "%s"
 .asciz "8@%%rdi"
994: .balign 4
 .popsection
"""


def asciz(text):
    return "".join(c if c.isascii() and c.isalnum() else "".join(f"\\{byte:03o}" for byte in c.encode()) for c in text)


def program(path, probes):
    notes = "".join(PROBE % (asciz(provider), asciz(name)) for provider, name in probes)
    subprocess.run(["gcc", "-x", "assembler", "-", "-Wl,--build-id", "-z", "noexecstack", "-o", path], input=NOTE % notes, text=True, check=True)


class CompletionTest(OwnDirectoryTest):
    def setUp(self):
        super().setUp()
        (self.path / "bin").mkdir()
        self.environment = {**os.environ, "PATH": f"{self.path}/bin:{os.environ['PATH']}", "HOME": str(self.path), "PERF_CONFIG": "/dev/null",
                            "TERM": "dumb", "PS1": "> ", "LC_ALL": "C.UTF-8"}
        for name in ("PERF_BUILDID_DIR", "ZDOTDIR"):
            self.environment.pop(name, None)
        for shell in ("bash", "zsh", "fish"):
            (self.path / shell).write_text(self.output(SONDE, "help", "--completion", shell))

    def output(self, *words, status=0):
        done = subprocess.run(words, cwd=self.path, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout if status == 0 else done.stderr

    def install_fake(self):
        """A `sonde` that lists hostile names, whatever it is asked."""
        fake = self.path / "bin/sonde"
        fake.write_text("#!/bin/sh\ncat <<'END'\n" + " ".join(LISTED) + " \nEND\n")
        fake.chmod(0o755)

    def check_nothing_ran(self):
        self.assertEqual([path.name for path in self.path.rglob("PWN*")], [])

    def bash(self, *lines):
        """What bash offers for each line, whose last word is the one at the cursor."""
        script = "source ./bash\n"
        for line in lines:
            words = " ".join(map(shlex.quote, line))
            script += f"COMP_WORDS=({words}); COMP_CWORD={len(line) - 1}; COMPREPLY=(); _sonde; printf '%s\\n' \"${{COMPREPLY[@]}}\" ===\n"
        parts = self.output("bash", "--norc", "-c", script).split("===\n")[:-1]
        return [[word for word in part.split("\n") if word] for part in parts]

    def test_bash_evaluates_no_output(self):
        self.install_fake()
        lines = [["sonde", "zz"], ["sonde", "help", "zz"], ["sonde", "record", "-e", "zz"], ["sonde", "record", "--event", "zz"],
                 ["sonde", "timeline", "--to", "zz"], ["sonde", "sched", "zz"], ["sonde", "record", "-e", ""], ["sonde", ""]]
        for line, offered in zip(lines, self.bash(*lines), strict=True):
            self.assertEqual(offered, ["zzplain:one", "zzplain:two"], line)
        for line in (["sonde", "-"], ["sonde", "record", "-"], *(["sonde", "record", "-e", word] for word in HOSTILE)):
            self.assertEqual(self.bash(line), [[]], line)
        self.check_nothing_ran()

    def test_fish_evaluates_no_output(self):
        self.install_fake()
        for line in ("sonde record -e ", "sonde record -e zz", "sonde help zz", "sonde "):
            offered = [word.split("\t")[0] for word in
                       self.output("fish", "--no-config", "-c", f"source ./fish; complete -C '{line}'").split("\n")[:-1]]
            self.assertIn("zzplain:one", offered, line)
            self.assertEqual([word for word in offered if not PLAIN.fullmatch(word)], [], line)
        self.check_nothing_ran()

    def test_zsh_evaluates_no_output(self):
        self.install_fake()
        (self.path / "functions").mkdir()
        (self.path / "zsh").rename(self.path / "functions/_sonde")
        with Terminal(["zsh", "-f", "-i"], self.environment) as zsh:
            # The options are those under which what a variable holds would be split and expanded.
            zsh.type(f"cd {self.path}; setopt globsubst shwordsplit extendedglob; fpath=($PWD/functions $fpath); autoload -Uz compinit; "
                     "compinit -u -D; print rea''dy\n")
            zsh.wait_for("\nready")
            zsh.type("sonde record -e zzp\t")
            zsh.wait_for("zzplain:")
            zsh.type("\x15")
            zsh.type("sonde record -e \t\t")
            shown = zsh.wait_for("zzplain:two")
            zsh.type("\x15print do''ne\n")
            shown += zsh.wait_for("\ndone")
        self.assertNotIn("touch", shown)
        self.assertNotIn("zz*", shown)
        self.check_nothing_ran()

    def plant(self, text, probes=(("app", "start"),)):
        """A build-id cache that another tool, or an earlier version, wrote: it has an object, and this text of its probes."""
        program(self.path / "app", probes)
        build_id = re.search(r"Build ID: (\w+)", self.output("readelf", "-n", "app"))[1]
        kept = self.path / f".debug{self.path}/app/{build_id}"
        kept.mkdir(parents=True)
        (kept / "probes").write_text(text)
        link = self.path / f".debug/.build-id/{build_id[:2]}/{build_id[2:]}"
        link.parent.mkdir(parents=True)
        link.symlink_to(f"../..{self.path}/app/{build_id}")

    def test_a_planted_cache_is_harmless(self):
        (self.path / "bin/sonde").symlink_to(SONDE)
        self.plant("%sdt_zz:start=start\np:sdt_zz/start /app:0x1\n" +
                   "".join(f"%sdt_zz:{name}=x\np:sdt_zz/{name} /app:0x1\n" for name in HOSTILE))
        self.assertEqual(self.output(SONDE, "list", "--raw-dump", "sdt").split(), ["sdt_zz:start"])
        self.assertEqual([event["EventName"] for event in json.loads(self.output(SONDE, "list", "-j", "sdt"))], ["sdt_zz:start"])
        self.assertEqual(self.bash(["sonde", "record", "-e", "sdt_zz"]), [["sdt_zz:start"]])
        self.assertEqual([line.split()[0] for line in self.output(SONDE, "list", "sdt").splitlines() if line], ["sdt_zz:start"])
        self.assertEqual(self.output(SONDE, "probe", "-l", "--cache").splitlines()[1:], ["%sdt_zz:start"])
        self.check_nothing_ran()

    def test_a_hostile_name_gets_into_no_cache_and_no_list_for_machines(self):
        (self.path / "bin/sonde").symlink_to(SONDE)
        program(self.path / "app", [("zz", "start"), *(("zz", name) for name in HOSTILE), *((name, "zz") for name in HOSTILE)])
        for list_words in (["sdt"], ["sdt_*:*@" + str(self.path / "app")]):
            self.output(SONDE, "buildid-cache", "--add", "app")
            probes = [path.read_text() for path in self.path.rglob("probes")]
            self.assertEqual([line for text in probes for line in text.splitlines() if line.startswith("%")], ["%sdt_zz:start=start"])
            self.assertEqual(self.output(SONDE, "list", "--raw-dump", *list_words).split(), ["sdt_zz:start"])
            self.assertEqual([event["EventName"] for event in json.loads(self.output(SONDE, "list", "-j", *list_words))], ["sdt_zz:start"])
        self.assertEqual(self.bash(["sonde", "record", "-e", "sdt_"]), [["sdt_zz:start"]])
        # People see them, as one printable word per name.
        shown = self.output(SONDE, "list", "sdt_*:*@" + str(self.path / "app"))
        self.assertIn("sdt_zz:zz$(touch${IFS}PWN2)", shown)
        self.assertRegex(shown, r"sdt_zz:zz\\x1b\]0;PWN\\x07 ")
        self.assertNotRegex(shown, r"[^\n -~]")
        # Nor does a definition that somebody pastes.
        refused = self.output(SONDE, "probe", "-x", "app", "-D", "%sdt_zz:zz`*", status=255)
        self.assertEqual(refused.count("\n"), 1, refused)
        self.assertIn("'sdt_zz:zz`touch${IFS}PWN3`'", refused)
        defined = self.output(SONDE, "probe", "-q", "-x", "app", "-D", "%sdt_*:*")
        self.assertRegex(defined, r"\Ap:sdt_zz/start \S+ arg1=%di:u64\n\Z")
        self.check_nothing_ran()

    def test_a_path_adds_nothing_to_a_cache_or_a_definition(self):
        name = "app:0x1\n%sdt_zz:forged=x\n#probe_zz:forged=main\np:probe_zz"
        (self.path / name / "forged x:0x1").parent.mkdir()
        path = self.path / name / "forged x:0x1"
        program(path, [("zz", "start")])
        self.output(SONDE, "buildid-cache", "--add", path)
        self.assertNotIn("forged", "".join(file.read_text() for file in self.path.rglob("probes")))
        self.assertEqual(self.output(SONDE, "list", "--raw-dump", "sdt").split(), [])
        for probe in ("%sdt_zz:start", "main"):
            refused = self.output(SONDE, "probe", "-x", path, "-D", probe, status=255)
            self.assertEqual(refused.count("\n"), 1, refused)
            self.assertIn("rename it", refused)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
