"""`probe`'s lists of what can be probed, on a library with 100 MB of debug information: some of Sonde's own sources without
optimisation."""
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ["src/report", "src/trace", "src/replay", "src/perfdata", "src/probe", "src/top"]
LEAST_BYTES = 100_000_000  # of debug information
GOAL = 20
VIEWS = [("-F", []), ("-V", ["fill_table"]), ("-L", ["fill_table"])]


def library(kept):
    """Compiled once: about nine minutes on two cores."""
    path = kept / "probed.so"
    if path.exists():
        return path
    objects = kept / "probed"
    objects.mkdir(parents=True, exist_ok=True)
    sources = sorted(source for folder in FOLDERS for source in (ROOT / folder).rglob("*.cc") if not source.name.endswith("_test.cc"))
    print(f"bench: compiling {len(sources)} sources for {path.name}", file=sys.stderr)
    flags = ["-std=c++23", "-g", "-O0", "-fPIC", "-DFMT_SHARED", "-Isrc", "-Ibuild/release", "-Ibuild/release/generated"]

    def compiled(source):
        made = objects / (str(source.relative_to(ROOT)).replace("/", "_") + ".o")
        subprocess.run(["g++", *flags, "-c", str(source), "-o", str(made)], check=True, cwd=ROOT)
        return str(made)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        made = list(pool.map(compiled, sources))
    linked = objects / path.name
    subprocess.run(["g++", "-shared", *made, "-o", str(linked)], check=True)
    if (found := debug_bytes(linked)) < LEAST_BYTES:
        sys.exit(f"bench: {linked} has only {found} bytes of debug information: FOLDERS needs more sources")
    return linked.rename(path)


def debug_bytes(path):
    sections = subprocess.run(["size", "-A", str(path)], capture_output=True, text=True, check=True).stdout.splitlines()
    return sum(int(line.split()[1]) for line in sections if line.startswith(".debug_"))


def compare_probes(bench, sonde, perf, kept, only):
    """Each command as the first question about an object, which finds nothing in Sonde's disk cache, and as a repeated one."""
    before = os.environ.get("SONDE_CACHE")
    for option, arguments in VIEWS:
        for suffix, cache in [(", first", "off"), (", repeated", str(kept / "cache"))]:
            name = f"probe {option}{suffix}"
            if only not in name:
                continue
            command = ["probe", "-x", str(library(kept)), option, *arguments]
            os.environ["SONDE_CACHE"] = cache
            for _ in range(0 if cache == "off" else 2):  # the second one makes the index
                subprocess.run([sonde, *command], check=True, stdout=subprocess.DEVNULL)
            bench.compare(name, [sonde, *command], [perf, *command], GOAL)
    if before is None:
        os.environ.pop("SONDE_CACHE", None)
    else:
        os.environ["SONDE_CACHE"] = before
