#!/usr/bin/env python3
"""dlfilters in the installed perf and in ours: one filter, built with each header, that prints every field of a sample and the
answer of every function; what early filters, dropped samples and other options do to each other; failures and crashes.

    tests/oracle/dlfilter_oracle.py [BUILD_DIR]      $SONDE is the binary
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import kernel_turn

SONDE = os.environ.get("SONDE") or str(Path(sys.argv[1] if len(sys.argv) > 1 else "build/release") / "sonde")
SONDE = str(Path(SONDE).resolve())
SOURCE = Path(os.environ.get("SONDE_SOURCE", Path(__file__).resolve().parents[2])).resolve()
PROBE = SOURCE / "tests/oracle/dlfilter_probe.c"
HEADER = SOURCE / "src/script/dlfilters/perf_dlfilter.h"
PERF_HEADER = Path("/usr/include/perf/perf_dlfilter.h")
PROGRAM = "ls -lR /usr/share/doc | sort | gzip | head -c 1"
RECORDINGS = {
    "clock": "-e cpu-clock -c 3000000 -g -d --sample-cpu",
    "faults": "-e page-faults -c 5 -d -g",
    "several": "-e cpu-clock -e sched:sched_switch -e page-faults -F 500",
}
RUNS = ["", "--dlarg keep=3", "--dlarg early --dlarg quiet --dlarg keep=2 -c gzip", "--dlarg early --pid 1 --dlarg quiet",
        "--dlarg early -C 0 -c ls --dlarg 'two words' --dlarg quiet", "--dlarg early --dsos /usr/bin/gzip --dlarg quiet",
        "-F comm,time --dlarg quiet"]
CRASHES = {
    "filter_event": "int filter_event(void *d, const void *s, void *c) { return *(volatile int *)0; }",
    "start": "int start(void **d, void *c) { __builtin_trap(); }\n"
             "int filter_event(void *d, const void *s, void *c) { return 0; }",
    "filter_event_early": "#include <stdlib.h>\nint filter_event_early(void *d, const void *s, void *c) { abort(); }",
    "its initialization": "__attribute__((constructor)) void f(void) { *(volatile int *)0 = 1; }\n"
                          "int filter_event(void *d, const void *s, void *c) { return 0; }",
    "filter_event ": "int deep(volatile int *x) { volatile int big[4096]; big[0] = *x; return deep(big) + big[1]; }\n"
                     "int filter_event(void *d, const void *s, void *c) { int x = 0; return deep(&x); }",
}
failures = []


def check(ok, what, detail=""):
    print(("ok     " if ok else "FAILED ") + what)
    if not ok:
        failures.append(what)
        print(detail)


def run(tool, arguments):
    done = subprocess.run(f"{tool} script {arguments}", shell=True, capture_output=True, text=True, errors="replace")
    return done.returncode, done.stdout, done.stderr


def build(name, source, *flags):
    subprocess.run(["gcc", "-O0", "-shared", "-fPIC", "-w", *flags, "-x", "c", "-", "-o", name], input=source, text=True,
                   check=True)


def normalized(text):
    """Without what differs on purpose (docs/differences.md): names of PLT entries and source files, code of the vDSO."""
    text = re.sub(r"sym=\w*@plt", "sym=@plt", text).replace(" line -:0", " line :0").replace(" line ??:0", " line :0")
    text = re.sub(r"\b\w*@plt\+", "@plt+", text)
    text = re.sub(r"(^ ip [^\n]*dso=\[vdso\].*?^ insn)[^\n]*(.*?^ code) [^\n]*(?= args)", r"\1\2", text, flags=re.M | re.S)
    return re.sub(r"^ line .*?(?=:\d+$)", " line", text, flags=re.M)


def is_same(theirs, ours):
    """perf finds only some of the PLT's entries."""
    if "@plt" in ours or "@plt" in theirs:
        theirs, ours = (re.sub(r"sym=\S+ symoff=\S+|start=\S+ end=\S+ binding=\S+|(@plt|\[unknown\])(\+0x[0-9a-f]+)?", "?", line)
                        for line in (theirs, ours))
    return theirs == ours


def compare(recording, arguments):
    wanted, got = run("perf", arguments), run(SONDE, arguments)
    lines = [normalized(text).splitlines() for text in (wanted[1], got[1])]
    different = [pair for pair in zip(*lines) if not is_same(*pair)][:3]
    detail = "\n".join(f"perf  {a}\nsonde {b}" for a, b in different) + f"\n{[len(l) for l in lines]} {got[2]}"
    agree = not different and len(lines[0]) == len(lines[1]) > 2
    check(agree and (wanted[0] == 0) == (got[0] == 0), f"{recording}: {arguments}", detail)


