#!/usr/bin/env python3
"""In a seccomp sandbox, where perf_event_open(2) and bpf(2) fail as if privilege were missing, every command that needs them says so
in one line, with what would help, and not a word about perf_event_paranoid. Needs root."""
import ctypes
import errno
import os
import platform
import struct
import subprocess
import tempfile
import unittest

SONDE = os.environ["SONDE"]
NUMBERS = {"x86_64": {"perf_event_open": 298, "bpf": 321}, "aarch64": {"perf_event_open": 241, "bpf": 280}}[platform.machine()]
LIBC = ctypes.CDLL(None, use_errno=True)


def refuse(calls, error):
    """Makes the calling process one whose filter answers `calls` with `error`: filter.h, seccomp(2)."""
    load, jump_equal, ret = 0x20, 0x15, 0x06
    allow, with_errno = 0x7fff0000, 0x00050000
    code = [struct.pack("<HBBI", load, 0, 0, 0)]
    for i, call in enumerate(calls):
        code.append(struct.pack("<HBBI", jump_equal, len(calls) - i, 0, NUMBERS[call]))
    code += [struct.pack("<HBBI", ret, 0, 0, allow), struct.pack("<HBBI", ret, 0, 0, with_errno | error)]
    text = ctypes.create_string_buffer(b"".join(code))
    program = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", len(code), ctypes.addressof(text)))
    no_new_privileges, set_seccomp, filter_mode = 38, 22, 2
    if LIBC.prctl(no_new_privileges, 1, 0, 0, 0) != 0 or LIBC.prctl(set_seccomp, filter_mode, program, 0, 0) != 0:
        os._exit(125)


class SeccompTest(unittest.TestCase):
    def sonde(self, *words, calls=(), error=errno.EPERM):
        with tempfile.TemporaryDirectory() as directory:
            return subprocess.run([SONDE, *words], cwd=directory, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  stdin=subprocess.DEVNULL, timeout=120, preexec_fn=lambda: refuse(calls, error))

    def check(self, done, call):
        said = done.stdout + done.stderr
        self.assertNotEqual(done.returncode, 0, said)
        advice = [line for line in said.splitlines() if "seccomp" in line]
        self.assertEqual(len(advice), 1, said)
        self.assertIn(f"keeps this process from {call}(2)", advice[0])
        self.assertNotIn("perf_event_paranoid", said)

    def test_events(self):
        commands = [["record", "-o", "x", "-e", "cpu-clock", "true"], ["record", "-a", "-o", "x", "-e", "cs", "true"],
                    ["stat", "-e", "task-clock", "true"], ["top", "--stdio", "-e", "cpu-clock"],
                    ["trace", "-e", "sched:sched_switch", "true"],
                    ["record", "-o", "x", "-e", "syscalls:sys_enter_read", "true"]]
        for words in commands:
            for error in (errno.EPERM, errno.EACCES, errno.ENOSYS):
                with self.subTest(words=words, error=error):
                    self.check(self.sonde(*words, calls=["perf_event_open"], error=error), "perf_event_open")

    def test_bpf_programs(self):
        for words in (["record", "--off-cpu", "-o", "x", "true"], ["lock", "contention", "-b", "true"], ["trace", "-s", "true"],
                      ["record", "-a", "--aggregate", "-o", "x", "true"]):
            for error in (errno.EPERM, errno.ENOSYS):
                with self.subTest(words=words, error=error):
                    done = self.sonde(*words, calls=["bpf"], error=error)
                    if done.returncode == 0:
                        continue  # it has another way, and took it
                    self.check(done, "bpf")

    def test_a_filter_of_other_calls_is_not_blamed(self):
        done = self.sonde("record", "-o", "x", "-e", "cpu-clock", "true", calls=[])
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_doctor(self):
        done = self.sonde("doctor", calls=["perf_event_open", "bpf"])
        for call in ("perf_event_open", "bpf"):
            self.assertIn(f"keeps this process from {call}(2)", " ".join(done.stdout.split()))


if __name__ == "__main__":
    unittest.main(argv=[__file__])
