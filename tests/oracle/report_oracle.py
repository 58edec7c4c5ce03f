#!/usr/bin/env python3
"""`perf report --stdio` and `sonde report --stdio` on the same recordings, line by line.

    report_oracle.py SONDE [--perf PERF] [--recordings DIR...] [--keep DIR] [--only REGEX] [--full] [-j JOBS] [-v]

Recordings are made in a temporary directory with the installed perf (they need the privilege to record the whole machine); the
recordings in each DIR are read too. Every recording is reported with every set of options that fits it. Trailing blanks are
ignored, and so is perf's tip of the day. With --keep the recordings and perf's answers stay in a folder, and are not made again.
The last line is 'N passed, M failed'.
"""
import argparse
import concurrent.futures
import difflib
import hashlib
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections import Counter

import kernel_turn

# name, arguments of `perf record`
BUSY = "ls -lR /usr/include | gzip -9 | sha256sum"
RECORDINGS = [
    ("plain", ["--", "sh", "-c", BUSY]),
    ("graph", ["-g", "--", "sh", "-c", BUSY]),
    ("system", ["-a", "-g", "--", "sh", "-c", BUSY]),
    ("events", ["-a", "-e", "cpu-clock,page-faults,context-switches", "--", "sh", "-c", BUSY]),
    ("group", ["-g", "-e", "{cpu-clock,page-faults}", "--", "sh", "-c", BUSY]),
    ("groupread", ["-e", "{cpu-clock,page-faults}:S", "--", "sh", "-c", BUSY]),
    ("trace", ["-e", "sched:sched_switch", "--", "sh", "-c", BUSY]),
    ("traces", ["-a", "-e", "sched:sched_switch,sched:sched_wakeup,irq:softirq_entry", "-g", "--", "sh", "-c", BUSY]),
    ("compressed", ["-z", "-g", "--", "sh", "-c", BUSY]),
    ("period", ["-c", "1000000", "-g", "--", "sh", "-c", BUSY]),
]

# Folders of real recordings, beside the project if they exist at all.
FOLDERS = ["perf61", "quipper", "linux-perf-data", "wild"]
# Without --full: these recordings with all options, and the real ones with these options.
QUICK = {"plain"}
QUICK_OPTIONS = {"", "--no-children", "--stats"}

