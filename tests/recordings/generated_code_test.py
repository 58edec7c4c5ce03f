#!/usr/bin/env python3
"""What is generated from recordings whose names are code. `script -g python`: the script has no statement but its own, and, run, does
nothing but call the handlers that it defines, one for each name. `data convert --to-ctf`: the metadata declares what it should, in
identifiers that differ."""
import ast
import os
import re
import subprocess
import sys
import unittest

import tracepoints
from own_directory import OwnDirectoryTest

SONDE = os.environ["SONDE"]
# Each would make a directory, if any of it was run; names of systems may have newlines, those of events are in a line.
MAKE = "import os;os.mkdir('PWN')"
HOSTILE = [
    f"x(*a):0\r{MAKE}\rdef z", f'"\r{MAKE}#', f"'''\r{MAKE}\r'''", f'"""\r{MAKE}\r"""', f"\\\r{MAKE}", f"#\r{MAKE}",
    f"\u2028{MAKE}\u2029", f"\x85{MAKE}", f"\x0c{MAKE}", "__import__('os').mkdir('PWN')", "{__import__('os').mkdir('PWN')}",
    "%(x)s%n", "class", "pass", "__builtins__", "9", "été", "\x1b]0;PWN\x07", "a-b", "a b", "a_b",
]
FIELDS = [("int", "id"), ("int", "perf_ip"), ("int", "class"), ("int", "print"), ("int", "event_name"), ("int", "9"), ("int", "flag_str"),
          ("__data_loc char[]", "import")]
OWN = {"trace_begin", "trace_end", "trace_unhandled", "print_header", "print_callchain", "fields_text"}
CALLED = {"print_header", "print", "print_callchain", "flag_str", "symbol_str"}
HANDLER_PARTS = {"FunctionDef", "arguments", "arg", "Expr", "Call", "Name", "Load", "Constant", "BinOp", "Mod", "Tuple"}


def print_format(text):
    text = text.replace("\\", "\\\\").replace('"', '\\"')
    return (f'"%s %s", __print_flags(REC->id, "{text}", {{ 1, "{text}" }}), '
            f'__print_symbolic(REC->class, {{ 1, "{text}" }})')


