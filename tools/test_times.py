#!/usr/bin/env python3
"""Where the time of ctest runs went: the slowest tests of one or several results (ctest --output-junit), as a table.

  test_times.py [--most N] RESULTS.xml...
"""
import argparse
import sys
import xml.etree.ElementTree as xml
from pathlib import Path


def tests_of(path):
    """(seconds, name, status) of each test that ran; none if the file was not written."""
    if not path.is_file():
        return []
    return [(float(case.get("time", 0)), case.get("name"), case.get("status")) for case in xml.parse(path).getroot().iter("testcase")]


def main():
    parser = argparse.ArgumentParser(description="the slowest tests of ctest's results")
    parser.add_argument("--most", type=int, default=10)
    parser.add_argument("results", nargs="+", type=Path)
    options = parser.parse_args()

    slowest = sorted(((seconds, f"{path.stem}: {name}") for path in options.results for seconds, name, _ in tests_of(path)),
                     reverse=True)
    for seconds, name in slowest[:options.most]:
        print(f"{seconds:8.1f} s  {name}")


if __name__ == "__main__":
    sys.exit(main())