# options, and what a recording must have for them ("" anything, "g" call graphs, "t" tracepoints, "b" branch stacks, "m" data
# sources)
OPTIONS = [
    ("", ""),
    ("-n", ""),
    ("--show-total-period", ""),
    ("--no-children", "g"),
    ("-g none", "g"),
    ("--no-children -g none", "g"),
    ("-G", "g"),
    ("--no-children -G", "g"),
    ("-g caller", "g"),
    ("--children -g callee", "g"),
    ("-g fractal", "g"),
    ("-g fractal,5,callee --no-children", "g"),
    ("-g flat", "g"),
    ("-g folded", "g"),
    ("-g folded,0,callee,count --no-children", "g"),
    ("-g graph,2,3,caller", "g"),
    ("-g graph,0.5,caller,address", "g"),
    ("-g graph,0.5,caller,function,period", "g"),
    ("-g graph,0.5,caller,function,count", "g"),
    ("--percent-limit 1", ""),
    ("--max-stack 3", "g"),
    ("--stdio-color always", ""),
    ("-s comm", ""),
    ("-s dso", ""),
    ("-s sym", ""),
    ("-s symbol", ""),
    ("-s dso,sym", ""),
    ("-s pid", ""),
    ("-s comm,pid", ""),
    ("-s cpu", ""),
    ("-s socket,cpu --no-children", ""),
    ("-s time --no-children", ""),
    ("-s time,comm --time-quantum 10ms --ns --no-children", ""),
    ("-s comm,dso,symbol,weight,local_weight,transaction", ""),
    ("-s addr --no-children", ""),
    ("-s symbol_size,dso_size --no-children", ""),
    ("-s srcline --no-children", ""),
    ("-s srcfile --no-children", ""),
    ("-s cgroup,cgroup_id,code_page_size", ""),
    ("-s parent", "g"),
    ("-p do_syscall_64", "g"),
    ("-p do_syscall_64 -x", "g"),
    ("-s +cpu", ""),
    ("-s overhead,comm", ""),
    ("-s sample,comm", ""),
    ("-s comm,overhead_sys,overhead_us", ""),
    ("--show-cpu-utilization", ""),
    ("-F overhead,comm", ""),
    ("-F comm,overhead,sym", ""),
    ("-F overhead_children,sym", ""),
    ("-F +period", ""),
    ("-F overhead,sample,period -s dso", ""),
    ("-c gzip", ""),
    ("-c gzip --percentage relative", ""),
    ("-d [kernel.kallsyms]", ""),
    ("-S do_syscall_64", ""),
    ("-C 0", ""),
    ("--time 10%/2", ""),
    ("--time 0%-50%", ""),
    ("-w 10,8,20", ""),
    ("-t ,", ""),
    ("-t , -g folded", "g"),
    ("-q", ""),
    ("--header", ""),
    ("--header-only -I", ""),
    ("--stats", ""),
    ("--tasks", ""),
    ("--hierarchy", ""),
    ("--hierarchy -s dso,sym", ""),
    ("--ignore-callees do_syscall_64", "g"),
    ("--no-group", ""),
    ("--group", ""),
    ("--no-demangle", ""),
    ("-s trace", "t"),
    ("-s prev_comm", "t"),
    ("-s comm,next_pid", "t"),
    ("-s trace_fields", "t"),
    ("-s next_pid/raw", "t"),
    ("--raw-trace", "t"),
    ("--mmaps", ""),
    ("-b", "b"),
    ("--no-branch-stack", "b"),
    ("-b -n", "b"),
    ("-b -s symbol_from,symbol_to", "b"),
    ("-b -s dso_from,dso_to,mispredict,in_tx,abort,cycles", "b"),
    ("-b -s addr_from,addr_to", "b"),
    ("-b -s srcline_from,srcline_to", "b"),
    ("-b -s sym", "b"),
    ("--mem-mode", "m"),
    ("--mem-mode -n", "m"),
    ("--mem-mode -s mem", "m"),
    ("--mem-mode -s mem,snoop,tlb,locked,blocked", "m"),
    ("--mem-mode -s symbol_daddr,dso_daddr", "m"),
    ("--mem-mode -s symbol_daddr,symbol_iaddr,dcacheline", "m"),
    ("--mem-mode -s comm,phys_daddr,data_page_size", "m"),
    ("--mem-mode -s local_weight,weight,mem", "m"),
]

# Accepted differences, explained in docs/differences.md. Each is (pattern, replacement), applied to both outputs.
ACCEPTED = [
    (re.compile(r"^# \(Tip: .*\)$"), "# (Tip)"),
    # The symbol behind perf's "[...]" is not initialised: whether it counts as inlined is chance.
    (re.compile(r"\[\.\.\.\] \(inlined\)$"), "[...]"),
]
# Cases that are known to differ; docs/differences.md has a line for each. They are run and reported, but don't fail.
KNOWN = [
    (re.compile(r"^(system|events|traces|schg|nsa|r7|arm64_\w+)\."), "objects that were deleted while they ran; PLT entries"),
    (re.compile(r"^pmd\."), "cut chains end in a frame at address -1, addr2line names the inlined functions"),
    (re.compile(r" (-s sym|-s symbol|-F comm,overhead,sym|-F overhead_children,sym|-b -s sym)$"), "rows without symbol and without DSO"),
    (re.compile(r" -s symbol_size,dso_size"), "size of the kernel"),
    (re.compile(r" (-b )?-s src(line|file)| -g graph,0.5,caller,address$"), "lines of addr2line"),
    (re.compile(r"^blk\.data -s trace$"), "what the kernel prints"),
    (re.compile(r"^cn\.data -s trace|^guest61_vg\.data -s trace"), "perf cuts the texts of a table of one row"),
    (re.compile(r"^km\.data -s trace_fields$"), "width of a column of strings"),
    (re.compile(r"^perf\.data\.(branch|callgraph_and_branch)\S* (-s (addr|comm,dso,symbol,weight)|-b -s dso_from,dso_to,mis)"), "branch mode"),
    (re.compile(r"^perf\.data\.callgraph_and_branch-3\.8 --no-branch-stack$"), "mode of an address in no mapping"),
    (re.compile(r"^perf\.data\.intel_pt"), "behind an error in a trace, decoding goes on at another packet"),
    (re.compile(r"^perf\.data\.piped\.\S+ (--hierarchy|-C 0)"), "perf finds no samples in pipes"),
    (re.compile(r"^perf\.data\.weight_struct (-s socket|--header-only)"), "perf drops a topology of more processors than it knows"),
    (re.compile(r" --mmaps$"), "mappings after an exec"),
    (re.compile(r"^perf\.data\.ctx_switch"), "shares of latency, which later perfs show"),
    (re.compile(r"^perf\.data\.piped\.corrupted"), "perf says nothing of damage in its heading"),
    (re.compile(r"^0463c0f5|^sleep\.compressed2"), "perf cannot read them"),
]
ANSI = re.compile(r"\x1b\[[0-9;]*m")


