#!/usr/bin/env python3
"""Code of virtual machines' guests: `perf script` and `perf kvm report` beside Sonde's, on assembled recordings of a guest that
perf knows without its process (perf forgets which process of a recording runs which guest), and what `kvm record` writes about
guests' kernels. Left out: names of threads (perf has none in guests), the host's kernel (perf names it by this machine's),
modules (perf looks for their files). Needs perf."""
import os
import re
import subprocess
import tempfile
from pathlib import Path

import side_by_side

SONDE = os.environ["SONDE"]
PERF = side_by_side.needed_perf()
TEXT = 0xFFFFFFFF81000000
RECORDING = f"""\
event : name = cpu-clock, id = {{ 7 }}, type = 1, {{ sample_period, sample_freq }} = 4000, \\
  sample_type = IP|TID|TIME|IDENTIFIER, freq = 1, sample_id_all = 1
MMAP mode=guest_kernel pid=0 tid=0 start={TEXT:#x} length=0x100000 offset={TEXT:#x} path="[guest.kernel.kallsyms]_text" time=0
COMM pid=100 tid=101 comm="CPU 0/KVM" time=1000
MMAP2 mode=user pid=100 tid=100 start=0x400000 length=0x10000 offset=0 path="/usr/bin/qemu" protection=5 time=1000
"""
IMAGE = """.globl _text, in_image
.type _text, @function
.type in_image, @function
_text: .skip 0x600
in_image: .skip 0x300
.size in_image, 0x300
"""
MODULE = 0xFFFFFFFFA0000000


def samples():
    lines = []
    for i in range(40):
        mode, ip = [("guest_kernel", TEXT + 0x300 * (i % 7) + i), ("guest_user", 0x400010), ("guest_kernel", 0x1000 + i % 2),
                    ("user", 0x400020)][i % 4]  # perf adds hidden samples to unresolved rows of the same address
        lines.append(f"SAMPLE id=7 mode={mode} ip={ip:#x} pid=100 tid={101 + i % 2} time={1000000 + i}")
    return "\n".join(lines) + "\n"


def kallsyms(text):
    lines = [f"{text:016x} T _text", f"{text:016x} T _stext"]
    lines += [f"{text + 0x300 * i:016x} T guest_function_{i}" for i in range(1, 9)]
    return "\n".join(lines + [f"{text + 0x100000:016x} T _etext", f"{MODULE:016x} t ext4_read\t[ext4]"]) + "\n"


def rows(*command):
    said = side_by_side.ask(*command)
    return side_by_side.Said(sorted(line.strip() for line in said.lines if line.strip() and not line.startswith("#")), said.status)


