#!/usr/bin/env python3
"""tools/skipped_tests.py says which tests were skipped, and why; each test that skips itself says it."""
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ["SONDE_SOURCE"])
# As ctest writes them: tests that passed, wholly and in part, one that says why it was skipped, and one that doesn't.
RESULTS = """<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="x" tests="4">
  <testcase name="live.good" status="run"><system-out>fine</system-out></testcase>
  <testcase name="live.ruby" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/><system-out>a line
ruby3.1 &amp; others are not installed
</system-out></testcase>
  <testcase name="live.part" status="run"><system-out>Ran 5 tests in 1.2s

OK (skipped=2)
</system-out></testcase>
  <testcase name="live.mute" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/><system-out></system-out></testcase>
</testsuite>
"""


class SkippedTests(unittest.TestCase):
    def test_reasons_are_shown(self):
        with tempfile.TemporaryDirectory() as directory:
            results = Path(directory, "tests.xml")
            results.write_text(RESULTS)
            shown = subprocess.run([SOURCE / "tools" / "skipped_tests.py", results, Path(directory, "none.xml")], check=True, text=True,
                                   stdout=subprocess.PIPE).stdout
        self.assertEqual(shown, "skipped: live.ruby: ruby3.1 & others are not installed\nskipped: live.part: 2 of its tests\nskipped: live.mute: no reason given\n")

    def test_whoever_skips_says_why(self):
        """A line is printed right before the status is given."""
        mute = [str(path) for path in (SOURCE / "tests").rglob("*.py")
                if re.search(r"^(?!.*print\().*\n *(sys\.exit\(77\)|raise SystemExit\(77\)|return 77)", path.read_text(encoding="utf-8"), re.M)]
        self.assertEqual(mute, [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])  # ctest passes the build directory, which is not a test
