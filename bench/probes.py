"""`probe`'s lists of what can be probed, on a library with 100 MB of debug information: Sonde's own sources without optimisation."""
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ["src/report", "src/stacks", "src/trace", "src/top", "src/stat", "src/capture", "src/replay", "src/perfdata"]
GOAL = 20
VIEWS = [("-F", []), ("-V", ["fill_table"]), ("-L", ["fill_table"])]


def library(kept):
    """Compiled once; some minutes."""
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
    subprocess.run(["g++", "-shared", *made, "-o", str(path)], check=True)
    return path


def compare_probes(bench, sonde, perf, kept, only):
    """Each command without Sonde's disk cache, and with what earlier runs left there."""
    before = os.environ.get("SONDE_CACHE")
    for option, arguments in VIEWS:
        for suffix, cache in [("", "off"), (", cached", str(kept / "cache"))]:
            name = f"probe {option}{suffix}"
            if only not in name:
                continue
            command = ["probe", "-x", str(library(kept)), option, *arguments]
            os.environ["SONDE_CACHE"] = cache
            for _ in range(0 if cache == "off" else 2):  # the index of functions is made by the second run
                subprocess.run([sonde, *command], check=True, stdout=subprocess.DEVNULL)
            bench.compare(name, [sonde, *command], [perf, *command], GOAL)
    if before is None:
        os.environ.pop("SONDE_CACHE", None)
    else:
        os.environ["SONDE_CACHE"] = before
