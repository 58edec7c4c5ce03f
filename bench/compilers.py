"""Commands on what people record: compilers at work, five of Sonde's own sources. First with whole stacks, as `record -g` makes them,
150,000 samples or more of each; then with frame pointers, which most of that code does not keep, a million samples of each."""
import json
import subprocess
import sys
from pathlib import Path

from kept import kept_recording
from sched import recording_of_messages

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ["src/report/tables.cc", "src/perfdata/read/recording.cc", "src/event/parser/event_parser.cc", "src/symbol/symbolizer.cc",
           "src/render/table_text.cc"]
COMPILERS = {"clang": "clang++-19", "gcc": "g++"}

# compiler, arguments, goal (times faster), runs (where perf takes a minute for each)
ON_WHOLE_STACKS = [
    ("clang", ["report", "--stdio", "--no-inline"], 120, 2),
    ("clang", ["report", "--stdio", "--no-inline", "--no-children"], None, 2),
    ("clang", ["report", "--stdio", "--no-inline", "--no-children", "-g", "none"], 8, None),
    ("clang", ["script", "--no-inline"], 18, None),
    ("gcc", ["report", "--stdio", "--no-inline"], None, 2),
    ("gcc", ["report", "--stdio", "--no-inline", "--no-children"], None, 2),
    ("gcc", ["report", "--stdio", "--no-inline", "--no-children", "-g", "none"], None, None),
    ("gcc", ["script", "--no-inline"], None, None),
]
# compiler, arguments, goal (times faster), goal (share of perf's memory); perf runs --no-inline where it would start addr2line
ON_COMPILERS = [
    ("clang", ["report", "--stdio", "--no-inline"], 35, None),
    ("clang", ["report", "--stdio", "--no-inline", "--no-children"], 25, None),
    ("clang", ["report", "--stdio", "--no-inline", "--no-children", "-g", "none"], 6, 1),
    ("clang", ["script", "--no-inline"], 10, 1),
    ("gcc", ["report", "--stdio", "--no-inline"], 12, None),
    ("gcc", ["report", "--stdio", "--no-inline", "--no-children"], 15, None),
    ("gcc", ["script", "--no-inline"], 8, None),
]
BY_SYMBOL = "select symbol, count(*) n from samples group by symbol order by n desc limit 10"
# perf's script alone is what these take at least with perf. Compiler, what, goal.
BEYOND_SCRIPT_OF_WHOLE_STACKS = [
    ("clang", ["flamegraph", "-o", "/dev/null"], 12),
    ("gcc", ["flamegraph", "-o", "/dev/null"], None),
    ("clang", ["view", "-o", "/dev/null"], None),
    ("clang", ["export", "--to", "pprof", "-o", "/dev/null"], None),
    ("clang", ["sql", BY_SYMBOL], None),
]
BEYOND_SCRIPT = [
    ("clang", ["flamegraph", "-o", "/dev/null"], 12),
    ("gcc", ["flamegraph", "-o", "/dev/null"], 14),
    ("clang", ["sql", BY_SYMBOL], None),
]
ON_LARGE = [["report", "--stdio"], ["script"], ["flamegraph"], ["view"], ["export", "--to", "pprof"]]
SCHED_ON_LARGE = [["sched", "latency"], ["sched", "timehist", "-s"], ["sched", "timehist"]]


def build_by(compiler):
    flags = "-std=c++23 -O2 -g1 -DFMT_SHARED -Isrc -Ibuild/release -Ibuild/release/generated"
    return ["sh", "-c", f"for source in {' '.join(SOURCES)}; do {COMPILERS[compiler]} {flags} -c $source -o /dev/null; done"]


def recording_of(compiler, directory):
    return kept_recording(directory / f"{compiler}.data", ["perf", "record", "-e", "cpu-clock", "-F", "25000", "-g"], build_by(compiler), ROOT)


def whole_stacks_of(compiler, directory, sonde):
    recorder = [sonde, "record", "-e", "cpu-clock", "-F", "7000", "--call-graph", "bpf"]
    return kept_recording(directory / f"{compiler}-whole.data", recorder, build_by(compiler), ROOT)


