#!/usr/bin/env python3
"""The pictures of timechart in a browser: sleep states and frequencies of CPUs, calls of threads, their tooltips, also zoomed in,
and that they fit their window for 2 and for 128 CPUs."""
import os
import subprocess
import unittest

import browser
import tracepoints

SONDE = os.environ["SONDE"]
MS = 1_000_000
POWER = [("unsigned int", "state"), ("unsigned int", "cpu_id")]
AWAKE = 0xffffffff


def draw(recording, directory, *arguments):
    path = directory / "chart.svg"
    data = recording.write(directory / "perf.data")
    subprocess.run([SONDE, "timechart", "-i", data, "-o", path, *arguments], check=True, capture_output=True)
    return path


def cpus(count=2):
    """Each CPU runs a thread for 10 ms, sleeps in C1 for 10 and in C4 for 20, ten times; CPU 0 is slowed down half way."""
    recording = tracepoints.Recording({"sched:sched_switch": tracepoints.SWITCH, "power:cpu_idle": POWER, "power:cpu_frequency": POWER})
    idle = {"comm": "swapper", "pid": 0}
    for cpu in range(count):
        recording.add("power:cpu_frequency", 1000 * MS + cpu, cpu, 0, state=3_000_000, cpu_id=cpu)
    for i in range(10):
        for cpu in range(count):
            at, own = (1000 + 40 * i) * MS + 1000 * cpu, {"comm": f"task-{cpu}", "pid": 100 + cpu}
            for when, leaves, comes in ((at, idle, own), (at + 10 * MS, own, idle)):
                recording.add("sched:sched_switch", when, cpu, leaves["pid"], prev_comm=leaves["comm"], prev_pid=leaves["pid"],
                              prev_state=1, next_comm=comes["comm"], next_pid=comes["pid"])
            for when, state in ((10, 1), (20, AWAKE), (20, 4), (40, AWAKE)):
                recording.add("power:cpu_idle", at + when * MS + 10, cpu, 0, state=state, cpu_id=cpu)
        if i == 5:
            recording.add("power:cpu_frequency", at, 0, 0, state=1_000_000, cpu_id=0)
    return recording


def calls():
    """A thread reads 4096 bytes in 5 ms, polls for 10, and fails to write with EAGAIN."""
    enter = [("unsigned long", "fd")]
    leave = [("long", "ret")]
    names = ("read", "write", "poll")
    recording = tracepoints.Recording({f"syscalls:sys_{side}_{name}": fields for name in names
                                       for side, fields in (("enter", enter), ("exit", leave))})
    recording.name(50, "reader")
    for i in range(10):
        at = (1000 + 30 * i) * MS
        for name, begin, end, result in (("read", 0, 5, 4096), ("poll", 6, 16, 1), ("write", 20, 24, -11)):
            recording.add(f"syscalls:sys_enter_{name}", at + begin * MS, 0, 50, fd=3)
            recording.add(f"syscalls:sys_exit_{name}", at + end * MS, 0, 50, ret=result & (1 << 64) - 1 if result >= 0 else result)
    return recording


class TimechartTest(browser.BrowserTest):
    def tip(self, page, lane, share):
        x, y = page.evaluate(f"""(() => {{
            const lane = document.querySelector("#{lane}"), matrix = document.documentElement.getScreenCTM();
            const at = new DOMPoint(layout.left + layout.width * {share}, lane.transform.baseVal[0].matrix.f + 5).matrixTransform(matrix);
            return [at.x, at.y]; }})()""")
        page.move(x, y)
        return page.evaluate("[...document.querySelectorAll('#tip text')].map(line => line.textContent)")

    def test_cpus_sleep_and_slow_down(self):
        picture = draw(cpus(), self.directory)
        page = self.open(picture, width=1280, height=800)
        legend = page.evaluate("[...document.querySelectorAll('text.label')].map(text => text.textContent)")
        for words in ("asleep, C1", "asleep, C4", "frequency, up to 3.00 GHz", "running"):
            self.assertIn(words, legend)
        # 400 ms: 10 of them running, 10 in C1, 20 in C4.
        self.assertRegex(self.tip(page, "c0", 5 / 400)[0], r"^CPU 0: task-0 \(100\)$")
        self.assertEqual(self.tip(page, "c0", 15 / 400)[0], "CPU 0: asleep, C1")
        self.assertRegex(self.tip(page, "c0", 15 / 400)[1], r"^10 ms from 1\.010000 s")
        self.assertEqual(self.tip(page, "c0", 30 / 400)[0], "CPU 0: asleep, C4")
        self.assertEqual(page.evaluate("document.querySelectorAll('#c0 .freq').length"), 1)
        page = self.open(picture, width=1280, height=800, query=f"#time={12 * MS},{38 * MS}")
        self.assertEqual(page.evaluate("[...new Set([...document.querySelectorAll('#c0 path')].map(path => path.classList[0]))].sort().join()"),
                         "freq,i1,i4")
        self.assertEqual(self.tip(page, "c0", 0.1)[0], "CPU 0: asleep, C1")

    def test_only_power_and_only_tasks(self):
        page = self.open(draw(cpus(), self.directory, "-P"))
        self.assertEqual(page.evaluate("[document.querySelectorAll('#c1').length, document.querySelectorAll('[id=t0]').length].join()"), "1,0")
        page = self.open(draw(cpus(), self.directory, "-T"))
        self.assertEqual(page.evaluate("[document.querySelectorAll('#c1').length, document.querySelectorAll('[id=t0]').length].join()"), "0,1")

    def test_highlighted_runs_stand_out(self):
        page = self.open(draw(cpus(), self.directory, "--highlight", "task-1"))
        self.assertEqual(page.evaluate("document.querySelectorAll('.marked').length"), 1)
        self.assertIn("task-1", page.evaluate("document.querySelector('.marked').textContent"))
        self.assertIn("highlighted", page.evaluate("document.documentElement.textContent"))

    def test_calls(self):
        page = self.open(draw(calls(), self.directory), width=1280, height=400)
        self.assertEqual(page.evaluate("document.querySelectorAll('[id^=c]').length"), 0)
        span = 294
        self.assertEqual(self.tip(page, "t0", 2 / span)[::2], ["reader (50): disk read", "descriptor 3, 4096 bytes"])
        self.assertEqual(self.tip(page, "t0", 10 / span)[0], "reader (50): poll")
        self.assertEqual(self.tip(page, "t0", 22 / span)[::2], ["reader (50): failed", "descriptor 3, errno 11"])
        page = self.open(draw(calls(), self.directory, "--io-skip-eagain"), width=1280, height=400)
        self.assertFalse(any("failed" in line for line in self.tip(page, "t0", 22 / span)))

    def test_many_cpus_fit(self):
        for count, tallest in ((2, 500), (128, 3600)):
            for width in (1280, 1920):
                page = self.open(draw(cpus(count), self.directory, "-n", "200"), width=width, height=800)
                height = page.evaluate("document.documentElement.viewBox.baseVal.height")
                self.assertLess(height, tallest)
                self.assertLessEqual(page.evaluate("document.documentElement.getBoundingClientRect().right"), width)
                self.assertGreaterEqual(page.evaluate("""Math.min(...[...document.querySelectorAll('text')].filter(text => text.textContent)
                    .map(text => parseFloat(getComputedStyle(text).fontSize)))"""), 10)


if __name__ == "__main__":
    unittest.main(argv=["timechart_test"])
