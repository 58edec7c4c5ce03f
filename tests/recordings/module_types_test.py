#!/usr/bin/env python3
"""Data types in kernel modules: a recording assembled here, of a module compiled here, with one sample on each instruction of its
functions. They must touch what they were written to touch."""
import gzip
import lzma
import os
import re
import shutil
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

SONDE = os.environ["SONDE"]
MODULE = """
struct buffer { long length; int flags; char *bytes; };
struct device { struct device *next; struct buffer in, out; int users; };
static struct device *first;
static int open_count = 1;
__attribute__((noinline)) struct device *find(int users) {
  struct device *at = first;
  while (at && at->users != users) at = at->next;
  return at;
}
__attribute__((noinline)) long room(int users) {
  struct device *found = find(users);
  open_count++;
  return found ? found->out.length - found->in.flags : 0;
}
void insert(struct device *one) { one->next = first; first = one; }
"""
WANTED = {
    "find": {"struct device +0 (next)", "struct device +0x38 (users)", "struct device* +0"},
    "room": {"struct device +0x20 (out.length)", "struct device +0x10 (in.flags)", "int +0"},
    "insert": {"struct device +0 (next)", "struct device* +0"},
}
TEXT, BASE = 0xFFFFFFFF81000000, 0xFFFFFFFFC0400000
KERNEL = 1  # PERF_RECORD_MISC_KERNEL
MMAP, SAMPLE = 1, 9


def record(kind, payload):
    payload += b"\0" * (-len(payload) % 8)
    return struct.pack("<IHH", kind, KERNEL, 8 + len(payload)) + payload


def mmap(start, length, offset, name):
    return record(MMAP, struct.pack("<iIQQQ", -1, 0, start, length, offset) + name.encode() + b"\0")


def recording(module, places):
    # cpu-clock, every event; IP, TID, TIME, PERIOD
    attr = struct.pack("<IIQQQQQ", 1, 128, 0, 1, 0x107, 0, 0).ljust(128, b"\0")
    data = mmap(TEXT, 0x1000000, TEXT, "[kernel.kallsyms]_text") + mmap(BASE, 0x10000, 0, str(module))
    for i, place in enumerate(places):
        data += record(SAMPLE, struct.pack("<QIIQQ", place, 1, 1, 1000 + i, 1))
    head = struct.pack("<8sQQ6Q32s", b"PERFILE2", 104, 144, 104, 144, 248, len(data), 0, 0, bytes(32))
    return head + attr + bytes(16) + data


class ModuleTypes(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.base = Path(directory.name)

    def take_apart(self, module):
        """As distributions do it: debug information in a separate file, which is found by build id."""
        whole, debug = self.base / "whole.ko", self.base / ".debug" / module.name
        debug.parent.mkdir(exist_ok=True)
        for command in (["ld", "-r", "--build-id=sha1", "-o", whole, module], ["objcopy", "--only-keep-debug", whole, debug],
                        ["objcopy", "--strip-debug", f"--add-gnu-debuglink={debug}", whole, module]):
            subprocess.run(command, check=True)

    def types_of(self, compiler, *flags, apart=False, pack=None):
        source, module = self.base / "module.c", self.base / "shop.ko"
        source.write_text(MODULE)
        subprocess.run([compiler, "-c", "-O2", "-ffreestanding", *flags, "-o", module, source], check=True)
        if apart:
            self.take_apart(module)
        listing = subprocess.run(["nm", "-S", module], check=True, capture_output=True, text=True).stdout
        kallsyms, places = f"{TEXT:x} T _text\n", []
        for start, size, name in re.findall(r"^(\w+) (\w+) [tT] (\w+)$", listing, re.MULTILINE):
            at = BASE + 0x1000 + int(start, 16)
            kallsyms += f"{at:x} t {name}\t[shop]\n"
            places += range(at, at + int(size, 16))
        if pack:
            packed = module.with_suffix(".ko." + pack[0])
            packed.write_bytes(pack[1](module.read_bytes()))
            module.unlink()
            module = packed
        (self.base / "kallsyms").write_text(kallsyms)
        data = self.base / "shop.data"
        data.write_bytes(recording(module, places))
        done = subprocess.run([SONDE, "report", "--stdio", "-i", data, "--kallsyms", self.base / "kallsyms", "--unverified-symbols", "-t", ";", "-s", "sym,typeoff"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = {}
        for line in done.stdout.splitlines():
            if line.startswith("#") or line.count(";") != 2:
                continue
            function, what = line.split(";")[1:]
            function = function.strip().removeprefix("[k] ")
            if "(unknown)" not in what and "(stack" not in what:
                found.setdefault(function, set()).add(what.strip().removesuffix(" (no field)"))
        return found, done.stderr

    def test_what_functions_of_a_module_touch(self):
        for compiler in ("gcc", "clang"):
            if not shutil.which(compiler):
                continue
            for flags in (("-g",), ("-g", "-gdwarf-4"), ("-g", "-gz=zlib")):
                with self.subTest(compiler=compiler, flags=flags):
                    found, said = self.types_of(compiler, *flags)
                    self.assertEqual(found, WANTED)
                    self.assertEqual(said, "")

    def test_debug_information_in_a_file_of_its_own(self):
        for compiler in ("gcc", "clang"):
            if not shutil.which(compiler):
                continue
            with self.subTest(compiler=compiler):
                self.assertEqual(self.types_of(compiler, "-g", apart=True), (WANTED, ""))

    def test_a_module_that_lies_packed(self):
        compiler = shutil.which("gcc") or shutil.which("clang")
        packers = [("xz", lzma.compress), ("gz", gzip.compress)]
        if shutil.which("zstd"):
            packers.append(("zst", lambda content: subprocess.run(["zstd", "-c"], input=content, check=True, capture_output=True).stdout))
        for pack in packers:
            with self.subTest(packed=pack[0]):
                self.assertEqual(self.types_of(compiler, "-g", pack=pack), (WANTED, ""))

    def test_without_debug_information_it_says_what_helps(self):
        compiler = shutil.which("gcc") or shutil.which("clang")
        found, said = self.types_of(compiler)
        self.assertEqual(found, {})
        self.assertRegex(said, "shop.ko: no types of data.*debug package of the kernel")


if __name__ == "__main__":
    unittest.main(argv=["module_types_test"])
