#!/usr/bin/env python3
"""The system call table against the running kernel: every syscalls:sys_enter_* is in it, with the same arguments in the same
order. The kernel's own descriptions are the source of perf's names for them."""
import os
import re
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EVENTS = "/sys/kernel/tracing/events/syscalls"


def kernels_calls():
    """name -> arguments, as the tracepoints have them"""
    calls = {}
    for entry in sorted(os.listdir(EVENTS)):
        if not entry.startswith("sys_enter_"):
            continue
        with open(f"{EVENTS}/{entry}/format", encoding="ascii") as file:
            fields = re.findall(r"field:([^;]*);", file.read())
        names = [field.split()[-1] for field in fields]
        calls[entry.removeprefix("sys_enter_")] = [name for name in names if not name.startswith("common_")][1:]
    return calls


def our_calls():
    """name in the kernel -> arguments, as src/trace/arguments/syscall_args.def has them"""
    with open(f"{ROOT}/src/trace/arguments/syscall_args.def", encoding="utf-8") as file:
        arguments = {name: re.findall(r'"([^"]*)"', rest) for name, rest in re.findall(r"^CALL\((\w+),(.*)\)$", file.read(), re.M)}
    with open(f"{ROOT}/src/abi/syscalls.def", encoding="utf-8") as file:
        names = re.findall(r"^SYSCALL\((\w+), (\w+), (\w+), (\w+),", file.read(), re.M)
    return {kernel: arguments[name] for name, kernel, x86_64, generic in names if (x86_64, generic) != ("kNone", "kNone")}


class SyscallTable(unittest.TestCase):
    def test_every_call_of_this_kernel_is_in_the_table_with_its_arguments(self):
        ours = our_calls()
        theirs = kernels_calls()
        self.assertGreater(len(theirs), 300)
        wrong = [f"{name}({', '.join(arguments)}) is here ({', '.join(ours.get(name, ['not in the table']))})"
                 for name, arguments in theirs.items() if ours.get(name) != arguments]
        self.assertEqual([], wrong)


if __name__ == "__main__":
    if not os.path.isdir(EVENTS):
        print(f"SKIPPED: {EVENTS} is not there: tracefs is not mounted, or not for this user", file=sys.stderr)
        sys.exit(77)
    unittest.main(argv=["syscall_table_test"])
