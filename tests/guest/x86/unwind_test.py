"""Call chains unwound in the kernel, on Linux 6.1, whose verifier is stricter than today's: the known chains of programs/stops.c,
and chains that are counted there."""
import re

from inside import SONDE
from known_chains import KnownChainsTest


class UnwindTest(KnownChainsTest):
    def test_chains_of_the_kernels_walk_are_those_of_the_program(self):
        self.assert_chains_of_the_program(SONDE, "--call-graph", "bpf")

    def test_chains_are_counted_in_the_kernel(self):
        said = self.run_tool(SONDE, "record", "-e", "cpu-clock", "-F", "999", "--aggregate", "--call-graph", "bpf", "-o", "sums.data", "--",
                             "perl", "-e", "sub down { my $n = shift; $n ? down($n - 1) : 1 } down(10) for 1 .. 20000").stderr
        counted = re.search(r"(\d+) samples", said)
        chains = self.text(SONDE, "script", "-i", "sums.data", "-F", "ip,sym").split("\n\n")
        deep = [chain for chain in chains if "Perl_runops_standard" in chain and "main" in chain]
        self.assertGreater(int(counted[1]) if counted else 0, 0, said)
        self.assertGreater(len(deep), 0, f"{said}{chains[:3]}")
