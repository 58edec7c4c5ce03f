#!/usr/bin/env python3
"""Tries packages in fresh root directories, as a user would: ./dev package-test.

  package_test.py [--packages DIRECTORY] [deb] [tarball] [SUITE[=MIRROR] ...]

deb      into this machine's release of Debian: installed by apt, used, removed; nothing may be left
tarball  unpacked and used in each SUITE: Debian 11, 12 and 13 unless others are named. MIRROR is for distributions that this
         machine's apt knows nothing of, such as Ubuntu's: jammy=URL. Their keys are in a package, ubuntu-keyring.

Root directories come from mmdebstrap, and are kept as build/roots/SUITE.tar. It takes root, for chroot and for recording.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys

from release import TREE
from roots import Failure, fresh_root
from suites import debian, own_suite

SUITES = ("bullseye", "bookworm", "trixie")
# A program whose profile is known: nearly everything is in one function of the shell's.
LOAD = "sh -c 'i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done'"


def try_program(root, program):
    """The first minute with `program`: what is recorded is shown, by every way there is."""
    data = "/root/perf.data"
    root.expect(f"{program} record -g -o {data} -- {LOAD}", "Captured and wrote")
    # Three observers of one recording: the report's rows, the samples that script prints, and the flame graph.
    root.expect(f"{program} report -i {data} --stdio --no-children -g none", "sh ", "# Samples:")
    samples = int(root.run(f"{program} script -i {data} -F comm | grep -c .").strip())
    counted = int(root.run(f"{program} fold {data} 2>/dev/null | awk '{{ n += $NF }} END {{ print n + 0 }}'").strip())
    if samples == 0 or counted == 0:
        raise Failure(f"{program}: {samples} samples in script, a weight of {counted} in fold")
    root.expect(f"{program} flamegraph -i {data} -o /root/flame.svg && grep -c '<svg' /root/flame.svg", "1")
    root.expect(f"{program} view -i {data} -o /root/page.html && test -s /root/page.html && echo written", "written")
    root.expect(f"{program} stat -e page-faults,task-clock -- true", "page-faults", "task-clock")
    root.expect(f"{program} trace -e openat -- cat /etc/hostname 2>&1 | head -n 20", "openat")
    root.expect(f"{program} help record | cat", "SYNOPSIS")
    root.expect(f"{program} test -v", " Ok")


def try_packages(root, packages):
    before = root.files()
    place = root.directory / "packages"
    place.mkdir()
    for package in packages:
        shutil.copy(package, place)
    root.run("apt-get -q update")
    root.expect("apt-get -q install --yes --no-install-recommends /packages/*.deb", "Setting up sonde-perf")
    try_program(root, "sonde")
    root.expect("readlink -f /usr/bin/perf", "/usr/bin/sonde")
    root.expect("perf --version", "perf version")
    root.expect("perf stat -e page-faults -- true", "Performance counter stats for 'true'")
    for page in ("sonde", "sonde-record", "perf", "perf-record"):
        root.expect(f"man -w {page}", page)
    root.expect("man perf | cat", "Performance analysis")
    root.expect("man perf-record | cat", "PERF-RECORD", "perf record [")
    root.expect("bash -c '. /usr/share/bash-completion/completions/perf; COMP_WORDS=(perf record --call); COMP_CWORD=2; _perf; "
                "echo \"${COMPREPLY[@]}\"'", "--call-graph")
    root.expect("test -s /usr/share/zsh/vendor-completions/_perf -a -s /usr/share/fish/vendor_completions.d/sonde.fish && echo both", "both")
    root.expect("python3 -c 'import perf; print(len(perf.cpu_map()), perf.__file__)'", "dist-packages/perf.abi3.so")
    root.expect("ldd /usr/lib/sonde/libsonde-jvmti.so", "libc.so.6")
    # Sonde's own functions have names by the debug package.
    root.expect("sonde record -q -o /root/own.data -- sonde report -i /root/perf.data --stdio >/dev/null && "
                "sonde report -i /root/own.data --stdio --dsos sonde", "sonde::")
    root.expect("apt-get -q purge --yes 'sonde*' python3-sonde && apt-get -q autoremove --purge --yes", "Removing sonde-perf")
    if left := sorted(root.files() - before):
        raise Failure(f"these files are left after removal: {', '.join(left[:20])}")
    if changed := root.run("dpkg-divert --list '*perf*'; ls -d /usr/lib/sonde /usr/share/sonde /usr/share/doc/sonde 2>/dev/null || true"):
        raise Failure(f"this is left after removal: {changed}")
    print(f"{root.suite}: nothing is left after removal")


def try_archive(root, archive):
    subprocess.run(["tar", "-x", "-f", archive, "-C", root.directory / "opt"], check=True)
    place = "/opt/" + archive.name.removesuffix(".tar.xz")
    if "not found" in (libraries := root.run(f"ldd {place}/bin/sonde")):
        raise Failure(f"libraries are missing: {libraries}")
    root.expect(f"{place}/bin/sonde --version", "sonde version")
    root.run(f"ln -s {place}/bin/sonde /usr/local/bin/perf")
    try_program(root, f"{place}/bin/sonde")
    root.expect("perf --version", "perf version")
    root.expect("perf stat -e page-faults -- true", "Performance counter stats for 'true'")
    root.expect(f"ldd {place}/lib/sonde/libsonde-jvmti.so", "libc.so.6")
    try_missing_libraries(root, f"{place}/bin/sonde")


def try_missing_libraries(root, program):
    """What is loaded when needed is said to be missing, in one line."""
    root.run("printf 'def process_event(event): pass\\n' >/root/script.py")
    if "libpython3." not in root.run("ldconfig -p"):
        shown = root.expect(f"{program} script -i /root/perf.data -s /root/script.py", "install libpython3", status=255)
        if len(shown.strip().splitlines()) != 1:
            raise Failure(f"more than one line about a missing library:\n{shown}")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", type=pathlib.Path, default=TREE / "build" / "packages")
    parser.add_argument("what", nargs="*", help="deb, tarball, suites")
    arguments = parser.parse_args()
    kinds = [word for word in arguments.what if word in ("deb", "tarball")]
    suites = [word.partition("=") for word in arguments.what if word not in kinds]
    return arguments.packages, kinds or ["deb", "tarball"], [(name, source) for name, _, source in suites] or [(s, "") for s in SUITES]


def main():
    if os.geteuid() != 0:
        sys.exit("package-test: root directories and recordings take root: run it with sudo")
    packages, kinds, suites = parse_arguments()
    failed = False
    tries = [(own_suite(), "", try_packages, sorted(packages.glob("*.deb")))] if "deb" in kinds else []
    if "tarball" in kinds:
        archive = next(iter(packages.glob("sonde-*-x86_64.tar.xz")), None)
        tries += [(suite, source, try_archive, archive) for suite, source in suites]
    for suite, source, attempt, files in tries:
        try:
            if not files:
                raise Failure(f"no packages in {packages}: ./dev deb and ./dev tarball make them")
            with fresh_root(suite, source) as root:
                attempt(root, files)
        except (Failure, debian.FetchError) as failure:
            print(f"{suite}: FAILED: {failure}", file=sys.stderr)
            failed = True
    print("package-test: failed" if failed else "package-test: all passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
