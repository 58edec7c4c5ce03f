#!/usr/bin/env python3
"""Tests that need Debian's kernel: kernel probes, kernel breakpoints, modules, another kernel's BTF. Against perf in the same
guest."""
import sys

import guest_run

if __name__ == "__main__":
    sys.exit(guest_run.run_tests("x86", guest_run.fresh_share()))
