#!/usr/bin/env python3
"""README's two commands, as written, on a bare machine: ./dev bare [SUITE[=MIRROR]].

A fresh root directory of SUITE (this machine's release of Debian; trixie, sid) gets a clone of what is committed here, and git; then
./dev demo and ./dev test run there with a user's environment, without this machine's compiler cache. Shown are how long each took,
how much disk, the longest time without a line, the tests that were skipped, and what is left in /tmp. It takes root, and the better
part of an hour on two processors: nothing of this machine's builds is used. The output of both is kept in build/bare/.
"""
import os
import re
import subprocess
import sys
import time

from release import TREE
from roots import Failure, fresh_root
from suites import debian, own_suite

LOGS = TREE / "build" / "bare"
# "A line every half minute", and what a busy machine adds to that.
MOST_SILENCE_S = 60


def clone(root):
    """A clone in the home directory there. Only what is committed counts."""
    home = root.directory / "root" / "sonde"
    subprocess.run(["git", "clone", "--quiet", "--no-local", "--depth=1", f"file://{TREE}", str(home)], check=True)


def used_mb(directory):
    done = subprocess.run(["du", "--summarize", "--one-file-system", "--block-size=1M", str(directory)], check=True, text=True,
                          stdout=subprocess.PIPE)
    return int(done.stdout.split()[0])


def follow(root, command):
    """Runs a command with its output in a log; returns its status, its output, its seconds and the longest of them without a line."""
    log = LOGS / (re.sub(r"\W+", "-", command).strip("-") + ".log")
    begin = last = time.monotonic()
    silence, lines = 0.0, []
    started = root.start(f"cd sonde && exec {command}")
    with open(log, "w", encoding="utf-8") as file:
        for line in started.stdout:
            now = time.monotonic()
            silence, last = max(silence, now - last), now
            lines.append(line)
            file.write(line)
            file.flush()
    status = started.wait()
    end = time.monotonic()
    return status, "".join(lines), end - begin, max(silence, end - last)


def try_command(root, command, wanted):
    """Whether a command did what README says of it."""
    status, shown, seconds, silence = follow(root, command)
    print(f"{root.suite}: {command}: status {status}, {seconds:.0f} s, at most {silence:.0f} s without a line")
    problems = []
    if status != 0:
        problems.append(f"status {status}: {shown[-2000:]}")
    if silence > MOST_SILENCE_S:
        problems.append(f"{silence:.0f} s without a line")
    problems += [f"no '{word}' in its output" for word in wanted if word not in shown]
    return problems, shown


def skipped(shown):
    """What ./dev test says of them: "live.ruby: ruby3.1 is not installed"."""
    return re.findall(r"^skipped: (.*)$", shown, re.M)


def left_in_tmp(root):
    """Without the folder of the JVM, which it leaves there, empty, when Debian's packages run it."""
    left = (entry for entry in (root.directory / "tmp").iterdir() if entry.name != "hsperfdata_root" or any(entry.iterdir()))
    return sorted(entry.name for entry in left)


def try_readme(root):
    clone(root)
    before = used_mb(root.directory)
    # What README asks of the machine beside its two commands.
    root.run("apt-get -q update && apt-get -q install --yes --no-install-recommends git ca-certificates")
    problems, shown = try_command(root, "./dev demo", ["Where to go on"])
    test_problems, shown = try_command(root, "./dev test", ["100% tests passed"])
    for name in skipped(shown):
        print(f"{root.suite}: skipped: {name}")
    if left := left_in_tmp(root):
        test_problems.append(f"left in /tmp: {', '.join(left[:20])}")
    print(f"{root.suite}: {used_mb(root.directory) - before} MB of disk")
    return problems + test_problems


def main():
    if os.geteuid() != 0:
        sys.exit("bare: root directories and recordings take root: run it with sudo")
    sys.stdout.reconfigure(line_buffering=True)  # it takes an hour: who keeps the output in a file sees how far it is
    suite, _, source = (sys.argv[1] if len(sys.argv) > 1 else own_suite()).partition("=")
    LOGS.mkdir(parents=True, exist_ok=True)
    try:
        with fresh_root(suite, source) as root:
            problems = try_readme(root)
    except (Failure, debian.FetchError, subprocess.CalledProcessError) as failure:
        problems = [str(failure)]
    for problem in problems:
        print(f"{suite}: FAILED: {problem}", file=sys.stderr)
    print(f"bare: {'failed' if problems else 'both commands work'}; their output is in build/bare")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
