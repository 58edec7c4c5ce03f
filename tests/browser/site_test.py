#!/usr/bin/env python3
"""The site of `./dev docs`, in a browser and from the disk: pages load what they need and nothing from elsewhere, and the search
finds a section of another page."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import browser

SOURCE = Path(os.environ["SONDE_SOURCE"]).resolve()


class SiteTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.site = Path(directory.name, "site")
        subprocess.run([sys.executable, SOURCE / "tools/site/site.py", cls.site], check=True, capture_output=True)
        cls.browser = browser.Browser()
        cls.addClassCleanup(cls.browser.close)

    def open(self, name, **how):
        page = self.browser.page(**how)
        self.addCleanup(page.close)
        page.open(self.site / name)
        return page

    def check_problems(self, page):
        """Requests for the site's own files are no problem."""
        page.evaluate("0")
        self.assertEqual([], [each for each in page.problems if not each.startswith(f"request: {self.site.as_uri()}/")])

    def test_pages_load_their_style_and_pictures(self):
        for width, scheme in ((1200, "light"), (400, "dark")):
            page = self.open("index.html", width=width, scheme=scheme)
            self.assertTrue(page.evaluate("[...document.images].length >= 3 && [...document.images].every(each => each.naturalWidth > 0)"))
            self.assertTrue(page.evaluate("document.images[0].currentSrc").endswith(f"-{scheme}.png"))
            self.assertEqual(0, page.evaluate("document.documentElement.scrollWidth - innerWidth"), "nothing is wider than the window")
            self.check_problems(page)

    def test_search_finds_sections_of_other_pages(self):
        page = self.open("index.html")
        page.key("/")
        page.type("futex programs")
        page.wait_for("!!document.querySelector('#results a')?.href.endsWith('/lock.html#locks-of-programs---futex')")
        page.click_on("#results a")
        page.wait_for("location.pathname.endsWith('lock.html') && !!document.getElementById('locks-of-programs---futex')")
        self.check_problems(page)

    def test_search_says_when_there_is_nothing(self):
        page = self.open("lock.html")
        page.key("/")
        page.type("qqxqq")
        page.wait_for("document.querySelector('#results h1')?.textContent == 'Nothing found'")
        page.key("Escape")
        page.wait_for("document.getElementById('results').hidden")
        self.check_problems(page)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
