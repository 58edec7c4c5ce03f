#!/usr/bin/env python3
"""The laws of ARCHITECTURE.md, checked with the binary on every available recording.

  conservation   the rows of a report sum to the period of the samples that it was given; stacks of an export to its events
  no loss        records read = records that some command shows + losses that it reports
  order          script's time never goes back
  determinism    one thread or all: the same bytes

(Round trips are unit tests of perfdata: decode(encode(x)) == x.) Inputs: the recordings of the golden files, assembled; and the
real files beside the project, if present.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SONDE = os.environ["SONDE"]
SOURCE = Path(os.environ["SONDE_SOURCE"])
TIMEOUT_S = 60


def sonde(*arguments, cpus=None):
    def pin():
        if cpus:
            os.sched_setaffinity(0, cpus)

    return subprocess.run([SONDE, *arguments], capture_output=True, timeout=TIMEOUT_S, preexec_fn=pin, stdin=subprocess.DEVNULL)


def ask(command, path, *arguments, cpus=None):
    """Without names of kernel functions: no law depends on them, and reading this machine's would be most of the time."""
    return sonde(command, "-f", "-i", str(path), "--kallsyms", os.devnull, *arguments, cpus=cpus)


def golden_recordings(directory):
    """Assembles the recordings that golden files describe."""
    for test in sorted((SOURCE / "tests/golden").rglob("*.test")):
        text = test.read_text()
        match = re.search(r"^=== perf\.data\n(.*?)(?=^=== )", text, re.M | re.S)
        if not match:
            continue
        source = directory / (test.stem + ".txt")
        source.write_text(match.group(1))
        target = directory / (test.stem + ".data")
        if sonde("assemble", str(source), str(target)).returncode == 0:
            yield target


def real_recordings():
    fixtures = SOURCE.parent / "shared" / "fixtures"
    if not fixtures.is_dir():
        print("laws: no real recordings beside the project; only those of the golden files are asked")
        return
    for folder in ("perf61", "quipper", "linux-perf-data", "wild", "simpleperf"):
        for path in sorted((fixtures / folder).iterdir()):
            if path.suffix == ".data" or path.name.startswith("perf.data.") or path.name.endswith("perf.data") or \
                    path.name.startswith("perf_"):
                if not path.name.endswith((".pb_text", ".gz", ".buildids", ".txt")):
                    yield path


def failed(run):
    """A damaged recording is read as far as it goes, and the laws hold for that; the status is 1 where much is lost."""
    lost_much = b"of the recording could not be read, more than a tenth: the exit status is 1" in run.stderr
    return run.returncode != 0 and not (run.returncode == 1 and lost_much)


def conservation(path):
    # Without call chains every sample is in exactly one row; --skip-empty would only hide empty events.
    run = ask("report", path, "--stdio", "--no-children", "-g", "none", "-F", "period,sample,comm,dso,sym", "-t", "\t",
              "--no-branch-stack")
    if run.returncode == 1 and b": no samples in it" in run.stderr:
        has_samples = re.search(rb"^\s*SAMPLE events:\s+[1-9]", ask("report", path, "--stats").stdout, re.MULTILINE)
        return "report shows none of its samples" if has_samples else ""
    if failed(run):
        return f"report fails: {run.stderr.decode(errors='replace').strip()[:200]}"
    expected = rows = None
    problems = []

    def check():
        if expected is not None and rows != expected:
            problems.append(f"rows sum to {rows}, the header says {expected}")

    for line in run.stdout.decode(errors="replace").splitlines():
        match = re.match(r"# Event count \(approx\.\): (\d+)", line)
        if match:
            check()
            expected, rows = int(match.group(1)), 0
        elif line and not line.startswith("#") and expected is not None:
            # A group has one number per member in each cell.
            rows += sum(int(number) for number in line.split("\t")[0].split() if number.isdigit())
    check()
    return "; ".join(problems)


