#!/usr/bin/env python3
"""The explorer's page in a browser: what it shows over time."""
import platform
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

import debug_registers
from explorer_page import ExplorerPageTest, FOLDED, KALLSYMS, PREAMBLE, sonde
from tracepoints import SchedulerRecording


class ExplorerTimeTest(ExplorerPageTest):
    # Time.

    def test_range_on_the_strip(self):
        page = self.view_recording()
        self.assertEqual(self.text(page, "#summary"), "500 samples · 500.00 ms")
        x, y, width, height = page.box(".strip")
        page.drag(x + width * 0.701, y + height - 10, x + width * 0.899, y + height - 10)
        # Of 10 s, from 7.01 s to 8.99 s: samples 351 to 449, of which 12 and 25 are the client's.
        self.assertEqual(self.text(page, "#summary"), "99 samples · 99.00 ms · 19.80% of all")
        self.assertRegex(self.text(page, "#crumbs"), r"7\.0[01]\d s – 8\.9[89]\d s")
        page.key("5")
        self.assertEqual({row[4]: row[0] for row in self.table(page)}["lock_page"], "37.37%")
        page.click_on(".chip .remove")
        self.assertEqual(self.text(page, "#summary"), "500 samples · 500.00 ms")

    def marked(self, page):
        """Columns of the strip, in CSS pixels, that have the colour of what is selected, below the axis; and what the axis names."""
        page.evaluate("(() => { window.drawn = []; const p = CanvasRenderingContext2D.prototype, was = p.fillText;"
                      "p.fillText = function (text, ...more) { window.drawn.push(text); was.call(this, text, ...more); }; })()")
        page.evaluate("window.dispatchEvent(new HashChangeEvent('hashchange'))")
        self.settle(page)
        columns = page.evaluate(
            "(() => { const canvas = document.querySelector('.strip canvas'), found = []; const probe = document.createElement('canvas');"
            "const context = probe.getContext('2d'); context.fillStyle = getComputedStyle(document.documentElement)"
            ".getPropertyValue('--match'); context.fillRect(0, 0, 1, 1); const wanted = context.getImageData(0, 0, 1, 1).data.join();"
            "const { width, height } = canvas, all = canvas.getContext('2d').getImageData(0, 0, width, height).data;"
            "for (let x = 0; x < width; ++x) for (let y = 20; y < height; ++y) { const at = 4 * (y * width + x);"
            "if ([all[at], all[at + 1], all[at + 2], all[at + 3]].join() === wanted) { found.push(x); break; } } return found; })()")
        return columns, page.evaluate("window.drawn")

    def test_the_selected_function_is_marked_on_the_strip(self):
        page = self.view_recording(width=1202)
        columns, drawn = self.marked(page)
        self.assertEqual(columns, [], "nothing is selected")
        self.assertLessEqual({"0 s", "5 s", "9 s"}, set(drawn), "the strip has a scale")
        # lock_page is the client's: one sample of four in the first 8 s, every second one after them.
        for query in "#view=sandwich&search=lock_page", "#view=table&search=lock_page":
            page.evaluate(f"location.hash = '{query}'")
            page.wait_for("document.querySelector('#search').value === 'lock_page'")
            if "sandwich" in query:
                page.evaluate("[...document.querySelectorAll('.table .row')].find(r => r.lastChild.textContent === 'lock_page').click()")
            columns, drawn = self.marked(page)
            self.assertIn("lock_page", drawn)
            early = len([x for x in columns if x < 1202 * 0.8])
            self.assertAlmostEqual(early, 2 * 100, delta=8, msg=query)
            self.assertAlmostEqual(len(columns) - early, 2 * 50, delta=8, msg=query)

    def test_the_title_tells_what_was_recorded(self):
        page = self.view_recording()
        title = page.evaluate("document.title")
        self.assertRegex(title, r"^server · \d{4}-\d\d-\d\d \d\d:\d\d · 10\.00 s · perf\.data$", "the process with the most samples")
        self.assertEqual(self.text(page, "h1"), title)
        with (self.directory / "text").open("a") as text:
            text.write('feature CMDLINE: "sonde" "record" "-g" "--" "/opt/bin/compile" "-j4"\n')
        sonde("assemble", "text", "perf.data", directory=self.directory)
        page = self.view("perf.data", options=("--kallsyms", "kallsyms"))
        self.assertRegex(page.evaluate("document.title"), "^compile · ")
        self.assertIn("recorded", page.evaluate("[...document.querySelectorAll('#facts dt')].map(name => name.textContent)"))
        page = self.view(FOLDED)
        self.assertEqual(page.evaluate("document.title"), "0.folded", "of stacks nothing else is known")

    def test_heat_map(self):
        page = self.view_recording()
        page.key("7")
        page.evaluate("[...document.querySelectorAll('.time-bar button')].find(b => b.textContent === '100 ms').click()")
        self.settle(page)
        x, y, width, height = page.box(".heatmap canvas")
        cell_width = max(4, int((width - 64 - 12) / 101))
        cell_height = max(4, (height - 22 - 20) / 50)

        def place(column, row):
            return x + 64 + (column + 0.5) * cell_width, y + 8 + (49 - row + 0.5) * cell_height

        # Columns of 100 ms, rows of 2 ms: there is a sample at each fifth of a column, in rows 0, 10, 20 …
        page.move(*place(3, 20))
        self.settle(page)
        self.assertEqual(self.text(page, ".tooltip .first"), "1 sample")
        page.move(*place(3, 21))
        self.settle(page)
        self.assertEqual(self.text(page, ".tooltip .first"), "0 samples")
        page.drag(*place(2, 20), *place(4, 10))
        # From 0.240 s to 0.422 s: 0.24 … 0.42.
        self.assertEqual(self.text(page, "#summary"), "10 samples · 10.00 ms · 2.00% of all")
        self.assertIn("filter=time%3A240000-421999", self.hash(page))

    def test_threads_of_the_timeline(self):
        page = self.view_recording()
        page.key("6")
        x, y = self.lane(page, 1, 0, 0.5)  # the client's
        page.click(x - 40, y)
        self.assertEqual(self.text(page, "#summary"), "150 samples · 150.00 ms · 30.00% of all")
        self.assertIn("only thread client 20", self.text(page, "#crumbs"))
        page.click(x - 40, y)
        self.assertEqual(self.text(page, "#summary"), "500 samples · 500.00 ms")

    def test_stacks_of_threads_over_time(self):
        """read_file for 0.1 s, lock_page for as long, a pause, and lock_page again: each sample is 1 ms."""
        text = [PREAMBLE]
        for at in (*range(200), *range(300, 400)):
            ip = 0xffffffff81000210 if at < 100 else 0xffffffff81000410
            text.append(f"SAMPLE id=7 mode=kernel ip={ip:#x} pid=10 tid=10 time={5_000_000_000 + at * 1_000_000} cpu=0 period=1000000 "
                        f"chain=kernel,{ip:#x},0xffffffff81000110\n")
        (self.directory / "text").write_text("".join(text))
        (self.directory / "kallsyms").write_text(KALLSYMS)
        sonde("assemble", "text", "perf.data", directory=self.directory)
        page = self.view("perf.data", options=("--kallsyms", "kallsyms"))
        page.key("3")
        self.settle(page)
        x, y, width, _ = page.box(".timeline")
        label = min(230, width * 0.28)

        def place(depth, ms):
            return x + label + ms / 399 * (width - label), y + 20 + 30 + (depth + 0.5) * 15

        def tooltip(depth, ms):
            page.move(*place(depth, ms))
            self.settle(page)
            return page.evaluate("[...document.querySelectorAll('.tooltip div')].map(line => line.textContent)")[2:]

        self.assertEqual(tooltip(0, 50), ["do_syscall", "199.00 ms in 200 samples, from 0.000000 s, [kernel.kallsyms]"])
        self.assertEqual(tooltip(1, 50), ["read_file", "99.00 ms in 100 samples, from 0.000000 s, [kernel.kallsyms]", "called by do_syscall"])
        self.assertEqual(tooltip(1, 150)[:2], ["lock_page", "100.00 ms in 100 samples, from 0.099000 s, [kernel.kallsyms]"])
        self.assertEqual(tooltip(0, 250), [], "nothing is known of the pause")
        self.assertEqual(tooltip(0, 350)[:2], ["do_syscall", "100.00 ms in 100 samples, from 0.299000 s, [kernel.kallsyms]"])
        page.click(*place(1, 50))
        self.assertIn("read_file", self.text(page, ".sandwich-title"))
        page = self.open(self.directory / "page.html", query="#view=chart&filter=function:lock")
        page.wait_for("document.documentElement.dataset.ready")
        self.settle(page)
        self.assertEqual((tooltip(1, 50), tooltip(1, 150)[0]), ([], "lock_page"))

    # The scheduler.

    def view_scheduler(self, **how):
        """"reader" runs from 0 to 20 ms, sleeps until "writer" wakes it at 50, and runs from 51 to 71; "writer" runs from 10 to 60."""
        recording = SchedulerRecording(stacks=True)
        idle, reader, writer = SchedulerRecording.IDLE, ("reader", 10), ("writer", 20)
        for tid, name in (10, "reader"), (20, "writer"):
            recording.name(tid, name)
        ms = 1_000_000
        recording.switch(1000 * ms, 0, idle, 0, reader)
        recording.switch(1010 * ms, 1, idle, 0, writer)
        recording.switch(1020 * ms, 0, reader, 1, idle, chain=[0x1000, 0x2000])
        recording.waking(1050 * ms, 1, writer, reader, chain=[0x3000])
        recording.switch(1051 * ms, 0, idle, 0, reader)
        recording.switch(1060 * ms, 1, writer, 2, idle, chain=[0x5000])
        recording.switch(1071 * ms, 0, reader, 0x100, idle)
        recording.write(self.directory / "perf.data")
        return self.view("perf.data", **how)

    def test_what_threads_did(self):
        page = self.view_scheduler(query="#view=timeline")
        self.assertEqual(page.evaluate("[...document.querySelectorAll('.time-bar .legend span')].map(s => s.textContent)"),
                         ["running", "waits for a CPU", "sleeps", "uninterruptible", "stopped"])
        lanes = {self.lane_tooltip(page, lane, 0.9)[1]: lane for lane in range(3)}
        reader = lanes["reader 10"]
        self.assertEqual(self.lane_tooltip(page, reader, 10 / 71)[2:], ["running on CPU 0 for 20.00 ms"])
        self.assertEqual(self.lane_tooltip(page, reader, 35 / 71)[2:], ["sleeps for 30.00 ms", "woken by writer 20"])
        self.assertEqual(self.lane_tooltip(page, lanes["writer 20"], 65 / 71)[2:], ["uninterruptible for 11.00 ms"])
        page.evaluate("[...document.querySelectorAll('.time-bar button')].find(b => b.textContent === 'CPUs').click()")
        self.assertEqual(self.lane_tooltip(page, 0, 10 / 71)[1:], ["CPU 0 ", "reader 10 for 20.00 ms"])
        self.assertEqual(self.lane_tooltip(page, 1, 65 / 71)[1:], ["CPU 1 ", "idle"])

    def test_what_is_not_known_of_threads_is_said(self):
        recording = SchedulerRecording()
        idle, reader, writer = SchedulerRecording.IDLE, ("reader", 10), ("writer", 20)
        ms = 1_000_000
        for tid, name in (10, "reader"), (20, "writer"):
            recording.name(tid, name)
        for at, leaves, state, comes in ((10, idle, 0, reader), (20, reader, 1, idle), (30, idle, 0, reader), (60, writer, 1, idle),
                                         (70, idle, 0, reader), (80, reader, 0x10, idle), (90, idle, 0, writer), (110, writer, 1, idle)):
            recording.switch(at * ms, 0, leaves, state, comes)
        recording.write(self.directory / "perf.data")
        page = self.view("perf.data", query="#view=timeline")
        self.assertEqual(page.evaluate("[...document.querySelectorAll('.time-bar .legend > span')].at(-1).textContent"), "blank: not known")
        lanes = {self.lane_tooltip(page, lane, 0.95)[1]: lane for lane in range(3)}
        self.assertEqual(self.lane_tooltip(page, lanes["reader 10"], 35 / 100)[2:], ["not known: events are missing here"])
        self.assertEqual(self.lane_tooltip(page, lanes["reader 10"], 95 / 100)[2:], ["had ended"])
        self.assertEqual(self.lane_tooltip(page, lanes["writer 20"], 5 / 100)[2:], ["not known: nothing was recorded of it before"])
        page.evaluate("[...document.querySelectorAll('.time-bar button')].find(b => b.textContent === 'CPUs').click()")
        self.assertEqual(self.lane_tooltip(page, 0, 35 / 100)[2:], ["not known: events are missing here"])
        self.assertEqual(self.lane_tooltip(page, 0, 55 / 100)[2:], ["idle"])

    def test_waits_are_an_event(self):
        page = self.view_scheduler()
        self.assertEqual(page.evaluate("[...document.querySelector('#event').options].map(o => o.text)"),
                         ["sched:sched_switch", "sched:sched_waking", "off-cpu"])
        page.key("e")
        page.key("e")
        self.assertEqual(self.text(page, "#summary"), "1 sample · 30.00 ms", "what the recording cuts off does not count")
        rows = [self.tooltip(page, row, 0.5)[0] for row in range(7)]
        self.assertEqual(rows, ["all", "reader", "[unknown]", "[unknown]", "--", "[unknown]_[w]", "writer_[w]"])
        page = self.view_scheduler(options=("--tid", "10"))
        self.assertNotIn("off-cpu", self.text(page, "#event"), "only where the recording is shown whole")

    # Instruction traces.

    @unittest.skipUnless(platform.machine() == "x86_64" and shutil.which("gcc"), "needs x86-64 and gcc")
    @debug_registers.needed
    def test_calls_of_a_trace(self):
        program = Path(__file__).resolve().parent.parent / "programs" / "calls.c"
        subprocess.run(["gcc", "-O1", "-o", "calls", program], cwd=self.directory, check=True)
        sonde("record", "-N", "-o", "perf.data", "-e", "sonde_step//", "--filter", "start main", "--", "./calls",
              directory=self.directory)
        page = self.view("perf.data", options=("--itrace",), query="#view=timeline")
        self.settle(page)
        x, y, width, _ = page.box(".timeline")
        label = min(230, width * 0.28)

        def tooltip(depth, share):
            page.move(x + label + share * (width - label), y + 20 + 30 + (depth + 0.5) * 15)
            self.settle(page)
            return page.evaluate("[...document.querySelectorAll('.tooltip div')].map(line => line.textContent)")[2:]

        self.assertEqual(tooltip(0, 0.5)[0], "__libc_start_call_main")
        self.assertEqual(tooltip(1, 0.5)[::2], ["main", "called by __libc_start_call_main"])
        calls = {tooltip(depth, share / 100)[0] for depth in (2, 3, 4) for share in range(5, 95)
                 if tooltip(depth, share / 100)}
        self.assertLessEqual({"work", "fibonacci", "catches", "throws"}, calls)
        page.key("1")
        self.assertEqual(self.tooltip(page, 3, 0.5)[:2], ["main", "calls"])


if __name__ == "__main__":
    unittest.main(argv=["explorer_time_test", *sys.argv[2:]])
