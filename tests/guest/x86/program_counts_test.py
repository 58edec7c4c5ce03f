"""Events counted inside of BPF programs (`stat -b`): on Debian's kernel, which has fentry probes."""
import json
import shutil
import subprocess
import time

from inside import SONDE, GuestTest

FORKS = 200
WORKLOAD = ["sh", "-c", f"i=0; while [ $i -lt {FORKS} ]; do (:); i=$((i+1)); done"]


class ProgramCountsTest(GuestTest):
    def watched_program(self, name="on_fork"):
        """The id of a program of another `stat`, by default of one that runs at every fork."""
        if not shutil.which("bpftool"):
            self.skipTest("no bpftool to see programs with")
        counter = subprocess.Popen([SONDE, "stat", "-e", "syscalls:sys_enter_*", "--", "sleep", "1000"], stderr=subprocess.DEVNULL)
        self.addCleanup(counter.wait)
        self.addCleanup(counter.kill)
        for _ in range(600):
            listed = subprocess.run(["bpftool", "prog", "list", "-j"], text=True, stdout=subprocess.PIPE, check=True).stdout
            found = [each["id"] for each in json.loads(listed) if each.get("name") == name]
            if found:
                return found[0]
            time.sleep(0.1)
        self.fail("the program did not come")

    def document(self, *words):
        text = self.run_tool(SONDE, "stat", "--json=2", *words).stderr
        return json.loads(next(line for line in text.splitlines() if line.startswith("{")))

    def test_what_happens_in_a_program_is_counted(self):
        program = self.watched_program()
        document = self.document("-b", program, "-e", "cpu-clock,page-faults", "--", *WORKLOAD)
        counts = {each["event"]: each for each in document["counts"]}
        self.assertEqual(document["target"], f"'BPF program(s) {program}'")
        # It ran for every fork: for some time, but not for all of it on all CPUs; and page faults cannot happen in it.
        self.assertGreater(counts["cpu-clock"]["value"], 0)
        self.assertLess(counts["cpu-clock"]["enabled_ns"], 2e9 * document["elapsed_s"]["mean"])
        self.assertEqual(counts["page-faults"]["value"], 0)
        by_cpu = self.document("-b", program, "-A", "-e", "cpu-clock", "--", *WORKLOAD)["counts"]
        self.assertTrue(all("cpu" in each for each in by_cpu), by_cpu)

    def test_tracing_programs_cannot_be_watched_which_is_said(self):
        done = self.run_tool(SONDE, "stat", "-b", self.watched_program("on_enter"), "--", "true", status=255)
        self.assertIn("is itself a tracing program", done.stderr)

    def test_programs_that_are_not_there_are_said(self):
        done = self.run_tool(SONDE, "stat", "-b", 4_000_000_000, "--", "true", status=255)
        self.assertIn("cannot find BPF program 4000000000", done.stderr)
