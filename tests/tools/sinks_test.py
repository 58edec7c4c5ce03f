#!/usr/bin/env python3
"""Text from outside reaches terminals only through sinks that make it printable: what writes as it is, and what makes escape
sequences, is listed here, each with the reason why that is safe."""
import os
import re
import sys
import unittest
from pathlib import Path

SOURCE = Path(os.environ["SONDE_SOURCE"], "src")
WRITE_AS_IS = {
    "base/sink.h": "the sink itself",
    "base/sink.cc": "the sink itself",
    "render/table_text.cc": "cells are made printable when a line is joined",
    "sched/text_out.h": "texts that a terminal shows go to the sink one by one",
    "top/text.cc": "lines of a sink of the same kind",
    "tui/terminal/text_screen.cc": "lines of a sink of the same kind",
    "tui/terminal/terminal.cc": "a grid of characters that glyphs.h has let through",
}
# Escape{"…"} is the only form elsewhere.
ESCAPES = {
    "tui/terminal/style.cc": "colours of the browser",
    "tui/terminal/text_screen.cc": "formats",
    "tui/terminal/screen_writer.cc": "positions in the browser",
    "tui/terminal/terminal_state.cc": "modes of the browser",
}
# Who writes to descriptors 1 and 2 without a sink.
DIRECT = {
    "base/check.cc": "our own words, before abort()",
    "base/memory_shortage.cc": "our own words, without memory",
    "cmd/main.cc": "makes the sinks",
    "script/dlfilters/filter_run.cc": "a sink over stdio, which filters print to",
    "script/dlfilters/foreign_call.cc": "a crash in a filter",
    "benchmarks/numa/mem.cc": "numbers of a child",
    "capture/control/workload.cc": "the command's own output",
    "python/script_wrappers.cc": "a script's own output",
}


def files():
    for path in sorted(SOURCE.rglob("*")):
        if path.suffix in (".cc", ".h") and not path.stem.endswith("_test"):
            yield path.relative_to(SOURCE).as_posix(), path.read_text()


class Sinks(unittest.TestCase):
    def found(self, pattern, exceptions):
        known = {Path(name).name for name in exceptions}
        for name, text in files():
            if Path(name).name not in known:
                lines = [line for line in text.splitlines() if not line.lstrip().startswith("//") and "Escape" not in line]
                self.assertFalse([line for line in lines if re.search(pattern, line)], name)

    def test_what_writes_as_it_is(self):
        self.found(r"\bwrite_as_is\(", WRITE_AS_IS)

    def test_what_makes_escape_sequences(self):
        self.found(r"\\(?:033|x1b|e\[)", ESCAPES)

    def test_what_writes_without_a_sink(self):
        self.found(r"\b(?:STDOUT_FILENO|STDERR_FILENO)\b|\bstd::(?:puts|printf|cout|cerr)\b|fprintf\(stderr|, stdout\)|FdSink \w+\([12]\)", DIRECT)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])  # ctest passes the build directory, which is not a test