def run(command, timeout):
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, errors="replace")
    except subprocess.TimeoutExpired:
        return None, "timeout", None
    return done.stdout, done.stderr, done.returncode


# What samples leave out, as only Sonde says it; a line "#" ends it (docs/confidence.md).
GAPS = re.compile(r"^(# (Throttled|Multiplexed|Lost): .*\n)+#\n", re.M)


def lines_of(text):
    lines = []
    for line in GAPS.sub("", text).splitlines():
        line = line.rstrip()
        for pattern, replacement in ACCEPTED:
            line = pattern.sub(replacement, line)
        lines.append(line)
    if "# (Tip)" in lines:
        at = lines.index("# (Tip)")
        del lines[at - 1:at + 2]
    while lines and lines[-1] in ("", "#", "# (Tip)"):
        lines.pop()
    return lines


def hits_plt_entries(sonde, path):
    """perf leaves out some PLT entries and misnames some. Which ones a recording hits is chance, so a recording that hits none is
    chosen."""
    text = subprocess.run([sonde, "script", "-i", path, "-F", "ip,sym"], capture_output=True, text=True, errors="replace").stdout
    return "@plt" in text


def record(perf, folder, recordings, sonde=None):
    attempts = 20
    paths = []
    with kernel_turn.taken():
        for name, arguments in recordings:
            path = os.path.join(folder, name + ".data")
            kept = os.path.exists(path)
            for _ in range(0 if kept else attempts):
                subprocess.run([perf, "record", "-q", "-o", path, *arguments], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, check=False)
                if sonde is None or not hits_plt_entries(sonde, path):
                    break
            if os.path.exists(path):
                paths.append(path)
    return paths


def traits(perf, path):
    text, _, _ = run([perf, "evlist", "-v", "-i", path], 60)
    if text is None:
        return set()
    patterns = {"g": r"CALLCHAIN", "t": r"\btype: 2,", "b": r"BRANCH_STACK", "m": r"DATA_SRC"}
    return {letter for letter, pattern in patterns.items() if re.search(pattern, text)}


def is_part_of(lines, others):
    """Whether all lines occur among the others, in the same order."""
    rest = iter(others)
    return all(line in rest for line in lines)


def weights(lines):
    """The first number of every line: what rows and branches are ordered by. perf leaves equal ones in the order of its search
    trees."""
    found = (re.search(r"\d+\.\d+%|\d+", line) for line in lines)
    return [match.group() if match else "" for match in found]


def answer_of_perf(perf, path, words, kept):
    """perf's output, nothing if it fails; with --keep it is run only once."""
    memory = kept and os.path.join(kept, hashlib.sha1(" ".join([path, *words]).encode()).hexdigest() + ".txt")
    if memory and os.path.exists(memory):
        with open(memory, encoding="utf-8") as file:
            return file.read()
    expected, _, status = run([perf, "report", "--stdio", "-i", path, *words], 120)
    if status != 0 and expected is not None:
        expected = ""
    if memory and expected is not None:
        with open(memory, "w", encoding="utf-8") as file:
            file.write(expected)
    return expected


def row_weights(lines):
    return [found.group() for found in (re.match(r" *\d+\.\d+%", line) for line in lines) if found]


def nodes(lines):
    """Rows and call graph nodes without the lines that are drawn before them. perf sorts nodes of equal weight by their memory
    addresses, so which one is drawn as the last differs from run to run."""
    return sorted(re.sub(r"^[ |`-]+", "", line) for line in lines if line.strip(" |"))


def differs_in_plt_names(left, right):
    """Whether the only differences are names of PLT entries, some of which perf leaves out or misnames. Which entries a fresh
    recording hits is chance."""
    missing, extra = Counter(left) - Counter(right), Counter(right) - Counter(left)

    def shapes(lines, is_name):
        return Counter(tuple("PLT" if is_name(word) else word for word in re.split(r"[ ,]+", line.strip()))
                       for line in lines.elements())
    ours = shapes(extra, lambda word: word.endswith("@plt"))
    theirs = shapes(missing, lambda word: word.endswith("@plt") or re.fullmatch(r"(-+|.*--)?0x[0-9a-f]+", word) is not None)
    return bool(extra) and ours == theirs and all("PLT" in shape for shape in ours)


