#!/usr/bin/env python3
"""Rejects code that opens files for reading by other ways than base/files/regular_file.h, or that looks at what is in another process's
root by other ways than base/files/process_root.h. Sonde runs as root and looks for files where anybody can put something: a pipe there
must not make it wait, and a link must not lead it to somebody else's file."""
import re
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "src"
OPENS = re.compile(r"(?<![\w.>:])(?:::open(?:at)?|(?:std::|::)?f(?:re)?open|env\.sys\.open|sys_?\.open)\(|SYS_open|std::i?fstream\b")
# What is written to, or is no file at all.
NO_READER = re.compile(r"O_WRONLY|O_RDWR|O_PATH|O_DIRECTORY|O_TMPFILE|O_CREAT")
PROCFS = "of /proc: the kernel's"
READERS = {
    "base/files/process_root.cc": "the way",
    "base/files/regular_file.cc": "the way",
    "base/output/overwriting.cc": "written to; its flags are in a variable",
    "base/sys.cc": "the wrapper, whose callers are looked at",
    "capture/synthesis/kernel_copy.cc": PROCFS,
    "capture/synthesis/synthesis_kernel.cc": PROCFS,
    "capture/synthesis/synthesis_tasks.cc": PROCFS,
    "daemon/record_session.cc": "FIFOs of its own folder, opened without waiting",
    "daemon/start.cc": "/dev/null",
    "event/print_fmt/tracefs.cc": "of tracefs: the kernel's",
    "export/recordings/ctf.cc": "written to; its flags are in a variable",
    "cmd/data/data.cc": "written to; its flags are in a variable",
    "ftrace/ftrace_session.cc": "of tracefs: the kernel's pipe, opened without waiting",
    "ftrace/trace_changes.cc": "of tracefs: the kernel's",
    "perfdata/write/recording_place.cc": "what lies where it writes: directories, and files of one by its descriptor, without waiting",
    "probe/events/definition_file.cc": "a namespace",
    "stat/output.cc": "written to; its flags are in a variable",
    "stepping/code_image.cc": "the memory of a process",
    "stepping/stepper.cc": "written to",
    "symbol/path_trust.cc": PROCFS,
    "tui/terminal/browser_terminal.cc": "the terminal",
}
IN_ROOT = re.compile(r"/root\{|/root/|\bforeign_root\(|\+ \"/root\"")
LOOKS = re.compile(r"(?<![\w.>])::(?:stat|lstat|access|realpath|unlink|rename|chown|chmod)\(|(?<!\w)(?:canonical|equivalent|copy_file)\(")
LOOKERS = {
    "base/files/process_root.cc": "the way",
    "capture/synthesis/jit_maps.cc": "at its own copy, in our /tmp",
    "capture/unwinding/object_tables.cc": "only at sizes, of files whose inode is known",
    "objects/archived_objects.cc": "at the recording, and at a file in our view",
    "probe/usdt/usdt_objects.cc": "at programs in PATH",
    "probe/source/probed_code.cc": "at /sys",
    "store/target_file.cc": "at paths in our view",
}


def without_comments(text):
    return re.sub(r"//[^\n]*", "", text)


def call_at(text, start):
    """From the name of a function to the parenthesis that ends its arguments."""
    depth = 0
    for end in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        if depth == 0 and text[end] == ")":
            return text[start:end + 1]
        if depth == 0 and text[end] == ";":
            break
    return text[start:text.find(";", start)]


def problems_of(name, text):
    text = without_comments(text)

    def place(at):
        return f"src/{name}:{text.count(chr(10), 0, at) + 1}"

    if name not in READERS:
        for found in OPENS.finditer(text):
            if not NO_READER.search(call_at(text, found.start())):
                yield f"{place(found.start())}: opens a file by itself: use open_regular or open_stream (base/files/regular_file.h)"
    if IN_ROOT.search(text) and name not in LOOKERS:
        for found in LOOKS.finditer(text):
            yield f"{place(found.start())}: looks below another process's root by itself: use base/files/process_root.h"


def main():
    names = sorted(str(p.relative_to(SOURCE)) for p in SOURCE.rglob("*") if p.suffix in {".h", ".cc"})
    names = [n for n in names if not re.search(r"_test\.cc$|_test_\w+\.h$|_builder\.\w+$", n)]
    problems = [p for name in names for p in problems_of(name, (SOURCE / name).read_text(encoding="utf-8"))]
    problems += [f"tools/check_opens.py: {name} is gone" for name in (*READERS, *LOOKERS) if name not in names]
    for problem in problems:
        print(problem)
    print(f"opens: {len(names)} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
