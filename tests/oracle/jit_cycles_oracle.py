#!/usr/bin/env python3
"""Jitdumps whose times are counts of the time stamp counter (JITDUMP_FLAGS_ARCH_TIMESTAMP), injected by perf and by us: the same mappings
at the same times. The recording's TIME_CONV tells how to convert them; it needs no -k mono. Our script reads them without a copy, too.

  SONDE=build/release/sonde tests/oracle/jit_cycles_oracle.py
"""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

SONDE = os.environ["SONDE"]
PID = 4_000_002  # no process here
CODE = 0x7f0000001000
SHIFT, MULTIPLIER, ZERO = 4, 7, 5_000_000  # a cycle is 7/16 ns
CYCLES = 1_000_000_000


def to_ns(cycles):
    return ZERO + (cycles >> SHIFT) * MULTIPLIER + (((cycles & (1 << SHIFT) - 1) * MULTIPLIER) >> SHIFT)


def jitdump(flags):
    def load(index, time):
        code = bytes([0x90] * index + [0xc3])
        body = struct.pack("<IIQQQQ", PID, PID, CODE, CODE, len(code), index) + f"f{index}".encode() + b"\0" + code
        return struct.pack("<IIQ", 0, 16 + len(body), time) + body

    header = struct.pack("<IIIIIIQQ", 0x4A695444, 1, 40, 62, 0, PID, CYCLES, flags)
    return header + b"".join(load(1 + i, CYCLES + 12_345 * i + i) for i in range(4))


def recording(folder, conversion, clock=""):
    (folder / "text").write_text(f"""event : name = cs:u, id = {{ 5 }}, type = 1, config = 3, {{ sample_period, sample_freq }} = 1, \
sample_type = IP|TID|TIME|IDENTIFIER, sample_id_all = 1{clock}
feature ARCH: "x86_64"
feature HOSTNAME: "{os.uname().nodename}"
feature OSRELEASE: "{os.uname().release}"
{conversion}COMM pid={PID} tid={PID} comm="app" exec time={to_ns(CYCLES) - 300} id=5
MMAP2 mode=user pid={PID} tid={PID} start=0x7e0000000000 length=0x1000 offset=0 protection=5 flags=2 path="{folder}/jit-{PID}.dump" \
time={to_ns(CYCLES) - 200} id=5
MMAP2 mode=user pid={PID} tid={PID} start={CODE:#x} length=0x1000 offset=0 protection=7 flags=2 path="//anon" time={to_ns(CYCLES) - 199} id=5
SAMPLE mode=user ip={CODE:#x} pid={PID} tid={PID} time={to_ns(CYCLES + 12_346 + 100)} id=5
SAMPLE mode=user ip={CODE:#x} pid={PID} tid={PID} time={to_ns(CYCLES + 3 * 12_346 + 100)} id=5
""", encoding="utf-8")
    subprocess.run([SONDE, "assemble", folder / "text", folder / "perf.data"], check=True)


def inject(tool, folder):
    copy = folder / "copy.data"
    copy.unlink(missing_ok=True)
    done = subprocess.run([tool, "inject", "--jit", "-i", folder / "perf.data", "-o", copy], capture_output=True, text=True, check=False)
    shown = subprocess.run(["perf", "script", "--show-mmap-events", "-F", "comm,tid,time,ip,sym,dso", "--ns", "-i", copy],
                           capture_output=True, text=True, check=False)
    # Which file on which disk it is, only perf says.
    return done, [re.sub(r"@ 0x80 [^]]*", "@ 0x80", line.rstrip()) for line in shown.stdout.splitlines()]


def main():
    if not shutil.which("perf"):
        print("perf is not installed")
        sys.exit(77)
    results = []

    def check(ok, what, detail=""):
        results.append(bool(ok))
        print(f"{'ok' if ok else 'DIFFERENT'}: {what}")
        if not ok:
            print(detail)

    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        folder = Path(name)
        conversion = (f"TIME_CONV shift={SHIFT} multiplier={MULTIPLIER} zero={ZERO} cycles=0 mask=0xffffffffffffffff "
                      "cap_user_time_zero=1 cap_user_time_short=0\n")
        (folder / f"jit-{PID}.dump").write_bytes(jitdump(1))
        recording(folder, conversion)
        (_, perfs), (_, ours) = inject("perf", folder), inject(SONDE, folder)
        check(ours == perfs and sum("jitted-" in line for line in ours) >= 4 and any("f2" in line for line in ours),
              f"timed by cycles: {len(ours)} lines", "\n".join(["ours", *ours, "perf", *perfs]))
        fields = ["script", "-F", "comm,tid,time,ip,sym", "--ns"]
        copied, direct = (subprocess.run([tool, *fields, "-i", folder / data], capture_output=True, text=True, check=False).stdout
                          for tool, data in (("perf", "copy.data"), (SONDE, "perf.data")))
        check(direct == copied and "f2" in direct and "f4" in direct, "straight from the dump", f"ours\n{direct}perf\n{copied}")
        recording(folder, "")
        done, ours = inject(SONDE, folder)
        check("TIME_CONV" in done.stderr and not any("jitted-" in line for line in ours), "without the conversion it is said", done.stderr)
        (folder / f"jit-{PID}.dump").write_bytes(jitdump(0))
        done, _ = inject(SONDE, folder)
        check(done.returncode != 0 and "record -k 1" in done.stderr, "dumps timed by the clock need it in the recording", done.stderr)
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