def offsets(header):
    """Where every member is, by a program that is compiled with the header."""
    names = {kind: re.findall(r"(\w+)(?:\[\d+\])?;", body) for kind, body in
             re.findall(r"struct (perf_dlfilter_(?:sample|al)) \{(.*?)\n\};", re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S),
                        re.S)}
    source = f'#include "{header}"\n#include <stddef.h>\n#include <stdio.h>\nint main(void) {{\n'
    for kind, members in names.items():
        for member in members:
            source += f'printf("{kind}.{member} %zu %zu\\n", offsetof(struct {kind}, {member}), sizeof(((struct {kind} *)0)->{member}));'
    source += 'printf("fns %zu\\n", sizeof(struct perf_dlfilter_fns)); return 0; }'
    subprocess.run(["gcc", "-x", "c", "-", "-o", "offsets"], input=source, text=True, check=True)
    return subprocess.run("./offsets", capture_output=True, text=True, check=True).stdout.splitlines()


def compare_headers():
    ours, perfs = offsets(HEADER), offsets(PERF_HEADER)
    check(len(perfs) > 40 and set(perfs) <= set(ours), "both headers lay out the same members the same way",
          set(perfs) - set(ours))


def check_failures():
    def one_line(arguments, *words):
        status, _, err = run(SONDE, f"-i clock.data {arguments}")
        check(status not in (0, 139, 134) and len(err.splitlines()) == 1 and all(word in err for word in words),
              f"one line: {arguments}", f"{status} {err}")
    one_line("--dlfilter nosuch.so", "nosuch.so", "--list-dlfilters")
    Path("text.so").write_text("no object")
    one_line("--dlfilter text.so", "text.so")
    build("empty.so", "int x;")
    one_line("--dlfilter empty.so", "empty.so", "filter_event")
    one_line("--dlfilter perf.so --dlarg fail-start", "perf.so", "start failed with -5")
    one_line("--dlfilter perf.so --dlarg fail", "perf.so", "filter_event failed with -7")
    one_line("--dlarg x", "--dlfilter")
    for function, source in CRASHES.items():
        build("crash.so", source)
        one_line("--dlfilter crash.so", "crash.so: crashed (SIG", function.strip())


def check_full_disk():
    status, _, err = run(SONDE, "-i clock.data --dlfilter perf.so > /dev/full")
    check(status != 0 and "No space left" in err, "a full disk is an error", f"{status} {err}")


def compare_lists():
    wanted, got = (run(tool, "-v --list-dlfilters")[1] for tool in ("perf", SONDE))
    short = run(SONDE, "--list-dlfilters")[1]
    check("perf.so" in got and sorted(wanted.split()) == sorted(got.split()), "-v --list-dlfilters", got + wanted)
    check("every field" in got and "every field" not in short, "only -v shows long descriptions", short)


def compare_python():
    """A filter works in front of a Python script, too."""
    Path("count.py").write_text("n = 0\ndef process_event(d):\n  global n\n  n += 1\ndef trace_end():\n  print('events', n)\n")
    arguments = "-i clock.data -s count.py --dlfilter perf.so --dlarg keep=3 --dlarg quiet"
    counts = [re.findall(r"events \d+", run(tool, arguments)[1]) for tool in ("perf", SONDE)]
    check(counts[0] == counts[1] and len(counts[0]) == 1, "in front of a Python script", counts)


def main():
    if not PERF_HEADER.exists():
        print(f"{PERF_HEADER} is missing: install linux-perf")
        return 77
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        source = PROBE.read_text()
        build("perf.so", source)
        build("ours.so", source.replace("<perf/perf_dlfilter.h>", f'"{HEADER}"'))
        compare_headers()
        with kernel_turn.taken():
            for name, options in RECORDINGS.items():
                subprocess.run(f"perf record -q {options} -o {name}.data -- sh -c '{PROGRAM}'", shell=True, check=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            subprocess.run(f"perf record -q -e cpu-clock -g -o - -- sh -c '{PROGRAM}' > piped.data", shell=True, check=True)
        for name in RECORDINGS:
            for arguments in RUNS if name == "clock" else RUNS[:2]:
                compare(name, f"-i {name}.data --dlfilter perf.so {arguments}")
        compare("clock", "-i clock.data --dlfilter ours.so")
        compare("clock", "-i clock.data --dlfilter dlfilter-show-cycles.so")  # in perf's own directory
        compare("piped", "-i - --dlfilter ./perf.so --dlarg quiet --dlarg keep=3 < piped.data")
        compare_python()
        compare_lists()
        check_failures()
        check_full_disk()
    print(f"{len(failures)} differences")
    return 1 if failures else 0


sys.exit(main())
