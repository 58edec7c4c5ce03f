#!/usr/bin/env python3
"""Makes the pictures of README.md and docs/tutorial.md, in docs/pictures: the page, the terminal browser and flame graphs, in light
and dark colours. `./dev pictures` runs it.

    tools/pictures.py --sonde build/release/sonde [--only NAME] [--width PIXELS]

The recordings are made here: of examples/words.c, and of Sonde itself while it reads a recording.
"""
import argparse
import html
import os
import re
import subprocess
import sys
import tempfile
import unicodedata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs/pictures"
sys.path.insert(0, str(ROOT / "tests"))
import browser  # noqa: E402
import tmux  # noqa: E402

SCHEMES = ("light", "dark")
FRAME_POINTERS = ["-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer", "-fno-optimize-sibling-calls"]
LARGEST = 200_000  # bytes of a picture
REPORTS = """for round in 1 2 3 4; do
  {sonde} report -i {data} --stdio
  {sonde} script -i {data}
  {sonde} flamegraph -i {data} -o -
done
"""

# --- what a terminal shows, as SVG

# The sixteen colours that a terminal's user chooses, on a background of that user's.
PALETTES = {
    "light": ["#24292f", "#cf222e", "#116329", "#7d4e00", "#0969da", "#8250df", "#1b7c83", "#6e7781",
              "#57606a", "#a40e26", "#1a7f37", "#633c01", "#218bff", "#a475f9", "#3192aa", "#8c959f"],
    "dark": ["#484f58", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#b1bac4",
             "#6e7681", "#ffa198", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#f0f6fc"],
}
PAPER = {"light": ("#ffffff", "#24292f", "#d0d7de"), "dark": ("#0d1117", "#c9d1d9", "#30363d")}
CELL_WIDTH, CELL_HEIGHT, BASELINE, MARGIN, FONT_SIZE = 8, 18, 13, 12, 13.3
SGR = re.compile(r"\x1b\[([\d;:]*)m")


class Style:
    """Colours and attributes, as escape sequences set them (ECMA-48, SGR)."""

    def __init__(self):
        self.reset()

    def reset(self):
        self.ink = self.paper = None
        self.bold = self.faint = self.italic = self.underlined = self.reversed = False

    def take(self, codes):
        numbers = [int(code or 0) for code in re.split("[;:]", codes)]
        while numbers:
            code = numbers.pop(0)
            if code == 0:
                self.reset()
            elif code in (1, 2, 3, 4, 7):
                setattr(self, {1: "bold", 2: "faint", 3: "italic", 4: "underlined", 7: "reversed"}[code], True)
            elif code == 22:
                self.bold = self.faint = False
            elif code in (23, 24, 27):
                setattr(self, {23: "italic", 24: "underlined", 27: "reversed"}[code], False)
            elif 30 <= code <= 37 or 90 <= code <= 97:
                self.ink = code - 30 if code < 90 else code - 82
            elif 40 <= code <= 47 or 100 <= code <= 107:
                self.paper = code - 40 if code < 100 else code - 92
            elif code in (38, 48):
                setattr(self, "ink" if code == 38 else "paper", self.extended(numbers))
            elif code in (39, 49):
                setattr(self, "ink" if code == 39 else "paper", None)

    def extended(self, numbers):
        kind = numbers.pop(0)
        if kind == 5:
            return numbers.pop(0)
        red, green, blue = (numbers.pop(0) for _ in range(3))
        return f"#{red:02x}{green:02x}{blue:02x}"

    def colours(self, scheme):
        paper, ink, _ = PAPER[scheme]
        ink, ground = colour(self.ink, scheme) or ink, colour(self.paper, scheme)
        if self.reversed:
            ink, ground = ground or paper, ink
        return ink, ground


def colour(number, scheme):
    """Of the 256 colours of xterm."""
    if number is None or isinstance(number, str):
        return number
    if number < 16:
        return PALETTES[scheme][number]
    if number >= 232:
        return "#" + f"{8 + 10 * (number - 232):02x}" * 3
    levels = [0, 95, 135, 175, 215, 255]
    number -= 16
    return "#" + "".join(f"{levels[number // 6 ** place % 6]:02x}" for place in (2, 1, 0))


def cells_of(text):
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def terminal_svg(lines, columns, scheme):
    """Lines with escape sequences, as a picture of a terminal with so many columns."""
    paper, _, edge = PAPER[scheme]
    width, height = columns * CELL_WIDTH + 2 * MARGIN, len(lines) * CELL_HEIGHT + 2 * MARGIN
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
             f'font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,DejaVu Sans Mono,monospace" font-size="{FONT_SIZE}">',
             f'<rect x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="6" fill="{paper}" stroke="{edge}"/>']
    style = Style()
    for row, line in enumerate(lines):
        column, top = 0, MARGIN + row * CELL_HEIGHT
        for index, piece in enumerate(SGR.split(line)):
            if index % 2:
                style.take(piece)
                continue
            if not piece:
                continue
            cells = cells_of(piece)
            ink, ground = style.colours(scheme)
            if ground:
                parts.append(f'<rect x="{MARGIN + column * CELL_WIDTH}" y="{top}" width="{cells * CELL_WIDTH}" '
                             f'height="{CELL_HEIGHT}" fill="{ground}"/>')
            parts.extend(words_svg(piece, MARGIN + column * CELL_WIDTH, top + BASELINE, ink, style))
            column += cells
    return "\n".join([*parts, "</svg>", ""])


