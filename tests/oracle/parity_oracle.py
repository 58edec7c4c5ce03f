#!/usr/bin/env python3
"""docs/perf-parity.md: every option of perf (from its manual pages, and from what it lists for completion), and of later perfs, with
what Sonde does with it and a test that uses it. Fails if the page in the project is not the one that is made here; with --update
(`./dev parity`), writes it. Needs perf's manual pages."""
import collections
import gzip
import os
import re
import subprocess
import sys
from pathlib import Path

import side_by_side

SONDE = os.environ["SONDE"]
SOURCE = Path(os.environ["SONDE_SOURCE"])
PERF = side_by_side.needed_perf()
PAGE = SOURCE / "docs/perf-parity.md"
MANUALS = Path("/usr/share/man/man1")
# Manuals of something else than a command.
TOPICS = {"arm-spe", "intel-pt", "dlfilter", "script-perl", "script-python"}
# Their second words begin to work before options are looked at.
RUN_AT_ONCE = {"bench", "test", "check", "data"}
# perf 6.1 takes them for a command to trace, and leaves the kernel's tracing switched off.
NO_SUBCOMMANDS = {("ftrace", "profile")}
# What came after perf 6.1.
LATER = {
    "annotate": "--code-with-type --data-type --type-stat --skip-empty",
    "archive": "--all --unpack --exclude-buildids",
    "bench": "--format --repeat",
    "c2c": "--double-cl",
    "check": "--quiet",
    "diff": "--cycles-hist --stream",
    "ftrace": "--bucket-range --min-latency --max-latency --hide-empty --events --graph-opts --func-opts --sort",
    "inject": "--convert-callchain --mmap2-buildid-all --aslr",
    "kwork": "--use-bpf --with-summary",
    "list": "--json --output --raw-dump --unit",
    "lock": "--lock-cgroup --lock-addr --lock-filter --type-filter --callstack-filter --stack-skip --max-stack --inject-delay --output"
            " --field-separator --map-nr-entries",
    "mem": "--data-type --ldlat",
    "probe": "--bootconfig --definition --target-ns",
    "record": "--latency --off-cpu-thresh --setup-filter --sample-mem-info",
    "report": "--latency --parallelism --addr2line --skip-empty --time-quantum",
    "sched": "--show-prio --prio --compact --task-name --fuzzy-name",
    "script": "--addr2line --unwind-style --merge-callchains --insn-trace",
    "stat": "--bpf-prog --bpf-counters --per-cluster --per-cache --metric-no-threshold --record-tpebs --tpebs-mode --pmu-filter --pfm-events",
    "top": "--branch-history",
    "trace": "--bpf-summary --force-btf --summary-mode --max-summary --libtraceevent_print --errno-summary --failure",
    "version": "--build-options",
}


class Option:
    def __init__(self, letter, name):
        self.letter, self.name = letter, name
        self.sources = set()

    def text(self):
        return ", ".join(f"`{word}`" for word in (self.letter, self.name) if word)


def plain(troff):
    return troff.replace("\\-", "-").replace("\\(aq", "'")


def options_of_manual(path):
    """(letter, name) of each item of a manual whose term begins with a dash."""
    lines = gzip.decompress(path.read_bytes()).decode("utf-8", "replace").splitlines()
    for i, line in enumerate(lines[1:-1], 1):
        if line.startswith("\\-") and lines[i - 1] == ".sp" and lines[i + 1].startswith((".br", ".RS")):
            yield from words_of(plain(line))


def words_of(term):
    letters, names = [], []
    for word in re.split(r"[,\s]+|::", term):
        if found := re.fullmatch(r"--(?:\[no-\])?([\w-]+?)(?:\[?=.*|\[.*)?", word):
            names.append("--" + found[1])
        elif found := re.fullmatch(r"(-\w)(?:[<\[=].*)?", word):
            letters.append(found[1])
        else:
            break
    while letters or names:
        yield (letters.pop(0) if letters else "", names.pop(0) if names else "")


