#!/usr/bin/env python3
"""The explorer's page in a browser: clicks, typing and dragging, and that the numbers are right."""
import collections
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

import debug_registers
import browser
from tracepoints import SchedulerRecording

SONDE = os.environ["SONDE"]
FOLDED = """app;main;parse;read 30
app;main;parse 10
app;main;emit;write 40
app;main;emit;write;read 5
app;idle 15
"""
ROW = 19  # CSS pixels of a frame in a picture

KALLSYMS = "".join(f"ffffffff81000{n}00 T {name}\n" for n, name in
                   enumerate(["_text", "do_syscall", "read_file", "copy_page", "lock_page", "end_of_code"]))
PREAMBLE = r"""event : name = cpu-clock, id = { 7 }, type = 1, { sample_period, sample_freq } = 4000, \
  sample_type = IP|TID|TIME|CALLCHAIN|CPU|PERIOD|IDENTIFIER, freq = 1, sample_id_all = 1
event : name = cycles, id = { 8 }, { sample_period, sample_freq } = 4000, \
  sample_type = IP|TID|TIME|CALLCHAIN|CPU|PERIOD|IDENTIFIER, freq = 1, sample_id_all = 1
MMAP mode=kernel pid=-1 tid=0 start=0xffffffff81000000 length=0x1000000 offset=0xffffffff81000000 path="[kernel.kallsyms]_text" time=0 cpu=0 event=0
COMM pid=10 tid=10 comm="server" time=1000 cpu=0 event=0
COMM pid=20 tid=20 comm="client" time=1000 cpu=0 event=0
"""
SPIN = """volatile int sink;

extern "C" int spin(int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += i * sink;
  }
  return sum;
}

int main() { return spin(3); }
"""
STEP_NS = 20_000_000
SAMPLES = 500


def recording_text():
    """500 samples, one every 20 ms: the server's read a file; every fourth is the client's and waits for a page, in the last 2 s
    every second one. And one of another event."""
    lines = [PREAMBLE]
    for i in range(SAMPLES):
        pid = 20 if i % (4 if i < 400 else 2) == 0 else 10
        chain = "0xffffffff81000410,0xffffffff81000110" if pid == 20 else "0xffffffff81000310,0xffffffff81000210,0xffffffff81000110"
        lines.append(f"SAMPLE id=7 mode=kernel ip={chain.split(',')[0]} pid={pid} tid={pid} time={5_000_000_000 + i * STEP_NS} "
                     f"cpu={i % 2} period=1000000 chain=kernel,{chain}\n")
    lines.append("SAMPLE id=8 mode=kernel ip=0xffffffff81000210 pid=10 tid=10 time=15000000000 cpu=0 period=77 "
                 "chain=kernel,0xffffffff81000210,0xffffffff81000110\n")
    return "".join(lines)


def sonde(*arguments, directory):
    return subprocess.run([SONDE, *arguments], cwd=directory, check=True, capture_output=True, text=True).stdout


