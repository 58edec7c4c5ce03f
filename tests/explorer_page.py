"""What tests of the explorer's page share: pages of made recordings, and what a user sees of them."""
import json
import os
import subprocess

import browser

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


class ExplorerPageTest(browser.BrowserTest):
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

    def lane(self, page, lane, share, height):
        """A position in a lane of the timeline: at this fraction of its time, and of its height from the top."""
        self.settle(page)
        x, y, width, _ = page.box(".timeline")
        tops = [int(top) for top in page.evaluate("document.querySelector('.timeline').dataset.tops").split()]
        label = min(230, width * 0.28)
        return x + label + share * (width - label), y + 20 + tops[lane] + height * (tops[lane + 1] - tops[lane])

    def lane_tooltip(self, page, lane, share):
        page.move(*self.lane(page, lane, share, 0.8))
        self.settle(page)
        return page.evaluate("[...document.querySelectorAll('.tooltip div')].map(line => line.textContent)")