def conservation_in_exports(path):
    """The weights of stacks sum to the events' totals, and as many samples go in as are shown."""
    run = ask("export", path, "--to", "json")
    if failed(run):
        return f"export fails: {run.stderr.decode(errors='replace').strip()[:200]}"
    document = json.loads(run.stdout)
    sums = [event["without_stack"] for event in document["events"]]
    for stack in document["stacks"]:
        sums = [total + value for total, value in zip(sums, stack["values"], strict=True)]
    totals = [event["total"] for event in document["events"]]
    # Above 2^53 numbers are rounded.
    if any(abs(found - total) > max(1, total) * 1e-12 for found, total in zip(sums, totals)):
        return f"stacks sum to {sums}, their events to {totals}"
    # What exports make of a trace by themselves; of one that is not decoded, nothing.
    run = ask("script", path, "--itrace=igxo", "-F", "time", "-G")
    if failed(run):
        run = ask("script", path, "--no-itrace", "-F", "time", "-G")
    shown = run.stdout.count(b"\n")
    stats = ask("report", path, "--stats").stdout
    if b"SAMPLE events" not in stats and b"AUXTRACE events" not in stats:
        shown = 0  # for counts, script shows a table
    samples = sum(event["samples"] for event in document["events"])
    return "" if samples == shown else f"{samples} samples are exported, script shows {shown}"


def no_loss(path):
    run = ask("report", path, "--stats")
    if failed(run):
        return f"report --stats fails: {run.stderr.decode(errors='replace').strip()[:200]}"
    text = run.stdout.decode(errors="replace")
    head = text.split("\n\n")[0] if "\n\n" in text else text
    total = kinds = 0
    for line in text.splitlines():
        match = re.match(r"\s*(\w+) events:\s+(\d+)", line)
        if not match:
            if kinds and line.strip() and "stats" in line:
                break  # the sections of single events repeat the samples
            continue
        if match.group(1) == "TOTAL":
            total = int(match.group(2))
        else:
            kinds += int(match.group(2))
    lost = 0
    for line in run.stderr.decode(errors="replace").splitlines():
        match = re.search(r"(\d+) records of an unknown type|(\d+) private records", line)
        if match:
            lost += int(match.group(1) or match.group(2))
    if total != kinds and total != kinds + lost:
        return f"{total} records read, {kinds} shown, {lost} told as lost ({head[:40]!r})"
    return ""


def order(path):
    run = ask("script", path, "-F", "time", "--ns")
    if failed(run):
        if b"do not have TIME" in run.stderr:
            return ""
        return f"script fails: {run.stderr.decode(errors='replace').strip()[:200]}"
    last = -1
    for line in run.stdout.decode(errors="replace").splitlines():
        match = re.match(r"\s*(\d+)\.(\d{9}):", line)
        if not match:
            continue
        time = int(match.group(1)) * 10**9 + int(match.group(2))
        if time < last:
            return f"time goes back from {last} to {time}"
        last = time
    return ""


def determinism(path):
    cpus = sorted(os.sched_getaffinity(0))
    for command, *arguments in (["report", "--stdio"], ["script"], ["flamegraph"], ["export", "--to", "pprof"]):
        one = ask(command, path, *arguments, cpus={cpus[0]})
        many = ask(command, path, *arguments, cpus=set(cpus))
        if (one.returncode, one.stdout) != (many.returncode, many.stdout):
            return f"{command} differs between one processor and {len(cpus)}"
    return ""


def main():
    passed = failed = 0
    with tempfile.TemporaryDirectory() as directory:
        recordings = [*golden_recordings(Path(directory)), *real_recordings()]
        for path in recordings:
            for law in (conservation, conservation_in_exports, no_loss, order, determinism):
                if law in (conservation, conservation_in_exports) and "corrupted" in path.name:
                    continue  # its events cannot be told apart; no_loss and order hold
                try:
                    problem = law(path)
                except subprocess.TimeoutExpired:
                    problem = f"not done after {TIMEOUT_S} s"
                if problem:
                    failed += 1
                    print(f"{law.__name__}: {path.name}: {problem}")
                else:
                    passed += 1
    print(f"laws: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
