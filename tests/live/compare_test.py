#!/usr/bin/env python3
"""`stat --vs`, `--compare`, `--save` and `--gate` on this kernel. Assertions are on counts that the programs determine (system
calls), never on times: how often two copies of one command are told apart is tested on synthetic runs
(src/analysis/comparison/run_comparison_test.cc), and by hand on a real machine: this script with --trials 100. Needs root."""
import collections
import json
import os
import subprocess
import sys
import unittest

from own_directory import OwnDirectoryTest

SONDE = os.environ["SONDE"]
CALLS = ["-e", "syscalls:sys_enter_write"]
WRITES = {n: ["sh", "-c", "; ".join(["echo"] * n) + "; exit 0"] for n in (2, 3)}
GATE_STATUS = 193


def in_one_word(command):
    return " ".join(f"'{word}'" for word in command)


def compare(command, *arguments, cwd=None):
    run = subprocess.run([SONDE, "stat", *map(str, arguments), "--", *command], cwd=cwd, text=True, timeout=300,
                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return run.stderr, run.returncode


class CompareTest(OwnDirectoryTest):
    def compare(self, command, *arguments, status=0):
        text, ended = compare(command, *arguments, cwd=self.path)
        self.assertEqual(ended, status, text)
        return text

    def document(self, command, *arguments, status=0):
        text = self.compare(command, "-j", *arguments, status=status)
        return json.loads(text[text.index("{"):text.rindex("}") + 1])

    def metric(self, document, name="syscalls:sys_enter_write"):
        return next(each for each in document["metrics"] if each["metric"] == name)

    def test_a_count_that_differs_is_a_difference(self):
        document = self.document(WRITES[3], "-r", 8, *CALLS, "--vs", in_one_word(WRITES[2]))
        writes = self.metric(document)
        self.assertEqual((writes["median_a"], writes["median_b"], writes["verdict"]), (2, 3, "worse"))
        self.assertEqual((writes["runs_a"], writes["runs_b"]), ([2] * 8, [3] * 8), "each side has its own runs")
        self.assertEqual(writes["ratio"], 1.5)
        self.assertEqual(document["a"]["command"], WRITES[2])
        self.assertEqual(document["b"], {"title": "'" + " ".join(WRITES[3]) + "'", "command": WRITES[3], "runs": 8})
        self.assertTrue(document["in_turn"])
        self.assertEqual(self.metric(self.document(WRITES[2], "-r", 8, *CALLS, "--vs", in_one_word(WRITES[3])))["verdict"],
                         "better")

    def test_a_count_that_does_not_is_none(self):
        document = self.document(WRITES[3], "-r", 8, *CALLS, "--vs", in_one_word(WRITES[3]),
                                 "--gate", "syscalls:sys_enter_write>0")
        self.assertEqual(self.metric(document)["verdict"], "no difference seen")
        self.assertEqual([gate["outcome"] for gate in document["gates"]], ["passed"])
        for metric in document["metrics"]:
            self.assertEqual(len(metric["runs_a"]), 8, metric)
            self.assertLessEqual(metric["interval"][0], metric["interval"][1])

    def test_gates_have_a_status_of_their_own(self):
        vs = ["-r", 8, *CALLS, "--vs", in_one_word(WRITES[2])]
        text = self.compare(WRITES[3], *vs, "--gate", "syscalls:sys_enter_write>20%", status=GATE_STATUS)
        self.assertIn(" gate syscalls:sys_enter_write>20%: exceeded\n", text)
        self.compare(WRITES[3], *vs, "--gate", "syscalls:sys_enter_write>1,syscalls:sys_enter_write>60%")
        self.compare(WRITES[2], "-r", 8, *CALLS, "--vs", in_one_word(WRITES[3]), "--gate", "syscalls:sys_enter_write>0")
        self.assertIn("is not measured", self.compare(["true"], *vs, "--gate", "page-faults>0", status=129))

    def test_a_gate_that_cannot_close_is_no_pass(self):
        text = self.compare(WRITES[3], "-r", 2, *CALLS, "--vs", in_one_word(WRITES[2]), "--gate",
                            "syscalls:sys_enter_write>0", status=255)
        self.assertIn("too few runs to tell", text)

    def test_a_command_that_fails_ends_it(self):
        self.assertIn("A ('false') ended with status 1 in run 1: nothing is compared",
                      self.compare(["true"], "--vs", "false", "--gate", "elapsed>0", status=1))
        self.assertIn("B ('sh -c kill -9 $$') was killed: Killed",
                      self.compare(["sh", "-c", "kill -9 $$"], "--vs", "true", status=137))
        self.assertIn("no file of `stat --save`; as a command: ", self.compare(["true"], "--compare", "nonexistent", status=255))

    def test_sides_are_run_in_turn_behind_a_warm_up(self):
        log = self.path / "log"
        log.touch()
        a, b = (["sh", "-c", f"echo {side} >> {log}; exit 0"] for side in "AB")
        self.compare(b, "-r", 5, "--vs", in_one_word(a))
        order = log.read_text().split()
        self.assertEqual(order[:2], ["A", "B"])
        pairs = [set(order[i:i + 2]) for i in range(0, len(order), 2)]
        self.assertEqual(pairs, [{"A", "B"}] * 6)

    def test_a_baseline_from_disk(self):
        text = self.compare(WRITES[2], "-r", 8, *CALLS, "--save", "base.json")
        self.assertIn("(8 runs)", text, "what stat prints is printed")
        saved = json.loads((self.path / "base.json").read_text())
        self.assertEqual((saved["command"], saved["runs"]), (WRITES[2], 8))
        self.assertEqual(saved["metrics"][0]["values"], [2] * 8, "without the warm-up")
        self.assertEqual(len(saved["pace_ns"]), 8)
        document = self.document(WRITES[3], *CALLS, "--compare", "base.json", "--save", "next.json",
                                 "--gate", "syscalls:sys_enter_write>0", status=GATE_STATUS)
        writes = self.metric(document)
        self.assertEqual((writes["runs_a"], writes["runs_b"]), ([2] * 8, [3] * 8), "as many runs as the file has")
        self.assertFalse(document["in_turn"])
        self.assertTrue(any("another command line" in note for note in document["notes"]), document["notes"])
        document = self.document(WRITES[3], *CALLS, "--compare", "next.json")
        self.assertEqual(self.metric(document)["verdict"], "no difference seen")
        document = self.document(WRITES[3], "-e", "page-faults", "--compare", "next.json")
        self.assertIn("only A has counts of syscalls:sys_enter_write", document["notes"])

    def test_a_baseline_of_another_machine_is_refused(self):
        self.compare(["true"], "-r", 2, "-e", "page-faults", "--save", "base.json")
        saved = json.loads((self.path / "base.json").read_text())
        saved["processor"] = "Another"
        (self.path / "base.json").write_text(json.dumps(saved, separators=(",", ":")))
        self.assertIn("on another processor", self.compare(["true"], "--compare", "base.json", status=255))
        (self.path / "base.json").write_text('{"sonde_baseline":1,"tool"')
        self.assertIn("no file of `stat --save`", self.compare(["true"], "--compare", "base.json", status=255))

    def test_a_command_that_fails_is_not_kept(self):
        self.assertIn("is not written", self.compare(["false"], "-r", 2, "--save", "base.json", status=255))
        self.assertFalse((self.path / "base.json").exists())

    def test_what_does_not_go_together_is_said(self):
        for arguments in (["--vs", " "], ["--compare", ""], ["--save", ""],
                          ["--vs", "a | b"], ["--vs", "true", "--compare", "x"], ["--gate", "task-clock>2%"], ["--vs", "true", "--gate", "x"],
                          ["--vs", "true", "-r", "1"], ["--vs", "true", "-r", "0"], ["--vs", "true", "-x,"], ["--vs", "true", "-I", "100"],
                          ["--markdown"], ["--vs", "true", "-a"], ["--vs", "true", "-j", "--markdown"], ["--save", "x", "-a"]):
            self.compare(["true"], *arguments, status=129)

    def test_markdown_goes_where_it_is_told(self):
        self.assertEqual(self.compare(["true"], "-r", 2, "-e", "page-faults", "--vs", "true", "--markdown", "-o", "x.md"), "")
        text = (self.path / "x.md").read_text()
        self.assertTrue(text.startswith("**A**: `'true'`  \n"), text)
        self.assertIn("| page-faults | ", text)


def trials(count, command, runs):
    """Out of this many comparisons of a command with itself: how many tables claim anything."""
    claims = collections.Counter()
    wrong = 0
    for _ in range(count):
        text, status = compare(command, "-j", "-r", runs, "--vs", in_one_word(command))
        found = [each["metric"] for each in json.loads(text)["metrics"] if each.get("verdict") in ("better", "worse")]
        claims.update(found)
        wrong += bool(found)
    print(f"{count} comparisons of {command} with itself, {runs} runs of each: {wrong} claim something {dict(claims)}")


if __name__ == "__main__":
    if "--trials" in sys.argv:
        at = sys.argv.index("--trials")
        trials(int(sys.argv[at + 1]), sys.argv[at + 3:] or ["true"], int((sys.argv[at + 2:] or ["10"])[0]))
    else:
        unittest.main(argv=sys.argv[:1])
