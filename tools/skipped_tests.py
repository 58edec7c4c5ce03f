#!/usr/bin/env python3
"""Which tests of a ctest run were skipped, and why: a line each, "skipped: live.ruby: ruby3.1 is not installed".

  skipped_tests.py RESULTS.xml...      (ctest --output-junit)

The reason is the last line that a test printed before its status 77; there is "no reason given" where it printed none. Of scripts that
left out some of their tests, the number is shown.
"""
import re
import sys
import xml.etree.ElementTree as xml
from pathlib import Path


def skipped_tests(path):
    """(name, reason) of each; none if the file was not written."""
    if not path.is_file():
        return []
    found = []
    for case in xml.parse(path).getroot().iter("testcase"):
        shown = (case.findtext("system-out") or "").strip()
        if case.find("skipped") is not None:
            found.append((case.get("name"), shown.splitlines()[-1].strip() if shown else "no reason given"))
        elif part := re.search(r"^OK \(skipped=(\d+)\)$", shown, re.M):
            found.append((case.get("name"), f"{part[1]} of its tests"))
    return found


def main():
    for path in sys.argv[1:]:
        for name, reason in skipped_tests(Path(path)):
            print(f"skipped: {name}: {reason}")


if __name__ == "__main__":
    main()
