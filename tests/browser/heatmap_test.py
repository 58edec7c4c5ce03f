#!/usr/bin/env python3
"""Heat maps in a browser: tooltips of boxes, and ranges selected by clicks."""
import os
import subprocess
import unittest

import browser
import tracepoints

SONDE = os.environ["SONDE"]
REQUEST = [("dev_t", "dev"), ("sector_t", "sector")]
BLOCK = {"block:block_rq_issue": REQUEST, "block:block_rq_complete": REQUEST}
MS = 1_000_000


class HeatMapTest(browser.BrowserTest):
    def recording(self):
        """A request every 10 ms from 5 s on, whose latency grows from 1 to 100 ms in each second."""
        recording = tracepoints.Recording(BLOCK)
        for i in range(300):
            recording.add("block:block_rq_issue", 5_000_000_000 + i * 10 * MS, dev=8, sector=i)
            recording.add("block:block_rq_complete", 5_000_000_000 + (i * 10 + i % 100 + 1) * MS, dev=8, sector=i)
        return recording.write(self.directory / "perf.data")

    def picture(self, *arguments, text=None, **how):
        path = self.directory / "map.svg"
        done = subprocess.run([SONDE, "heatmap", "-o", path, *map(str, arguments)], input=text, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.open(path, **how)

    def text(self, page, name):
        return page.evaluate(f"document.querySelector('#{name}').textContent")

    def box(self, page, column, row):
        """The middle of a box in the window."""
        return page.evaluate(f"""(() => {{
            const matrix = document.documentElement.getScreenCTM();
            const at = new DOMPoint(map.left + map.boxWidth * ({column} + 0.5),
                                    map.top + map.boxHeight * (map.rows - {row} - 0.5)).matrixTransform(matrix);
            return [at.x, at.y]; }})()""")

    def test_boxes_say_what_they_are(self):
        page = self.picture("-i", self.recording(), "--scale", "linear", "--steplat", "10ms", "--stepsec", "1")
        titles = page.evaluate("[...document.querySelectorAll('#cells title')].map(title => title.textContent)")
        self.assertIn("1 s to 2 s, 10 ms to 20 ms: 10 events, 10.0 % of this time's, 19.0 % up to here", titles)
        page.move(*self.box(page, 1, 2))
        self.assertRegex(self.text(page, "details"), r"^1 s to 2 s, 20 ms to 30 ms: 10 events")
        page.move(2, 2)
        self.assertEqual(self.text(page, "details").strip(), "")

    def test_two_clicks_choose_a_time(self):
        page = self.picture("-i", self.recording(), "--scale", "linear", "--stepsec", "0.5")
        page.click(*self.box(page, 3, 1))
        self.assertRegex(self.text(page, "range"), r"^from 6\.501000000 s: click where the range ends$")
        page.move(*self.box(page, 2, 1))
        page.click(*self.box(page, 1, 5))  # backwards
        self.assertEqual(self.text(page, "range"), "--time 5.501000000,7.001000000")
        self.assertEqual(page.evaluate("document.querySelectorAll('#chosen path').length"), 1)
        page.key("Escape")
        self.assertEqual(self.text(page, "range"), "Two clicks choose a range of time.")
        self.assertEqual(page.evaluate("document.querySelectorAll('#chosen path').length"), 0)

    def test_a_range_inside_a_second(self):
        page = self.picture("--subsecond", "-i", self.recording(), "-e", "block:block_rq_issue")
        page.click(*self.box(page, 1, 10))
        page.click(*self.box(page, 1, 14))
        self.assertRegex(self.text(page, "range"), r"6\.200000000,6\.300000000")
        page.click(*self.box(page, 0, 49))
        page.click(*self.box(page, 1, 0))
        self.assertRegex(self.text(page, "range"), r"5\.980000000,6\.020000000")

    def test_text_has_no_clock(self):
        page = self.picture("--title", "</title><script>alert(1)</script><&\">'" + "x" * 10000, "--unitslatency", "<b>", "--fonttype",
                            "x;}</style><script>alert(2)</script>", text="0 1\n1 5\n", width=700, height=500, scheme="dark")
        page.click(*self.box(page, 0, 0))
        self.assertEqual(self.text(page, "range").strip(), "")
        self.assertLess(page.evaluate("document.querySelector('.title').getBoundingClientRect().right"), 700)
        self.assertEqual(page.evaluate("document.querySelectorAll('script').length"), 1)
        dark = page.evaluate("getComputedStyle(document.querySelector('.page')).fill")
        page.prefer("light")
        self.assertNotEqual(page.evaluate("getComputedStyle(document.querySelector('.page')).fill"), dark)


if __name__ == "__main__":
    unittest.main(argv=["heatmap_test"])
