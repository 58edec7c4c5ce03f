#!/usr/bin/env python3
"""Flame graphs in a browser: zoom, search, keys, the URL, differences, and malicious names."""
import os
import subprocess
import unittest
import xml.etree.ElementTree as xml

import browser

SONDE = os.environ["SONDE"]
STACKS = """app;main;parse;next_token 30
app;main;parse;skip 10
app;main;emit;write_[k] 40
app;start 20
"""


class FlamegraphTest(browser.BrowserTest):
    def draw(self, stacks=STACKS, *arguments, name="graph"):
        """The picture's file."""
        inputs = []
        for number, text in enumerate([stacks] if isinstance(stacks, str) else stacks):
            inputs.append(self.directory / f"{name}{number}.folded")
            inputs[-1].write_text(text)
        picture = self.directory / f"{name}.svg"
        run = subprocess.run([SONDE, "flamegraph", *inputs, "-o", picture, *arguments], text=True, capture_output=True)
        self.assertEqual((run.returncode, run.stderr, run.stdout), (0, "", ""))
        xml.parse(picture)  # otherwise it is not a picture at all
        return picture

    def show(self, stacks=STACKS, *arguments, **how):
        return self.open(self.draw(stacks, *arguments), **how)

    # What the page looks like.

    def box(self, page, name, block=0):
        """x, y, width, height in the window of a visible frame, or None."""
        return page.evaluate(f"""(() => {{
            const block = document.querySelectorAll("g.frames")[{block}];
            const frame = [...block.querySelectorAll("g")].find(g => g.querySelector("title").textContent.startsWith("{name} ("));
            if (!frame || frame.style.display === "none") return null;
            const r = frame.querySelector("rect").getBoundingClientRect();
            return [r.x, r.y, r.width, r.height];
        }})()""")

    def click_frame(self, page, name, block=0):
        x, y, width, height = self.box(page, name, block)
        page.click(x + width / 2, y + height / 2)

    def text(self, page, name):
        return page.evaluate(f"document.querySelector('text.{name}').textContent").strip()

    def is_visible(self, page, name):
        return page.evaluate(f"getComputedStyle(document.querySelector('text.{name}')).display") != "none"

    def matches(self, page):
        return page.evaluate("""[...document.querySelectorAll("rect.match")].map(
            rect => rect.parentNode.querySelector("title").textContent.replace(/ \\(.*/, ""))""")

    def search(self, page, pattern):
        page.key("/")
        page.type(pattern)
        page.key("Enter")

    # Tests.

    def test_boxes_are_as_wide_as_the_window(self):
        for width in (700, 1600):
            page = self.show(width=width)
            self.assertAlmostEqual(self.box(page, "main")[2], 0.8 * (width - 20), delta=0.2)
        page.resize(1000, 600)
        page.wait_for("document.documentElement.getAttribute('width') === '1000'")
        self.assertAlmostEqual(self.box(page, "parse")[2], 0.4 * 980, delta=0.2)
        page = self.show(STACKS, "--width", "500", width=1600)
        self.assertAlmostEqual(self.box(page, "main")[2], 0.8 * 480, delta=0.2)

    def test_the_root_says_what_it_is(self):
        page = self.show()
        self.assertEqual(page.evaluate("document.querySelector('g.frames g text').textContent"), "all")
        self.click_frame(page, "parse")
        self.assertEqual(page.evaluate("document.querySelector('g.frames g text').textContent"), "all")

    def test_click_zooms_and_reset_goes_back(self):
        page = self.show()
        before = self.box(page, "parse")
        self.assertFalse(self.is_visible(page, "reset"))
        self.click_frame(page, "parse")
        self.assertAlmostEqual(self.box(page, "parse")[2], 1180, delta=0.2)
        self.assertAlmostEqual(self.box(page, "next_token")[2], 0.75 * 1180, delta=0.2)
        self.assertAlmostEqual(self.box(page, "main")[2], 1180, delta=0.2)
        self.assertIsNone(self.box(page, "emit"))
        self.assertIsNone(self.box(page, "start"))
        self.assertEqual(page.evaluate("document.querySelectorAll('g.frames g')[1].style.opacity"), "0.5", "callers are faded")
        page.click_on("text.reset")
        self.assertEqual(self.box(page, "parse"), before)
        self.assertFalse(self.is_visible(page, "reset"))

    def test_search_says_what_part_matches(self):
        page = self.show()
        page.click_on("text.search")
        page.type("^(parse|next)")
        self.assertEqual(self.matches(page), ["parse", "next_token"])
        self.assertEqual(self.text(page, "matched"), "Matched: 40.00%", "what stands on a match counts once")
        page.key("Enter")
        self.click_frame(page, "main")
        self.assertEqual(self.text(page, "matched"), "Matched: 40.00%, 50.00% of the zoomed")
        self.assertEqual(page.evaluate("getComputedStyle(document.querySelector('rect.match')).fill"), "rgb(230, 0, 230)")
        page.click_on("text.search")
        self.assertEqual(self.matches(page), [])
        self.assertEqual(self.text(page, "matched"), "")

    def test_case_and_expressions_that_are_none(self):
        page = self.show()
        self.search(page, "PARSE")
        self.assertEqual(self.matches(page), [])
        page.key("i")
        self.assertEqual(self.matches(page), ["parse"])
        page.click_on("text.case")
        self.assertEqual(self.matches(page), [])
        self.search(page, "(")
        self.assertIn("Search: Invalid regular expression", self.text(page, "details"))
        self.assertEqual(self.matches(page), [])

    def test_keys(self):
        page = self.show()
        for key, name in (("ArrowUp", "all"), ("ArrowUp", "app"), ("ArrowUp", "main"), ("ArrowRight", "start"), ("ArrowLeft", "main"),
                          ("ArrowUp", "emit"), ("ArrowUp", "write"), ("ArrowDown", "emit")):
            page.key(key)
            self.assertTrue(self.text(page, "details").startswith(f"Function: {name} ("), self.text(page, "details"))
        page.key("Enter")
        self.assertAlmostEqual(self.box(page, "emit")[2], 1180, delta=0.2)
        page.key("Backspace")
        self.assertAlmostEqual(self.box(page, "parse")[2], 590, delta=0.2)
        page.key("f", browser.CTRL)
        page.type("emit")
        page.key("Enter")
        self.assertEqual(self.matches(page), ["emit"])
        page.key("Escape")
        self.assertEqual(self.matches(page), [])
        page.key("Escape")
        self.assertAlmostEqual(self.box(page, "app")[2], 1180, delta=0.2)
        self.assertAlmostEqual(self.box(page, "parse")[2], 0.4 * 1180, delta=0.2)

    def test_details_follow_the_mouse(self):
        page = self.show(STACKS, "--nametype", "Frame:", "--countname", "µs")
        x, y, width, height = self.box(page, "emit")
        page.move(x + width / 2, y + height / 2)
        self.assertEqual(self.text(page, "details"), "Frame: emit (40 µs, 40.00%)")
        page.move(2, 2)
        self.assertEqual(self.text(page, "details"), "")

    def test_the_address_has_the_view(self):
        page = self.show()
        self.click_frame(page, "parse")
        self.search(page, "NEXT")
        page.key("i")
        query = page.evaluate("location.search")
        again = self.open(self.directory / "graph.svg", query=query)
        self.assertAlmostEqual(self.box(again, "parse")[2], 1180, delta=0.2)
        self.assertEqual(self.matches(again), ["next_token"])
        self.assertEqual(self.text(again, "matched"), "Matched: 30.00%, 75.00% of the zoomed")
        self.assertEqual(again.evaluate("location.search"), query)
        again.key("Escape")
        again.key("Escape")
        again.key("i")
        self.assertEqual(again.evaluate("location.search"), "")
        for odd in ("?d=7&x=nothing", "?b=99&d=1&x=0", "?d=-1", "?s=(", "?s=%3Cscript%3Ealert(1)%3C/script%3E", "?i=1&b=x"):
            self.assertAlmostEqual(self.box(self.open(self.directory / "graph.svg", query=odd), "app")[2], 1180, delta=0.2)

    def test_icicles_grow_downwards(self):
        page = self.show(STACKS, "--inverted")
        self.assertLess(self.box(page, "app")[1], self.box(page, "main")[1])
        page.key("ArrowDown")
        page.key("ArrowDown")
        self.assertTrue(self.text(page, "details").startswith("Function: app"))

    def test_differences(self):
        page = self.show([STACKS, "app;main;parse;next_token 60\napp;main;optimize 20\napp;start 20\n"])
        self.assertIsNotNone(self.box(page, "optimize"))
        self.assertIsNone(self.box(page, "write"), "it has gone")
        self.assertIsNotNone(self.box(page, "write", block=1))
        self.assertEqual(page.evaluate("document.querySelector('rect.only').parentNode.querySelector('title').textContent"),
                         "optimize (20 samples, 20.00%; +20.00% by itself, +20.00% in all; new)")
        self.assertNotEqual(page.evaluate("getComputedStyle(document.querySelector('rect.only')).strokeDasharray"), "none")
        self.assertIn("Elided", self.text(page, "heading"))
        wide = self.box(page, "next_token")[2]
        self.click_frame(page, "emit", block=1)
        self.assertAlmostEqual(self.box(page, "write", block=1)[2], 1180, delta=0.2)
        self.assertEqual(self.box(page, "next_token")[2], wide, "the other part stays as it is")
        again = self.open(self.directory / "graph.svg", query=page.evaluate("location.search"))
        self.assertAlmostEqual(self.box(again, "write", block=1)[2], 1180, delta=0.2)
        before = self.open(self.draw([STACKS, "app;main;parse;next_token 60\napp;new 40\n"], "--before"))
        self.assertIsNotNone(self.box(before, "write"))
        self.assertIsNotNone(self.box(before, "new", block=1))

    def test_as_an_image(self):
        picture = self.draw()
        html = self.directory / "page.html"
        html.write_text(f'<!doctype html><body style="margin:0"><img src="{picture.name}">'
                        f'<object data="{picture.name}" width="600" height="200"></object>')
        page = self.browser.page()
        page.open(html)
        self.assertEqual(page.evaluate("[document.images[0].naturalWidth, document.images[0].complete]"), [1200, True])
        self.assertEqual(page.evaluate("document.querySelector('object').getBoundingClientRect().width"), 600)
        page.close()
        self.assertFalse([each for each in page.problems if not each.startswith("request: file:")])

    def test_names_cannot_do_anything(self):
        hostile = ['</title></g><script>alert("title")</script>', "]]><script>alert('cdata')</script>", '"><img src=x onerror=alert(1)>',
                   "&lt&gt &amp &#60", "<!-- -->", "javascript:alert(1)", "${alert(1)}", "\x1b[31m\x7f\x0e", "größe 中文 🔥"]
        stacks = "".join(f"app;{name} 10\n" for name in hostile)
        title = "A <&\"> title' --> <script>alert(2)</script>"
        page = self.show(stacks, "--title", title, "--subtitle", title, "--notes", title, "--countname", "<i>", "--nametype", "<b>")
        self.assertEqual(page.evaluate("document.querySelectorAll('script').length"), 1)
        self.assertEqual(page.evaluate("document.querySelectorAll('img, i, b').length"), 0)
        self.assertEqual(self.text(page, "title"), title)
        titles = page.evaluate("[...document.querySelectorAll('g.frames title')].map(each => each.textContent)")
        for name in hostile:
            shown = "".join("\ufffd" if ord(c) < 32 or ord(c) == 127 else c for c in name)
            self.assertTrue(any(each.startswith(shown + " (10 <i>") for each in titles), (shown, titles))
        x, y, width, height = page.box("g.frames g:last-child rect")
        page.click(x + width / 2, y + height / 2)
        self.search(page, "<script>")
        self.assertEqual(len(self.matches(page)), 2)

    def test_long_names_and_deep_stacks(self):
        long_name = "x" * 10000
        deep = ";".join(["函数" * 40, *(f"level_{i}" for i in range(1, 200))])
        page = self.show(f"app;{long_name} 50\napp;{deep} 50\n", width=900, height=700)
        self.assertLess(page.evaluate("Math.max(...[...document.querySelectorAll('g.frames text')].map(t => t.textContent.length))"), 200)
        self.assertEqual(page.evaluate("document.querySelectorAll('g.frames g').length"), 203)
        inside = page.evaluate("""[...document.querySelectorAll("g.frames g")].every(g => {
            const text = g.querySelector("text"), rect = g.querySelector("rect");
            return text.textContent === "" || text.getBBox().x + text.getBBox().width <= Number(rect.getAttribute("x")) + Number(rect.getAttribute("width"));
        })""")
        self.assertTrue(inside, "texts end inside their boxes")
        height = page.evaluate("Number(document.documentElement.getAttribute('height'))")
        self.assertGreater(height, 200 * 16)
        # The roots are visible, and so are the controls and the details under the pointer.
        self.assertLess(self.box(page, "app")[1], 700)
        self.assertGreater(self.box(page, "app")[1], 0)
        x, y, width, height = self.box(page, "app")
        page.move(x + width / 2, y + height / 2)
        for name in ("search", "details"):
            top = page.evaluate(f"document.querySelector('text.{name}').getBoundingClientRect().y")
            self.assertTrue(0 <= top <= 700, (name, top))
        self.click_frame(page, "level_3")
        x, y, width, height = page.box("text.reset")
        on_top = page.evaluate(f"document.elementFromPoint({x + width / 2}, {y + height / 2}).classList.contains('reset')")
        self.assertTrue(on_top, "controls are in front of frames")
        self.assertAlmostEqual(self.box(page, "level_199")[2], 880, delta=0.2)

    def test_dark_pages(self):
        page = self.show(scheme="dark")
        self.assertEqual(page.evaluate("getComputedStyle(document.querySelector('#upper')).stopColor"), "rgb(36, 38, 43)")
        self.assertEqual(page.evaluate("getComputedStyle(document.querySelector('text.title')).fill"), "rgb(221, 221, 221)")
        page = self.show(STACKS, "--bgcolors", "blue", scheme="dark")
        self.assertEqual(page.evaluate("getComputedStyle(document.querySelector('#lower')).stopColor"), "rgb(224, 224, 255)")
        self.assertEqual(page.evaluate("getComputedStyle(document.querySelector('text.title')).fill"), "rgb(0, 0, 0)")


if __name__ == "__main__":
    unittest.main(argv=["flamegraph_test"])