def guest_mappings(tool, path):
    text = subprocess.run([tool, "script", "-D", "-i", path], stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout
    found = re.findall(r"PERF_RECORD_MMAP (\d+/\d+: \[.*\]: \S (?:\[guest\.kernel|\[ext4\]).*)", text)
    return side_by_side.Said(sorted(set(found)))


def main():
    both = side_by_side.Comparison("guests")
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        (directory / "in.txt").write_text(RECORDING + samples())
        path = str(directory / "perf.data")
        subprocess.run([SONDE, "assemble", directory / "in.txt", path], check=True)
        lists = {"same boot": TEXT, "another boot": TEXT + 0x10000000}
        for title, text in lists.items():
            (directory / title).write_text(kallsyms(text))
        modules = directory / "modules"
        modules.write_text(f"ext4 65536 1 - Live {MODULE:#x}\n")
        mounted = directory / "guests" / "200" / "proc"
        mounted.mkdir(parents=True)
        (mounted / "kallsyms").write_text(kallsyms(TEXT + 0x1000000))
        (mounted / "modules").write_text(modules.read_text())

        for title in lists:
            option = f"--guestkallsyms={directory / title}"
            script = ["script", option, "-i", path, "-F", "tid,pid,time,event,ip,sym,symoff,dso"]
            both.lines(f"script, {title}", side_by_side.ask(PERF, *script), side_by_side.ask(SONDE, *script), least=40, status=0)
            for sides in ([], ["--host"], ["--guest"], ["--host", "--guest"]):
                report = ["kvm", *sides, option, "-i", path, "report", "--stdio", "-s", "dso,sym"]
                theirs = rows(PERF, "kvm", *sides, option, "report", "-i", path, "--stdio", "-s", "dso,sym")
                both.lines(f"kvm {' '.join(sides)} report, {title}", theirs, rows(SONDE, *report), least=9, status=0)
                # How much of each the host and the guest ran, in kernel and programs.
                report[-2:-2] = ["--showcpuutilization"]
                theirs = rows(PERF, "kvm", *sides, option, "report", "-i", path, "--stdio", "--showcpuutilization", "-s", "dso,sym")
                both.lines(f"kvm {' '.join(sides)} report --showcpuutilization, {title}", theirs, rows(SONDE, *report), least=9, status=0)
        code = ["script", "--guest-code", "-i", path, "-F", "tid,ip,sym,dso"]
        users = [[line for line in side_by_side.ask(tool, *code).lines if "400010" in line] for tool in (PERF, SONDE)]
        both.lines("script --guest-code", *map(side_by_side.Said, users), least=10)

        image = directory / "vmlinux"
        subprocess.run(["gcc", "-x", "assembler", "-nostdlib", "-static", f"-Wl,-Ttext={TEXT:#x},-e,_text,--build-id=none", "-o",
                        image, "-"], input=IMAGE, text=True, check=True)
        vmlinux = ["script", f"--guestvmlinux={image}", "-i", path, "-F", "tid,ip,sym,symoff,dso"]
        named = [[line for line in side_by_side.ask(tool, *vmlinux).lines if "in_image" in line] for tool in (PERF, SONDE)]
        both.lines("script --guestvmlinux", *map(side_by_side.Said, named))

        # What is recorded about guests.
        options = {"a list": [f"--guestkallsyms={directory / 'same boot'}"],
                   "a list and modules": [f"--guestkallsyms={directory / 'same boot'}", f"--guestmodules={modules}"],
                   "a mount": [f"--guestmount={directory / 'guests'}"]}
        for title, files in options.items():
            for tool in (PERF, SONDE):
                subprocess.run([tool, "kvm", *files, "record", "-o", directory / Path(tool).name, "-e", "cpu-clock", "true"],
                               stdin=subprocess.DEVNULL, capture_output=True, check=True)
            both.lines(f"kvm record, {title}", *(guest_mappings(PERF, directory / Path(tool).name) for tool in (PERF, SONDE)))
        for sides in ([], ["--host"], ["--host", "--no-guest"]):
            attrs, names = [], []
            for tool in (PERF, SONDE):
                where = directory / f"{Path(tool).name}{len(sides)}"
                where.mkdir()
                subprocess.run([tool, "kvm", *sides, "record", "-e", "cpu-clock,page-faults,cycles:G", "true"], cwd=where,
                               stdin=subprocess.DEVNULL, capture_output=True)
                written = sorted(file.name for file in where.iterdir())
                names.append(side_by_side.Said(written))
                attrs.append([re.findall(r"^\S+:|exclude_\w+: \d", line) for line in
                              side_by_side.ask(PERF, "evlist", "-v", "-i", where / written[0]).lines] if written else [])
            both.lines(f"kvm {' '.join(sides)} record: its file", *names)
            sides_of = [side_by_side.Said([str([part for part in line if "host" in part or "guest" in part or ":" == part[-1]])
                                           for line in lines if not line or "dummy" not in line[0]]) for lines in attrs]
            both.lines(f"kvm {' '.join(sides)} record: exclude_host, exclude_guest", *sides_of)
    both.finish()


if __name__ == "__main__":
    main()