def compare(arguments, path, options):
    words = shlex.split(options)
    expected = answer_of_perf(arguments.perf, path, words, arguments.keep)
    if expected is None:
        return True, "perf takes too long"
    actual, errors, status = run([arguments.sonde, "report", "--unverified-symbols", "--no-check-chains", "--stdio", "-i", path, *words], 60)
    if actual is None or status < 0:
        return False, f"timeout, or ended by a signal: {errors}"
    if not expected:
        return True, "perf fails"
    left, right = lines_of(expected), lines_of(actual)
    if left == right:
        return True, "equal"
    if options == "--mmaps" and is_part_of(right, left):
        return True, "equal but for what an exec left behind"
    if sorted(left) == sorted(right) and weights(left) == weights(right):
        return True, "equal but for the order of rows of equal weight"
    if nodes(left) == nodes(right) and row_weights(left) == row_weights(right):
        return True, "equal but for the order of call graph nodes of equal weight"
    if differs_in_plt_names(left, right):
        return True, "equal but for names of PLT entries"
    diff = list(difflib.unified_diff(left, right, "perf", "sonde", lineterm="", n=1))
    changed = sum(1 for line in diff[2:] if line[:1] in "+-")
    shown = diff if arguments.verbose else diff[:14]
    return False, f"{changed} lines differ of {len(left)}; {errors.strip()[:600]}\n" + "\n".join(shown)


def recordings_in(folders):
    found = []
    for folder in folders:
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                if file.read(8) in (b"PERFILE2", b"2ELIFREP"):
                    found.append(path)
    return found


def cases_of(arguments, made, found):
    for path in made + found:
        has = traits(arguments.perf, path)
        for options, needs in OPTIONS:
            wanted = arguments.full or path in made or options in QUICK_OPTIONS
            if wanted and set(needs) <= has and re.search(arguments.only, f"{os.path.basename(path)} {options}"):
                yield path, options


def judge(arguments, case):
    """The outcome of one case in words, and what to print about it."""
    path, options = case
    name = f"{os.path.basename(path)} {options}"
    ok, detail = compare(arguments, path, options)
    reason = next((text for pattern, text in KNOWN if pattern.search(name)), None)
    if "other builds lie where they were when it was recorded" in detail:
        reason = "perf shows the names of other builds than the recorded ones"
    if ok:
        return "passed", f"passed {name}: {detail}" if arguments.verbose else ""
    if reason:
        return "known", f"known difference {name}: {reason}"
    return "failed", f"FAILED {name}: {detail}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sonde", help="the program; under ctest, which names it in $SONDE, the build directory")
    parser.add_argument("--perf", default="perf")
    parser.add_argument("--recordings", nargs="*", help="folders with further recordings")
    parser.add_argument("--keep", help="folder for the recordings that are made and for perf's answers, reused if it is there")
    parser.add_argument("--only", default="", help="only cases whose 'name options' match this regular expression")
    parser.add_argument("--full", action="store_true", help="all recordings with all options: perf takes half an hour for it")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    parser.add_argument("-v", "--verbose", action="store_true")
    arguments = parser.parse_args()
    arguments.sonde = os.environ.get("SONDE", arguments.sonde)
    beside = os.path.join(os.environ.get("SONDE_SOURCE", "."), "..", "shared", "fixtures")
    folders = arguments.recordings
    if folders is None:
        folders = [os.path.join(beside, name) for name in FOLDERS if os.path.isdir(os.path.join(beside, name))]
    counts = {"passed": 0, "failed": 0, "known": 0}
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or temporary
        os.makedirs(folder, exist_ok=True)
        made = record(arguments.perf, folder, RECORDINGS if arguments.full else [r for r in RECORDINGS if r[0] in QUICK],
                      arguments.sonde)
        cases = list(cases_of(arguments, made, recordings_in(folders)))
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            for outcome, text in pool.map(lambda case: judge(arguments, case), cases):
                counts[outcome] += 1
                if text:
                    print(text, flush=True)
    if counts["known"]:
        print(f"{counts['known']} cases differ as known")
    print(f"{counts['passed']} passed, {counts['failed']} failed")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
