"""Call chains from copied stacks on arm64: the known chains of programs/stops.c, with signed return addresses."""
import json

import stop_cases
from inside import PERF, SHARE, SONDE, GuestTest
from stop_cases import CHAINS


class UnwindTest(GuestTest):
    def test_chains_are_those_of_the_program(self):
        addresses = {name: address for name, address in json.loads((SHARE / "stops.symbols").read_text()).items() if name in CHAINS}
        for recorder in (SONDE, PERF):
            seen = {}
            for part in stop_cases.in_parts(addresses.values()):
                recording = self.path / "stops.data"
                stop_cases.record(recorder, part, recording, [SHARE / "stops"], "--call-graph", "dwarf", "--no-bpf-event")
                seen |= stop_cases.chains(self.text(SONDE, "script", "-i", recording, "-F", "event,ip,sym"))
            bad = [stop_cases.wrong(name, seen[f"mem:{address:#x}:x"], may_repeat=True) for name, address in addresses.items()]
            self.assertEqual("".join(bad), "", recorder)

    def test_unwinding_in_the_kernel_is_refused(self):
        """The kernel could: it describes its types (BTF). The walker knows x86-64's registers and mappings only, and says so in a line."""
        said = self.run_tool(SONDE, "record", "-o", "perf.data", "-e", "cpu-clock", "--call-graph", "bpf", "--", "true", status=255).stderr
        self.assertEqual(said, "--call-graph bpf: the kernel part unwinds x86-64 only so far: use --call-graph dwarf\n")
        self.assertFalse((self.path / "perf.data").exists())
