#!/usr/bin/env python3
"""The picture of a timeline in a browser: tooltips, zooming, panning, the state in the URL."""
import os
import subprocess
import unittest

import browser
import tracepoints
from tracepoints import SchedulerRecording

SONDE = os.environ["SONDE"]
IDLE = SchedulerRecording.IDLE
MS = 1_000_000


def record(path, threads=4, rounds=50, cpus=2):
    """Threads that take turns on each CPU, a millisecond each, then go on to the next CPU; each is woken half a millisecond before.
    Odd names must not do anything."""
    recording = SchedulerRecording(stacks=True)
    names = [("<&\">'", 100)] + [(f"thread-{i}", 100 + i) for i in range(1, threads)]
    for i in range(rounds):
        for cpu in range(cpus):
            now = (1000 + i) * MS + cpu * 1000
            last, this, following = (names[(i - cpu + by) % threads] for by in (-1, 0, 1))
            recording.switch(now, cpu, last if i else IDLE, 1, this, chain=[0x1000, 0x2000])
            recording.waking(now + MS // 2, cpu, this, following, chain=[0x3000])
    return recording.write(path)


class TimelineTest(browser.BrowserTest):
    def picture(self, *arguments, query="", width=1240, height=700, scheme="light", **how):
        data = record(self.directory / "perf.data", **how)
        path = self.directory / "timeline.svg"
        subprocess.run([SONDE, "timeline", "-i", data, "-o", path, *arguments], check=True, capture_output=True)
        return self.open(path, width=width, height=height, scheme=scheme, query=query)

    def tip(self, page):
        return page.evaluate("[...document.querySelectorAll('#tip text')].map(line => line.textContent)")

    def shown(self, page):
        return page.evaluate("document.querySelector('#shown').textContent")

    def point(self, page, lane, share):
        """In the window: at this fraction of the lane's time."""
        x, y = page.evaluate(f"""(() => {{
            const lane = document.querySelector("#{lane}"), matrix = document.documentElement.getScreenCTM();
            const at = new DOMPoint(layout.left + layout.width * {share}, lane.transform.baseVal[0].matrix.f + 5).matrixTransform(matrix);
            return [at.x, at.y]; }})()""")
        return x, y

    def test_what_lies_under_the_pointer(self):
        page = self.picture()
        page.move(*self.point(page, "c0", 0.505))
        tip = self.tip(page)
        self.assertRegex(tip[0], r"^CPU 0: (<&\">'|thread-[1-3]) \(10[0-3]\)$")
        self.assertRegex(tip[1], r"^1 ms from 1\.\d{6} s \(\+\d+ ms\)$")
        # Of four milliseconds it runs for two; then it is blocked, and waits for the CPU.
        texts = []
        for step in range(40):
            page.move(*self.point(page, "t0", 0.5 + step / 400))
            texts.append(self.tip(page))
        waits = [tip for tip in texts if tip and "sleeping" in tip[0]]
        self.assertTrue(waits, texts)
        self.assertTrue(any(line.startswith("woken by ") for line in waits[0]), waits[0])
        self.assertIn("it left the CPU in", waits[0])
        self.assertIn("its waker was in", waits[0])
        self.assertTrue(any("running on CPU" in tip[0] for tip in texts if tip))
        page.move(5, 5)
        self.assertEqual(self.tip(page), [])

    def test_what_is_not_known_is_said(self):
        recording = SchedulerRecording()
        reader, writer = ("reader", 10), ("writer", 20)
        for at, leaves, state, comes in ((10, IDLE, 0, reader), (20, reader, 1, IDLE), (30, IDLE, 0, reader), (60, writer, 1, IDLE),
                                         (70, IDLE, 0, reader), (80, reader, 0x10, IDLE), (90, IDLE, 0, writer), (110, writer, 1, IDLE)):
            recording.switch(at * MS, 0, leaves, state, comes)
        path = self.directory / "gap.svg"
        subprocess.run([SONDE, "timeline", "-i", recording.write(self.directory / "gap.data"), "-o", path], check=True,
                       capture_output=True)
        page = self.open(path, width=1240, height=700)
        lanes = page.evaluate("Object.fromEntries(timeline.threads.map((thread, i) => [thread.name, 't' + i]))")

        def tip(lane, ms):
            page.move(*self.point(page, lane, (ms - 10) / 100))
            return self.tip(page)
        for zoomed in (False, True):  # drawn by the program, and by the script
            self.assertGreater(page.evaluate("document.querySelectorAll('#c0 .u').length"), 0)
            self.assertEqual(tip("c0", 45), ["CPU 0: not known", "30 ms from 0.030000 s", "events are missing here"])
            self.assertEqual(tip("c0", 65), [], "idle")
            self.assertEqual(tip(lanes["reader"], 45), ["reader (10): not known", "events are missing here"])
            self.assertEqual(tip(lanes["reader"], 105), ["reader (10): had ended"])
            self.assertEqual(tip(lanes["writer"], 15), ["writer (20): not known", "nothing was recorded of it before"])
            self.assertEqual(tip(lanes["writer"], 75)[0], "writer (20): sleeping, was on CPU 0")
            if not zoomed:
                page = self.open(path, width=1240, height=700, query="#time=0,99999999")

    def test_drag_zooms_and_double_click_shows_all(self):
        page = self.picture()
        before = page.evaluate("document.querySelector('#c0').innerHTML")
        y = self.point(page, "c0", 0)[1]
        page.drag(self.point(page, "c0", 0.4)[0], y, self.point(page, "c0", 0.6)[0], y)
        self.assertRegex(self.shown(page), r"^shown: (9\.[89]\d?|10) ms, --time 1\.0\d{8},1\.0\d{8}$")
        self.assertNotEqual(page.evaluate("document.querySelector('#c0').innerHTML"), before)
        self.assertRegex(page.evaluate("location.hash"), r"^#time=\d+,\d+$")
        self.assertEqual(page.evaluate("document.querySelector('#reset').getAttribute('visibility')"), "visible")
        zoomed = self.shown(page)
        page.key("ArrowRight")
        self.assertNotEqual(self.shown(page), zoomed)
        page.key("ArrowLeft")
        self.assertEqual(self.shown(page), zoomed)
        page.key("+")
        self.assertRegex(self.shown(page), r"^shown: (4\.9\d?|5) ms")
        page.click(*self.point(page, "c0", 0.5), times=2)
        self.assertEqual(self.shown(page), "")
        self.assertEqual(page.evaluate("location.hash"), "")
        page.key("+")
        page.click_on("#reset")
        self.assertEqual(self.shown(page), "")

    def test_names_appear_where_there_is_room(self):
        page = self.picture()
        self.assertEqual(page.evaluate("document.querySelectorAll('.run').length"), 0)
        x, y = self.point(page, "c0", 0.5)
        for _ in range(8):
            page.scroll(x, y, -100)
        names = page.evaluate("[...document.querySelectorAll('#c0 .run')].map(name => name.textContent)")
        self.assertTrue(set(names) <= {"<&\">'", "thread-1", "thread-2", "thread-3"} and len(names) >= 3, names)

    def test_the_address_holds_the_state(self):
        page = self.picture(query="#time=10000000,20000000")
        self.assertRegex(self.shown(page), r"^shown: 10 ms, --time 1\.010000000,1\.020000000$")

    def test_many_lanes(self):
        page = self.picture(threads=300, rounds=400, cpus=128, scheme="dark", width=800)
        self.assertEqual(page.evaluate("document.querySelectorAll('.lane').length"), 128 + 200)
        self.assertIn("200 threads (of 300: those that ran longest)", page.evaluate("document.querySelector('#subtitle').textContent"))
        # A picture that is wider than the window shrinks.
        self.assertLessEqual(page.evaluate("document.documentElement.getBoundingClientRect().width"), 800)
        page.move(*self.point(page, "c5", 0.5))
        self.assertRegex(self.tip(page)[0], r"^CPU 5: thread-\d+ ")

    def test_inside_an_image(self):
        data = record(self.directory / "perf.data")
        subprocess.run([SONDE, "timeline", "-i", data, "-o", self.directory / "t.svg"], check=True, capture_output=True)
        text = (self.directory / "t.svg").read_text()
        self.assertNotRegex(text.replace("http://www.w3.org/2000/svg", ""), "https?://")


if __name__ == "__main__":
    unittest.main(argv=["timeline_test"])
