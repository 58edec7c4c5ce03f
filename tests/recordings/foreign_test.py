#!/usr/bin/env python3
"""Recordings of other machines and boots: what they do not identify by build id is not named by what lies at the same path here,
nor by the kernel that runs here. One program and one kernel function are recorded as of this boot and as of others; the names in
the first must be missing from the others, and be back with --unverified-symbols, and with what the user points at."""
import os
import platform
import re
import shutil
import subprocess
import unittest
from pathlib import Path

import explorer_data
from own_directory import OwnDirectoryTest

SONDE = os.environ["SONDE"]
COMMANDS = {
    "report": ["report", "--stdio", "-g", "none", "-s", "sym", "-i"],
    "children": ["report", "--stdio", "-g", "caller", "-i"],
    "script": ["script", "-i"],
    "fold": ["fold", "-i"],
    "flamegraph": ["flamegraph", "-o", "-", "-i"],
    "export": ["export", "--to", "json", "-o", "-", "-i"],
    "view": ["view", "-o", "-", "-i"],
}


def kernel_symbols():
    """Address of the kernel's start, name and address of a function inside; None if they are hidden."""
    symbols = {}
    for line in Path("/proc/kallsyms").read_text().splitlines():
        fields = line.split()
        if len(fields) == 3 and fields[2] in ("_text", "vfs_read"):
            symbols[fields[2]] = int(fields[0], 16)
    return symbols if all(symbols.get(name) for name in ("_text", "vfs_read")) else None


class ForeignTest(OwnDirectoryTest):
    def setUp(self):
        super().setUp()
        program = self.path / "root" / "app"
        program.parent.mkdir()
        source = self.path / "app.c"
        source.write_text("int hot_function(int n) { return n * 3; }\nint main(void) { return hot_function(0); }\n")
        subprocess.run(["cc", "-O0", "-no-pie", "-Wl,--build-id=none", "-o", program, source], check=True)
        self.program = self.path / "app"
        shutil.copy(program, self.program)
        symbols = subprocess.run(["nm", program], check=True, capture_output=True, text=True).stdout
        self.hot = int(re.search(r"^(\w+) T hot_function$", symbols, re.M)[1], 16)
        headers = subprocess.run(["readelf", "-lW", program], check=True, capture_output=True, text=True).stdout
        segments = [[int(word, 16) for word in found] for found in
                    re.findall(r"LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x\w+ 0x(\w+) R E", headers)]
        self.offset, self.start, self.size = segments[0]
        self.kernel = kernel_symbols()

    def recording(self, name, host=platform.node(), release=platform.release(), moved=0, path=None):
        """Of a function of the program and of one of the kernel, whose start was `moved` away from today's."""
        path = path or self.program
        lines = [f'feature HOSTNAME: "{host}"' if host else "", f'feature OSRELEASE: "{release}"', f'feature ARCH: "{platform.machine()}"',
                 "event : name = cpu-clock, type = 1, size = 128, config = 0, sample_period = 4000, sample_type = IP|TID|TIME|CALLCHAIN, "
                 "mmap = 1, comm = 1, sample_id_all = 1",
                 'COMM pid=10 tid=10 comm="app" time=1',
                 f"MMAP2 mode=user pid=10 tid=10 start={self.start:#x} length={self.size:#x} offset={self.offset:#x} "
                 f'path="{path}" protection=5 time=2']
        if self.kernel:
            text, read = (self.kernel[symbol] + moved for symbol in ("_text", "vfs_read"))
            lines += [f'MMAP mode=kernel pid=-1 tid=0 start={text:#x} length=0x2000000 offset={text:#x} path="[kernel.kallsyms]_text" time=0',
                      f"SAMPLE mode=kernel ip={read + 4:#x} pid=10 tid=10 time=100 chain=kernel,{read + 4:#x},user,{self.hot + 4:#x}"]
        lines.append(f"SAMPLE mode=user ip={self.hot + 4:#x} pid=10 tid=10 time=200 chain=user,{self.hot + 4:#x}")
        (self.path / "text").write_text("\n".join(filter(None, lines)) + "\n")
        subprocess.run([SONDE, "assemble", "text", name], cwd=self.path, check=True)
        return self.path / name

    def run_on(self, path, command, *options):
        done = subprocess.run([SONDE, *COMMANDS[command], path, *options], cwd=self.path, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, env={**os.environ, "PERF_BUILDID_DIR": str(self.path / "cache")})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, done.stderr

    def names_in(self, command, text):
        if command == "view":  # packed, for browsers
            text = explorer_data.unpacked(text)
        return {name for name in ("hot_function", "vfs_read") if name in text}

    def test_only_this_boot_is_named_by_what_is_here(self):
        ours = self.recording("ours.data")
        others = [self.recording("host.data", host="elsewhere"), self.recording("release.data", release="4.19.0"),
                  self.recording("unknown.data", host="")]
        if self.kernel:
            others.append(self.recording("boot.data", moved=0x200000))
        everything = {"hot_function", "vfs_read"} if self.kernel else {"hot_function"}
        for command in COMMANDS:
            with self.subTest(command):
                text, errors = self.run_on(ours, command)
                self.assertEqual(self.names_in(command, text), everything)
                self.assertNotIn("not known to be of this boot", errors)
        for other in others:
            for command in COMMANDS:
                with self.subTest(command, recording=other.name):
                    text, errors = self.run_on(other, command)
                    self.assertEqual(self.names_in(command, text), set())
                    said = [line for line in errors.splitlines() if "not known to be of this boot" in line]
                    self.assertEqual(len(said), 1, errors)
                    for word in ("--kallsyms", "--symfs", "buildid-cache", "--bundle", "--unverified-symbols", str(self.program)):
                        self.assertIn(word, said[0])
                    text, errors = self.run_on(other, command, "--unverified-symbols")
                    self.assertEqual(self.names_in(command, text), everything)
                    self.assertNotIn("not known to be of this boot", errors)

    def test_what_the_user_points_at_counts(self):
        other = self.recording("other.data", host="elsewhere", path="/app")
        text, _ = self.run_on(other, "report", "--symfs", self.path / "root")
        self.assertIn("hot_function", text)
        if self.kernel:
            text, _ = self.run_on(other, "report", "--kallsyms", "/proc/kallsyms")
            self.assertEqual(self.names_in("report", text), {"vfs_read"})

    def test_maps_of_generated_code(self):
        """/tmp/perf-PID.map of a process that happens to have the same number."""
        (self.path / "text").write_text(
            'feature HOSTNAME: "elsewhere"\n'
            "event : name = cpu-clock, type = 1, sample_period = 4000, sample_type = IP|TID|TIME, sample_id_all = 1\n"
            f'COMM pid={os.getpid()} tid={os.getpid()} comm="app" time=1\n'
            f"MMAP2 mode=user pid={os.getpid()} tid={os.getpid()} start=0x10000 length=0x1000 offset=0 path=\"//anon\" protection=7 time=2\n"
            f"SAMPLE mode=user ip=0x10010 pid={os.getpid()} tid={os.getpid()} time=100\n")
        subprocess.run([SONDE, "assemble", "text", "jit.data"], cwd=self.path, check=True)
        map_of_ours = Path(f"/tmp/perf-{os.getpid()}.map")
        map_of_ours.write_text("10000 100 generated_here\n")
        self.addCleanup(map_of_ours.unlink)
        self.assertNotIn("generated_here", self.run_on(self.path / "jit.data", "report")[0])
        self.assertIn("generated_here", self.run_on(self.path / "jit.data", "report", "--unverified-symbols")[0])


if __name__ == "__main__":
    unittest.main(argv=["foreign_test"])