class GeneratedCode(OwnDirectoryTest):
    def run_sonde(self, *words):
        done = subprocess.run([SONDE, *words], cwd=self.path, capture_output=True, timeout=120, stdin=subprocess.DEVNULL,
                              env={**os.environ, "PERF_EXEC_PATH": str(self.path / "nowhere"), "PYTHONIOENCODING": "utf-8",
                                   "ASAN_OPTIONS": "detect_leaks=0"})  # libpython leaves memory of its own behind
        self.assertEqual((done.returncode, done.stderr), (0, b""), done.stdout)
        self.assertFalse((self.path / "PWN").exists(), words)
        return done.stdout.decode()

    def record(self, names, data="perf.data"):
        """A sample of each event; `names`: [(system, event)]."""
        events = {f"test:e{i}": FIELDS for i in range(len(names))}
        prints = {f"test:e{i}": print_format("".join(names[i]).replace("\n", "")) for i in range(len(names))}
        recording = tracepoints.Recording(events, prints=prints, names={f"test:e{i}": name for i, name in enumerate(names)})
        for i in range(len(names)):
            recording.add(f"test:e{i}", 1000 + i, id=1, **{"class": 1, "print": i, "import": "field'\"\n"})
        recording.write(self.path / data)

    def handlers(self):
        """The names of the script's handlers; everything else is as it is in each script."""
        found = []
        text = (self.path / "perf-script.py").read_bytes()
        text.decode("ascii")
        tree = ast.parse(text)
        self.assertEqual([ast.unparse(node) for node in tree.body if not isinstance(node, ast.FunctionDef)],
                         ["import os", "import sys",
                          "sys.path.append(os.environ['PERF_EXEC_PATH'] + '/scripts/python/Perf-Trace-Util/lib/Perf/Trace')",
                          "from perf_trace_context import *", "from Core import *"])
        for node in tree.body:
            if not isinstance(node, ast.FunctionDef) or node.name in OWN:
                continue
            parts = list(ast.walk(node))
            self.assertLessEqual({type(part).__name__ for part in parts}, HANDLER_PARTS, node.name)
            self.assertLessEqual({part.func.id for part in parts if isinstance(part, ast.Call)}, CALLED, node.name)
            found.append(node.name)
        return found

    def test_has_only_its_own_statements_and_does_only_what_they_say(self):
        names = [("sys", name) for name in HOSTILE] + [(f"{name}\n{MAKE}\n", "event") for name in HOSTILE] + [("", "builtins__")]
        self.record(names)
        self.run_sonde("script", "-g", "python")
        handlers = self.handlers()
        self.assertEqual(len(set(handlers)), len(names))
        lines = self.run_sonde("script", "-s", "perf-script.py").split("\n")
        # The handler of each event is called for it: its line tells the number of the event.
        called = [handlers[int(line.split(" print=")[1].split()[0])] for line in lines if " print=" in line]
        self.assertEqual(called, handlers)
        self.assertEqual([line.split()[0][:20] for line in lines if " print=" in line], [name.split()[0][:20] for name in handlers])

    def test_names_that_need_nothing_are_as_they_are(self):
        self.record([("sched", "sched_switch"), ("a", "b-c"), ("a", "b_c")])
        self.run_sonde("script", "-g", "python")
        self.assertEqual(self.handlers(), ["sched__sched_switch", "a__b_c_2", "a__b_c"])
        script = self.path / "own.py"
        script.write_text("def a__b_c(name, *fields): print(name)\ndef trace_unhandled(name, context, fields): print('other', name)\n")
        self.assertEqual(self.run_sonde("script", "-s", "own.py").split("\n")[:-1], ["other sched__sched_switch", "other a__b_c_2", "a__b_c"])

    def test_nothing_of_a_name_is_run_by_other_scripts(self):
        self.record([("", "builtins__"), ("", "loader__"), ("", "import__"), ("sys", "exit")])
        script = self.path / "own.py"
        script.write_text("def trace_unhandled(name, context, fields): print(name)\n")
        self.assertEqual(self.run_sonde("script", "-s", "own.py").split(), ["__builtins___", "__loader___", "__import___", "sys__exit"])

    def test_modules_that_others_put_beside_a_script_are_not_imported(self):
        self.record([("sys", "x")])
        self.run_sonde("script", "-g", "python")
        (self.path / "Core.py").write_text("from os import mkdir\nmkdir('PWN')\n")
        self.path.chmod(0o1777)
        self.run_sonde("script", "-s", "perf-script.py")
        # In a directory of one's own they are, as by python.
        self.path.chmod(0o700)
        (self.path / "Core.py").write_text("print('own Core')\ndef flag_str(*x): return ''\nsymbol_str = flag_str\n")
        self.assertIn("own Core\n", self.run_sonde("script", "-s", "perf-script.py"))

    def test_metadata_declares_an_identifier_per_field(self):
        self.record([("sys", f'"; }}; {MAKE}\r'), ("a\n\"\\", "b"), ("sys", "x")])
        # Names that are in the metadata's own scope, or become the same.
        done = subprocess.run([SONDE, "data", "convert", "--to-ctf", "ctf"], cwd=self.path, capture_output=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        metadata = (self.path / "ctf/metadata").read_text()
        self.assertEqual(len(re.findall("^event {", metadata, re.M)), 3)
        for body in re.findall(r"fields := struct {\n(.*?)\n\t};\n};", metadata, re.S):
            names = []
            for line in body.split("\n"):
                declared = re.fullmatch(r"\t\t(?:integer|string) {[^{}]*} (\w+)(?:\[\w+\])?;", line)
                self.assertTrue(declared, line)
                names.append(declared[1])
            self.assertEqual(len(set(names)), len(names), names)
            self.assertEqual([name for name in names if not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name)], [])
            self.assertIn("_9", names)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
