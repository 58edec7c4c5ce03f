"""CoreSight traces: of a real recording, by another recorder, the executed ranges and the branches are those of its golden.

The golden is in AutoFDO's text form, with offsets in the file; it has no targets of indirect branches.
"""

import collections
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SONDE = os.environ["SONDE"]
SOURCE = Path(os.environ["SONDE_SOURCE"])
FIXTURES = Path(os.environ.get("SONDE_FIXTURES", SOURCE / "../shared/fixtures")) / "etm"
RECORDING = FIXTURES / "perf_etm.data"
PROGRAM = "data/local/tmp/etm_test_loop"
BASE = 0x582B2B0000  # where it was mapped


def golden():
    """Ranges and branches, with their counts."""
    lines = (FIXTURES / "perf_inject.data").read_text().splitlines()
    tables = []
    while len(tables) < 3:
        size = int(lines.pop(0))
        tables.append(collections.Counter({line.rsplit(":", 1)[0]: int(line.rsplit(":", 1)[1]) for line in lines[:size]}))
        del lines[:size]
    return tables[0], tables[2]


class EtmTest(unittest.TestCase):
    def setUp(self):
        self.symfs = Path(tempfile.mkdtemp(prefix="sonde-etm-"))
        self.addCleanup(shutil.rmtree, self.symfs)
        (self.symfs / PROGRAM).parent.mkdir(parents=True)
        shutil.copy(FIXTURES / "etm_test_loop", self.symfs / PROGRAM)

    def sonde(self, *args):
        done = subprocess.run([SONDE, *args], capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def script(self, recording, itrace, fields):
        return self.sonde("script", "-i", recording, *itrace, "--symfs", self.symfs, "-F", fields).splitlines()

    def branches(self, recording, *itrace):
        """(from, to, flags), without where tracing began."""
        found = []
        for line in self.script(recording, itrace, "flags,ip,addr"):
            *flags, start, arrow, to = line.split()
            self.assertEqual(arrow, "=>")
            if int(start, 16) != 0:
                found.append((int(start, 16), int(to, 16), " ".join(flags)))
        return found

    def test_branches_are_those_of_the_golden(self):
        counts = collections.Counter()
        for start, to, flags in self.branches(RECORDING, "--itrace=b"):
            known = to != 0 and "return" not in flags
            counts[f"{start - BASE:x}->{to - BASE if known else 0:x}"] += 1
        self.assertEqual(counts, golden()[1])

    def test_instructions_are_those_of_the_goldens_ranges(self):
        counts = collections.Counter()
        start = last = None
        ended = True
        for line in self.script(RECORDING, ["--itrace=i0ns"], "flags,ip"):
            *flags, address = line.split()
            address = int(address, 16) - BASE
            if start is not None and (ended or address != last + 4):
                counts[f"{start:x}-{last:x}"] += 1
                start = None
            start = address if start is None else start
            last, ended = address, bool(flags)
        counts[f"{start:x}-{last:x}"] += 1
        self.assertEqual(counts, golden()[0])

    def test_counts_for_compilers_are_those_of_the_golden(self):
        text = self.sonde("data", "convert", "--to-autofdo", "-", "-i", RECORDING, "--dso", f"/{PROGRAM}", "--symfs", self.symfs)
        lines = iter(text.splitlines())
        tables = [dict(next(lines).rsplit(":", 1) for _ in range(int(next(lines)))) for _ in range(3)]
        ranges, branches = golden()

        def runs(table):
            """By instruction: the golden's ranges end at branches that were not taken, too."""
            counts = collections.Counter()
            for place, count in table.items():
                first, last = (int(address, 16) for address in place.split("-"))
                counts.update({address: int(count) for address in range(first, last + 4, 4)})
            return counts

        self.assertEqual(runs(tables[0]), runs(ranges))
        # The golden has no targets of returns: there only the branch's own place tells.
        self.assertEqual({place.split("->")[0]: int(count) for place, count in tables[2].items()},
                         {place.split("->")[0]: count for place, count in branches.items()})
        self.assertEqual({place for place in branches if not place.endswith(">0")} - set(tables[2]), set())

    def test_branches_survive_injection(self):
        injected, cache = self.symfs / "injected.data", self.symfs / "cache"
        self.sonde("--buildid-dir", cache, "buildid-cache", "--add", FIXTURES / "etm_test_loop")
        for strip in ([], ["--strip"]):
            self.sonde("--buildid-dir", cache, "inject", "-i", RECORDING, "--itrace=b", *strip, "-o", injected)
            copied = [branch[:2] for branch in self.branches(injected)]
            self.assertEqual(copied, [branch[:2] for branch in self.branches(RECORDING, "--itrace=b")])

    def test_a_thread_and_its_function_are_named(self):
        text = self.sonde("report", "-i", RECORDING, "--itrace=i1i", "--symfs", self.symfs, "-s", "comm,sym", "--stdio")
        self.assertRegex(text, r"etm_test_loop +\[\.\] Loop\b")

    def test_missing_code_is_told_and_counted(self):
        done = subprocess.run([SONDE, "script", "-i", RECORDING, "--itrace=e", "--symfs", self.symfs / "none"],
                              capture_output=True, text=True, timeout=120, check=False)
        self.assertIn(" instruction trace error type 1 ", done.stdout)
        self.assertIn("Failed to get instruction", done.stdout)
        self.assertIn("Failed to get instruction", done.stderr)


if __name__ == "__main__":
    if not RECORDING.exists():
        print("no fixtures beside the project:", FIXTURES)
        sys.exit(77)
    unittest.main(argv=["etm_test"])
