#!/usr/bin/env python3
"""USDT probes made by `probe`, on this kernel: their arguments are what the program prints, semaphores are raised while a recorder
listens. Needs root."""
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

from own_directory import OwnDirectoryTest
from probe_events import USDT_NOTE, remove_probes
from tracefs import TRACEFS

SONDE = os.environ["SONDE"]
# No other run of this test has this name.
GROUP = f"liveusdt{os.getpid()}"
# `guarded` is reached only while its semaphore is raised.
PROGRAM = USDT_NOTE + r"""
#include <stdint.h>
#include <stdio.h>
__attribute__((section(".probes"))) volatile unsigned short app_guarded_semaphore
    __attribute__((visibility("hidden"))) = 0;
struct kept { int64_t wide; int16_t narrow; uint8_t byte; };
__attribute__((noinline)) static void step(int i, long twice, struct kept* kept) {
  NOTE("registers", "0", "-4@%0 8@%1 -4@%2", "r"(i), "r"(twice), "n"(-7));
  NOTE("memory", "0", "-8@%0 -2@%1 1@%2", "m"(kept->wide), "m"(kept->narrow), "m"(kept->byte));
}
int main(void) {
  int guarded = 0;
  for (int i = 0; i < 4; ++i) {
    struct kept kept = {-1000000000000L * i, (int16_t)(-30000 - i), (uint8_t)(250 + i)};
    step(-i, 2L * i, &kept);
    printf("registers arg1=%d arg2=%ld arg3=-7\n", -i, 2L * i);
    printf("memory arg1=%ld arg2=%d arg3=%d\n", kept.wide, kept.narrow, kept.byte);
    if (app_guarded_semaphore) {
      ++guarded;
      NOTE("guarded", "app_guarded_semaphore", "-4@%0", "r"(guarded));
    }
  }
  for (int i = 1; i <= guarded; ++i) printf("guarded arg1=%d\n", i);
  return 0;
}
"""
# Debian's Python has notes. Those of the garbage collector tell the generation, and how many objects were collected.
PYTHON = "/usr/bin/python3.11"
COLLECTIONS = """
import gc
gc.disable()
class Loop: pass
for generation, count in ((2, 0), (0, 3), (1, 5)):
    for _ in range(count):
        loop = Loop(); loop.me = loop
    loop = None
    print(f"gc__start arg1={generation}")
    print(f"gc__done arg1={gc.collect(generation)}")
gc.enable()
"""


class ProbeUsdtTest(OwnDirectoryTest):
    def setUp(self):
        super().setUp()
        (self.path / "app.c").write_text(PROGRAM)
        subprocess.run(["gcc", "-O1", "-o", "app", "app.c"], cwd=self.path, check=True)
        self.app = str(self.path / "app")
        self.addCleanup(remove_probes, SONDE, f"{GROUP}:*")

    def run_tool(self, tool, *words, status=0):
        done = subprocess.run([tool, *words], cwd=self.path, text=True, capture_output=True, timeout=120,
                              stdin=subprocess.DEVNULL, env=dict(os.environ, HOME=str(self.path)), check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def make(self, program, names):
        words = [word for name, wanted in names.items() for word in ("-a", f"{GROUP}:{name}={wanted}")]
        self.run_tool(SONDE, "probe", "-q", "-x", program, *words)

    def record(self, *command):
        """What the program printed, and what the probes recorded, in its words."""
        printed = self.run_tool(SONDE, "record", "-o", "perf.data", "-e", f"{GROUP}:*", "--", *command).stdout
        lines = self.run_tool(SONDE, "script", "-F", "event,trace").stdout.splitlines()
        recorded = [re.sub(rf"\s*{GROUP}:(\w+):\s+\([0-9a-f]+\)\s+", r"\1 ", line).strip() for line in lines]
        return printed.splitlines(), recorded

    def test_arguments_are_what_the_program_prints(self):
        self.make(self.app, {"registers": "%sdt_app:registers", "memory": "%app:memory"})
        printed, recorded = self.record(self.app)
        self.assertEqual(len(printed), 8)
        self.assertEqual(recorded, printed)

    def test_a_semaphore_is_raised_while_somebody_listens(self):
        self.make(self.app, {"guarded": "%sdt_app:guarded"})
        self.assertNotIn("guarded", self.run_tool(self.app).stdout)
        printed, recorded = self.record(self.app)
        self.assertEqual(recorded, [f"guarded arg1={i}" for i in (1, 2, 3, 4)])
        self.assertEqual([line for line in printed if line.startswith("guarded")], recorded)
        self.assertNotIn("guarded", self.run_tool(self.app).stdout)

    def test_of_debians_python(self):
        self.make(PYTHON, {"gc__start": "%sdt_python:gc__start", "gc__done": "%sdt_python:gc__done"})
        printed, recorded = self.record(PYTHON, "-S", "-c", COLLECTIONS)
        self.assertEqual(len(printed), 6)
        begin = next(i for i in range(len(recorded)) if recorded[i:i + 6] == printed)
        # The interpreter collects once more when it ends, and perhaps while it starts: nothing else.
        self.assertTrue(all(line.startswith(("gc__start ", "gc__done ")) for line in recorded[:begin] + recorded[begin + 6:]))

    def test_definitions_and_lists(self):
        self.run_tool(SONDE, "probe", "-q", "-x", self.app, f"{GROUP}:memory=%sdt_app:memory")
        listed = self.run_tool(SONDE, "probe", "-l", f"{GROUP}:*").stdout
        self.assertRegex(listed, rf"{GROUP}:memory +\(on \S+ in {re.escape(self.app)} with arg1 arg2 arg3\)")
        shown = self.run_tool(SONDE, "probe", "-x", self.app, "-D", "%app:guarded").stdout
        self.assertRegex(shown, rf"^p:sdt_app/guarded {re.escape(self.app)}:0x[0-9a-f]+\(0x[0-9a-f]+\) arg1=%\w+:s32\n$")
        self.run_tool(SONDE, "probe", "-q", "-d", f"{GROUP}:memory")
        self.assertNotIn(GROUP, (TRACEFS / "uprobe_events").read_text())

    def test_what_it_does_not_have_is_said(self):
        done = self.run_tool(SONDE, "probe", "-x", self.app, "%sdt_app:nosuch", status=255)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn("nosuch", done.stderr)

    def test_a_name_that_no_event_can_have_is_refused(self):
        hostile = r"na`touch PWN`\033]0;x"
        (self.path / "hostile.c").write_text(USDT_NOTE + f'int main(void) {{ NOTE("{hostile}", "0", ""); NOTE("plain", "0", ""); return 0; }}\n'
                                             .replace("\\033", "\\\\033"))
        subprocess.run(["gcc", "-o", "hostile", "hostile.c"], cwd=self.path, check=True)
        program = str(self.path / "hostile")
        refused = self.run_tool(SONDE, "record", "-o", "none.data", "-e", f"sdt_app:na*@{program}", "--", "true", status=129).stderr
        self.assertEqual(len([line for line in refused.splitlines() if "na`touch PWN`" in line]), 1, refused)
        self.assertIn(r"'sdt_app:na`touch PWN`\x1b]0;x' cannot be an event", refused)
        self.assertFalse((self.path / "none.data").exists())
        # A glob takes the others.
        done = self.run_tool(SONDE, "record", "-o", "plain.data", "-e", f"sdt_app:*@{program}", "--", program)
        self.assertEqual(self.run_tool(SONDE, "script", "-i", "plain.data", "-F", "event").stdout.split(), ["sdt_app:plain:"], done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
