"""stat on a processor with counters: the expected counts are known from the programs, and perf gives the same."""
import re

from inside import PERF, SHARE, SONDE, GuestTest, without_numbers

LOOP_INSTRUCTIONS = 20_000_011  # programs/loop.S
CALLS_INSTRUCTIONS = 80_005  # programs/calls.S
COUNTERS_FOR_EVENTS = 6  # the Cortex-A57's, in addition to the cycle counter


class CountingTest(GuestTest):
    def test_instructions_in_user_space_are_counted_exactly(self):
        for tool in (PERF, SONDE):
            for program, expected in (("loop", LOOP_INSTRUCTIONS), ("calls", CALLS_INSTRUCTIONS)):
                counts = self.counts(tool, "instructions:u,cycles:u,r8:u", SHARE / program)
                self.assertEqual({name: value for name, (value, _) in counts.items()},
                                 {name: expected for name in ("instructions:u", "cycles:u", "r8:u")}, f"{tool} {program}")

    def test_user_space_and_kernel_are_told_apart(self):
        events = "{cycles,cycles:u,cycles:k}"
        ours, theirs = (self.counts(tool, events, SHARE / "calls") for tool in (SONDE, PERF))
        self.assertEqual(ours["cycles:u"], theirs["cycles:u"])
        self.assertGreater(ours["cycles:k"][0], 10 * ours["cycles:u"][0])
        for event in ("cycles", "cycles:k"):
            # The kernel starts and ends the program in its own way each time; its 20,000 calls are the same.
            self.assertLess(abs(ours[event][0] / theirs[event][0] - 1), 0.5, event)
        parts = ours["cycles:u"][0] + ours["cycles:k"][0]
        self.assertLess(abs(parts / ours["cycles"][0] - 1), 0.01)

    def test_more_events_than_counters_take_turns_and_are_scaled(self):
        """Which event gets which turns differs from run to run; that all turns are used, and the results, do not."""
        others = ["r8:u", "r11:u", "r3:u", "r4:u", "r5:u", "r14:u", "r16:u", "r17:u", "r18:u"]
        events = ",".join(["cycles:u", "instructions:u", *others])
        sums = {}
        for tool in (PERF, SONDE):
            counts = self.counts(tool, events, SHARE / "loop")
            self.assertEqual(len(counts), 11)
            self.assertTrue(all(share < 100 for name, (_, share) in counts.items() if name == "r3:u") or
                            sum(share for _, share in counts.values()) < 1100)
            for event in ("instructions:u", "r8:u"):
                self.assertLess(abs(counts[event][0] / LOOP_INSTRUCTIONS - 1), 0.3, f"{tool} {event}")
            self.assertEqual(counts["r3:u"][0], 0)
            sums[tool] = sum(share for _, share in counts.values())
            # In a program of five clock ticks a turn more or less is a fifth of a counter.
            self.assertGreater(sums[tool], 100 * (COUNTERS_FOR_EVENTS - 1))
            self.assertLess(sums[tool], 100 * (COUNTERS_FOR_EVENTS + 2))

    def test_output_has_perfs_form(self):
        loop = str(SHARE / "loop")
        for words in (["--", loop], ["-d", "--", loop], ["-a", "--", loop], ["-j", "--", loop], ["-r", "2", "--", loop],
                      ["-x;", "-d", "--", loop], ["-e", "{cycles,instructions}", "--", loop],
                      ["-e", "cycles:u,instructions:k,branches,armv8_pmuv3/inst_retired/,L1-dcache-loads", "--", loop],
                      ["-a", "-A", "-e", "cycles,instructions", "--", loop]):
            theirs, ours = (self.run_tool(tool, "stat", *words).stderr for tool in (PERF, SONDE))
            self.assertEqual(without_numbers(ours), without_numbers(theirs), words)

    def test_metrics_of_two_counters(self):
        text = self.run_tool(SONDE, "stat", "--", SHARE / "loop").stderr
        self.assertRegex(text, r"instructions +# +1\.00 +insn per cycle")
        self.assertRegex(text, r"cycles +# +1\.000 GHz")
        self.assertEqual(len(re.findall("<not supported>", text)), 2)
        text = self.run_tool(SONDE, "stat", "--metric-only", "-x,", "-e", "cycles,instructions", "--", SHARE / "loop").stderr
        self.assertEqual(text.splitlines(), ["GHz,insn per cycle,", ",1.00,"])

    def test_files_of_counts_are_read_by_both(self):
        for tool in (PERF, SONDE):
            self.run_tool(tool, "stat", "record", "-o", "counts.data", "-e", "cycles:u,instructions:u", "--", SHARE / "loop")
            theirs, ours = (self.run_tool(reader, "stat", "report", "-i", "counts.data").stderr for reader in (PERF, SONDE))
            self.assertIn("20000011", ours.replace(",", ""))
            self.assertEqual(without_numbers(ours), without_numbers(theirs))

    def test_events_are_listed(self):
        for words in (["list", "hw"], ["list", "sw"]):
            self.same_text(*words)
        self.assertIn("armv8_pmuv3/inst_retired/", self.text(SONDE, "list", "pmu"))
