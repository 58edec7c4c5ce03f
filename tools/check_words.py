#!/usr/bin/env python3
"""Rejects what a finished tree does not contain: marks of unfinished work, tests skipped silently, machine-specific paths. A test
may be skipped if its input isn't there and it says what is missing."""
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Written in pieces, so that this file passes its own check.
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b|GTEST_SK" r"IP\(\)(?!\s*<<)")
MACHINE = re.compile(r"(?<![\w.-])/(home/[a-z]+/|wor" r"k/|root/\.)")
CHECKED = {".h", ".cc", ".def", ".py", ".sh", ".md", ".cmake", ".txt", ".json", ".ts", ""}
# Recorded text may hold anything: it is data.
DATA = ("tests/golden/", "tests/recordings/", "fuzz/corpus/")


def problems_of(name):
    text = (ROOT / name).read_text(encoding="utf-8", errors="replace")
    for number, line in enumerate(text.split("\n"), 1):
        if UNFINISHED.search(line):
            yield f"{name}:{number}: unfinished or skipped: {line.strip()[:100]}"
        if MACHINE.search(line):
            yield f"{name}:{number}: a path of one machine: {line.strip()[:100]}"


def main():
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate", "-z"], cwd=ROOT, check=True, capture_output=True).stdout
    names = [n for n in listed.decode().split("\0") if n and Path(n).suffix in CHECKED and not n.startswith(DATA)]
    problems = [p for name in names if (ROOT / name).is_file() for p in problems_of(name)]
    for problem in problems:
        print(problem)
    print(f"words: {len(names)} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
