#!/usr/bin/env python3
"""What the program of ./dev tarball is linked to (cmake/portable.cmake), below build/portable:

  root        Debian 11's C library: the program needs no symbol that glibc 2.31 does not have
  libraries   static ones of those that Debian 12 has only as shared objects, built from its source packages

  portable.py [--check PROGRAM...]   makes what is missing; or says which newer symbols of glibc the programs need
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from release import TREE
from suites import SuiteSource, debian

PLACE = TREE / "build" / "portable"
OLDEST_SUITE = "bullseye"
OLDEST_GLIBC = (2, 31)

# libipt is not linked in but goes along: Debian 11's serves, and so does any libipt.so.2.
ROOT_PACKAGES = ("libc6", "libc6-dev", "libgcc-s1", "libipt2")
LIBRARIES = {
    "fmtlib": ("-DFMT_TEST=OFF", "-DFMT_DOC=OFF"),
    "zydis": ("-DZYDIS_BUILD_EXAMPLES=OFF", "-DZYDIS_BUILD_TOOLS=OFF", "-DZYDIS_BUILD_DOXYGEN=OFF", "-DZYDIS_BUILD_MAN=OFF",
              "-DZYAN_SYSTEM_ZYCORE=ON"),
    "onetbb": ("-DTBB_TEST=OFF", "-DTBB_STRICT=OFF", "-DTBBMALLOC_BUILD=OFF"),
}
LICENCES = {"fmtlib": "LICENSE.rst", "zydis": "LICENSE", "onetbb": "LICENSE.txt"}


def make_root(source, root):
    with tempfile.TemporaryDirectory() as packages:
        for package in ROOT_PACKAGES:
            debian.unpack(source.fetch_one(package, pathlib.Path(packages)), root)
    for directory, folders, files in os.walk(root):
        for name in folders + files:
            debian.keep_link_inside(pathlib.Path(directory, name), root)
    # A name for the loader that has no version in it.
    loader = root / "lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"
    if not loader.exists():
        loader.symlink_to(os.path.relpath((root / "lib64/ld-linux-x86-64.so.2").resolve(), loader.parent))


def make_libraries(source, prefix):
    launcher = [f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("C", "CXX")] if shutil.which("ccache") else []
    for name, options in LIBRARIES.items():
        print(f"portable: building {name}", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory() as work:
            unpacked = source.fetch_source(name, pathlib.Path(work, "source"))
            build = pathlib.Path(work, "build")
            run("cmake", "-S", unpacked, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_INSTALL_PREFIX={prefix}",
                "-DCMAKE_INSTALL_LIBDIR=lib", "-DBUILD_SHARED_LIBS=OFF", "-DCMAKE_POSITION_INDEPENDENT_CODE=ON", *launcher, *options)
            run("ninja", "-C", build, "install")
            shutil.copy(unpacked / LICENCES[name], prefix / f"LICENSE.{name}")


def run(*words):
    done = subprocess.run([str(word) for word in words], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        sys.exit(f"portable: {words[0]} failed:\n{done.stdout[-4000:]}")


def prepare():
    parts = {"root": make_root, "libraries": make_libraries}
    missing = {name: make for name, make in parts.items() if not (PLACE / name).is_dir()}
    if not missing:
        return
    PLACE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        source = SuiteSource(pathlib.Path(directory), OLDEST_SUITE)
        source.update()
        for name, make in missing.items():
            new = PLACE / f"{name}.new"
            shutil.rmtree(new, ignore_errors=True)
            new.mkdir()
            make(source, new)
            new.rename(PLACE / name)


def newer_symbols(program):
    """Symbols that only a glibc later than the oldest one has."""
    shown = subprocess.run(["objdump", "-T", program], check=True, text=True, stdout=subprocess.PIPE).stdout
    found = re.findall(r"\*UND\*.*\(GLIBC_(\d+)\.(\d+)\S*\)\s+(\S+)", shown)
    return [f"{symbol} (glibc {major}.{minor})" for major, minor, symbol in found if (int(major), int(minor)) > OLDEST_GLIBC]


def main():
    if sys.argv[1:2] == ["--check"]:
        problems = [f"{program} needs {symbol}" for program in sys.argv[2:] for symbol in newer_symbols(program)]
        if problems:
            sys.exit("\n".join(problems))
        return
    try:
        prepare()
    except debian.FetchError as error:
        sys.exit(f"portable: what the archive is linked to cannot be made here: {error}")


if __name__ == "__main__":
    main()
