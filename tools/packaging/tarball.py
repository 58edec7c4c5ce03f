#!/usr/bin/env python3
"""One archive for every x86-64 distribution with glibc 2.31 or later: ./dev tarball.

  tarball.py BUILD [--out DIRECTORY]   sonde-VERSION-x86_64.tar.xz, and -debug.tar.xz with its debug information

It is the component `sonde` of `cmake --install` with the programs of cmake/portable.cmake, and unpacks into one directory.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import tempfile

import portable
from release import TREE, Release


def install(build, component, prefix):
    subprocess.run(["cmake", "--install", build, "--prefix", prefix, "--component", component], check=True, stdout=subprocess.DEVNULL)


def pack(directory, archive, seconds):
    """The same bytes for the same files. -2 takes a third of the time of xz's default, for a tenth more bytes."""
    subprocess.run(["tar", "--sort=name", "--owner=0", "--group=0", "--numeric-owner", f"--mtime=@{seconds}", "-C", directory.parent,
                    "-cf", archive, "--use-compress-program=xz -T0 -2", directory.name], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="a build directory with sonde-portable and sonde-jvmti-portable")
    parser.add_argument("--out", type=pathlib.Path, default=TREE / "build" / "packages")
    arguments = parser.parse_args()
    os.umask(0o022)
    release = Release()
    name = f"sonde-{release.version}-x86_64"
    arguments.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="sonde-tarball.") as work:
        program, debug = pathlib.Path(work, name), pathlib.Path(work, f"{name}-debug")
        for component in ("sonde", "portable"):
            install(arguments.build, component, program)
        for licence in (portable.PLACE / "libraries").glob("LICENSE.*"):
            shutil.copy(licence, program / "share/doc/sonde")
        install(arguments.build, "portable-dbgsym", debug)
        for directory in (program, debug):
            archive = arguments.out / f"{directory.name}.tar.xz"
            pack(directory, archive, release.seconds)
            print(f"{archive.stat().st_size / 1e6:8.1f} MB  {archive}")


if __name__ == "__main__":
    main()
