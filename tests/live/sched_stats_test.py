#!/usr/bin/env python3
"""`sched stats report` and `diff` of recordings that are assembled here, as perf 7.0 lays them out: without any event, domains
without names. And what `record` reports on this machine."""
import os
import struct
import subprocess
import unittest
from pathlib import Path

from own_directory import OwnDirectoryTest

SONDE = os.environ["SONDE"]
CPU, DOMAIN = 85, 86
DOMAIN_VALUES = 45  # of version 17


def record(kind, payload):
    payload += b"\0" * (-len(payload) % 8)
    return struct.pack("<IHH", kind, 0, 8 + len(payload)) + payload


def moment(jiffies, scale, cpus=2):
    data = b""
    for cpu in range(cpus):
        head = struct.pack("<QIH", jiffies, cpu, 17)
        data += record(CPU, head + bytes(2) + struct.pack("<6I3Q", *(scale * i for i in range(9))))
        data += record(DOMAIN, head + struct.pack("<H", 0) + struct.pack(f"<{DOMAIN_VALUES}I", *([scale] * DOMAIN_VALUES)))
    return data


def write(path, records):
    header = struct.pack("<8sQQ6Q32s", b"PERFILE2", 104, 128 + 16, 104, 0, 104, len(records), 0, 0, bytes(32))
    path.write_bytes(header + records)
    return path


def sched_stats(*arguments):
    return subprocess.run([SONDE, "sched", "stats", *map(str, arguments)], capture_output=True, text=True)


def line(text, name):
    return next(row for row in text.splitlines() if row.startswith(name + " "))


class SchedStats(OwnDirectoryTest):
    def test_report(self):
        data = write(self.path / "a.data", moment(1000, 1) + moment(1500, 11))
        said = sched_stats("report", "-i", data)
        self.assertEqual((said.returncode, said.stderr), (0, ""))
        self.assertEqual(line(said.stdout, "Time elapsed (in jiffies)").split()[-1], "500")
        # Counter i has grown by 10 i.
        self.assertTrue(line(said.stdout, "sched_goidle").endswith(":          30  (   150.00% )"))
        self.assertTrue(line(said.stdout, "run_delay").endswith(":          70  (   116.67% )"))
        self.assertTrue(line(said.stdout, "idle_lb_count").endswith(":          10  $       50.00 $"))
        for title in ("CPU <ALL CPUS SUMMARY>", "CPU 0", "CPU 1, DOMAIN 0"):
            self.assertIn(title, said.stdout.splitlines())
        only = sched_stats("report", "-i", data, "-C", "1").stdout.splitlines()
        self.assertIn("CPU 1", only)
        self.assertNotIn("CPU 0", only)

    def test_diff(self):
        first = write(self.path / "a.data", moment(1000, 1) + moment(1500, 11))
        second = write(self.path / "b.data", moment(1000, 1) + moment(1250, 21))
        said = sched_stats("diff", first, second)
        self.assertEqual((said.returncode, said.stderr), (0, ""))
        self.assertEqual(line(said.stdout, "Time elapsed (in jiffies)").split(":")[1].strip(), "500,        250")
        self.assertTrue(line(said.stdout, "sched_count").endswith(":          20,         40  |   100.00% |"))
        self.assertTrue(line(said.stdout, "busy_lb_count").endswith("$       50.00,       12.50 $"))

    def test_damage_is_said(self):
        data = write(self.path / "a.data", moment(1000, 1) + record(CPU, b"\0" * 16) + moment(1500, 11))
        said = sched_stats("report", "-i", data)
        self.assertEqual(said.returncode, 0)
        self.assertIn("1 ", said.stderr)
        once = sched_stats("report", "-i", write(self.path / "b.data", moment(1000, 1)))
        self.assertNotEqual(once.returncode, 0)
        self.assertIn("two moments", once.stderr)

    def test_record(self):
        data = self.path / "now.data"
        said = sched_stats("record", "-o", data, "--", "sh", "-c", "exit 3")
        if not Path("/proc/schedstat").exists():
            self.assertIn("CONFIG_SCHEDSTATS", said.stderr)
            self.assertFalse(data.exists())
            return
        self.assertEqual(said.returncode, 3, said.stderr)
        shown = sched_stats("report", "-i", data)
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        self.assertIn("CPU <ALL CPUS SUMMARY>", shown.stdout.splitlines())


if __name__ == "__main__":
    unittest.main(argv=["sched_stats"])
