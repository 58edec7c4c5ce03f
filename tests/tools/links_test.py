#!/usr/bin/env python3
"""Links between the pages of the documentation: each leads to a file of the repository, and to a heading that is there; every
page can be reached from README.md, and every picture is used."""
import os
import re
import sys
import unittest
from pathlib import Path

SOURCE = Path(os.environ["SONDE_SOURCE"]).resolve()
sys.path.insert(0, str(SOURCE / "tools/site"))
import site_slugs  # noqa: E402

FENCED = re.compile(r"^(```|~~~).*?^\1", re.M | re.S)
LINK = re.compile(r'\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"')
HEADING = re.compile(r"^#+ +(.*?) *#*$", re.M)
CODE = re.compile(r"`[^`\n]*`")


def pages():
    yield from SOURCE.glob("*.md")
    yield from (SOURCE / "docs").rglob("*.md")


def links_of(text):
    for match in LINK.finditer(CODE.sub("", FENCED.sub("", text))):
        yield match.group(1) or match.group(2)


def anchors_of(text):
    """As GitHub makes them; a repeated heading gets a number."""
    seen = {}
    for heading in HEADING.findall(FENCED.sub("", text)):
        slug = site_slugs.github(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.replace("`", "").replace("*", "")))
        number = seen.get(slug, 0)
        seen[slug] = number + 1
        yield f"{slug}-{number}" if number else slug


class LinksTest(unittest.TestCase):
    def setUp(self):
        self.texts = {path: path.read_text(encoding="utf-8") for path in pages()}
        self.linked = {path: [] for path in self.texts}
        self.broken = []
        for path, text in self.texts.items():
            for link in links_of(text):
                if "://" not in link and not link.startswith("mailto:"):
                    self.follow(path, link)

    def follow(self, path, link):
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        where = f"{path.relative_to(SOURCE)}: {link}"
        if not target.exists():
            self.broken.append(f"{where}: no such file")
        elif anchor and target in self.texts and anchor not in anchors_of(self.texts[target]):
            self.broken.append(f"{where}: no such heading")
        self.linked[path].append(target)

    def test_each_link_leads_somewhere(self):
        self.assertEqual([], self.broken)
        self.assertGreater(sum(map(len, self.linked.values())), 200)

    def test_each_page_can_be_reached_from_the_first(self):
        reached, left = set(), [SOURCE / "README.md"]
        while left:
            page = left.pop()
            if page not in reached:
                reached.add(page)
                left += [each for each in self.linked[page] if each in self.texts]
                # A link to a directory shows its README.md.
                left += [each / "README.md" for each in self.linked[page] if each / "README.md" in self.texts]
        self.assertEqual([], sorted(str(page.relative_to(SOURCE)) for page in self.texts.keys() - reached))

    def test_each_picture_is_used(self):
        used = {target for targets in self.linked.values() for target in targets}
        self.assertEqual([], sorted(str(each) for each in (SOURCE / "docs/pictures").iterdir() if each not in used))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
