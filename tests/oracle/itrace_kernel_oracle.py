#!/usr/bin/env python3
"""An Intel PT trace that leads through the kernel, against perf's, line by line.

Neither Intel PT nor a kernel is needed: a small program and a small kernel are assembled, with a system call and an interrupt, and
the trace of their only possible run is written packet by packet. The kernel's code is in a copy of its memory beside the recording, as
`record --kcore` makes it, or in a vmlinux.

  SONDE=build/release/sonde tests/oracle/itrace_kernel_oracle.py
"""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from pt_recordings import SONDE, TSC, Trace, build, records_of, same, symbols

KERNEL_START = 0xffffffff81000000
BUILD_ID = "1122334455667788990011223344556677889900"
PROGRAM = """
.globl _start
.type _start, @function
_start:
  mov $3,%ebx
again: mov $39,%eax
  syscall
after: dec %ebx
  jnz again
spin: nop
  jmp spin
.size _start, .-_start
"""
KERNEL = """
.globl _text, _stext, entry_SYSCALL_64, do_syscall_64, asm_interrupt, handle
_text: _stext: nop
.balign 64
.type entry_SYSCALL_64, @function
entry_SYSCALL_64:
  swapgs
  call do_syscall_64
back: swapgs
  sysretq
.size entry_SYSCALL_64, .-entry_SYSCALL_64
.balign 64
.type do_syscall_64, @function
do_syscall_64:
  mov $2,%ecx
loop: dec %ecx
  jnz loop
  ret
.size do_syscall_64, .-do_syscall_64
.balign 64
.type asm_interrupt, @function
asm_interrupt:
  call handle
handled: iretq
.size asm_interrupt, .-asm_interrupt
.balign 64
.type handle, @function
handle:
  test %eax,%eax
  je nothing
  nop
nothing: ret
.size handle, .-handle
"""


def trace_of(user, kernel):
    trace = Trace()
    trace.synchronize(TSC)
    trace.enable(user["_start"])
    for turn in range(3):
        trace.target(kernel["entry_SYSCALL_64"])
        for taken in (True, False):
            trace.branch(taken)
        trace.target(kernel["back"])
        trace.target(user["after"])
        trace.branch(turn < 2)
    trace.address(0x1d, user["spin"])  # FUP: interrupted here
    trace.target(kernel["asm_interrupt"])
    trace.branch(True)
    trace.target(kernel["handled"])
    trace.target(user["spin"])
    trace.address(0x1d, user["spin"])
    trace.target(kernel["_text"] + 0x800000)  # code that is not there
    return trace.bytes


def core_file(text):
    """The kernel's text, as /proc/kcore has it."""
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 4, 62, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    note = struct.pack("<IIQQQQQQ", 4, 0, 0x300, 0, 0, 0, 0, 0)
    load = struct.pack("<IIQQQQQQ", 1, 7, 0x1000, KERNEL_START, 0, len(text), len(text), 0x1000)
    return (header + note + load).ljust(0x1000, b"\0") + text


def recording(folder, program, vmlinux):
    user, kernel = symbols(program), symbols(vmlinux)
    trace = trace_of(user, kernel)
    start = user["_start"] & ~0xfff
    kernel_map = f'''MMAP mode=kernel pid=-1 tid=0 start={KERNEL_START:#x} length=0x1000000 offset={KERNEL_START:#x} \
path="[kernel.kallsyms]_text" time=0 id=5 cpu=0
'''
    lines = records_of(trace, program, start, scope="", more=kernel_map)
    (folder / "text").write_text(lines, encoding="utf-8")
    data = folder / "perf.data"
    beside = data / "kcore_dir"
    beside.mkdir(parents=True)
    subprocess.run([SONDE, "assemble", folder / "text", data / "data"], check=True)
    subprocess.run(["objcopy", "-O", "binary", "-j", ".text", vmlinux, folder / "kernel.bin"], check=True)
    (beside / "kcore").write_bytes(core_file((folder / "kernel.bin").read_bytes().ljust(0x2000, b"\xcc")))
    (beside / "kallsyms").write_text("".join(f"{at:x} T {name}\n" for name, at in sorted(kernel.items(), key=lambda s: s[1])
                                             if at < KERNEL_START + 0x2000 and not name.startswith("__")), encoding="utf-8")
    (beside / "modules").write_text("")
    return data


def lines_of(tool, options, data):
    done = subprocess.run([tool, "script", *options, "-i", data], capture_output=True, text=True, check=False)
    # perf calls the kernel by the file that has its code; what that does not have is not of the kernel. Nanoseconds without a packet that
    # tells them are an estimate.
    text = done.stdout.replace(f"{data}/kcore_dir/kcore", "[kernel.kallsyms]")
    text = re.sub(r"1000\.000005\d\d\d", "1000.000005000", text.replace("[unknown] ([unknown])", "[unknown] ([kernel.kallsyms])"))
    lines = [line.rstrip() for line in text.splitlines()]
    return [line for line in lines if "psb offs:" not in line and "cbr:" not in line], done.stderr


def compare(options, data):
    (mine, error), (its, _) = (lines_of(tool, options, data) for tool in (SONDE, "perf"))
    return same(" ".join(options), mine, its, error)


def without_kcore(data, vmlinux):
    """From the vmlinux alone: the same lines, but without its help errors that name it."""
    expected, _ = lines_of(SONDE, ["--itrace=be", "-F", "ip,addr,flags"], data)
    single = data.parent / "single.data"
    shutil.copy(data / "data", single)
    found, _ = lines_of(SONDE, ["--itrace=be", "-F", "ip,addr,flags", "-k", vmlinux], single)
    _, error = lines_of(SONDE, ["--itrace=be"], single)
    right = found == expected and bool(found) and "--kcore" in error
    print(f"{'ok' if right else 'DIFFERENT'}: -k vmlinux: {len(found)} lines, with kcore {len(expected)}; {error}")
    return right


def main():
    if not shutil.which("perf"):
        print("perf is not installed")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        folder = Path(name)
        program, vmlinux = folder / "app", folder / "vmlinux"
        for source, target, more in ((PROGRAM, program, []), (KERNEL, vmlinux, [f"-Wl,-Ttext={KERNEL_START:#x}", "-Wl,-e,_text"])):
            build(source, target, *more)
        data = recording(folder, program, vmlinux)
        results = [compare(options, data) for options in (
            ["--itrace=be"],
            ["--itrace=be", "-F", "+flags"],
            ["--itrace=c", "-F", "+flags"],
            ["--itrace=r", "-F", "ip,sym,flags,addr"],
            ["--itrace=i0ns", "-F", "+flags"],
            ["--itrace=i0ns", "-F", "ip,sym,insn"],
            ["--itrace=i1ig"],
            ["--itrace=i3il8", "-F", "ip,sym,brstack"],
            ["--itrace=cre", "--call-ret-trace"],
        )]
        results.append(without_kcore(data, vmlinux))
        text, _ = lines_of(SONDE, ["--insn-trace=disasm"], data)
        shown = all(any(part in line for line in text) for part in ("swapgs", "<do_syscall_64>", "sysret", "iretq"))
        results.append(shown)
        print(f"{'ok' if shown else 'DIFFERENT'}: --insn-trace=disasm: {len(text)} lines")
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
