#!/usr/bin/env python3
"""`iostat` and perf's on a machine that has root ports: this one, with PMUs for them mounted into its sysfs, which really count its
time stamp counter. Needs root."""
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from own_directory import OwnDirectoryTest

SONDE = os.environ["SONDE"]
DEVICES = Path("/sys/bus/event_source/devices")
# In a mount namespace of its own: both directories of devices with what they have and the PMUs, and files of the
# topology.
MOUNT = """set -e
shopt -s nullglob
for pair in pmu:/sys/bus/event_source/devices dev:/sys/devices; do
  new=$PWD/tree/${pair%%:*} old=${pair#*:}
  mkdir -p $new
  for path in $old/*; do mkdir $new/${path##*/}; mount --rbind $path $new/${path##*/}; done
  for path in pmus/*; do mkdir $new/${path##*/}; mount --bind $path $new/${path##*/}; done
  mount --rbind $new $old
done
for path in system/cpu/cpu*/topology/* system/node/*; do mount --bind $path /sys/devices/$path; done
exec "$@"
"""
HEADING = "   port             Inbound Read(MB)    Inbound Write(MB)    Outbound Read(MB)   Outbound Write(MB) "


class IostatOracle(OwnDirectoryTest):
    def make_pmus(self, dies):
        for pmu in range(2):
            directory = self.path / f"pmus/uncore_iio_{pmu}"
            (directory / "format").mkdir(parents=True)
            files = {"type": (DEVICES / "msr/type").read_text(encoding="utf-8"), "cpumask": "0-1\n" if dies == 2 else "0\n",
                     "format/event": "config1:0-7\n", "format/umask": "config1:8-15\n", "format/ch_mask": "config2:0-11\n",
                     "format/fc_mask": "config2:12-14\n"}
            files |= {f"die{die}": f"0000:{die * 8}{pmu}\n" for die in range(dies)}
            for name, text in files.items():
                (directory / name).write_text(text, encoding="utf-8")
        if dies == 1:
            return
        # A package for each CPU. perf takes nodes for dies.
        files = {f"cpu/cpu{cpu}/topology/{name}": f"{cpu}\n" for cpu in range(2)
                 for name in ("physical_package_id", "die_cpus_list", "package_cpus_list", "core_siblings_list")}
        for name, text in (files | {"node/possible": "0-1\n"}).items():
            path = self.path / "system" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def run_on_server(self, *words, status=0):
        (self.path / "tree").mkdir()
        done = subprocess.run(["unshare", "-m", "bash", "-c", MOUNT, "bash", *words], cwd=self.path, text=True, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=60, check=False)
        shutil.rmtree(self.path / "tree")  # the mounts were the namespace's
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def assert_same(self, *words, status=0):
        texts = []
        for tool in (SONDE, "perf"):
            text = self.run_on_server(tool, "iostat", *words, status=status)
            # perf adds the command's own times, although it counted the machine.
            text = re.sub(r"^ +[\d.]+ seconds (user|sys)$", "", text, flags=re.M)
            text = re.sub(r"(?<=[ ,])\d+(?=[ ,])|\d+\.\d+|\d+ \d+ \d+$", "N", text, flags=re.M)
            texts.append([re.sub(r" +", " ", line).strip() for line in text.splitlines() if line.strip()])
        self.assertEqual(*texts)
        self.assertTrue(texts[0])

    def test_one_die(self):
        self.make_pmus(1)
        self.assert_same("list")
        self.assert_same("--", "true")
        self.assert_same("0000:01,0:0,0000:01", "--", "true")
        self.assert_same("-x,", "--", "true")
        # perf forgets the status of a command that ends before perf waits for it.
        self.assert_same("0:1", "--", "timeout", "0.2", "sleep", "9", status=124)
        # The events as they were opened.
        names = {tool: re.findall(r"(uncore_iio_\S+): \d+ \d+ \d+$", self.run_on_server(tool, "iostat", "-v", "--", "true"), re.M)
                 for tool in (SONDE, "perf")}
        self.assertEqual(len(names[SONDE]), 8)
        self.assertEqual(names[SONDE], names["perf"])

    @unittest.skipUnless(os.path.exists("/sys/devices/system/cpu/cpu1/topology"), "there is one CPU only")
    def test_two_dies(self):
        self.make_pmus(2)
        self.assertEqual(self.run_on_server(SONDE, "iostat", "list"),
                         "S0-uncore_iio_0<0000:00>\nS1-uncore_iio_0<0000:80>\nS0-uncore_iio_1<0000:01>\nS1-uncore_iio_1<0000:81>\n")
        self.assert_same("list")
        self.assert_same("--", "true")
        self.assert_same("0000:81,0:0", "--", "true")

    def test_counts_are_megabytes(self):
        self.make_pmus(1)
        for tool in (SONDE, "perf"):
            text = self.run_on_server(tool, "iostat", "-v", "--", "sleep", "0.1")
            counts = [int(count) for count in re.findall(r"uncore_iio_\S+: (\d+) \d+ \d+$", text, re.M)]
            shown = [int(word) for line in text.splitlines() if line.startswith("0000:") for word in line.split()[1:]]
            # A count is four bytes.
            self.assertEqual(shown, [round(count * 4 / 2**20) for count in counts], text)

    def test_intervals(self):
        self.make_pmus(1)
        for separator in ([], ["-x,"]):
            headings = [self.run_on_server(tool, "iostat", "0000:01", "-I", "100", *separator, "--", "sleep", "0.25").splitlines()[0].strip()
                        for tool in (SONDE, "perf")]
            self.assertEqual(*headings)
        lines = self.run_on_server(SONDE, "iostat", "-I", "50", "--interval-count", "2").splitlines()
        self.assertTrue(lines[0].endswith(HEADING))
        self.assertEqual([line.split()[1] for line in lines[1:] if line], ["0000:00", "0000:01"] * 2)


if __name__ == "__main__":
    if os.geteuid() != 0 or shutil.which("perf") is None or not (DEVICES / "msr/type").exists():
        print("needs root, perf, and the PMU msr")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
