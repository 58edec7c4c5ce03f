#!/usr/bin/env python3
"""Counters that only hardware has: stat, record and report on the arm64 guest's emulated PMU, against perf in the same guest.
What was recorded there is read here again, on another architecture."""
import json
import os
import pathlib
import subprocess
import sys

import guest_run
import inside
import stop_cases

SONDE = os.environ["SONDE"]
PROGRAMS = guest_run.SOURCE / "tests" / "guest" / "programs"
CLANG = ["clang-19", "--target=aarch64-linux-gnu", "-fuse-ld=lld", "-static", "-nostdlib", "-O1", "-fno-omit-frame-pointer",
         "-momit-leaf-frame-pointer", "-Wall", "-Werror", f"-Wl,--section-start=.leaf={inside.LEAF:#x}"]
SYSROOT = guest_run.SOURCE / "build" / "guest" / "arm64" / "root"
FIELDS = "comm,tid,time,event,period,ip"


def build_programs(share):
    for source in sorted(PROGRAMS.iterdir()):
        subprocess.run([*CLANG, "-o", share / source.stem, source], check=True)


def build_stops(share):
    """programs/stops.c with return addresses signed, as the distributions build for arm64 today."""
    program = share / "stops"
    subprocess.run(["clang-19", "--target=aarch64-linux-gnu", "-fuse-ld=lld", f"--sysroot={SYSROOT}", "-mbranch-protection=pac-ret+leaf",
                    *stop_cases.COMPILE, "-Wno-unused-command-line-argument", "-o", program, stop_cases.SOURCE], check=True)
    (share / "stops.symbols").write_text(json.dumps(stop_cases.symbols(program)))


def read_here(share):
    """Recordings of both tools say here what they said there: the lines that perf printed lie beside them."""
    bad = 0
    recordings = sorted(share.glob("*.data"))
    for recording in recordings:
        # /share/PROGRAM is here below the directory that has `share`.
        ours = subprocess.run([SONDE, "script", "--symfs", share.parent, "-i", recording, "-F", FIELDS], text=True,
                              stdout=subprocess.PIPE, check=True).stdout
        theirs = pathlib.Path(f"{recording}.script").read_text(encoding="utf-8")
        ours, theirs = (inside.without_doubles(inside.meaningful(text)) for text in (ours, theirs))
        if ours != theirs or not theirs:
            bad += 1
            print(f"{recording.name}: read here it is not what perf read in the guest")
    print(f"{len(recordings)} recordings read on another architecture, {bad} differ")
    return bad != 0 or not recordings


def main():
    share = guest_run.fresh_share()
    build_programs(share)
    build_stops(share)
    return guest_run.run_tests("arm64", share) or read_here(share)


if __name__ == "__main__":
    sys.exit(main())
