#!/usr/bin/env python3
"""Runs every fuzz target of a directory for a given number of seconds, starting with its corpus fuzz/corpus/NAME and, if present,
the hostile files of ../shared/fixtures/fuzz/NAME. Inputs that crash a target are kept in DIRECTORY/findings."""
import argparse
import concurrent.futures
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RSS_LIMIT_MB = 2048
ONE_INPUT_S = 10  # an input that takes longer counts as a hang


def run(target, seconds, findings):
    name = target.name.removesuffix("_fuzz")
    corpora = [d for d in (ROOT / "fuzz/corpus" / name, ROOT.parent / "shared/fixtures/fuzz" / name) if d.is_dir()]
    with tempfile.TemporaryDirectory(prefix="fuzz-") as grown:  # new inputs go to the first directory
        command = [str(target), f"-max_total_time={seconds}", f"-rss_limit_mb={RSS_LIMIT_MB}", f"-timeout={ONE_INPUT_S}",
                   "-print_final_stats=1", f"-artifact_prefix={findings}/{name}-", grown, *map(str, corpora)]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    stats = [line for line in done.stderr.splitlines() if line.startswith("stat::number_of_executed_units")]
    runs = stats[0].split()[-1] if stats else "?"
    return target.name, done.returncode, runs, done.stderr


def main():
    parser = argparse.ArgumentParser(description="run fuzz targets for a short time")
    parser.add_argument("--seconds", type=int, default=10, help="for each target")
    parser.add_argument("directory", type=Path, help="where the targets are")
    options = parser.parse_args()

    targets = sorted(options.directory.glob("*_fuzz"))
    sources = sorted((ROOT / "fuzz").glob("*_fuzz.cc"))
    if not targets or len(targets) < len(sources):
        print(f"fuzz: {len(targets)} targets are built, of {len(sources)}")
        return 1
    findings = (options.directory / "findings").resolve()
    findings.mkdir(exist_ok=True)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, status, runs, log in pool.map(lambda t: run(t, options.seconds, findings), targets):
            print(f"{name}: {runs} inputs, {'ok' if status == 0 else f'FAILED with status {status}'}")
            if status != 0:
                failed += 1
                print("\n".join(log.splitlines()[-60:]))
    print(f"fuzz: {len(targets) - failed} of {len(targets)} targets hold, {options.seconds} s each")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
