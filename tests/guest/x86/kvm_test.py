"""`kvm stat` with a virtual machine inside the emulated one: a program of ours that exits a known number of times."""
import ctypes
import os
import re
import signal
import subprocess
import time
import unittest
from pathlib import Path

from inside import LIMIT_S, PERF, SONDE, GuestTest

MODULES = Path("/run/modules")
FINIT_MODULE = 313  # x86-64
SOURCE = Path(__file__).resolve().parent / "tiny_vm.c"
TIMES = 100


def load_modules():
    libc = ctypes.CDLL(None, use_errno=True)
    for path in sorted(MODULES.iterdir()):
        with open(path, "rb") as module:
            if libc.syscall(FINIT_MODULE, module.fileno(), b"", 0) != 0:
                raise OSError(ctypes.get_errno(), f"{path}: {os.strerror(ctypes.get_errno())}")


def exits(report):
    """Reason -> count."""
    return {row[1]: int(row[2]) for row in re.finditer(r"(?m)^ +([a-z][\w-]*) +(\d+) +[\d.]+%", report)}


class KvmTest(GuestTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not Path("/dev/kvm").exists():
            load_modules()
        cls.machine = cls.path / "tiny_vm"
        subprocess.run(["cc", "-O1", "-o", cls.machine, SOURCE], check=True)

    def run_machine(self):
        self.assertEqual(self.text(self.machine, TIMES), f"io {TIMES} hlt 1\n")

    def test_every_exit_is_in_the_report(self):
        for tool, name in ((SONDE, "ours.data"), (PERF, "theirs.data")):
            self.run_tool(tool, "kvm", "stat", "record", "-a", "-o", name, self.machine, TIMES)
            ours = self.text(SONDE, "kvm", "-i", name, "stat", "report")
            self.assertEqual(exits(ours)["io"], TIMES, ours)
            done = self.run_tool(PERF, "kvm", "-i", name, "stat", "report")
            self.assertEqual(exits(done.stdout + done.stderr), exits(ours))

    def test_live(self):
        screens = self.path / "screens"
        with open(screens, "wb") as out, subprocess.Popen([SONDE, "kvm", "stat", "live", "-a", "-d", "1"], cwd=self.path, stdout=out,
                                                          stderr=subprocess.PIPE, stdin=subprocess.DEVNULL) as live:
            end = time.monotonic() + LIMIT_S
            seen = lambda: sum(int(count) for count in re.findall(r"(?m)^ +io +(\d+) ", screens.read_text(encoding="utf-8")))
            # Runs before the events were enabled are on no screen; the first one that is seen shows that they are.
            while seen() == 0:
                self.assertLess(time.monotonic(), end)
                self.run_machine()
                time.sleep(1)
            time.sleep(3)
            before = seen()
            self.run_machine()
            while seen() < before + TIMES:
                self.assertLess(time.monotonic(), end, screens.read_text(encoding="utf-8"))
                time.sleep(0.2)
            live.send_signal(signal.SIGINT)
            errors = live.communicate(timeout=LIMIT_S)[1]
        self.assertEqual((live.returncode, errors), (0, b""))
        self.assertEqual(seen(), before + TIMES)


if __name__ == "__main__":
    unittest.main(argv=["kvm"])
