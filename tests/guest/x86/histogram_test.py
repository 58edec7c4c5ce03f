"""Histograms of functions of the kernel: on Debian's kernel, which has kprobes. Against programs that do a known number of things,
and against tracepoints at the same places."""
import json
import os
import signal
import subprocess
import time
from pathlib import Path

from inside import SONDE, GuestTest

TRACING = Path("/sys/kernel/tracing")
# Sends 300 and 50 bytes through a socket of the loopback device.
SENDER = """
import socket
listener = socket.socket(); listener.bind(("127.0.0.1", 0)); listener.listen()
client = socket.create_connection(listener.getsockname())
client.sendall(b"x" * 300); client.sendall(b"y" * 50)
"""
SEND = ["python3", "-c", SENDER]
WRITES = ["dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=300", "status=none"]


class HistogramTest(GuestTest):
    def measured(self, *words):
        return json.loads(self.run_tool(SONDE, "histogram", "--json", *words).stdout)

    def only(self, measured):
        self.assertEqual(len(measured["histograms"]), 1, measured)
        return measured["histograms"][0]

    def test_parameters_of_a_function(self):
        """By the kernel's type information."""
        sizes = self.only(self.measured("--kernel", "tcp_sendmsg", "size", "--", *SEND))
        self.assertEqual((sizes["count"], sizes["sum"]), (2, 350))
        self.assertEqual({bucket["first"]: bucket["count"] for bucket in sizes["buckets"] if bucket["count"]}, {32: 1, 256: 1})

    def test_what_a_function_returns(self):
        sent = self.only(self.measured("--kernel", "tcp_sendmsg", "$retval:s32", "--", *SEND))
        self.assertEqual((sent["count"], sent["sum"]), (2, 350))

    def test_calls_of_a_function_are_those_of_its_tracepoint(self):
        function = self.only(self.measured("--kernel", "ksys_write", "count", "--", *WRITES))
        tracepoint = self.only(self.measured("syscalls:sys_enter_write", "count", "--", *WRITES))
        self.assertEqual(function["buckets"], tracepoint["buckets"])
        self.assertEqual(function["count"], 300)

    def test_time_in_a_function(self):
        times = self.only(self.measured("--kernel", "ksys_write", "--", *WRITES))
        self.assertEqual(times["count"], 300)
        self.assertGreater(times["sum"], 0)

    def test_nothing_is_left_by_a_kill(self):
        running = subprocess.Popen([SONDE, "histogram", "--kernel", "ksys_write", "--duration", "600"], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL)
        self.addCleanup(running.wait)
        self.addCleanup(running.kill)
        used = set()
        while len(used) < 5:  # entry, return, and those that follow tasks
            time.sleep(0.2)
            self.assertIsNone(running.poll())
            used = self.programs_of(running.pid)
        os.kill(running.pid, signal.SIGKILL)
        running.wait()
        while used & self.loaded_programs():
            time.sleep(0.2)
        self.assertEqual((TRACING / "kprobe_events").read_text(), "")

    @staticmethod
    def programs_of(pid):
        """Ids of the BPF programs that a process has descriptors of."""
        ids = set()
        for info in Path(f"/proc/{pid}/fdinfo").iterdir():
            try:
                ids |= {int(line.split()[1]) for line in info.read_text().splitlines() if line.startswith("prog_id:")}
            except OSError:
                pass  # closed in the meantime
        return ids

    @staticmethod
    def loaded_programs():
        shown = subprocess.run(["bpftool", "-j", "prog", "show"], capture_output=True, text=True, check=True)
        return {program["id"] for program in json.loads(shown.stdout)}
