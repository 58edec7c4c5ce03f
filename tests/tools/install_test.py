"""What `cmake --install` puts where: programs without debug information, which is beside them; manuals; completion that works."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from terminal import Terminal

BUILD = pathlib.Path(sys.argv[1])


def output_of(*words, **options):
    return subprocess.run([str(word) for word in words], check=True, text=True, stdout=subprocess.PIPE, **options).stdout


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory(prefix="sonde-install.")
        cls.addClassCleanup(directory.cleanup)
        cls.prefix = pathlib.Path(directory.name)
        output_of("cmake", "--install", BUILD, "--prefix", cls.prefix)
        cls.sonde = cls.prefix / "bin" / "sonde"
        cls.share = cls.prefix / "share"
        cls.environment = {**os.environ, "PATH": f"{cls.sonde.parent}:{os.environ['PATH']}", "PERF_CONFIG": "/dev/null", "HOME": directory.name}
        cls.commands = output_of(cls.sonde, "--list-cmds").split()

    def flags_of(self, *command):
        return set(output_of(self.sonde, *command, "--list-opts").split())

    def test_debug_information_is_beside_each_program(self):
        programs = [self.sonde, self.prefix / "lib/sonde/libsonde-jvmti.so", *self.prefix.glob("lib/python3*/dist-packages/*.so")]
        self.assertEqual(len(programs), 3)
        for program in programs:
            build_id = re.search(r"Build ID: (\w\w)(\w+)", output_of("readelf", "-n", program))
            beside = self.prefix / "lib/debug/.build-id" / build_id[1] / f"{build_id[2]}.debug"
            self.assertNotIn(".debug_info", output_of("readelf", "-SW", program), program)
            self.assertIn(".debug_info", output_of("readelf", "-SW", beside), program)
            self.assertLess(program.stat().st_size, 20e6)

    def test_its_own_checks_find_its_functions(self):
        """They record functions of the installed program, which has no symbol table."""
        self.assertNotIn(".symtab", output_of("readelf", "-SW", self.sonde))
        checks = ("samples", "call_chains", "stack_copies", "pipes", "threads")
        shown = output_of(self.sonde, "test", "-v", *checks, env=self.environment)
        outcomes = re.findall(r"^ *\d+: .* : (.*)$", shown, re.M)
        self.assertGreaterEqual(len(outcomes), len(checks), shown)
        self.assertEqual(set(outcomes), {"Ok"}, shown)

    def test_each_command_has_a_manual(self):
        for name in ("sonde", *(f"sonde-{command}" for command in self.commands)):
            page = self.share / "man/man1" / f"{name}.1"
            self.assertTrue(page.read_text().startswith(f'.TH "{name.upper()}" 1'), name)

    def test_links_between_documents_lead_somewhere(self):
        documents = self.share / "doc/sonde"
        for name in re.findall(r"\]\((docs/[^)#]+)", (documents / "README.md").read_text()):
            self.assertTrue((documents / name).exists(), name)

    def fish(self, lines):
        """What fish offers for each line, as lists of words."""
        script = f"source {self.share}/fish/vendor_completions.d/sonde.fish\n"
        script += "".join(f"echo '=== {line}'\ncomplete -C '{line}'\n" for line in lines)
        parts = output_of("fish", "--no-config", "-c", script, env=self.environment).split("=== ")[1:]
        return {part.split("\n")[0]: [line.split("\t")[0] for line in part.split("\n")[1:-1]] for part in parts}

    def test_fish_offers_the_flags_of_each_command(self):
        offered = self.fish([f"sonde {command} --" for command in self.commands])
        for command in self.commands:
            names = {word.rstrip("=") for word in offered[f"sonde {command} --"]}
            self.assertLessEqual(names, self.flags_of(command), command)
        self.assertIn("--call-graph", offered["sonde record --"])

    def test_fish_knows_words_of_the_line(self):
        offered = self.fish(["sonde ", "sonde sched ", "sonde sched latency --", "sonde timeline --to ", "sonde record -- make -"])
        self.assertEqual(sorted(set(offered["sonde "]) & set(self.commands)), sorted(self.commands))
        subcommands = output_of(self.sonde, "sched", "--list-cmds").split()
        self.assertLessEqual(set(subcommands), set(offered["sonde sched "]))
        self.assertIn("--sort", offered["sonde sched latency --"])
        self.assertEqual(sorted(offered["sonde timeline --to "]), sorted(output_of(self.sonde, "timeline", "--list-opts=--to").split()))
        self.assertNotIn("--call-graph", offered["sonde record -- make -"])

    def test_bash_offers_flags(self):
        script = (f"source {self.share}/bash-completion/completions/sonde; COMP_WORDS=(sonde record --call); COMP_CWORD=2; _sonde; "
                  'echo "${COMPREPLY[@]}"')
        self.assertEqual(output_of("bash", "--norc", "-c", script, env=self.environment).split(), ["--call-graph"])

    def test_zsh_offers_flags_and_values(self):
        with Terminal(["zsh", "-f", "-i"], {**self.environment, "TERM": "dumb", "PS1": "> "}) as zsh:
            zsh.type(f"fpath=({self.share}/zsh/site-functions $fpath); autoload -Uz compinit; compinit -u -D; print rea''dy\n")
            zsh.wait_for("\nready")
            for line, completed in (("sonde record --call\t", "record --call-graph"), ("sonde sched latency --sor\t", "latency --sort"),
                                    ("sonde timeline --to=fol\t", "--to=folded"), ("sonde kvm rep\t", "kvm report")):
                zsh.type(line)
                zsh.wait_for(completed)
                zsh.type("\x15")  # erases the line


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
