#!/usr/bin/env python3
"""Archives of recordings that somebody else made: their paths stay inside the archive."""
import os
import re
import subprocess
import tarfile
import unittest
from pathlib import Path

from own_directory import OwnDirectoryTest

SONDE = os.environ["SONDE"]
OBJECT = Path("/bin/true").resolve()


class ArchiveTest(OwnDirectoryTest):
    def sonde(self, *arguments):
        done = subprocess.run([SONDE, *map(str, arguments)], cwd=self.path, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              env={**os.environ, "PERF_BUILDID_DIR": str(self.path / "cache")})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_paths_that_lead_elsewhere_are_left_out(self):
        notes = subprocess.run(["readelf", "-n", OBJECT], check=True, capture_output=True, text=True).stdout
        build_id = re.search(r"Build ID: (\w+)", notes)[1]
        self.sonde("buildid-cache", "--add", OBJECT)
        lines = ["event : name = cpu-clock, type = 1, sample_period = 4000, sample_type = IP|TID|TIME, sample_id_all = 1",
                 'COMM pid=10 tid=10 comm="app" time=1']
        for number, path in enumerate((f"/..{OBJECT}", "/", str(OBJECT))):
            start = 0x400000 + number * 0x100000
            lines += [f'BUILD_ID misc=2 pid=-1 id=hex:{build_id} path="{path}"',
                      f'MMAP2 mode=user pid=10 tid=10 start={start:#x} length=0x1000 offset=0 path="{path}" protection=5 time=2',
                      f"SAMPLE mode=user ip={start + 16:#x} pid=10 tid=10 time={100 + number}"]
        (self.path / "text").write_text("\n".join(lines) + "\n")
        self.sonde("assemble", "text", "perf.data")
        self.sonde("archive", "perf.data")
        with tarfile.open(self.path / "perf.data.tar.bz2") as archive:
            names = archive.getnames()
        self.assertIn(f"{str(OBJECT)[1:]}/{build_id}/elf", names)
        (self.path / "excluded").write_text(f"{build_id}\n")
        done = subprocess.run([SONDE, "archive", "--exclude-buildids", "excluded"], cwd=self.path, capture_output=True, text=True)
        self.assertIn("nothing to pack", done.stderr)
        self.assertEqual([name for name in names if name.startswith("/") or ".." in name.split("/")], [])


if __name__ == "__main__":
    unittest.main(argv=["archive_test"])
