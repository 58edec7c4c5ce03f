#!/usr/bin/env python3
"""Two types with the same name in one namespace are an error that no linker reports: whichever constructor or destructor it keeps
serves both. This finds them in the headers, and types of two source files outside an anonymous namespace.

  tools/check_types.py [ROOT]
"""
import collections
import pathlib
import re
import sys

DEFINITION = re.compile(r"^(?:template <[^>]*>\s*)?(?:class|struct|union|enum(?: class)?) ([A-Z]\w*(?:::\w+)*)[^;()]*\{", re.M)
NAMESPACE = re.compile(r"^namespace(?: ([\w:]+))? \{", re.M)


def definitions(text):
    """(namespace, name) of each type that begins at column 0, where clang-format puts those at namespace scope."""
    events = [(m.start(), "open", m[1]) for m in NAMESPACE.finditer(text)]
    events += [(m.start(), "close", None) for m in re.finditer(r"^\}  // namespace", text, re.M)]
    events += [(m.start(), "type", m[1]) for m in DEFINITION.finditer(text)]
    scope = []
    for _, kind, name in sorted(events):
        if kind == "open":
            scope.append(name)
        elif kind == "close":
            scope.pop()
        elif None not in scope:
            yield "::".join(scope), name


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent)
    places = collections.defaultdict(list)
    for path in sorted(root.glob("src/**/*")):
        if path.suffix in (".h", ".cc") and not path.name.endswith("_test.cc") and "programs" not in path.parts:
            for where in definitions(path.read_text()):
                places[where].append(path.relative_to(root))
    bad = {where: paths for where, paths in places.items() if len(paths) > 1}
    for (namespace, name), paths in bad.items():
        print(f"{namespace}::{name} is defined in each of: {' '.join(map(str, paths))}")
    print(f"types: {len(places)} names, {len(bad)} defined twice")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
