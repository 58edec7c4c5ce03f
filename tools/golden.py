#!/usr/bin/env python3
"""Runs golden files: input, command line and expected output in one text file.

A file tests/golden/**/NAME.test is a comment that says what it shows, then sections, each opened by a line `=== ...`:

    A report sums to the total, and what has no symbol is a row.

    === perf.data                       readable text of a recording, assembled into this file
    ...
    === file perfconfig                 any other file, as it is
    ...
    === run report --stdio              a command line of sonde; it runs in a directory with the files above
    === stdout                          what it prints
    ...
    === stderr
    ...
    === status 255                      if it is not 0

Several `run` sections may follow each other, each with its own expectations; empty output needs no section. A line of a file that
itself begins with "===" is written with a backslash before it. The path of the directory is replaced by @DIR@, that of the
sources by @SOURCE@. --update rewrites the expectations, so that a change of behaviour is reviewed as a diff.
"""
import argparse
import concurrent.futures
import difflib
import os
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TIMEOUT_S = 120


@dataclass
class Run:
    command: str
    stdout: str = ""
    stderr: str = ""
    status: int = 0


@dataclass
class Golden:
    comment: str
    files: list = field(default_factory=list)  # (heading, name, text)
    runs: list = field(default_factory=list)


class BadGolden(Exception):
    pass


def unescape(text):
    return "\n".join(line[1:] if line.startswith("\\===") else line for line in text.split("\n"))


def escape(text):
    return "\n".join("\\" + line if line.startswith("===") else line for line in text.split("\n"))


def parse(text):
    sections, comment = [], []
    for line in text.split("\n"):
        if line.startswith("=== "):
            sections.append((line[4:].strip(), []))
        elif sections:
            sections[-1][1].append(line)
        else:
            comment.append(line)
    golden = Golden("\n".join(comment))
    for number, (heading, lines) in enumerate(sections):
        if lines and lines[-1] == "" and number + 1 == len(sections):
            lines = lines[:-1]  # the newline that ends the file
        body = unescape("".join(line + "\n" for line in lines))
        word, _, rest = heading.partition(" ")
        if word == "run":
            golden.runs.append(Run(rest))
        elif word in ("stdout", "stderr", "status"):
            if not golden.runs:
                raise BadGolden(f"`=== {heading}` stands before any `=== run`")
            setattr(golden.runs[-1], word, int(rest) if word == "status" else body)
        else:
            name = rest if word == "file" else heading
            golden.files.append((heading, name, body))
    if not golden.runs:
        raise BadGolden("there is no `=== run` section")
    return golden


def write(golden):
    parts = [golden.comment + "\n" if golden.comment else ""]
    for heading, _, body in golden.files:
        parts.append(f"=== {heading}\n{escape(body)}")
    for run in golden.runs:
        parts.append(f"=== run {run.command}\n")
        parts += [f"=== {name}\n{escape(text)}" for name, text in (("stdout", run.stdout), ("stderr", run.stderr)) if text]
        parts.append(f"=== status {run.status}\n" if run.status else "")
    return "".join(parts)


def environment(directory):
    """The same everywhere: no user settings, no terminal, UTC."""
    return {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": directory, "LC_ALL": "C", "TZ": "UTC",
            "PERF_CONFIG_NOSYSTEM": "1", "PERF_BUILDID_DIR": directory + "/.debug",
            **{k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")}}


def sonde(binary, words, directory):
    done = subprocess.run([binary, *words], cwd=directory, env=environment(directory), stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=TIMEOUT_S)
    return done.returncode, done.stdout, done.stderr


def shown(raw, directory):
    """Output as the golden file contains it: text, machine paths replaced, and always with a trailing newline."""
    text = raw.decode("utf-8", errors="backslashreplace").replace(directory, "@DIR@").replace(str(ROOT), "@SOURCE@")
    return text if text.endswith("\n") or not text else text + "\n\\ no newline at the end\n"


def put_files(golden, binary, directory):
    for heading, name, body in golden.files:
        path = Path(directory, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        if heading.startswith("file "):
            path.write_text(body)
            continue
        path.with_suffix(".txt").write_text(body)
        status, _, err = sonde(binary, ["assemble", str(path.with_suffix(".txt")), str(path)], directory)
        if status != 0:
            raise BadGolden(f"{name} cannot be assembled: {err.decode(errors='replace')}")


def execute(golden, binary):
    """The same golden file with the actual output."""
    with tempfile.TemporaryDirectory(prefix="golden-") as directory:
        put_files(golden, binary, directory)
        actual = Golden(golden.comment, golden.files)
        for run in golden.runs:
            words = [w.replace("@DIR@", directory).replace("@SOURCE@", str(ROOT)) for w in shlex.split(run.command)]
            status, out, err = sonde(binary, words, directory)
            actual.runs.append(Run(run.command, shown(out, directory), shown(err, directory), status))
        return actual


def check(path, binary, update):
    """Nothing if the file passes; otherwise the differences."""
    text = path.read_text(encoding="utf-8")
    try:
        actual = write(execute(parse(text), binary))
    except (BadGolden, subprocess.TimeoutExpired) as problem:
        return f"{path}: {problem}\n"
    if actual == text:
        return ""
    if update:
        path.write_text(actual, encoding="utf-8")
        return ""
    return "".join(difflib.unified_diff(text.splitlines(True), actual.splitlines(True), f"{path} expects", "sonde gives"))


def main():
    parser = argparse.ArgumentParser(description="run golden files")
    parser.add_argument("--sonde", required=True, help="the binary under test")
    parser.add_argument("--update", action="store_true", help="rewrite what is expected")
    parser.add_argument("paths", nargs="+", type=Path, help="golden files or directories of them")
    options = parser.parse_args()

    files = sorted(f for p in options.paths for f in (p.rglob("*.test") if p.is_dir() else [p]))
    if not files:
        print("golden: no files found")
        return 1
    binary = str(Path(options.sonde).resolve())
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        differences = [d for d in pool.map(lambda f: check(f, binary, options.update), files) if d]
    sys.stdout.write("".join(differences))
    print(f"golden: {len(files) - len(differences)} of {len(files)} files hold")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