def listed(*words):
    if words in NO_SUBCOMMANDS or (words[0] in RUN_AT_ONCE and len(words) > 1):
        return []
    done = subprocess.run([PERF, *words, "--list-opts"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20)
    return [("", word) for word in done.stdout.split() if re.fullmatch(r"--[\w-]+", word)]


class Command:
    """One command of perf, with its subcommands' options."""

    def __init__(self, name):
        self.name = name
        self.options = []

    def add(self, letter, name, source):
        for known in self.options:
            if (name and known.name == name) or (not known.name and letter and known.letter == letter) or \
                    (not name and known.letter == letter):
                known.letter, known.name = known.letter or letter, known.name or name
                known.sources.add(source)
                return
        option = Option(letter, name)
        option.sources.add(source)
        self.options.append(option)


def commands_of_perf(table):
    commands = {}
    for path in sorted(MANUALS.glob("perf-*.1.gz")):
        name = path.name.removeprefix("perf-").removesuffix(".1.gz")
        if name in TOPICS:
            continue
        command = commands.setdefault(name, Command(name))
        for letter, option in options_of_manual(path):
            command.add(letter, option, "manual")
        subcommands = {row.command.split(" ", 1)[1] for row in table if row.command.startswith(name + " ")}
        # `sched record` takes what record takes, and `sched script` what script takes.
        for words in [[], *[words.split() for words in sorted(subcommands) if words.split()[-1] not in ("record", "script")]]:
            for letter, option in listed(name, *words):
                command.add(letter, option, "list")
    for name, words in LATER.items():
        command = commands.setdefault(name, Command(name))
        for word in words.split():
            command.add("", word, "later")
    return commands


Row = collections.namedtuple("Row", "command letter name standing reason")


def table_of_sonde():
    text = subprocess.run([SONDE, "option-table"], capture_output=True, text=True, check=True).stdout
    return [Row(*line.split("\t")) for line in text.splitlines()]


def answer(option, rows):
    """(what Sonde does with it, the reason). Completes the option's letter."""
    def has(row):
        return (option.name and option.name in (row.name, "--no-" + row.name[2:], "--" + row.name.removeprefix("--no-"))) or \
            (not option.name and row.letter == option.letter)
    found = [row for row in rows if has(row)] or [row for row in rows if option.letter and row.letter == option.letter]
    option.letter = option.letter or next((row.letter for row in found if row.name == option.name), "")
    for standing in ("works", "no effect", "refused"):
        for row in found:
            if row.standing == standing:
                return standing, row.reason
    return "missing", ""


def shown_tests():
    """By command and option, from the page as it is."""
    shown, command = {}, ""
    for line in PAGE.read_text().splitlines() if PAGE.exists() else []:
        if line.startswith("## "):
            command = line.removeprefix("## ")
        elif line.startswith("| `"):
            cells = line.strip("| ").split(" | ")
            if len(cells) > 2:
                shown[command, cells[0].removesuffix(" (later)")] = cells[-1]
    return shown


class Tests:
    """The words of the tests, to find one that uses an option."""

    def __init__(self):
        paths = subprocess.run(["git", "-C", SOURCE, "ls-files", "tests"], capture_output=True, text=True, check=True).stdout.split()
        self.words = {}
        for path in paths:
            if Path(path).suffix in (".py", ".test", ".sh", ".cc") and Path(path).name != Path(__file__).name:
                # -F99 is a use of -F.
                words = re.findall(r"(?<![\w-])--?[\w-]+|[\w-]+", (SOURCE / path).read_text(errors="replace"))
                self.words[path] = set(words) | {word[:2] for word in words if re.fullmatch(r"-[A-Za-z]\d+", word)}
        self.shown = shown_tests()

    def using(self, command, option):
        """Of the files that name the command too; the one that the page shows already, so that it does not change with every new test;
        otherwise those that are about the command first."""
        wanted = {word for word in (option.letter, option.name) if word}

        def order(path):
            about = command.replace("-", "_")
            return (f"/{about}/" not in path and not Path(path).stem.startswith(about), about not in path, path)
        found = [path for path, words in self.words.items() if command in words and wanted & words]
        shown = "tests/" + self.shown.get((command, option.text()), "")
        return (shown if shown in found else min(found, key=order)).removeprefix("tests/") if found else ""


def page(commands, table, tests):
    counts = collections.Counter()
    sections = []
    for name, command in sorted(commands.items()):
        rows = [row for row in table if row.command.split()[0] == name]
        lines = []
        for option in sorted(command.options, key=lambda option: (option.name or option.letter).lstrip("-").lower()):
            standing, reason = answer(option, rows) if rows else ("missing", "")
            counts[standing] += 1
            shown = tests.using(name, option) if standing != "missing" else ""
            if standing != "missing" and not shown:
                counts["no test"] += 1
            later = " (later)" if option.sources == {"later"} else ""
            lines.append(f"| {option.text()}{later} | {standing}{': ' if reason else ''}{reason.replace('|', chr(92) + '|')} | {shown} |")
        sections.append(f"\n## {name}\n\n| option | Sonde | a test that uses it |\n|---|---|---|\n" + "\n".join(lines) + "\n" if lines
                        else f"\n## {name}\n\n{'There is no option.' if rows else 'The command is missing.'}\n")
    total = sum(counts[standing] for standing in ("works", "no effect", "refused", "missing"))
    head = f"""# perf's options

Every option of perf 6.1, from its manual pages and from what it lists for completion, and those of later perfs (marked so), with
what Sonde does with it. This page is made by `./dev parity` (tests/oracle/parity_oracle.py), and the checks fail if it is old.

| | options | |
|---|---|---|
| works | {counts["works"]} | {100 * counts["works"] / total:.1f} % |
| no effect: taken, since perf has it, and nothing here depends on it | {counts["no effect"]} | {100 * counts["no effect"] / total:.1f} % |
| refused, with the reason | {counts["refused"]} | {100 * counts["refused"] / total:.1f} % |
| missing: an unknown option | {counts["missing"]} | {100 * counts["missing"] / total:.1f} % |
| without a test that uses it | {counts["no test"]} | |
"""
    return head + "".join(sections)


def main():
    if not (MANUALS / "perf-record.1.gz").exists():
        print("perf's manual pages are not installed: nothing to make the page of")
        sys.exit(77)
    table = table_of_sonde()
    made = page(commands_of_perf(table), table, Tests())
    if "--update" in sys.argv:
        PAGE.write_text(made)
        return
    both = side_by_side.Comparison("parity")
    both.lines("docs/perf-parity.md", side_by_side.Said(PAGE.read_text().splitlines(), 0), side_by_side.Said(made.splitlines(), 0))
    both.finish()


main()
