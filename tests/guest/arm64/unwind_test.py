"""Call chains on arm64, from copied stacks and unwound in the kernel: the known chains of programs/stops.c, and thousands of
programs/walked.c, both with signed return addresses."""
import json
import re
import shutil

import stop_cases
from inside import PERF, SHARE, SONDE, GuestTest
from stop_cases import CHAINS

ROUNDS = 3000
COPY_BYTES = 32768


class UnwindTest(GuestTest):
    def seen_by(self, recorder, addresses, *call_graph):
        """Event -> its chains."""
        seen = {}
        for part in stop_cases.in_parts(addresses):
            recording = self.path / "stops.data"
            stop_cases.record(recorder, part, recording, [SHARE / "stops"], *call_graph, "--no-bpf-event")
            seen |= stop_cases.chains(self.text(SONDE, "script", "-i", recording, "-F", "event,ip,sym"))
        return seen

    def assert_chains_of_the_program(self, recorder, *call_graph):
        addresses = {name: address for name, address in json.loads((SHARE / "stops.symbols").read_text()).items() if name in CHAINS}
        seen = self.seen_by(recorder, addresses.values(), *call_graph)
        bad = [stop_cases.wrong(name, seen[f"mem:{address:#x}:x"], may_repeat=True) for name, address in addresses.items()]
        self.assertEqual("".join(bad), "", recorder)

    def test_chains_are_those_of_the_program(self):
        for recorder in (SONDE, PERF):
            self.assert_chains_of_the_program(recorder, "--call-graph", "dwarf")

    def test_chains_of_the_kernels_walk_are_those_of_the_program(self):
        self.assert_chains_of_the_program(SONDE, "--call-graph", "bpf")

    def test_walks_for_comparison(self):
        """Samples with both chains, which arm64_test.py compares."""
        said = self.run_tool(SONDE, "record", "-e", "cpu-clock", "-F", "4000", "-N", "--call-graph", f"bpf,{COPY_BYTES},raw", "-o",
                             "both.data", "--", SHARE / "walked", ROUNDS).stderr
        incomplete = re.search(r"(\d+) of (\d+) user call chains are incomplete", said)
        self.assertLessEqual(200 * int(incomplete[1]) if incomplete else 0, int(incomplete[2]) if incomplete else 0, said)
        shutil.copy(self.path / "both.data", SHARE / "walked.both")
