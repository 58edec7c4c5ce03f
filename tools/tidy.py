#!/usr/bin/env python3
"""clang-tidy over every source file, remembering which were clean.

A file's result depends on the file, the project headers that it includes, .clang-tidy and its compile command. The hash of these
names a stamp under build/tidy/clean; if the stamp exists, the file is not checked again.
"""
import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/tidy"
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


class Fingerprints:
    """Hashes of files together with all project headers that they include, directly or indirectly."""

    def __init__(self):
        self.texts = {}

    def text(self, path):
        if path not in self.texts:
            self.texts[path] = path.read_bytes() if path.is_file() else b""
        return self.texts[path]

    def reached(self, path):
        found, waiting = set(), [path]
        while waiting:
            current = waiting.pop()
            if current in found:
                continue
            found.add(current)
            for name in INCLUDE.findall(self.text(current).decode(errors="replace")):
                waiting += [p for p in (ROOT / "src" / name, current.parent / name) if p.is_file()]
        return found

    def of(self, path, command):
        digest = hashlib.sha256(command.encode() + self.text(ROOT / ".clang-tidy"))
        for file in sorted(self.reached(path)):
            digest.update(str(file.relative_to(ROOT)).encode() + self.text(file))
        return digest.hexdigest()


def compile_commands():
    """{file: command} of our own sources. The precompiled headers are built first: tidy reads them too."""
    cmake = ["cmake", "--preset", "tidy"]
    subprocess.run(cmake, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "--quiet", "-C", str(BUILD), "CMakeFiles/sonde_base.dir/cmake_pch.hxx.pch"], cwd=ROOT, check=True)
    entries = json.loads((BUILD / "compile_commands.json").read_text())
    ours = {}
    for entry in entries:
        path = Path(entry["file"])
        if path.suffix == ".cc" and path.is_relative_to(ROOT) and not path.is_relative_to(ROOT / "cmake"):
            ours[path] = entry["command"]
    return ours


def tidy(path):
    done = subprocess.run(["clang-tidy-19", "--quiet", "-p", str(BUILD), str(path)], cwd=ROOT, capture_output=True, text=True)
    return done.returncode, done.stdout + (done.stderr if done.returncode else "")


def main():
    fingerprints = Fingerprints()
    commands = compile_commands()
    clean = BUILD / "clean"
    clean.mkdir(exist_ok=True)
    stamps = {path: clean / fingerprints.of(path, command) for path, command in commands.items()}
    waiting = sorted(path for path, stamp in stamps.items() if not stamp.exists())
    # Long files first, so that no core is left with one at the end.
    waiting.sort(key=lambda p: -p.stat().st_size)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, (status, text) in zip(waiting, pool.map(tidy, waiting)):
            if status == 0 and "warning:" not in text:
                stamps[path].touch()
            else:
                failed += 1
                print(text.strip(), flush=True)
    print(f"clang-tidy: {len(commands)} files, {len(waiting)} looked at, {failed} with findings")
    return 1 if failed or not commands else 0


if __name__ == "__main__":
    sys.exit(main())
