#!/usr/bin/env python3
"""Recordings with AUX areas, made without a PMU that writes any (aux_producer.c stands in for it), read by the installed perf and by
us: the description of the trace, each AUXTRACE record, the packets behind it; then perf's decoder, and what perf inject makes of it.

    tests/oracle/aux_oracle.py [BUILD_DIR]      $SONDE is the binary; needs root: a PMU in sysfs is mounted for each recording
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SONDE = os.environ.get("SONDE") or str(Path(sys.argv[1] if len(sys.argv) > 1 else "build/release") / "sonde")
SONDE = str(Path(SONDE).resolve())
SOURCE = Path(os.environ.get("SONDE_SOURCE", Path(__file__).resolve().parents[2])).resolve()
DEVICES = Path("/sys/bus/event_source/devices")
PMU = {"type": "77", "nr_addr_filters": "2", "format/pt": "config:0", "format/cyc": "config:1", "format/mtc": "config:9",
       "format/tsc": "config:10", "format/noretcomp": "config:11", "format/branch": "config:13", "format/mtc_period": "config:14-17",
       "format/psb_period": "config:24-27", "caps/mtc": "1", "caps/mtc_periods": "249", "caps/psb_cyc": "1", "caps/psb_periods": "3f",
       "caps/max_nonturbo_ratio": "18"}
OTHER_PMUS = {
    "intel_bts": {"type": "78"},
    "arm_spe_0": {"type": "79", "format/ts_enable": "config:0", "format/pa_enable": "config:1", "caps/min_interval": "1024"},
    "cs_etm": {"type": "80", "format/contextid": "config:14", "format/timestamp": "config:28", "format/retstack": "config:29",
               "sinks/tmc_etr0": "0xa61eb707"},
}
for cpu in range(os.cpu_count()):
    for register, value in (("trcidr0", "0x28000ea1"), ("trcidr1", "0x4100f422"), ("trcidr2", "0x20001088"), ("trcidr8", "0x0"),
                            ("trcauthstatus", "0x8c")):
        OTHER_PMUS["cs_etm"][f"cpu{cpu}/mgmt/{register}"] = value
# PSB, TSC, PSBEND, then a trace that never starts: packets for every reader, branches for none.
ROUND = b"\x02\x82" * 8 + b"\x19\x01\x02\x03\x04\x05\x06\x07" + b"\x02\x23" + b"\x00" * 30 + b"\x59\x07"
RUNS = {  # options: bytes of trace, how many of them arrive
    "-e intel_pt//u": (500, 500),
    "-e intel_pt// -a": (10000, 10000),
    "-e cs -e intel_pt/cyc/u": (4096, 4096),
    "-e intel_pt//u --per-thread": (777, 777),
    "-e intel_pt//u -z": (5000, 5000),
    "-e intel_pt//u --aio": (5000, 5000),
    "-e intel_pt//u -m ,4": (100000, 4 * 4096),
    "-e intel_pt//u -Se": (3000, 3000),
    "-e intel_pt//u -Se1024": (3000, 1024),
    "-e intel_pt//u -Se -m,2": (100000, 2 * 4096),
    "-e intel_pt//u -S": (3000, 0),
    "-e intel_pt//u -o -": (2000, 2000),
    "-e '{intel_pt//u,cs:u}'": (500, 500),
    "--aux-sample -e '{intel_pt//u,cs}'": (3000, 0),
    "-e intel_pt//u -e cs/aux-sample-size=8192/": (3000, 0),
    "-e intel_pt//u -e cs/aux-output/": (500, 500),
}
OTHER_RUNS = {  # options: bytes of trace, and what perf's dump says of the tracer
    "-e intel_bts//u --per-thread": (480, "Snapshot mode      0"),
    "-e intel_bts//u --per-thread -Se": (480, "Snapshot mode      1"),
    "-e arm_spe_0//u": (640, "PMU Type           79"),
    "-e arm_spe_0/pa_enable=1/u --per-thread": (640, "PMU Type           79"),
    "-e cs_etm/@tmc_etr0/u": (640, "TRCCONFIGR		       840"),
    "-e cs_etm/@tmc_etr0,retstack/u --per-thread": (640, "TRCCONFIGR		       1000"),
}
failures = []


def check(ok, what, detail=""):
    print(("ok     " if ok else "FAILED ") + what, flush=True)
    if not ok:
        failures.append(what)
        print(detail)


def run(command, **more):
    return subprocess.run(command, capture_output=True, errors="replace", text=True, **more)


def make_machine():
    for entry in DEVICES.iterdir():
        Path("devices", entry.name).mkdir(parents=True)
        Path("devices", entry.name, "type").write_text((entry / "type").read_text())
    for pmu, files in {"intel_pt": PMU, **OTHER_PMUS}.items():
        for name, text in files.items():
            path = Path("devices") / pmu / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n")
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-Wall", SOURCE / "tests/oracle/aux_producer.c", "-o", "producer.so", "-ldl"],
                   check=True)


def record(options, trace):
    Path("trace").write_bytes((ROUND * (trace // len(ROUND) + 1))[:trace])
    kind = next((files["type"] for pmu, files in OTHER_PMUS.items() if pmu in options), PMU["type"])
    environment = dict(os.environ, LD_PRELOAD=str(Path("producer.so").resolve()), AUX_PMU_TYPE=kind,
                       AUX_TRACE=str(Path("trace").resolve()))
    script = f'mount --bind devices {DEVICES} && exec {SONDE} record {options} {"" if " -o " in options else "-o perf.data"} true'
    if "-o -" in options:
        script += " > perf.data"
    return run(["unshare", "-m", "bash", "-c", script], env=environment)


def traces(dump):
    """The lines of a dump that tell of traces, without where records lie in the file."""
    lines, inside = [], False
    for line in dump.splitlines():
        if "PERF_RECORD_AUXTRACE" in line:
            inside = True
            lines.append(re.sub(r"^.*PERF_RECORD", "PERF_RECORD", line))
        elif inside and re.match(r"\.? *(\.\.\. Intel|\.  [0-9a-f]{8}:|  [A-Z])|  ", line):
            lines.append(line.rstrip())
        elif line.strip(". "):
            inside = False
    return lines


def compare(options, arrives):
    piped = "-o -" in options  # perf 6.1 loses its place in the file where the recording of a pipe is a file

    def read(tool, *words, data="perf.data"):
        command = ["bash", "-c", f'cat {data} | "$@"', "bash"] if piped else []
        return run([*command, tool, *words, "-i", "-" if piped else data])
    perf, ours = (read(tool, "report", "-D").stdout for tool in ("perf", SONDE))
    mine, theirs = traces(ours), traces(perf)
    difference = [pair for pair in zip(mine, theirs) if pair[0] != pair[1]][:5]
    check(len(theirs) > 18 and mine == theirs, f"{options}: both read the same trace", f"{difference}\n{len(mine)} {len(theirs)}")
    sizes = [int(size, 0) for size in re.findall(r"PERF_RECORD_AUXTRACE size: (\S+)", perf)]
    check(sum(sizes) == (arrives + 7) // 8 * 8, f"{options}: the whole trace is there", f"{sizes}")
    if not piped:
        check(("AUX area data" in run(["perf", "script", "--header-only", "-i", "perf.data"]).stdout) == (arrives > 0),
              f"{options}: the header tells of a trace")
    decoded = read("perf", "script", "--itrace=be")
    check(decoded.returncode == 0, f"{options}: perf decodes it", decoded.stderr)
    injected = read("perf", "inject", "-o", "injected.data")
    again = traces(read("perf", "report", "-D", data="injected.data").stdout)
    check(injected.returncode == 0 and again == theirs, f"{options}: perf inject keeps it", injected.stderr)


def compare_other(options, trace, told):
    """perf reads what was traced with, all pieces of it, and the records beside it."""
    perf, ours = (run([tool, "report", "-D", "-i", "perf.data"]).stdout for tool in ("perf", SONDE))
    infos = [re.search(r"PERF_RECORD_AUXTRACE_INFO.*?\n\n", dump + "\n\n", re.S) for dump in (perf, ours)]
    check(all(infos) and told in infos[0][0], f"{options}: perf reads what it was traced with", f"{infos[0] and infos[0][0]}")
    sizes = [[int(size, 0) for size in re.findall(r"PERF_RECORD_AUXTRACE size: (\S+)", dump)] for dump in (perf, ours)]
    check(sizes[0] == sizes[1] and sum(sizes[0]) == trace, f"{options}: the whole trace is there", f"{sizes}")
    if "arm_spe" in options:  # perf 6.1 divides by zero where no time stamp counter's conversion is recorded, as on this machine
        return
    plain = [run([tool, "script", "--no-itrace", "--show-task-events", "--show-mmap-events", "-F", "comm,tid,event", "-i", "perf.data"])
             for tool in ("perf", SONDE)]
    check(plain[0].returncode == 0 and plain[0].stdout.count("\n") == plain[1].stdout.count("\n"), f"{options}: and the records beside it",
          plain[0].stderr)


def main():
    if run(["unshare", "-m", "true"]).returncode != 0 or not DEVICES.is_dir():
        print("needs root")
        return 77
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        make_machine()
        for options, (trace, arrives) in RUNS.items():
            Path("perf.data").unlink(missing_ok=True)
            made = record(options, trace)
            check(made.returncode == 0, f"{options}: is recorded", made.stderr)
            if made.returncode == 0:
                compare(options, arrives)
        for options, (trace, told) in OTHER_RUNS.items():
            Path("perf.data").unlink(missing_ok=True)
            made = record(options, trace)
            check(made.returncode == 0, f"{options}: is recorded", made.stderr)
            if made.returncode == 0:
                compare_other(options, trace, told)
        os.chdir("/")
    print(f"{len(failures)} failures")
    return 1 if failures else 0


sys.exit(main())
