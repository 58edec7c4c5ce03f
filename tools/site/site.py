#!/usr/bin/env python3
"""The documentation as one static site, by mkdocs: README.md is its first page, ARCHITECTURE.md and CONTRIBUTING.md belong to it.
`./dev docs` runs it. The site works from the disk, search included (theme/search.js).

    tools/site/site.py DIRECTORY
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
ABOVE = {"README.md": "index.md", "ARCHITECTURE.md": "architecture.md", "CONTRIBUTING.md": "contributing.md"}
LINK = re.compile(r'(\]\(|src="|srcset=")([^)"\s]+)')
FIRST = ["index.md", "tutorial.md", "one-liners.md"]
DEVELOPERS = ["architecture.md", "contributing.md", "extending.md", "guests.md", "performance.md", "perf-parity.md", "glossary.md"]


def target_on_site(folder, link):
    """A link in a page of the repository's `folder`, as seen from the same page on the site."""
    path, mark, anchor = link.partition("#")
    if not path or "://" in link:
        return link
    name = os.path.normpath(os.path.join(folder, path))
    if name in ABOVE:
        name = ABOVE[name]
    elif name.startswith("docs/"):
        name = name[len("docs/"):]
    else:
        return None
    own_folder = folder[len("docs"):].strip("/")
    return os.path.relpath(name, own_folder or ".") + mark + anchor


def page_text(text, folder):
    def moved(match):
        target = target_on_site(folder, match.group(2))
        return match.group(1) + (target if target is not None else match.group(2))
    return LINK.sub(moved, text)


def lay_out(pages):
    """The pages as mkdocs expects them, in one directory."""
    shutil.copytree(ROOT / "docs", pages)
    for name, on_site in ABOVE.items():
        (pages / on_site).write_text(page_text((ROOT / name).read_text(encoding="utf-8"), ""), encoding="utf-8")
    for path in pages.rglob("*.md"):
        if path.parent != pages or path.name not in ABOVE.values():
            folder = str(Path("docs") / path.parent.relative_to(pages))
            path.write_text(page_text(path.read_text(encoding="utf-8"), folder), encoding="utf-8")


def title_of(path):
    return re.search(r"^# (.*)$", path.read_text(encoding="utf-8"), re.M).group(1).replace("`", "").split(": ")[0]


def navigation(pages):
    names = sorted((path.name for path in pages.glob("*.md") if path.name not in FIRST + DEVELOPERS),
                   key=lambda name: title_of(pages / name).lower())

    def entries(some):
        return [{title_of(pages / name): name} for name in some]
    return [*entries(FIRST), {"Guides": entries(names)},
            {"For developers": [*entries(name for name in DEVELOPERS if (pages / name).exists()),
                                {"Decisions": "decisions/README.md"}]}]


def main():
    site = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as scratch:
        pages = Path(scratch) / "docs"
        lay_out(pages)
        entries = navigation(pages)
        settings = (HERE / "mkdocs.yml").read_text(encoding="utf-8").replace("custom_dir: theme", f"custom_dir: {HERE / 'theme'}")
        settings += f"nav: {json.dumps(entries)}\ndocs_dir: {pages}\nsite_dir: {site}\n"  # JSON is YAML
        (Path(scratch) / "mkdocs.yml").write_text(settings, encoding="utf-8")
        subprocess.run(["mkdocs", "build", "--quiet", "--strict", "--clean", "-f", f"{scratch}/mkdocs.yml"], check=True,
                       env={**os.environ, "PYTHONPATH": str(HERE), "PYTHONDONTWRITEBYTECODE": "1"})
    index = site / "search/search_index.json"
    (site / "search/index.js").write_text("var searchIndex = " + index.read_text(encoding="utf-8") + ";\n", encoding="utf-8")
    for each in ("search_index.json", "main.js", "worker.js", "lunr.js"):
        (site / "search" / each).unlink(missing_ok=True)
    print(f"docs: {len(list(site.rglob('*.html')))} pages; open {site}/index.html")


if __name__ == "__main__":
    main()
