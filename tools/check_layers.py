#!/usr/bin/env python3
"""Rejects #includes that the layer() lines of CMakeLists.txt don't allow, cycles of headers, and crowded folders.

A layer may include itself and the layers on its line; so there are no cycles between layers. Inside a layer, whatever its rooms
(subfolders), two headers must not include each other either. Our own includes are relative to src/: "base/error.h",
"perfdata/read/recording.h". A folder with more than sixty files needs rooms.
"""
import collections
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
# A layer's tests may also use the test support of any layer; no other exceptions are allowed.
ANYWHERE = {"gtest", "gmock"}
MAX_FILES_IN_FOLDER = 60


def read_layers(text):
    """{layer: allowed layers}, from the lines `layer(name dependency... [LIBS ...])`."""
    layers = {}
    for line in re.findall(r"^layer\(([^)]*)\)", text, re.MULTILINE):
        name, *rest = line.split()
        allowed = rest[: rest.index("LIBS")] if "LIBS" in rest else rest
        layers[name] = {name, *allowed}
    return layers


def includes_of(path):
    return INCLUDE.findall(path.read_text(encoding="utf-8"))


def check_includes(layers, files):
    for path in files:
        layer = path.relative_to(SOURCE).parts[0]
        if layer not in layers:
            yield f"{path.relative_to(ROOT)}: the directory {layer} is no layer of CMakeLists.txt"
            continue
        for include in includes_of(path):
            target = include.split("/")[0]
            if target in ANYWHERE:
                continue
            if target not in layers:
                yield f'{path.relative_to(ROOT)}: "{include}" does not begin with a layer (write it from src/)'
            elif target not in layers[layer]:
                yield f'{path.relative_to(ROOT)}: includes "{include}", but layer {layer} has only: ' \
                      f'{", ".join(sorted(layers[layer]))}'


def crowded_folders():
    sizes = collections.Counter(path.parent for path in SOURCE.rglob("*") if path.is_file())
    for folder, size in sorted(sizes.items()):
        if size > MAX_FILES_IN_FOLDER:
            yield f"{folder.relative_to(ROOT)}: {size} files; divide it into rooms of {MAX_FILES_IN_FOLDER} at most"


def find_circle(headers):
    """A list of headers in which each includes the next and the last the first, or None."""
    graph = {str(h.relative_to(SOURCE)): includes_of(h) for h in headers}
    done, on_path = set(), []

    def visit(name):
        if name in done or name not in graph:
            return None
        if name in on_path:
            return on_path[on_path.index(name):] + [name]
        on_path.append(name)
        for include in graph[name]:
            if circle := visit(include):
                return circle
        done.add(on_path.pop())
        return None

    for name in graph:
        if circle := visit(name):
            return circle
    return None


def main():
    layers = read_layers((ROOT / "CMakeLists.txt").read_text())
    files = sorted(p for p in SOURCE.rglob("*") if p.suffix in {".h", ".cc", ".def"})
    problems = [*check_includes(layers, files), *crowded_folders()]
    if circle := find_circle([p for p in files if p.suffix == ".h"]):
        problems.append("headers include each other in a circle: " + " -> ".join(circle))
    for problem in problems:
        print(problem)
    print(f"layers: {len(files)} files, {len(layers)} layers, {len(problems)} problems")
    return 1 if problems or not files else 0


if __name__ == "__main__":
    sys.exit(main())
