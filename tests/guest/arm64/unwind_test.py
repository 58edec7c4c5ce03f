"""Call chains on arm64, from copied stacks and unwound in the kernel: the known chains of programs/stops.c, and thousands of
programs/walked.c, both with signed return addresses."""
import re
import shutil

from inside import PERF, SHARE, SONDE
from known_chains import KnownChainsTest

ROUNDS = 3000
COPY_BYTES = 32768


class UnwindTest(KnownChainsTest):
    def test_chains_are_those_of_the_program(self):
        for recorder in (SONDE, PERF):
            self.assert_chains_of_the_program(recorder, "--call-graph", "dwarf", may_repeat=True)

    def test_chains_of_the_kernels_walk_are_those_of_the_program(self):
        self.assert_chains_of_the_program(SONDE, "--call-graph", "bpf", may_repeat=True)

    def test_walks_for_comparison(self):
        """Samples with both chains, which arm64_test.py compares."""
        said = self.run_tool(SONDE, "record", "-e", "cpu-clock", "-F", "4000", "-N", "--call-graph", f"bpf,{COPY_BYTES},raw", "-o",
                             "both.data", "--", SHARE / "walked", ROUNDS).stderr
        incomplete = re.search(r"(\d+) of (\d+) user call chains are incomplete", said)
        self.assertLessEqual(200 * int(incomplete[1]) if incomplete else 0, int(incomplete[2]) if incomplete else 0, said)
        shutil.copy(self.path / "both.data", SHARE / "walked.both")
