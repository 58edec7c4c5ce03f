#!/usr/bin/env python3
"""Rejects hashes that stand for what they were made of, by other ways than base/hashing/digest.h: 128 bits, without a seed. Shorter hashes find
a slot of a table, and the content is compared."""
import re
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "src"
WIDE_OR_SEEDED = re.compile(r"XXH\w*(?:128|withSeed|withSecret)\w*\(")
ALLOWED = {
    "base/hashing/digest.h": "the way",
    "capture/recorders/record_scan.cc": "of a table, which compares names",
    "export/recordings/ctf.cc": "the UUID of a trace",
    "store/object_cache.cc": "a checksum",
    "symbol/jit_image.cc": "a build id",
}


def main():
    files = sorted(p for p in SOURCE.rglob("*") if p.suffix in {".h", ".cc"})
    using = {}
    for path in files:
        text = path.read_text(encoding="utf-8")
        for found in WIDE_OR_SEEDED.finditer(text):
            using.setdefault(str(path.relative_to(SOURCE)), text.count("\n", 0, found.start()) + 1)
    problems = [f"src/{name}:{line}: use base/hashing/digest.h, or compare the content" for name, line in using.items() if name not in ALLOWED]
    problems += [f"tools/check_hashes.py: {name} has no such hash any more" for name in ALLOWED if name not in using]
    for problem in problems:
        print(problem)
    print(f"hashes: {len(files)} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
