#!/usr/bin/env python3
"""`kmem record` and `stat` on this kernel. Needs root."""
import os
import re
import subprocess
import unittest

from own_directory import OwnDirectoryTest

SONDE = os.environ["SONDE"]
# Opens files and maps memory: both allocators have work.
LOAD = ["sh", "-c", "ls /usr/bin | sort | wc -l"]


class KmemTest(OwnDirectoryTest):
    def kmem(self, *arguments, status=0):
        done = subprocess.run([SONDE, "kmem", *arguments], cwd=self.path, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def test_objects(self):
        self.kmem("record", "-o", "perf.data", "--", *LOAD)
        text = self.kmem("stat", "--caller", "--alloc").stdout
        requested = int(re.search(r"Total bytes requested: (\d+)", text)[1])
        allocated = int(re.search(r"Total bytes allocated: (\d+)", text)[1])
        self.assertGreater(requested, 0)
        self.assertGreaterEqual(allocated, requested)
        callers, objects = text.split(" Alloc Ptr ")
        for table in callers, objects:
            rows = re.findall(r"^ \S+ +\| +(\d+)/\d+ +\| +(\d+)/", table, re.M)
            self.assertEqual(sum(int(row[0]) for row in rows), allocated)
            self.assertEqual(sum(int(row[1]) for row in rows), requested)
        self.assertRegex(callers, r"(?m)^ [a-z_]\w+\+[0-9a-f]+ +\|")

    def test_pages_have_callers(self):
        self.kmem("--page", "record", "-o", "perf.data", "--", *LOAD)
        text = self.kmem("stat", "--page", "--caller").stdout
        total = int(re.search(r"Total allocation requests +: +(\d+)", text)[1])
        rows = re.findall(r"^ +\d+ \| +(\d+) \| .* \| (\S+)$", text, re.M)
        self.assertEqual(sum(int(hits) for hits, _ in rows), total)
        callers = {caller for _, caller in rows}
        self.assertGreater(len(callers), 3)
        self.assertFalse([caller for caller in callers if "alloc_pages" in caller or "alloc_frozen" in caller], callers)

    def test_a_recording_without_them(self):
        subprocess.run([SONDE, "record", "-q", "-o", self.path / "perf.data", "true"], check=True, capture_output=True)
        error = self.kmem("stat", status=255).stderr
        self.assertIn("no events of the slab allocator", error)


if __name__ == "__main__":
    unittest.main(argv=["kmem"])
