#!/usr/bin/env python3
"""The events of -e that are created before they are opened, on this kernel: USDT probes and BPF programs; and those of libpfm4.
The installed perf also reads what `record` writes. Needs root."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import debug_registers
from probe_events import USDT_NOTE
from tracefs import TRACEFS

SONDE = os.environ["SONDE"]

# `guarded` has a semaphore: it is reached only while somebody listens.
USDT_PROGRAM = USDT_NOTE + r"""
#include <stdio.h>
#include <stdlib.h>
__attribute__((section(".probes"))) volatile unsigned short app_guarded_semaphore
    __attribute__((visibility("hidden"))) = 0;
#define PROBE(name, semaphore, x, y) NOTE(name, semaphore, "-4@%0 8@%1", "r"(x), "r"(y))
__attribute__((noinline)) static void step(int i, long twice) { PROBE("step", "0", i, twice); }
int main(int count, char** words) {
  int rounds = count > 1 ? atoi(words[1]) : 1;
  int guarded = 0;
  for (int i = 0; i < rounds; ++i) {
    step(-i, 2L * i);
    if (app_guarded_semaphore) {
      PROBE("guarded", "app_guarded_semaphore", i, 0L);
      ++guarded;
    }
  }
  PROBE("done", "0", rounds, 7L);
  PROBE("done", "0", guarded, 8L);
  return 0;
}
"""


BPF_PROGRAM = r"""
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
struct {
  __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
  __uint(key_size, 4);
  __uint(value_size, 4);
  __uint(max_entries, __NR_CPUS__);
} channel SEC(".maps");
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(key_size, 4);
  __uint(value_size, 8);
  __uint(max_entries, 4);
} settings SEC(".maps");
SEC("sched:sched_process_exec") int on_exec(void* context) {
  __u32 slot = 2;
  __u64* value = bpf_map_lookup_elem(&settings, &slot);
  if (!value) return 0;
  __u64 told = *value + 0x100;
  bpf_perf_event_output(context, &channel, BPF_F_CURRENT_CPU, &told, sizeof told);
  return *value == 7;
}
char _license[] SEC("license") = "GPL";
int _version SEC("version") = LINUX_VERSION_CODE;
"""
# At each entry of step(); accepts every second one.
UPROBE_PROGRAM = r"""
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(key_size, 4);
  __uint(value_size, 4);
  __uint(max_entries, 1);
} calls SEC(".maps");
SEC("SECTION") int on_step(void* context) {
  __u32 slot = 0;
  __u32* count = bpf_map_lookup_elem(&calls, &slot);
  return count ? (*count)++ & 1 : 0;
}
char _license[] SEC("license") = "GPL";
"""


def own_probes():
    """The probes in tracefs that were made by any sonde."""
    lines = (TRACEFS / "uprobe_events").read_text().splitlines()
    return [line for line in lines if ":sonde_" in line]


class EventTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.directory.cleanup)
        cls.path = Path(cls.directory.name)
        (cls.path / "app.c").write_text(USDT_PROGRAM)
        subprocess.run(["gcc", "-O1", "-o", cls.path / "app", cls.path / "app.c"], check=True)
        cls.app = str(cls.path / "app")

    def run_sonde(self, *arguments, status=0, home=None, env_config=None, **more):
        environment = dict(os.environ, HOME=str(home or self.path / "nowhere"))
        if env_config is not None:
            (self.path / "perfconfig").write_text(env_config)
            environment["PERF_CONFIG"] = str(self.path / "perfconfig")
        run = subprocess.run([SONDE, *map(str, arguments)], cwd=self.path, text=True, timeout=120, env=environment,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
        self.assertEqual(run.returncode, status, run.stderr)
        return run

    def counts(self, *arguments, **more):
        document = json.loads(self.run_sonde("stat", "--json=2", *arguments, **more).stderr)
        return {count["event"]: count["value"] for count in document["counts"]}

    def record(self, *arguments, **more):
        return self.run_sonde("record", "-o", "perf.data", *arguments, **more)

    def script(self):
        """What both scripts print for the recording: without the fields before the event's name."""
        ours = self.run_sonde("script", "-i", "perf.data").stdout
        perf = subprocess.run(["perf", "script", "-i", self.path / "perf.data"], text=True, check=True, timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        self.assertEqual([line.rstrip() for line in ours.splitlines()], [line.rstrip() for line in perf.splitlines()])
        return [line.split(": ", 1)[1].strip() for line in ours.splitlines() if re.search(r"\d: \S+:\S+: ", line)]

    def wait_for(self, condition):
        deadline = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), deadline, "what was waited for did not come")
            time.sleep(0.01)

    # USDT

    def test_a_usdt_probe_of_the_command_is_recorded_with_its_arguments(self):
        before = own_probes()
        self.record("-e", "sdt_app:step", "--", self.app, "3")
        lines = [re.sub(r"\([0-9a-f]+\)", "()", line) for line in self.script()]
        self.assertEqual(lines, ["sdt_app:step: () arg1=0 arg2=0", "sdt_app:step: () arg1=-1 arg2=2",
                                 "sdt_app:step: () arg1=-2 arg2=4"])
        self.assertEqual(own_probes(), before)

    def test_usdt_probes_are_counted(self):
        self.assertEqual(self.counts("-e", "sdt_app:step,%app:done", "--", self.app, "5"),
                         {"sdt_app:step": 5, "sdt_app:done": 2})

    def test_a_semaphore_is_raised_while_its_probe_is_there(self):
        self.assertEqual(self.counts("-e", "sdt_app:guarded", "--", self.app, "6"), {"sdt_app:guarded": 6})
        self.record("-e", "%sdt_app:done", "--", self.app, "6")
        self.assertIn("arg1=0 arg2=8", " ".join(self.script()))

    def test_globs_and_objects(self):
        counts = self.counts("-e", f"sdt_app:[sd]*@{self.app}", "--", "sh", "-c", f"{self.app} 2; {self.app} 1")
        self.assertEqual(counts, {"sdt_app:step": 3, "sdt_app:done": 4})
        self.assertEqual(set(self.counts("-e", f"sdt_*:*@{self.app}", "--", "true")),
                         {"sdt_app:step", "sdt_app:guarded", "sdt_app:done"})
        listed = self.run_sonde("list", f"%app:[sd]*@{self.app}").stdout
        self.assertEqual([line.split()[0] for line in listed.splitlines()], ["sdt_app:done", "sdt_app:step"])

    def test_libraries_of_the_command_are_looked_into(self):
        (self.path / "library.c").write_text(USDT_PROGRAM.replace("int main(", "int library_main("))
        (self.path / "user.c").write_text("int library_main(int, char**);\nint main(int n, char** w) { return library_main(n, w); }")
        subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", self.path / "libapp.so", self.path / "library.c"], check=True)
        subprocess.run(["gcc", "-o", self.path / "user", self.path / "user.c", f"-L{self.path}", "-lapp", "-Wl,-rpath,$ORIGIN"],
                       check=True)
        self.assertEqual(self.counts("-e", "sdt_app:step", "--", self.path / "user", "3"), {"sdt_app:step": 3})

    def test_filters_and_repetition(self):
        self.record("-e", "sdt_app:step", "--filter", "arg2 > 4", "--", self.app, "5")
        self.assertEqual([line.split("arg2=")[1] for line in self.script()], ["6", "8"])
        self.assertIn(" 5      sdt_app:step ", self.run_sonde("stat", "-r", "3", "-e", "sdt_app:step", "--", self.app, "5").stderr)

    def test_the_build_id_cache_knows_objects(self):
        home = self.path / "home"
        home.mkdir()
        subprocess.run(["perf", "buildid-cache", "--add", self.app], check=True, timeout=120,
                       env=dict(os.environ, HOME=str(home)))
        listed = self.run_sonde("list", "sdt", home=home).stdout
        self.assertIn("  sdt_app:step ", listed)
        counts = self.counts("-e", "sdt_app:step", "--", "sh", "-c", f"{self.app} 4; true", home=home)
        self.assertEqual(counts, {"sdt_app:step": 4})

    def test_processes_of_p_are_looked_into(self):
        process = subprocess.Popen([self.app, "2000000000"])
        try:
            self.wait_for(lambda: self.app in Path(f"/proc/{process.pid}/maps").read_text())
            self.assertGreater(self.counts("-e", "sdt_app:step", "-p", process.pid, "--", "sleep", "1")["sdt_app:step"], 0)
        finally:
            process.kill()
            process.wait()

    def test_an_unknown_probe_says_where_it_was_looked_for(self):
        run = self.run_sonde("stat", "-e", "sdt_app:stp", "--", self.app, status=129)
        self.assertIn("Did you mean 'sdt_app:step'", run.stderr)
        for event in ("sdt_app:nosuch", "sdt_nosuch:step", f"sdt_app:nosuch@{self.app}", "sdt_app:step@/nowhere/app"):
            run = self.run_sonde("stat", "-e", event, "--", self.app, status=129)
            self.assertIn("\\___ no such USDT probe", run.stderr)
        self.assertIn("sdt_app:nosuch@/path/to/program", self.run_sonde("stat", "-e", "sdt_app:nosuch", "--", self.app,
                                                                        status=129).stderr)

    def test_a_killed_recorder_leaves_no_probe(self):
        recorder = subprocess.Popen([SONDE, "record", "-o", self.path / "killed.data", "-e", f"sdt_app:step@{self.app}", "--",
                                     "sleep", "1000"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        mine = f":sonde_{recorder.pid}_"
        self.wait_for(lambda: any(mine in line for line in own_probes()))
        recorder.send_signal(signal.SIGKILL)
        recorder.wait()
        self.wait_for(lambda: not any(mine in line for line in own_probes()))

    # breakpoints

    @debug_registers.needed
    def test_breakpoints_count_accesses(self):
        (self.path / "watched.c").write_text("""
            volatile int watched;
            __attribute__((noinline)) void touch(int i) { watched = i; }
            int main(void) { for (int i = 0; i < 25; ++i) touch(i); return watched; }""")
        subprocess.run(["gcc", "-O1", "-no-pie", "-fno-inline", "-o", self.path / "watched", self.path / "watched.c"], check=True)
        symbols = subprocess.run(["nm", self.path / "watched"], text=True, check=True, stdout=subprocess.PIPE).stdout
        place = {line.split()[2]: int(line.split()[0], 16) for line in symbols.splitlines() if len(line.split()) == 3}
        writes, both, calls = (f"mem:{place['watched']:#x}/4:w:u", f"mem:{place['watched']:#x}:rw:u",
                               f"mem:{place['touch']:#x}:x:u")
        counts = self.counts("-e", writes, "-e", both, "-e", calls, "--", self.path / "watched", status=24)
        self.assertEqual(counts, {writes: 25, both: 26, calls: 25})
        self.record("-e", calls, "--", self.path / "watched", status=24)
        self.assertEqual(len(self.run_sonde("script", "-i", "perf.data").stdout.splitlines()), 25)

    # terms

    def test_the_term_cpu_counts_a_command_where_it_says(self):
        online = sorted(os.sched_getaffinity(0))
        events = [f"page-faults/cpu={cpu}/" for cpu in online]
        counts = self.counts("-e", ",".join(["page-faults", *events]), "--", "sh", "-c", "/bin/true; /bin/true; true")
        self.assertEqual(counts["page-faults"], sum(counts[event] or 0 for event in events))
        on_first = ["taskset", "-c", str(online[0]), self.app, "2"]
        self.assertEqual(self.counts("-e", f"sdt_app:step@{self.app}", "--", *on_first), {"sdt_app:step": 2})
        self.record("-e", f"page-faults/cpu={online[0]}/", "-c", "1", "--", *on_first)
        places = self.run_sonde("script", "-i", "perf.data", "-F", "comm,event,ip").stdout
        self.assertIn("app ", places)
        run = self.run_sonde("record", "-o", "perf.data", "-e", "cs/cpu=60000/", "--", "true", status=255)
        self.assertIn("no such CPU", run.stderr)

    # libpfm4

    def test_events_by_libpfm4s_names(self):
        counts = self.counts("--pfm-events", "perf::PERF_COUNT_SW_CONTEXT_SWITCHES,{PAGE-FAULTS,cs:u}", "--", "true")
        self.assertEqual(set(counts), {"perf::PERF_COUNT_SW_CONTEXT_SWITCHES", "PAGE-FAULTS", "cs:u"})
        self.assertGreater(counts["PAGE-FAULTS"], 0)
        self.record("--pfm-events", "perf::PERF_COUNT_SW_CPU_CLOCK:freq=99", "--", "true")
        attrs = self.run_sonde("evlist", "-v", "-i", "perf.data").stdout
        self.assertIn("perf::PERF_COUNT_SW_CPU_CLOCK:freq=99: ", attrs)
        self.assertIn("{ sample_period, sample_freq }: 99", attrs)
        self.assertIn("perf::PERF_COUNT_SW_CPU_CLOCK ", self.run_sonde("list", "pfm").stdout)

    # BPF programs

    def write(self, name, text):
        (self.path / name).write_text(text)
        return f"./{name}"

    def test_a_program_takes_and_leaves_samples(self):
        source = self.write("exec.c", BPF_PROGRAM)
        channel = "map:channel.event=evt"
        self.record("-e", "bpf-output/no-inherit,name=evt/", "-e", f"{source}/{channel},map:settings.value[1...2]=7/", "--", "true")
        ours = self.run_sonde("script", "-i", "perf.data").stdout
        self.assertRegex(ours, r"evt: .*\n\s+BPF output: 0000: 07 01 00 00 ")
        self.assertRegex(ours, r"sched:sched_process_exec: filename=\S+true")
        self.script()
        self.record("-e", "bpf-output/no-inherit,name=evt/", "-e", f"{source}/{channel},map:settings.value=6/", "--", "true")
        ours = self.run_sonde("script", "-i", "perf.data").stdout
        self.assertIn("BPF output: 0000: 06 01 00 00 ", ours)
        self.assertNotIn("sched_process_exec:", ours)

    def test_an_object_file_needs_no_compiler(self):
        source = self.write("taken.c", BPF_PROGRAM)
        self.run_sonde("stat", "-e", source, "--", "true", env_config="[llvm]\n\tdump-obj = true\n")
        self.assertTrue((self.path / "taken.o").exists())
        counts = self.counts("-e", "taken.o/map:settings.value=7/", "--", "sh", "-c", "/bin/true; /bin/true; true",
                             env_config="[llvm]\n\tclang-path = /nowhere/clang\n")
        self.assertEqual(counts, {"sched:sched_process_exec": 3})

    def test_programs_at_functions_of_a_file(self):
        before = own_probes()
        for name, section in (("perf", f"exec={self.app};\\nentry=step"), ("libbpf", f"uprobe/{self.app}:step"),
                              ("return", f"exec={self.app};entry=step%return")):
            source = self.write(f"{name}.c", UPROBE_PROGRAM.replace("SECTION", section))
            event = "perf_bpf_probe:step" if name == "libbpf" else "perf_bpf_probe:entry"
            self.assertEqual(self.counts("-e", source, "--", self.app, "6"), {event: 3})
        self.record("-e", "./perf.c", "--", self.app, "4")
        self.assertEqual([line.split(":")[1] for line in self.script()], ["entry", "entry"])
        self.assertEqual(own_probes(), before)

    def test_what_is_wrong_with_a_program_is_said(self):
        good = self.write("good.c", BPF_PROGRAM)
        wrong = {
            self.write("syntax.c", "int x"): "expected ';'",
            "./nosuch.c": "No such file or directory",
            self.write("section.c", UPROBE_PROGRAM.replace("SECTION", "whatever")): "section 'whatever'",
            self.write("function.c", UPROBE_PROGRAM.replace("SECTION", f"exec={self.app};a=nosuch")): "no function 'nosuch'",
            self.write("arguments.c", UPROBE_PROGRAM.replace("SECTION", f"exec={self.app};a=step i")): "'i' needs debug information",
            self.write("verifier.c", UPROBE_PROGRAM.replace("SECTION", "sched:sched_switch").replace(
                "count ? (*count)++ & 1 : 0", "*(__u32*)(context + 100000)")): "off=100000",
            f"{good}/map:nosuch.value=1/": "has no map 'nosuch'",
            f"{good}/map:settings.value[4]=1/": "beyond the 4 entries",
            f"{good}/map:channel.value=1/": "no array",
            f"{good}/map:settings.event=evt/": "takes no events",
        }
        for event, words in wrong.items():
            run = self.run_sonde("record", "-o", "perf.data", "-e", event, "--", "true", status=129)
            self.assertIn("\\___ cannot load this BPF program", run.stderr)
            self.assertIn(words, run.stderr)
        run = self.run_sonde("record", "-o", "perf.data", "-e", f"{good}/map:channel.event=evt/", "--", "true", status=255)
        self.assertIn("no event of that name", run.stderr)
        run = self.run_sonde("record", "-o", "perf.data", "--clang-path", "/nowhere/clang", "-e", good, "--", "true", status=129)
        self.assertIn("needs clang", run.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
