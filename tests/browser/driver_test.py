#!/usr/bin/env python3
"""tests/browser.py itself: that it sees what tests rely on it to see."""
import unittest

import browser

PAGE = """<!doctype html><meta charset="utf-8"><title>A page</title>
<style>body { margin: 0; background: white } @media (prefers-color-scheme: dark) { body { background: black } }</style>
<button id="b" onclick="this.textContent += event.detail">press</button><input id="i">
<div id="d" onmousedown="this.textContent = event.buttons" onmousemove="this.textContent += 'm'"
 onmouseup="this.textContent += 'u'" style="height: 100px">drag</div>
<script>document.onkeydown = event => (window.keys ||= []).push(event.key + (event.ctrlKey ? "+ctrl" : ""));</script>"""


class DriverTest(browser.BrowserTest):
    def page(self, text=PAGE, **how):
        path = self.directory / "page.html"
        path.write_text(text)
        return self.open(path, **how)

    def noted(self, text):
        """What a flawed page has recorded; it does not fail this test."""
        path = self.directory / "flawed.html"
        path.write_text(text)
        page = self.browser.page().open(path)
        page.evaluate("new Promise(done => setTimeout(done, 50))")
        page.close()
        return " ".join(page.problems)

    def test_hands(self):
        page = self.page()
        page.click_on("#b")
        page.click_on("#b", times=2)
        self.assertEqual(page.evaluate("b.textContent"), "press112")
        page.click_on("#i")
        page.type("(H.é'$ <3")
        page.key("Backspace")
        self.assertEqual(page.evaluate("i.value"), "(H.é'$ <")
        page.key("Escape")
        page.key("f", browser.CTRL)
        self.assertEqual(page.evaluate("keys.slice(-2)"), ["Escape", "f+ctrl"])
        x, y, _, _ = page.box("#d")
        page.drag(x + 5, y + 5, x + 50, y + 5, steps=2)
        self.assertEqual(page.evaluate("d.textContent"), "1mmu")

    def test_window_and_scheme(self):
        page = self.page(width=640, height=480, scheme="dark")
        self.assertEqual(page.evaluate("[innerWidth, innerHeight]"), [640, 480])
        self.assertEqual(page.evaluate("getComputedStyle(document.body).backgroundColor"), "rgb(0, 0, 0)")
        page.prefer("light")
        self.assertEqual(page.evaluate("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)")
        page.resize(1000, 300)
        self.assertEqual(page.evaluate("innerWidth"), 1000)
        picture = self.directory / "picture.png"
        page.screenshot(picture)
        self.assertTrue(picture.read_bytes().startswith(b"\x89PNG"))

    def test_query_and_values(self):
        page = self.page(query="?s=a%20b#part")
        self.assertEqual(page.evaluate("new URLSearchParams(location.search).get('s')"), "a b")
        self.assertEqual(page.evaluate("Promise.resolve({a: [1, null]})"), {"a": [1, None]})
        with self.assertRaises(RuntimeError):
            page.evaluate("nothing_of_this_name")
        with self.assertRaises(TimeoutError):
            page.wait_for("false", seconds=0.1)

    def test_flaws_are_noted(self):
        self.assertEqual(self.noted(PAGE), "")
        self.assertIn("exception: Error: broken", self.noted("<script>throw new Error('broken')</script>"))
        self.assertIn("console: wrong 1", self.noted("<script>console.error('wrong', 1)</script>"))
        self.assertIn("dialog: injected", self.noted("<script>alert('injected')</script>"))
        self.assertIn("request: http://localhost:1/x.png", self.noted("<img src='http://localhost:1/x.png'>"))
        self.assertIn("style.css", self.noted("<link rel=stylesheet href=style.css>"))


if __name__ == "__main__":
    unittest.main(argv=["driver_test"])
