#!/usr/bin/env python3
"""The explorer's page in a browser: clicks, typing and dragging, and that the numbers are right."""
import collections
import re
import subprocess
import sys
import unittest

from explorer_page import ExplorerPageTest, FOLDED, KALLSYMS, PREAMBLE, recording_text, ROW, sonde, STEP_NS

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


class ExplorerTest(ExplorerPageTest):
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
        self.assertEqual(self.text(page, ".sandwich-title"), "writetotal 45 samples (45.00%), self 40 samples (40.00%)",
                         "opens with the hottest function")
        self.assertEqual(self.text(page, ".row.chosen .name"), "write")
        page.evaluate("[...document.querySelectorAll('.table .row')].find(r => r.lastChild.textContent === 'read').click()")
        self.assertEqual(self.text(page, ".sandwich-title"), "readtotal 35 samples (35.00%), self 35 samples (35.00%)")
        self.assertIn("focus=", self.hash(page))
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

    def test_events(self):
        page = self.view_recording()
        page.key("e")
        self.assertEqual(self.text(page, "#summary"), "1 sample · 77 events")
        self.assertIn("event=1", self.hash(page))
        page.evaluate("(() => { const s = document.querySelector('#event'); s.value = '0'; s.dispatchEvent(new Event('change')); })()")
        self.assertEqual(self.text(page, "#summary"), "500 samples · 500.00 ms")

    def test_the_first_event_is_of_cpu_time(self):
        preamble = PREAMBLE.replace("name = cpu-clock", "name = sched:sched_waking").replace("type = 1", "type = 2, config = 300")
        samples = "".join(f"SAMPLE id={7 + i % 2} mode=kernel ip=0xffffffff81000210 pid=10 tid=10 time={5_000_000_000 + i * STEP_NS} "
                          "cpu=0 period=1 chain=kernel,0xffffffff81000210\n" for i in range(11))
        (self.directory / "kallsyms").write_text(KALLSYMS)
        for name, text in (("both", samples), ("one", samples.replace("id=8", "id=7"))):
            (self.directory / "text").write_text(preamble + text)
            sonde("assemble", "text", name, directory=self.directory)
        page = self.view("both", options=("--kallsyms", "kallsyms"))
        self.assertEqual(page.evaluate("document.querySelector('#event').selectedOptions[0].text"), "cycles")
        self.assertEqual(self.text(page, "#summary"), "5 samples · 5 events")
        page.key("e")
        self.assertIn("event=0", self.hash(page))
        self.assertIn("6 samples", self.text(page, "#summary"))
        again = self.open(self.directory / "page.html", query=self.hash(page))
        again.wait_for("document.documentElement.dataset.ready")
        self.assertIn("6 samples", self.text(again, "#summary"))
        page = self.view("one", options=("--kallsyms", "kallsyms"))
        self.assertIn("11 samples", self.text(page, "#summary"), "one without samples is not chosen")

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
        page.key("8")
        self.assertEqual([line[0] for line in self.code(page)], ["100%"], "the range holds for code, too")

    def test_code_opens_with_the_hottest_that_has_source(self):
        """bare, without lines, has 4 samples, spin 3, and cool 1."""
        (self.directory / "bare.cc").write_text("int sinks; void bare() { for (int i = 0; i < 9; ++i) sinks += i; }\n")
        (self.directory / "spin.cc").write_text(SPIN.replace("return spin(3)", "void bare(); bare(); return spin(3)") +
                                                "void cool() { sink = 1; }\n")
        flags = ["-O1", "-fcf-protection=none", "-no-pie"]
        subprocess.run(["g++", "-c", *flags, "bare.cc"], cwd=self.directory, check=True)
        subprocess.run(["g++", "-g", *flags, "-o", "spin", "spin.cc", "bare.o"], cwd=self.directory, check=True)
        symbols = subprocess.run(["nm", "-C", "spin"], cwd=self.directory, check=True, capture_output=True, text=True).stdout
        starts = {name: int(address, 16) for address, name in re.findall(r"^([0-9a-f]+) T (bare\(\)|spin|cool\(\))$", symbols, re.M)}
        hits = [starts["bare()"]] * 4 + [starts["spin"]] * 3 + [starts["cool()"]]
        text = [PREAMBLE, f'MMAP2 mode=user pid=20 tid=20 start=0x401000 length=0x1000 offset=0x1000 path="{self.directory}/spin" '
                'protection=5 flags=2 time=1000 cpu=0 event=0\n']
        text += [f"SAMPLE id=7 mode=user ip={ip:#x} pid=20 tid=20 time={1_000_000_000 + i * 1_000_000} cpu=0 period=1000000 "
                 f"chain=user,{ip:#x}\n" for i, ip in enumerate(hits)]
        (self.directory / "text").write_text("".join(text))
        sonde("assemble", "text", "perf.data", directory=self.directory)
        page = self.view("perf.data", query="#view=code", options=["--unverified-symbols"])
        self.assertEqual(self.text(page, ".sandwich-title strong"), "spin")
        self.assertEqual(self.text(page, ".row.chosen .name"), "spin")
        page.key("1")
        line = subprocess.run(["addr2line", "-s", "-e", "spin", f"{starts['spin']:#x}"], cwd=self.directory, check=True,
                              capture_output=True, text=True).stdout.strip()
        self.assertRegex(line, r"^spin\.cc:\d+$")
        self.assertIn(line, self.tooltip(page, 2, 0.99), "tooltips have the line")
        page = self.open(self.directory / "page.html", query="#view=code&filter=function:bare")
        page.wait_for("document.documentElement.dataset.ready")
        self.assertEqual(self.text(page, ".sandwich-title strong"), "bare", "nothing with source passes")

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
        self.settle(page)
        rows = page.evaluate("[...document.querySelectorAll('.table .body .name:nth-child(5)')].map(cell => cell.title)")
        self.assertEqual(set(rows), {name[:2000] for name in names})

    # Long names.

    LONG = "std::vector<std::pair<int, long>, std::allocator<std::pair<int, long> > >::push_back"
    DEEP = "app::Store<app::Key<int>, (anonymous namespace)::Hash>::operator<< <std::less<int> >"

    def names_drawn(self, page, width):
        """The texts in a flame graph of a window that is so wide."""
        page.evaluate("(() => { window.drawn = []; const p = CanvasRenderingContext2D.prototype, was = p.fillText;"
                      "p.fillText = function (text, ...more) { window.drawn.push(text); was.call(this, text, ...more); }; })()")
        page.resize(width, 800)
        return set(page.wait_for("window.drawn.includes('all') && window.drawn"))

    def test_names_are_shortened_inside(self):
        page = self.view(f"{self.LONG};{self.DEEP};a_plain_function_with_a_name_that_is_long 1\n", width=1000)
        for width, names in ((700, {self.LONG, self.DEEP, "a_plain_function_with_a_name_that_is_long"}),
                             (550, {"std::vector<std::pair<int, long>, std::allocator<std::pair<…> > >::push_back",
                                    "app::Store<app::Key<…>, (anonymous namespace)::Hash>::operator<< <std::less<…> >"}),
                             (450, {"std::vector<std::pair<…>, std::allocator<…> >::push_back", "app::Store<…>::operator<< <…>"}),
                             (80, {"…push_back"}),
                             (250, {"std::vector<…>::push_back", "app::Store<…>::operator<< <…>"})):
            drawn = self.names_drawn(page, width)
            self.assertLessEqual(names, drawn)
        plain = next(name for name in drawn if name.startswith("a_"))
        self.assertRegex(plain, "^a_.*….*_long$", "the middle is left out")

    def test_names_in_tables_are_shortened_inside(self):
        page = self.view(f"{self.LONG} 2\n", query="#view=sandwich", width=1150)
        self.settle(page)
        cell = page.evaluate("(() => { const cell = document.querySelector('.table .body .row').lastChild;"
                             "return [cell.textContent, cell.title, cell.scrollWidth <= cell.clientWidth]; })()")
        self.assertEqual(cell, ["std::vector<…>::push_back", self.LONG, True])
        page.resize(3000, 800)
        page.wait_for("document.querySelector('.table .body .row').lastChild.textContent.includes('allocator')")

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

    def test_on_a_phone(self):
        self.view_recording()
        page = self.browser.page()
        self.addCleanup(self.check_and_close, page)
        page.be_phone()
        page.open(self.directory / "page.html").wait_for("document.documentElement.dataset.ready")
        for view in page.evaluate("[...document.querySelectorAll('.tabs button')].map(b => b.dataset.view)"):
            page.tap(*self.middle(page, f".tabs button[data-view={view}]"))
            page.wait_for(f"location.hash.includes('view={view}')")
            self.settle(page)
            self.assertEqual(page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"), [390, 844], view)
            x, _, width, _ = page.box(f".tabs button[data-view={view}]")
            self.assertTrue(0 <= x and x + width <= 390, f"the tab of {view} is in sight")
            self.assertNotRegex(page.evaluate("document.body.innerText + document.querySelector('#search').placeholder"), r"/$|\bz to|\bclick",
                                "there are no keys")
        page.tap(*self.middle(page, "header button:last-child"))  # help
        self.assertIn("tap on a frame", self.text(page, "#help"))
        self.assertNotRegex(self.text(page, "#help"), "Esc|Shift|Ctrl")
        page.tap(*self.middle(page, "#help .close"))
        page.tap(*self.middle(page, ".tabs button[data-view=flame]"))
        page.wait_for("location.hash.includes('view=flame')")
        page.tap(*self.at(page, 1, 0.9))
        page.wait_for("location.hash.includes('zoom=')")
        self.assertEqual(self.text(page, ".tooltip .first"), "server", "nothing hovers: a tap tells")
        x, y, width, height = page.box(".strip")
        page.swipe(x + width * 0.2, y + height - 10, x + width * 0.6, y + height - 10)
        page.wait_for("document.querySelector('#crumbs').textContent.match(/(1\\.9|2\\.0)\\d+ s – (5\\.9|6\\.0)\\d+ s/)")

    def middle(self, page, selector):
        x, y, width, height = page.box(selector)
        return x + width / 2, y + height / 2

    def test_a_large_window_is_filled(self):
        """Whatever is shown reaches the lower end, or leaves the room to something else."""
        page = self.view(FOLDED, width=1440, height=900)
        self.settle(page)
        _, y, _, height = page.box(".flame")
        self.assertEqual((height, y + height), (6 * ROW, 900), "as high as the stacks")
        _, list_y, _, list_height = page.box("main > .table")
        self.assertAlmostEqual(list_y + list_height, y, delta=1)
        self.assertEqual(self.table(page)[0][-3], "write")
        page.key("2")
        self.settle(page)
        self.assertEqual(page.evaluate("[...document.querySelector('main').children].map(c => c.className)"), ["flame", "table"])
        page.click(*self.at(page, 3, 0.9, upward=False))
        self.assertEqual(page.box(".flame")[3], 6 * ROW, "a zoom changes no heights")
        page.resize(1440, 300)
        page.wait_for("document.querySelector('main > .table').hidden")
        page = self.view_recording(width=1440, height=900, query="#view=timeline")
        self.settle(page)
        tops = [int(top) for top in page.evaluate("document.querySelector('.timeline').dataset.tops").split()]
        self.assertAlmostEqual(page.box(".timeline")[1] + 20 + tops[-1], 900, delta=len(tops))
        page.key("7")
        self.settle(page)
        x, y, width, height = page.box(".heatmap")
        page.move(x + width - 120, y + height - 40)
        self.settle(page)
        self.assertIn("sample", self.text(page, ".tooltip .first"))
        page = self.view(FOLDED, width=1440, height=900, query="#view=sandwich")  # of "write", which calls but read
        self.settle(page)
        _, y, _, height = page.box(".halves .flame:nth-child(2)")
        self.assertGreater(height, 600, "the room belongs to the callers")

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
