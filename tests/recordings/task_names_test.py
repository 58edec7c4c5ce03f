#!/usr/bin/env python3
"""A sample has the name that its task had then, in `script` and in every other output: of a process that was several programs, was
renamed, had its number used again; and of what a recorder in a PID namespace sees of tasks outside of it, which all have the number
0 and therefore no name."""
import collections
import gzip
import json
import os
import re
import subprocess
import unittest

from own_directory import OwnDirectoryTest

SONDE = os.environ["SONDE"]
OUTSIDE = "[outside this PID namespace]"
EVENT = ("event : name = cpu-clock, id = { 7 }, type = 1, { sample_period, sample_freq } = 4000, "
         "sample_type = IP|TID|TIME|CPU|PERIOD|IDENTIFIER, freq = 1, sample_id_all = 1")
BEYOND = 1 << 22  # numbers from here on are not the kernel's


class TaskNamesTest(OwnDirectoryTest):
    def setUp(self):
        super().setUp()
        self.lines, self.time = [EVENT], 0

    def add(self, line):
        self.time += 1000
        self.lines.append(f"{line} time={self.time} cpu=0 event=0")

    def name(self, pid, tid, comm, exec=False):
        self.add(f'COMM pid={pid} tid={tid} comm="{comm}"' + (" exec" if exec else ""))

    def fork(self, pid, tid, parent, parent_tid):
        self.add(f"FORK pid={pid} ppid={parent} tid={tid} ptid={parent_tid}")

    def sample(self, pid, tid, mode="user"):
        """Weights are powers of two: a sum tells which samples are in it."""
        self.time += 1000
        weight = 1 << sum(line.startswith("SAMPLE") for line in self.lines)
        ip = "0x401000" if mode == "user" else "0xffffffff81000100"
        self.lines.append(f"SAMPLE id=7 mode={mode} ip={ip} pid={pid} tid={tid} time={self.time} cpu=0 period={weight}")

    def write(self):
        (self.path / "recording.txt").write_text("\n".join(self.lines) + "\n")
        self.sonde("assemble", "recording.txt", "perf.data")

    def sonde(self, *arguments):
        done = subprocess.run([SONDE, *arguments], cwd=self.path, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.said = done.stderr.decode()
        return done.stdout

    def script(self):
        """By weight of a sample: name and thread."""
        text = self.sonde("script", "-i", "perf.data", "-F", "comm,tid,time,period").decode()
        found = [re.match(r"\s*(.*?)\s+(\d+)\s+[\d.]+:\s+(\d+)\s*$", line) for line in text.splitlines()]
        return {int(match[3]): (match[1], int(match[2])) for match in found}

    def chrome(self):
        file = json.loads(self.sonde("export", "--to", "chrome", "-i", "perf.data"))
        names = {}
        for event in file["traceEvents"]:
            if event["name"] == "thread_name":
                self.assertNotIn((event["pid"], event["tid"]), names, "a second name hides the first")
                names[event["pid"], event["tid"]] = event["args"]["name"]
        samples = {}
        for sample in file["samples"]:
            name, tid = names[sample["pid"], sample["tid"]], sample["tid"]
            if tid >= BEYOND:
                name, _, tid = name.rpartition(" (")
                tid = int(tid.rstrip(")"))
            samples[sample["weight"]] = (name, tid)
        return samples

    def firefox(self):
        file = json.loads(gzip.decompress(self.sonde("export", "--to", "firefox", "-i", "perf.data")))
        mains = collections.Counter(thread["pid"] for thread in file["threads"] if thread["isMainThread"])
        self.assertEqual(set(mains.values()), {1}, "the page shows one main thread of a process")
        return {round(weight * 1e6): (thread["name"], thread["tid"])
                for thread in file["threads"] for weight in thread["samples"]["weight"]}

    def speedscope(self):
        file = json.loads(self.sonde("export", "--to", "speedscope", "-i", "perf.data"))
        samples = {}
        for profile in file["profiles"]:
            name, tid = re.fullmatch(r"(.*) \(\d+/(\d+)\) cpu-clock", profile["name"]).groups()
            samples |= {weight: (name, int(tid)) for weight in profile["weights"]}
        return samples

    def sql(self):
        rows = self.sonde("sql", "--format", "csv", "-i", "perf.data", "SELECT period, comm, tid FROM samples").decode().splitlines()
        return {int(row.split(",")[0]): (row.split(",")[1].strip('"'), int(row.split(",")[2])) for row in rows[1:]}

    def by_name(self, samples):
        sums = collections.Counter()
        for weight, (name, _) in samples.items():
            sums[name] += weight
        return sums

    def folded(self, *command):
        sums = collections.Counter()
        for line in self.sonde(*command).decode().splitlines():
            stack, _, weight = line.rpartition(" ")
            sums[stack.split(";")[0]] += int(weight)
        return sums

    def pprof(self):
        """pprof's label comm becomes the outermost frame again."""
        (self.path / "profile.pb.gz").write_bytes(self.sonde("export", "--to", "pprof", "-i", "perf.data"))
        return self.folded("fold", "-i", "profile.pb.gz")

    def report(self):
        rows = self.sonde("report", "--stdio", "-s", "comm", "-F", "comm,period", "-w", "40", "-t", "|", "-i", "perf.data").decode()
        split = [row.split("|") for row in rows.splitlines() if "|" in row and not row.startswith("#")]
        return collections.Counter({comm.strip(): int(period) for comm, period in split})

    def check_all(self, expected):
        self.write()
        samples = self.script()
        self.assertEqual([samples[weight] for weight in sorted(samples)], expected)
        for format in (self.chrome, self.firefox, self.speedscope, self.sql):
            self.assertEqual(format(), samples, format.__name__)
        sums = self.by_name(samples)
        self.assertEqual(self.report(), sums, "report -s comm")
        sums = collections.Counter({name.replace(" ", "_"): weight for name, weight in sums.items()})  # as stacks spell them
        self.assertEqual(self.folded("fold", "-i", "perf.data"), sums, "fold")
        self.assertEqual(self.folded("export", "--to", "folded", "-i", "perf.data"), sums, "export --to folded")
        self.assertEqual(self.pprof(), sums, "pprof")

    def test_programs(self):
        self.name(7, 7, "make", exec=True)
        self.fork(10, 10, 7, 7)
        self.sample(10, 10)
        self.name(10, 10, "execs", exec=True)
        self.sample(10, 10)
        self.name(10, 10, "renamed 12 3456")
        self.sample(10, 10)
        self.fork(10, 11, 10, 10)
        self.name(10, 11, "worker")
        self.sample(10, 11)
        self.name(10, 10, "stage2", exec=True)
        self.sample(10, 10)
        self.sample(7, 7)
        self.add("EXIT pid=10 ppid=7 tid=10 ptid=7")
        self.fork(10, 10, 7, 7)                      # the number again
        self.name(10, 10, "another", exec=True)
        self.sample(10, 10)
        self.check_all([("make", 10), ("execs", 10), ("renamed 12 3456", 10), ("worker", 11), ("stage2", 10), ("make", 7),
                        ("another", 10)])

    def test_tasks_outside_of_the_namespace(self):
        self.name(7, 7, "inside", exec=True)
        self.sample(0, 0)                            # before anything tells that task 0 is not only the idle one
        self.sample(7, 7)
        self.name(0, 0, "cron", exec=True)
        self.sample(0, 0)
        self.name(0, 0, "sshd", exec=True)
        self.add('MMAP2 mode=user pid=0 tid=0 start=0x400000 length=0x2000 offset=0 path="/usr/sbin/sshd" protection=5 flags=2')
        self.sample(0, 0)
        self.sample(0, 0, mode="kernel")
        self.check_all([(OUTSIDE, 0), ("inside", 7), (OUTSIDE, 0), (OUTSIDE, 0), (OUTSIDE, 0)])
        self.sonde("report", "--stdio", "-s", "comm,dso", "-i", "perf.data")
        self.assertIn("4 samples are of tasks outside of the PID namespace", self.said)
        self.assertNotIn("sshd", self.sonde("report", "--stdio", "-s", "comm,dso,pid", "-i", "perf.data").decode())

    def test_the_idle_task(self):
        self.sample(0, 0, mode="kernel")
        self.check_all([("swapper", 0)])
        self.assertNotIn("outside", self.said)


if __name__ == "__main__":
    unittest.main(argv=["task_names_test"])
