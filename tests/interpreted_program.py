"""Tests of interpreted functions in call chains, by a program that says of itself which chains it has and how long each of its
functions took. Each language's test writes the program, and says how it is run."""
import collections
import os
import re
import subprocess
import threading

from own_directory import OwnDirectoryTest

SONDE = os.environ["SONDE"]
RATE = 1500  # samples per second


class InterpretedProgramTest(OwnDirectoryTest):
    LANGUAGE = SUFFIX = None  # "Ruby", "rb"

    def run_tool(self, *words, check=True):
        run = subprocess.run([str(word) for word in words], cwd=self.path, text=True, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        if check:
            self.assertEqual(run.returncode, 0, run.stderr)
        return run

    def record_chains(self, *options, command):
        return self.run_tool(SONDE, "record", "-e", "cpu-clock:u", "-F", RATE, "--call-graph", "bpf", *options, "-o", "perf.data",
                             "--", *command)

    @staticmethod
    def figure(pattern, text):
        said = re.search(pattern, text)
        return int(said.group(1)) if said else 0

    @classmethod
    def incomplete(cls, run):
        return cls.figure(r"(\d+) of \d+ user call chains are incomplete", run.stderr)

    @classmethod
    def copied(cls, text):
        """Samples without interpreted functions, as -v tells them: until the table of a library that is loaded late is there, stacks
        are copied."""
        return cls.figure(r"(\d+) of \d+ stacks are copies", text)

    def samples(self):
        """Of each sample its interpreted frames, innermost first: function, file, line."""
        text = self.run_tool(SONDE, "script", "--no-inline", "--max-stack", 1000, "-i", "perf.data", "-F",
                             "ip,sym,dso,srcline", "--full-source-path").stdout
        frames = re.compile(rf"^\s+[0-9a-f]+ (.+) \((.+\.{self.SUFFIX}|<.+>)\)\n\s+(.+):(\d+)$", re.MULTILINE)
        for block in text.split("\n\n"):
            found = frames.findall(block)
            self.assertTrue(all(path == source for _, path, source, _ in found), block)
            yield [(name, path, int(line)) for name, path, _, line in found]

    def check_names(self, run):
        """A frame that is being made or left may have something else than a code object: one that is freed, or none yet."""
        if "have no name" not in run.stderr:
            return
        said = re.search(rf"(\d+) of (\d+) {self.LANGUAGE} frames have no name(, [^:\]]+: \d+ times)* \]\n",
                         run.stderr)
        self.assertTrue(said, run.stderr)
        self.assertLess(int(said.group(1)), int(said.group(2)) / 500, run.stderr)

    def check_chains_and_shares(self, run, chains, taken):
        """That samples in `spin` have the `chains` that the program says, as often as it says by the seconds `taken`."""
        seen, counts, others, cut = set(), collections.Counter(), [], 0
        for frames in self.samples():
            names = [frame[0] for frame in frames]
            if "spin" not in names:
                continue
            chain = tuple(frames[names.index("spin") + 1:])
            if chain in chains:
                seen.add(chain)
                counts[chain[0][0]] += 1
            elif any(chain == known[:len(chain)] for known in chains):
                cut += 1
            else:
                others.append(chain)
        self.assertLessEqual(cut, self.incomplete(run))
        # While a function is being entered or left, its frame is not there yet, or no more.
        self.assertLess(len(others), max(3, counts.total() / 100), [chain[:3] for chain in others[:3]])
        # Copies explain what was not seen.
        chains_of, copied = collections.Counter(chain[0][0] for chain in chains), self.copied(run.stderr)
        unseen = sum(taken[chain[0][0]] / chains_of[chain[0][0]] for chain in chains - seen)
        self.assertLessEqual(unseen * RATE / 2, copied, [chain[:3] for chain in chains - seen])
        whole, time = counts.total(), sum(taken.values())
        self.assertGreater(whole, 300)
        for name, seconds in taken.items():
            share = seconds / time
            # Five standard deviations of a random sample, and a percent for what samples of the kernel take away.
            bound = 5 * (share * (1 - share) / whole) ** 0.5 + 0.01 + copied / whole
            self.assertAlmostEqual(counts[name] / whole, share, delta=bound, msg=name)

    def check_top(self, *command):
        """The command runs `earlier` until its input ends, then `later`."""
        program = subprocess.Popen(command, stdin=subprocess.PIPE)
        top = subprocess.Popen([SONDE, "top", "--stdio", "-e", "cpu-clock:u", "--call-graph", "bpf", "-p", str(program.pid), "-d",
                                "0.3"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, text=True)
        patience = threading.Timer(120, top.kill)  # its output ends then
        patience.start()
        try:
            self.assertTrue(any(re.search(rf"two\.{self.SUFFIX} +\[\.\] earlier", line) for line in top.stdout))
            program.stdin.close()
            self.assertTrue(any(re.search(rf"two\.{self.SUFFIX} +\[\.\] later", line) for line in top.stdout))
        finally:
            patience.cancel()
            for process in (top, program):
                process.kill()
                process.wait()
            top.stdout.close()
