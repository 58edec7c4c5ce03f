#!/usr/bin/env python3
"""A small virtual machine under emulation, for what this machine's kernel or processor cannot do. See docs/guests.md.

  guest.py ARCH [--time-limit SECONDS] [--share DIRECTORY] COMMAND...   runs a shell command there: its output, its status
  guest.py ARCH                                                         a shell there
  guest.py ARCH --prepare                                               only makes what a guest needs, build/guest/ARCH

ARCH is arm64 (a processor with counters: cycles, instructions) or x86 (Debian's kernel: kprobes, fentry). In the guest the
repository stands where it stands here, and its `sonde` is in the PATH. What is written is gone afterwards, but for /share.
Exit status: the command's; 125 where the guest did not come up or did not end in time; 77 where it cannot be made here.
"""
import argparse
import contextlib
import fcntl
import pathlib
import shlex
import sys
import tempfile

import debian
import images
import machine

STATUS_CANNOT_BE_MADE = 77
STATUS_NO_GUEST = 125


def parse_arguments():
    # The first word is parsed by hand: after it, argparse would take the command's own options for ours.
    parser = argparse.ArgumentParser(usage="guest.py ARCH [OPTIONS] [COMMAND...]", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--time-limit", type=int, default=1200, help="seconds that the command may take (1200)")
    parser.add_argument("--silence-limit", type=int, help="seconds for which the command may say nothing")
    parser.add_argument("--share", type=pathlib.Path, help="a directory that is /share in the guest, writable")
    parser.add_argument("--prepare", action="store_true", help="make what is needed, and no more")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="one word: a shell command; several: a command and its words")
    name = sys.argv[1] if len(sys.argv) > 1 else "--help"
    if name not in images.ARCHITECTURES:
        parser.parse_args(["--help"] if name in ("-h", "--help") else [])
        parser.error(f"no guest is called '{name}': there are {', '.join(images.ARCHITECTURES)}")
    return images.ARCHITECTURES[name], parser.parse_args(sys.argv[2:])


@contextlib.contextmanager
def only_one(path):
    """Only one process at a time builds a guest's parts; the next one finds them built."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def prepare(architecture):
    with only_one(architecture.directory / "lock"):
        images.prepare(architecture)


def run(architecture, arguments):
    with tempfile.TemporaryDirectory(prefix="sonde-guest.") as directory:
        job = pathlib.Path(directory)
        guest = machine.Machine(architecture, images.TREE, job, arguments.share)
        words = arguments.command
        if words[:1] == ["--"]:
            words = words[1:]
        if not words:
            return guest.run_shell()
        (job / "run").write_text((words[0] if len(words) == 1 else shlex.join(words)) + "\n")
        return guest.run(arguments.time_limit, arguments.silence_limit)


def main():
    architecture, arguments = parse_arguments()
    if not machine.is_installed(architecture):
        print(f"guest: no QEMU for {architecture.name} here: ./dev deps installs it", file=sys.stderr)
        return STATUS_CANNOT_BE_MADE
    try:
        prepare(architecture)
    except debian.FetchError as error:
        print(f"guest: the {architecture.name} guest cannot be made: {error}", file=sys.stderr)
        return STATUS_CANNOT_BE_MADE
    if arguments.prepare:
        return 0
    try:
        return run(architecture, arguments)
    except machine.GuestError as error:
        print(f"guest: {error}", file=sys.stderr)
        return STATUS_NO_GUEST


if __name__ == "__main__":
    sys.exit(main())