class ExplorerTest(browser.BrowserTest):
    def view(self, *inputs, width=1200, height=800, scheme="light", query="", options=()):
        """The page for `inputs`, texts of folded stacks or names of files."""
        names = []
        for number, text in enumerate(inputs):
            if "\n" in text:
                (self.directory / f"{number}.folded").write_text(text)
                text = f"{number}.folded"
            names.append(text)
        sonde("view", "-o", "page.html", *options, *names, directory=self.directory)
        page = self.open(self.directory / "page.html", width, height, scheme, query)
        page.wait_for("document.documentElement.dataset.ready")
        return page

    def view_recording(self, **how):
        (self.directory / "text").write_text(recording_text())
        (self.directory / "kallsyms").write_text(KALLSYMS)
        sonde("assemble", "text", "perf.data", directory=self.directory)
        return self.view("perf.data", options=("--kallsyms", "kallsyms"), **how)

    # What a user sees.

    def text(self, page, selector):
        return page.evaluate(f"document.querySelector({json.dumps(selector)}).textContent")

    def settle(self, page):
        page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def at(self, page, row, share, selector=".flame", upward=True):
        """A position in a picture: in the row (0: the root), at this fraction of its width."""
        self.settle(page)
        x, y, width, height = page.box(selector)
        rows_y = y + height - (row + 0.5) * ROW if upward else y + (row + 0.5) * ROW
        return x + share * width, rows_y

    def tooltip(self, page, *place, **how):
        page.move(*self.at(page, *place, **how))
        self.settle(page)
        return page.evaluate("[...document.querySelectorAll('.tooltip div')].map(line => line.textContent)")

    def table(self, page):
        """Rows by function: texts of the cells."""
        self.settle(page)
        rows = page.evaluate("[...document.querySelectorAll('.table .body .row')].map(row => [...row.children].map(c => c.textContent))")
        return rows

    def hash(self, page):
        return page.evaluate("location.hash")

    # Flame graph and icicle.

    def test_frames_and_their_weights(self):
        page = self.view(FOLDED)
        self.assertEqual(self.text(page, "#summary"), "100 samples")
        self.assertEqual(self.tooltip(page, 0, 0.5)[0], "all")
        self.assertEqual(self.tooltip(page, 2, 0.05)[0], "idle")
        # main's children are in alphabetical order: emit 45, parse 40, after idle's 15.
        self.assertEqual(self.tooltip(page, 3, 0.40), ["emit", "total 45 samples (45.00%)", "self 0 samples (0.00%)"])
        self.assertEqual(self.tooltip(page, 3, 0.90), ["parse", "total 40 samples (40.00%)", "self 10 samples (10.00%)"])
        page.key("2")
        self.assertEqual(self.tooltip(page, 3, 0.90, upward=False)[0], "parse")
        self.assertIn("view=icicle", self.hash(page))

    def test_zoom_reset_and_history(self):
        page = self.view(FOLDED)
        page.click(*self.at(page, 3, 0.90))
        self.assertIn("zoomed to parse", self.text(page, "#crumbs"))
        self.assertEqual(self.tooltip(page, 3, 0.02)[0], "parse")
        self.assertEqual(self.tooltip(page, 4, 0.70), ["read", "total 30 samples (30.00%)", "self 30 samples (30.00%)"])
        self.assertEqual(self.tooltip(page, 1, 0.02)[0], "app", "callers stay, as wide as the picture")
        zoomed = self.hash(page)
        page.key("Escape")
        self.assertNotIn("zoomed", self.text(page, "#crumbs"))
        page.key("u")
        page.wait_for("document.querySelector('#crumbs').textContent.includes('zoomed to parse')")
        self.assertEqual(self.hash(page), zoomed)
        again = self.open(self.directory / "page.html", query=zoomed)
        again.wait_for("document.documentElement.dataset.ready")
        self.assertIn("zoomed to parse", self.text(again, "#crumbs"))

    def test_arrow_keys(self):
        page = self.view(FOLDED)
        for key in ("ArrowUp", "ArrowUp", "ArrowUp"):
            page.key(key)
            self.settle(page)
        self.assertEqual(self.text(page, ".tooltip .first"), "emit", "the heaviest callee")
        page.key("ArrowRight")
        self.assertEqual(self.text(page, ".tooltip .first"), "parse")
        page.key("ArrowDown")
        self.assertEqual(self.text(page, ".tooltip .first"), "main")
        page.key("Enter")
        self.assertIn("zoomed to main", self.text(page, "#crumbs"))

    def test_search(self):
        page = self.view(FOLDED)
        page.key("/")
        page.type("rea|WRITE")
        self.assertEqual(self.text(page, "#matched"), "35.00% matched", "a capital letter makes case count")
        page.evaluate("document.querySelector('#search').select()")
        page.type("rea|write")
        self.assertEqual(self.text(page, "#matched"), "75.00% matched", "read below write counts once")
        self.assertIn("search=rea", self.hash(page))
        page.evaluate("document.querySelector('#search').select()")
        page.type("(")
        self.assertEqual(self.text(page, "#matched"), "not a pattern")
        page.key("Escape")
        self.assertEqual(self.text(page, "#matched"), "")
        self.assertEqual(page.evaluate("document.querySelector('#search').value"), "")

    # Tables.

    def test_table_sorts_and_filters(self):
        page = self.view(FOLDED)
        page.key("4")
        rows = [(row[-3], row[0], row[2]) for row in self.table(page)]
        self.assertEqual(rows[:4], [("write", "40.00%", "45.00%"), ("read", "35.00%", "35.00%"), ("idle", "15.00%", "15.00%"),
                                    ("parse", "10.00%", "40.00%")])
        self.assertEqual(sorted(rows[4:]), [("app", "0.00%", "100%"), ("emit", "0.00%", "45.00%"), ("main", "0.00%", "85.00%")])
        page.click_on(".head button:nth-child(5)")
        self.assertEqual([row[-3] for row in self.table(page)], ["app", "emit", "idle", "main", "parse", "read", "write"])
        page.click_on(".head button:nth-child(5)")
        self.assertEqual(self.table(page)[0][-3], "write")
        page.key("/")
        page.type("read|idle")
        self.assertEqual([row[-3] for row in self.table(page)], ["read", "idle"])

    def test_sandwich(self):
        page = self.view(FOLDED)
        page.key("3")
        page.evaluate("[...document.querySelectorAll('.table .row')].find(r => r.lastChild.textContent === 'read').click()")
        self.assertEqual(self.text(page, ".sandwich-title"), "readtotal 35 samples (35.00%), self 35 samples (35.00%)")
        callers = ".halves .flame:nth-child(2)"
        self.assertEqual(self.tooltip(page, 1, 0.10, selector=callers), ["parse", "total 30 samples (30.00%)"])
        self.assertEqual(self.tooltip(page, 1, 0.95, selector=callers), ["write", "total 5 samples (5.00%)"])
        self.assertEqual(self.tooltip(page, 2, 0.95, selector=callers)[0], "emit")
        page.evaluate("[...document.querySelectorAll('.table .row')].find(r => r.lastChild.textContent === 'main').click()")
        callees = ".halves .flame:nth-child(4)"
        self.assertEqual(self.tooltip(page, 0, 0.5, selector=callees, upward=False)[:2], ["main", "total 85 samples (85.00%)"])
        self.assertEqual(self.tooltip(page, 1, 0.10, selector=callees, upward=False)[:2], ["emit", "total 45 samples (45.00%)"])
        page.click(*self.at(page, 1, 0.10, selector=callees, upward=False))
        self.assertIn("emit", self.text(page, ".sandwich-title"), "a click goes on to that function")

    def test_recursion_counts_once(self):
        page = self.view("a;f;f;f 4\na;f;g;f 2\na;g 1\n")
        page.key("4")
        totals = {row[-3]: (row[0], row[2]) for row in self.table(page)}
        self.assertEqual(totals["f"], ("85.71%", "85.71%"))
        self.assertEqual(totals["g"], ("14.29%", "42.86%"))
        page.key("3")
        page.evaluate("[...document.querySelectorAll('.table .row')].find(r => r.lastChild.textContent === 'f').click()")
        self.assertIn("total 6 samples", self.text(page, ".sandwich-title"))

    # Time.

    def test_range_on_the_strip(self):
        page = self.view_recording()
        self.assertEqual(self.text(page, "#summary"), "500 samples · 500.00 ms")
        x, y, width, height = page.box(".strip")
        page.drag(x + width * 0.701, y + height - 10, x + width * 0.899, y + height - 10)
        # Of 10 s, from 7.01 s to 8.99 s: samples 351 to 449, of which 12 and 25 are the client's.
        self.assertEqual(self.text(page, "#summary"), "99 samples · 99.00 ms · 19.80% of all")
        self.assertRegex(self.text(page, "#crumbs"), r"7\.0[01]\d s – 8\.9[89]\d s")
        page.key("4")
        self.assertEqual({row[4]: row[0] for row in self.table(page)}["lock_page"], "37.37%")
        page.click_on(".chip .remove")
        self.assertEqual(self.text(page, "#summary"), "500 samples · 500.00 ms")

    def test_heat_map(self):
        page = self.view_recording()
        page.key("6")
        page.evaluate("[...document.querySelectorAll('.time-bar button')].find(b => b.textContent === '100 ms').click()")
        self.settle(page)
        x, y, width, height = page.box(".heatmap canvas")
        cell_width = max(4, min(64, int((width - 64 - 12) / 101)))
        cell_height = max(4, min(16, (height - 22 - 20) / 50))

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
        page.key("5")
        self.settle(page)
        x, y, width, height = page.box(".timeline")
        page.click(x + 40, y + 20 + 30 + 15)  # the second lane: the client's
        self.assertEqual(self.text(page, "#summary"), "150 samples · 150.00 ms · 30.00% of all")
        self.assertIn("only thread client 20", self.text(page, "#crumbs"))
        page.click(x + 40, y + 20 + 30 + 15)
        self.assertEqual(self.text(page, "#summary"), "500 samples · 500.00 ms")

    def test_events(self):
        page = self.view_recording()
        page.key("e")
        self.assertEqual(self.text(page, "#summary"), "1 sample · 77 events")
        self.assertIn("event=1", self.hash(page))
        page.evaluate("(() => { const s = document.querySelector('#event'); s.value = '0'; s.dispatchEvent(new Event('change')); })()")
        self.assertEqual(self.text(page, "#summary"), "500 samples · 500.00 ms")

    # Code.

    def view_program(self):
        """Samples on the first instruction of a function of a real program and on its `ret`: thirty, and ten half a second
        later."""
        (self.directory / "spin.cc").write_text(SPIN)
        subprocess.run(["g++", "-g", "-O1", "-fcf-protection=none", "-no-pie", "-o", "spin", "spin.cc"], cwd=self.directory, check=True)
        listed = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "--disassemble=spin", "spin"], cwd=self.directory,
                                check=True, capture_output=True, text=True).stdout
        instructions = re.findall(r"^ +([0-9a-f]+):\t(\w+)", listed, re.M)
        start = int(instructions[0][0], 16)
        end = next(int(address, 16) for address, name in instructions if name.startswith("ret"))
        text = [PREAMBLE, f'MMAP2 mode=user pid=20 tid=20 start=0x401000 length=0x1000 offset=0x1000 path="{self.directory}/spin" '
                'protection=5 flags=2 time=1000 cpu=0 event=0\n']
        for i in range(40):
            ip, time = (start, i) if i < 30 else (end, i + 500)
            text.append(f"SAMPLE id=7 mode=user ip={ip:#x} pid=20 tid=20 time={1_000_000_000 + time * 1_000_000} cpu=0 "
                        f"period=1000000 chain=user,{ip:#x}\n")
        (self.directory / "text").write_text("".join(text))
        sonde("assemble", "text", "perf.data", directory=self.directory)
        return self.view("perf.data", query="#view=code", options=["--unverified-symbols"])

    def code(self, page):
        """Lines of the listing with a weight: share, mark, text."""
        self.settle(page)
        return page.evaluate("[...document.querySelectorAll('.listing .code')].map(line => [...line.children].map(c => c.textContent))"
                             ".filter(line => line[0] !== '')")

    def test_instructions_and_source(self):
        page = self.view_program()
        lines = self.code(page)
        self.assertEqual(sorted(line[0] for line in lines), ["25.00%", "75.00%"])
        self.assertEqual(lines[0][1], "0")
        self.assertRegex(next(line[2] for line in lines if line[0] == "25.00%"), "^ret")
        page.evaluate("[...document.querySelectorAll('.modes button')].find(b => b.textContent === 'Source').click()")
        self.assertIn("code=source", self.hash(page))
        lines = self.code(page)
        self.assertEqual([line[0] for line in lines], ["75.00%", "25.00%"])
        for _, number, text in lines:  # the compiler decides which line an instruction belongs to
            self.assertEqual(text, SPIN.splitlines()[int(number) - 1])
        page.key("1")
        x, y, width, height = page.box(".strip")
        page.drag(x + width * 0.5, y + height - 10, x + width, y + height - 10)
        page.key("7")
        self.assertEqual([line[0] for line in self.code(page)], ["100%"], "the range holds for code, too")

    def test_no_code_no_view(self):
        page = self.view(FOLDED)
        self.assertEqual(page.evaluate("[...document.querySelectorAll('.tabs button')].map(b => b.dataset.view)"),
                         ["flame", "icicle", "sandwich", "table"])

    # Filters.

    def test_filters_and_their_path(self):
        page = self.view_recording(query="#view=table&filter=-function%3Alock_page&filter=process%3A10")
        self.assertEqual(self.text(page, "#summary"), "350 samples · 350.00 ms · 70.00% of all")
        self.assertEqual(page.evaluate("document.querySelectorAll('.chip').length"), 2)
        page.key("f")
        page.type("copy")
        page.key("Enter")
        self.assertEqual(page.evaluate("document.querySelectorAll('.chip').length"), 3)
        page.click_on(".chip .crumb")
        self.assertEqual(page.evaluate("document.querySelectorAll('.chip').length"), 1, "a click on the path goes back to there")
        page.click_on("#undo")
        page.wait_for("document.querySelectorAll('.chip').length === 3")
        page.key("Escape")
        self.assertEqual(self.text(page, "#summary"), "500 samples · 500.00 ms")

    def test_words_in_the_address_that_make_no_sense(self):
        page = self.view(FOLDED, query="#view=nothing&zoom=99999&event=7&filter=time:x&filter=function:(&focus=-3&sort=%00&stretch=1")
        self.assertIsNotNone(self.text(page, "#summary"))

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

    def lane_tooltip(self, page, lane, share):
        """At this fraction of a lane's time."""
        self.settle(page)
        x, y, width, _ = page.box(".timeline")
        label = min(230, width * 0.28)
        page.move(x + label + share * (width - label), y + 20 + (lane + 0.8) * 44)
        self.settle(page)
        return page.evaluate("[...document.querySelectorAll('.tooltip div')].map(line => line.textContent)")

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

    # Two profiles.

    def test_comparison(self):
        page = self.view("app;main;old 50\napp;main;same 50\n", "app;main;new 25\napp;main;same 75\n")
        self.assertIn("before 100 samples · after 100 samples", self.text(page, "#summary"))
        self.assertEqual(self.tooltip(page, 3, 0.1)[-1], "new")
        self.assertEqual(self.tooltip(page, 3, 0.6)[-3:], ["before: total 50 samples (50.00%), self 50 samples (50.00%)",
                         "after: total 75 samples (75.00%), self 75 samples (75.00%)", "+25.00 percentage points"])
        self.assertEqual(self.color(page, 3, 0.1), "red")
        page.evaluate("(() => { const s = document.querySelector('#side'); s.value = 'before'; s.dispatchEvent(new Event('change')); })()")
        self.assertEqual(self.tooltip(page, 3, 0.1)[-1], "gone")
        self.assertEqual(self.color(page, 3, 0.1), "blue")
        page.key("4")
        rows = {row[4]: row[:4] for row in self.table(page)}
        self.assertEqual(rows["old"], ["−50.00%", "−50.00%", "50.00%", "0.00%"])
        self.assertEqual(rows["same"], ["+25.00%", "+25.00%", "50.00%", "75.00%"])

    def test_comparison_of_several_events(self):
        (self.directory / "kallsyms").write_text(KALLSYMS)
        text = recording_text()
        without_last_second = "".join(line + "\n" for line in text.splitlines() if not re.search(r"time=14\d{9} ", line))
        for name, content in (("a", without_last_second), ("b", text.replace("period=77", "period=99"))):
            (self.directory / "text").write_text(content)
            sonde("assemble", "text", name, directory=self.directory)
        page = self.view("a", "b", options=("--kallsyms", "kallsyms"))
        self.assertEqual(page.evaluate("[...document.querySelector('#event').options].map(o => o.text)"), ["cpu-clock", "cycles"])
        self.assertEqual(self.text(page, "#summary"), "before 450.00 ms · after 500.00 ms")
        page.key("e")
        self.assertIn("event=1", self.hash(page))
        self.assertEqual(self.tooltip(page, 0, 0.5)[1:3],
                         ["before: total 77 events (100%), self 0 events (0.00%)", "after: total 99 events (100%), self 0 events (0.00%)"])
        page = self.view("a", "b", options=("--kallsyms", "kallsyms", "-e", "cycles"))
        self.assertTrue(page.evaluate("document.querySelector('#event').hidden"))

    def test_folded_stacks_with_two_counts_are_a_comparison(self):
        page = self.view("a;old 5 0\na;same 5 10\n")
        self.assertIn("before 10 samples · after 10 samples", self.text(page, "#summary"))

    def color(self, page, row, share):
        x, y = self.at(page, row, share)
        red, _, blue, _ = page.evaluate(
            "(() => { const c = document.querySelector('.flame canvas'), b = c.getBoundingClientRect();"
            f"return [...c.getContext('2d').getImageData({x} - b.left, {y} - b.top - 7, 1, 1).data]; }})()")
        return "red" if red > blue + 40 else "blue" if blue > red + 40 else "none"

    # Looks, and odd names.

    def test_dark_and_light(self):
        for scheme, dark in (("light", False), ("dark", True)):
            page = self.view(FOLDED, scheme=scheme)
            self.assertEqual(self.is_dark(page), dark)
            page.click_on("#theme")
            self.assertEqual(self.is_dark(page), not dark)
            self.assertIn("theme=", self.hash(page))

    def is_dark(self, page):
        red = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0]")
        return int(red) < 128

    def test_hostile_names(self):
        names = ['<img src=x onerror="alert(1)">', "</script><script>alert(2)</script>", "a&amp b\"'<>", "x" * 10_000, "名前" * 300,
                 "$&`${alert(3)}", "]]>--><!--", "constructor", "__proto__", "a\\u2028b"]
        stack = ";".join(names)
        title = "<&\">'</title><script>alert(4)</script>"
        page = self.view(stack + " 3\n", options=("--title", title))
        self.assertEqual(page.evaluate("document.title"), title)
        self.assertEqual(self.text(page, "h1"), title)
        self.assertEqual(page.evaluate("document.images.length"), 0)
        for row, name in enumerate(names):
            self.assertEqual(self.tooltip(page, row + 1, 0.5)[0], name[:1500])
        for view in "1234":
            page.key(view)
            self.settle(page)
        rows = {row[4] for row in self.visit_table(page)}
        self.assertEqual(rows, {name[:400] for name in names})

    def visit_table(self, page):
        page.key("4")
        return self.table(page)

    def test_deep_stacks(self):
        page = self.view(";".join(f"f{i}" for i in range(200)) + " 1\n", width=900, height=600)
        self.assertEqual(self.tooltip(page, 0, 0.5)[0], "all")
        for _ in range(200):
            page.key("ArrowUp")
        self.settle(page)
        self.assertEqual(self.text(page, ".tooltip .first"), "f199", "the picture scrolls along")

    def test_nothing_left(self):
        page = self.view(FOLDED, query="#filter=function%3Anosuchthing")
        self.assertIn("Nothing passes", self.text(page, "main"))

    def test_two_window_sizes(self):
        for width, height in ((1600, 1000), (700, 500)):
            page = self.view_recording(width=width, height=height)
            for view in "123456":
                page.key(view)
                self.settle(page)
                self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), width, f"view {view} at {width}")
                self.assertLessEqual(page.evaluate("document.documentElement.scrollHeight"), height, f"view {view} at {width}")

    def test_help_names_every_key(self):
        page = self.view(FOLDED)
        page.key("?")
        self.assertTrue(page.evaluate("document.querySelector('#help').open"))
        page.key("Escape")
        self.assertFalse(page.evaluate("document.querySelector('#help').open"))

    # The same numbers as elsewhere.

    def test_same_as_fold_and_report(self):
        page = self.view_recording(query="#view=table")
        shown = {row[4]: (row[0], row[2]) for row in self.table(page)}
        folded = sonde("fold", "--kallsyms", "kallsyms", "perf.data", directory=self.directory)
        self.assertEqual(shown, shares_of(folded))
        report = sonde("report", "--stdio", "--kallsyms", "kallsyms", "--no-children", "-g", "none", "-s", "sym",
                       directory=self.directory).split("# Samples:")[1]
        for share, name in re.findall(r"^ +([\d.]+%)  \[k\] (\w+)", report, re.M):
            self.assertEqual(shown[name][0], share)

    def test_intervals_are_those_of_report(self):
        page = self.view_recording(query="#view=table")
        self.assertNotIn("95% interval", self.text(page, ".head"))
        page.click_on("#intervals")
        shown = {row[4]: (row[1], row[3]) for row in self.table(page)}
        report = sonde("report", "--stdio", "--kallsyms", "kallsyms", "-g", "none", "-s", "sym", "--confidence", "-t", ";",
                       directory=self.directory).split("# Samples:")[1]
        ends = r" *([\d.]+) \.\. ([\d.]+) *"
        found = re.findall(rf"^[^;]*;{ends};[^;]*;{ends};\[k\] (\w+)", report, re.M)
        self.assertEqual(len(found), len(shown) - 2)  # the commands
        for total_low, total_high, low, high, name in found:
            self.assertEqual(shown[name], (f"{low} – {high}%", f"{total_low} – {total_high}%"))
        page.key("1")
        lines = self.tooltip(page, 0, 0.5)
        self.assertEqual(lines[2:3], ["95% interval 99.24 – 100.00%"])  # 500 of 500: z² / (500 + z²) may be missing
        page.key("i")
        self.assertFalse([line for line in self.tooltip(page, 0, 0.4) if "interval" in line])

    def test_few_samples_have_wide_intervals(self):
        page = self.view_recording(query="#view=table&intervals=1&filter=process:20")
        low, high = (float(end.strip(" %")) for end in next(row[1] for row in self.table(page) if row[4] == "lock_page").split("–"))
        self.assertEqual(high, 100)
        self.assertTrue(97 < low < 98.5, low)  # all of the client's 150 samples

    def test_report_html_is_the_same_page(self):
        self.view_recording()
        sonde("report", "--kallsyms", "kallsyms", "--html=report.html", directory=self.directory)
        self.assertEqual((self.directory / "report.html").read_text(), (self.directory / "page.html").read_text())


def shares_of(folded):
    """By function: its self share and its total share, from the first event's folded stacks."""
    own, total, whole = collections.Counter(), collections.Counter(), 0
    for line in folded.splitlines():
        stack, _, weight = line.rpartition(" ")
        names = stack.split(";")
        own[names[-1]] += int(weight)
        whole += int(weight)
        for name in set(names):
            total[name] += int(weight)
    return {name: tuple(percent(counts[name], whole) for counts in (own, total)) for name in total}


def percent(part, whole):
    return "100%" if part == whole else f"{100 * part / whole:.2f}%"


if __name__ == "__main__":
    unittest.main(argv=["explorer_test", *sys.argv[2:]])
