"""How long a browser takes to open the explorer's page, from the start of the navigation to the first flame graph on the screen, by
the page's own clock (performance.now); and how large the page is."""
import statistics
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
GOAL_MS = 2000
GOAL_BYTES = 5_000_000


@dataclass
class Opening:
    name: str
    page_bytes: int
    first_picture_ms: list
    selection_ms: list  # selecting a time range: from the key to the next picture

    def failed(self):
        return statistics.median(self.first_picture_ms) > GOAL_MS or self.page_bytes > GOAL_BYTES

    def table(self):
        verdict = "FAILED" if self.failed() else "ok"
        return (f"{self.name:38} {statistics.median(self.first_picture_ms):.0f} ms of {GOAL_MS} to the first picture, "
                f"{self.page_bytes / 1e6:.1f} MB of {GOAL_BYTES / 1e6:.0f}, "
                f"{statistics.median(self.selection_ms):.0f} ms for another range   {verdict}")

    def document(self):
        return asdict(self)


SELECT = """new Promise(done => {
  const begin = performance.now();
  location.hash = "#view=flame&filter=time:1000000-4000000";
  const wait = () => document.querySelector(".chip") ? requestAnimationFrame(() => done(performance.now() - begin)) : setTimeout(wait);
  wait();
})"""


def open_page(name, sonde, recording, directory, runs):
    import browser  # needs Chromium, which nothing else here does
    path = directory / "explorer.html"
    subprocess.run([sonde, "view", "-i", recording, "-o", str(path)], check=True, capture_output=True)
    firsts, selections = [], []
    for _ in range(runs):  # a fresh Chromium each time: nothing is warm
        with browser.Browser() as chromium:
            page = chromium.page(1600, 1000).open(path)
            page.wait_for("document.documentElement.dataset.ready")
            firsts.append(float(page.evaluate("document.documentElement.dataset.ready")))
            selections.append(page.evaluate(SELECT))
    return Opening(name, path.stat().st_size, firsts, selections)
