"""Whether this machine's debug registers work: some virtual machines accept hardware breakpoints that never fire. gdb is the witness."""
import functools
import subprocess
import tempfile
import unittest


@functools.cache
def fire():
    with tempfile.TemporaryDirectory() as directory:
        program = f"{directory}/program"
        subprocess.run(["gcc", "-x", "c", "-o", program, "-"], input="int main(void) { return 0; }", text=True, check=True)
        said = subprocess.run(["gdb", "-q", "-nx", "-batch", "-ex", "starti", "-ex", "hbreak main", "-ex", "continue", program], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=120).stdout
    return "Breakpoint 1, " in said


needed = unittest.skipUnless(fire(), "hardware breakpoints never fire on this machine: gdb's do not either")
