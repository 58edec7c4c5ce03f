"""For the few tests whose subject depends on a calm machine (what perf drops, what two runs of a program happen to do): they may
try a second time, and the closing lines of `./dev test` say how many did.

    for attempt in calm.tries("stat oracle: counts of 0", 2): ...   # a second round is recorded
"""
import os
import sys


def note(what):
    """Records that something tries again."""
    print(f"second try: {what}", file=sys.stderr)
    if path := os.environ.get("SONDE_SECOND_TRIES"):
        with open(path, "a", encoding="utf-8") as file:
            file.write(what + "\n")


def tries(what, most=2):
    """0, 1 … most - 1; each but the first is recorded."""
    for attempt in range(most):
        if attempt:
            note(what)
        yield attempt