def words_svg(text, left, baseline, ink, style):
    """Words one by one, each as wide as its cells, so that columns are straight in any font."""
    more = (' font-weight="bold"' if style.bold else "") + (' opacity=".65"' if style.faint else "")
    for word in re.finditer(r"\S+(?: \S+)*", text):
        x, width = left + cells_of(text[:word.start()]) * CELL_WIDTH, cells_of(word.group()) * CELL_WIDTH
        yield (f'<text x="{x}" y="{baseline}" textLength="{width}" lengthAdjust="spacingAndGlyphs" xml:space="preserve" '
               f'fill="{ink}"{more}>{html.escape(word.group())}</text>')


# --- recordings

def run(*words, **more):
    subprocess.run([str(word) for word in words], check=True, **more)


class Workshop:
    def __init__(self, sonde, path):
        self.sonde, self.path = Path(sonde).resolve(), path

    def compiler(self):
        """A recording of the compiler in miniature."""
        data = self.path / "build.data"
        if not data.exists():
            program = self.path / "miniature_compiler"
            run("g++", "-std=c++23", "-O2", "-g", "-pthread", *FRAME_POINTERS, ROOT / "bench/workload/miniature_compiler.cc", "-o", program)
            run(self.sonde, "record", "-q", "-e", "cpu-clock", "-F", "2000", "-g", "-o", data, "--", program, "4", "4", stdout=subprocess.DEVNULL)
        return data

    def reports(self):
        """A recording of Sonde itself, while it reads that one again and again."""
        data = self.path / "sonde.data"
        if not data.exists():
            (self.path / "reports.sh").write_text(REPORTS.format(sonde=self.sonde, data=self.compiler()))
            run(self.sonde, "record", "-q", "-e", "cpu-clock", "-F", "2000", "--call-graph", "dwarf,16384", "-o", data, "--",
                "sh", "reports.sh", cwd=self.path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return data

    def words(self):
        """The recording of the tutorial."""
        data = self.path / "words.data"
        if not data.exists():
            run("cc", "-O2", "-g", "-pthread", ROOT / "examples/words.c", "-o", self.path / "words")
            for text in ("text1", "text2"):
                (self.path / text).write_text("".join(f"{number}\n" for number in range(1, 4001)) * 3)
            run(self.sonde, "record", "-q", "-e", "cpu-clock", "-F", "4000", "-g", "-o", data, "--", "./words", "text1", "text2",
                cwd=self.path, stdout=subprocess.DEVNULL)
        return data

    def page(self):
        page = self.path / "page.html"
        run(self.sonde, "view", "-i", "sonde.data", "-o", page, cwd=self.reports().parent, stderr=subprocess.DEVNULL)
        return page

    def flame_graph(self, data, *options):
        picture = self.path / (data.stem + ".svg")
        run(self.sonde, "flamegraph", "-i", data, "-o", picture, *options)
        return picture


def pictures_of_pages(workshop, names, scale):
    """(name, file, width, height, what to do before the picture is taken)"""
    wanted = {
        "page": lambda: (workshop.page(), 1200, 760),
        "flamegraph": lambda: (workshop.flame_graph(workshop.reports(), "--comm", "sonde", "--no-inline", "--minwidth", "0.4%", "--title", "sonde report, script, flamegraph"), 1200, None),
        "tutorial-flamegraph": lambda: (workshop.flame_graph(workshop.words(), "--minwidth", "0.3%", "--title", "words"), 1000, None),
    }
    with browser.Browser() as chromium:
        for name in names & wanted.keys():
            path, width, height = wanted[name]()
            for scheme in SCHEMES:
                page = chromium.page(width, height or 600, scheme)
                page.open(path)
                if height is None:
                    height = page.evaluate("Math.ceil(document.documentElement.getBoundingClientRect().height)")
                page.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False)
                page.evaluate("new Promise(done => setTimeout(done, 500))")
                page.screenshot(PICTURES / f"{name}-{scheme}.png")
                page.close()


def picture_of_terminal(workshop, columns=110, rows=26):
    terminal = tmux.Terminal(columns, rows, [workshop.sonde, "report", "--comm", "sonde", "--no-inline", "-s", "dso,sym", "-i",
                                              workshop.reports().name], cwd=workshop.path)
    try:
        terminal.wait_for("Samples: ")
        terminal.press("H")
        terminal.wait_until(lambda seen: len(seen) == rows and any(line.startswith("- ") for line in seen), "an expanded row")
        lines = terminal.tmux("capture-pane", "-p", "-e").split("\n")[:rows]
    finally:
        terminal.close()
    for scheme in SCHEMES:
        (PICTURES / f"browser-{scheme}.svg").write_text(terminal_svg(lines, columns, scheme), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sonde", default=ROOT / "build/release/sonde")
    parser.add_argument("--only", choices=["page", "flamegraph", "tutorial-flamegraph", "browser"])
    parser.add_argument("--scale", type=float, default=1, help="pixels of a picture for each of the page")
    parser.add_argument("--work", help="a directory for recordings, kept")
    arguments = parser.parse_args()
    names = {arguments.only} if arguments.only else {"page", "flamegraph", "tutorial-flamegraph", "browser"}
    PICTURES.mkdir(exist_ok=True)
    os.environ["SONDE_CACHE"] = "off"
    with tempfile.TemporaryDirectory() as scratch:
        workshop = Workshop(arguments.sonde, Path(arguments.work or scratch).resolve())
        pictures_of_pages(workshop, names, arguments.scale)
        if "browser" in names:
            picture_of_terminal(workshop)
    for picture in sorted(PICTURES.iterdir()):
        print(f"{picture.stat().st_size:8} {picture.relative_to(ROOT)}")
        if picture.stat().st_size > LARGEST:
            sys.exit(f"{picture}: larger than {LARGEST} bytes")


if __name__ == "__main__":
    main()
