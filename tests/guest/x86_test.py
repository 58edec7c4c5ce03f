#!/usr/bin/env python3
"""Tests that need Debian's kernel: kernel probes, kernel breakpoints, modules, another kernel's BTF. Against perf in the same
guest."""
import json
import subprocess
import sys

import guest_run
import stop_cases


def main():
    share = guest_run.fresh_share()
    program = share / "stops"
    subprocess.run(["gcc", *stop_cases.COMPILE, "-o", program, stop_cases.SOURCE], check=True)
    (share / "stops.symbols").write_text(json.dumps(stop_cases.symbols(program)))
    return guest_run.run_tests("x86", share)


if __name__ == "__main__":
    sys.exit(main())