def words_of(arguments):
    return " ".join(word for word in arguments if word not in ("--stdio", "--no-inline", "-o", "/dev/null"))


def grown(path, size):
    """The recording repeated until it has `size` bytes; made once."""
    large = path.with_name(f"{path.stem}-{size}.data")
    if not large.exists():
        source = ROOT / "bench/workload/grow_recording.cc"
        tool = path.with_name("grow_recording")
        if not tool.exists() or tool.stat().st_mtime < source.stat().st_mtime:
            subprocess.run(["g++", "-std=c++20", "-O2", str(source), "-o", str(tool)], check=True)
        print(f"bench: growing {path.name} to {size / 1e9:.0f} GB", file=sys.stderr)
        subprocess.run([str(tool), str(path), str(large), str(size)], check=True)
    return large


def compare_compilers(bench, sonde, perf, directory, only):
    for compiler, arguments, goal, runs in ON_WHOLE_STACKS:
        name = f"{compiler}, whole stacks: {words_of(arguments)}"
        if only in name:
            data = ["-i", str(whole_stacks_of(compiler, directory, sonde))]
            bench.compare(name, [sonde, *arguments, *data], [perf, *arguments, *data], goal, runs=runs, discard=arguments[0] == "script",
                          one_core=True)
    for compiler, arguments, goal in BEYOND_SCRIPT_OF_WHOLE_STACKS:
        name = f"{compiler}, whole stacks: {arguments[0]}; perf script"
        if only in name:
            data = ["-i", str(whole_stacks_of(compiler, directory, sonde))]
            bench.compare(name, [sonde, *arguments, *data], [perf, "script", "--no-inline", *data], goal, discard=True, one_core=True)
    for compiler, arguments, goal, memory_goal in ON_COMPILERS:
        name = f"{compiler}: {words_of(arguments)}"
        if only in name:
            data = ["-i", str(recording_of(compiler, directory))]
            bench.compare(name, [sonde, *arguments, *data], [perf, *arguments, *data], goal, memory_goal, discard=arguments[0] == "script",
                          one_core=True)
    for compiler, arguments, goal in BEYOND_SCRIPT:
        name = f"{compiler}: {arguments[0]}; perf script"
        if only in name:
            data = ["-i", str(recording_of(compiler, directory))]
            bench.compare(name, [sonde, *arguments, *data], [perf, "script", "--no-inline", *data], goal, discard=True, one_core=True)


# Runs a command, and prints the greatest amount of memory that is no page of a file: of files, the kernel keeps what it likes.
PEAK = """
import json, os, subprocess, sys, threading, time
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
start, peak = time.monotonic(), 0
while child.poll() is None:
    try:
        fields = dict(line.split(":") for line in open(f"/proc/{child.pid}/status") if line.startswith(("RssAnon", "RssShmem")))
        peak = max(peak, sum(int(value.split()[0]) for value in fields.values()))
    except (OSError, ValueError):
        pass
    time.sleep(0.01)
print(json.dumps([child.returncode, time.monotonic() - start, peak]))
"""


def measure_large(sonde, directory, size=10_000_000_000, limit_kib=1 << 20):
    """Time and peak of anonymous memory of commands on recordings of 10 GB. Returns the number of those above the limit."""
    above = peaks_above(limit_kib, sonde, grown(recording_of("clang", directory), size), ON_LARGE)
    return above + peaks_above(limit_kib, sonde, grown(recording_of_messages(directory), size), SCHED_ON_LARGE)


def peaks_above(limit_kib, sonde, data, commands):
    above = 0
    print(f"{'on ' + data.name:38} {'seconds':>9} {'anonymous':>10}")
    for arguments in commands:
        output = ["-o", "/dev/null"] if arguments[0] in ("flamegraph", "view", "export") else []
        done = subprocess.run([sys.executable, "-c", PEAK, sonde, *arguments, *output, "-i", str(data)], capture_output=True, text=True,
                              check=True)
        status, seconds, peak = json.loads(done.stdout)
        above += peak > limit_kib or status != 0
        print(f"{' '.join(arguments):38} {seconds:8.1f}s {peak / 1024:8.0f}M{'' if status == 0 else f' (status {status})'}")
    return above
