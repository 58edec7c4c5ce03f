#!/usr/bin/env python3
"""Sentences are our own: of the texts of five words or more in the installed perf's program, ours has only those that tests/oracle/
words_of_perf.txt lists, with the reason: what reports print and scripts parse, and names."""
import os
import re
import sys
from pathlib import Path

import side_by_side

SONDE = Path(os.environ["SONDE"])
LIST = Path(__file__).with_name("words_of_perf.txt")
LEAST_WORDS = 5
PRINTABLE = re.compile(rb"[\t\n\x1b\x20-\x7e]{12,}")
WORD = re.compile(r"[A-Za-z]{2}")


def texts(program):
    found = (match[0].decode().strip() for match in PRINTABLE.finditer(program.read_bytes()))
    # Names of files, types and events are no sentences, however many words they are made of.
    return {text for text in found if sum(bool(WORD.search(word)) for word in text.split()) >= LEAST_WORDS}


def allowed():
    """Below a line with the reason, texts that are indented; newlines and tabs are written \\n and \\t."""
    lines = [line.strip() for line in LIST.read_text().splitlines() if line.startswith("    ")]
    return {line.replace("\\n", "\n").replace("\\t", "\t") for line in lines}


def main():
    perf = Path(side_by_side.needed_perf()).resolve()
    theirs, ours = texts(perf), texts(SONDE)
    shared, listed = theirs & ours, allowed()
    if len(theirs) < 1000 or len(ours) < 1000:
        print(f"{len(theirs)} and {len(ours)} texts: this compares nothing")
        return 1
    problems = [f"perf's sentence: {text!r}" for text in sorted(shared - listed)]
    problems += [f"listed and in neither: {text!r}" for text in sorted(listed - ours)]
    print("\n".join(problems))
    print(f"{len(shared)} texts are in both, {len(listed)} listed, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
