"""The known chains of programs/stops.c, which the host built (stops and stops.symbols in the share), recorded in a guest."""
import json

import stop_cases
from inside import SHARE, SONDE, GuestTest
from stop_cases import CHAINS


class KnownChainsTest(GuestTest):
    def seen_by(self, recorder, addresses, *call_graph):
        """Event -> its chains."""
        seen = {}
        for part in stop_cases.in_parts(addresses):
            recording = self.path / "stops.data"
            stop_cases.record(recorder, part, recording, [SHARE / "stops"], *call_graph, "--no-bpf-event")
            seen |= stop_cases.chains(self.text(SONDE, "script", "-i", recording, "-F", "event,ip,sym"))
        return seen

    def assert_chains_of_the_program(self, recorder, *call_graph, may_repeat=False):
        addresses = {name: address for name, address in json.loads((SHARE / "stops.symbols").read_text()).items() if name in CHAINS}
        seen = self.seen_by(recorder, addresses.values(), *call_graph)
        bad = [stop_cases.wrong(name, seen[f"mem:{address:#x}:x"], may_repeat) for name, address in addresses.items()]
        self.assertEqual("".join(bad), "", recorder)
