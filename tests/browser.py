"""A headless Chromium for testing pictures and pages, driven over its own pipe (--remote-debugging-pipe): JSON messages
terminated by a NUL byte, to descriptor 3 and from descriptor 4. Only Python's standard library is needed, and no port is opened.

    class PictureTest(browser.BrowserTest):
        def test_it_says_its_title(self):
            page = self.open("picture.svg", width=800, height=600, scheme="dark")
            page.click_on("#search")
            page.type("main")
            page.key("Enter")
            self.assertEqual(page.evaluate("document.title"), "main")
            page.screenshot("picture.png")

A page records what must not happen: script errors, exceptions, dialogs, requests for anything but the page itself. BrowserTest
fails a test whose page recorded anything.
"""
import base64
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars",
         "--force-device-scale-factor=1", "--remote-debugging-pipe"]
PATIENCE = 60  # how many seconds an answer may take on a busy machine
FIRST_FREE_DESCRIPTOR = 10
# name: (code, virtual key, text)
KEYS = {"Enter": ("Enter", 13, "\r"), "Escape": ("Escape", 27, ""), "Tab": ("Tab", 9, ""), "Backspace": ("Backspace", 8, ""),
        "ArrowLeft": ("ArrowLeft", 37, ""), "ArrowUp": ("ArrowUp", 38, ""), "ArrowRight": ("ArrowRight", 39, ""),
        "ArrowDown": ("ArrowDown", 40, ""), "Home": ("Home", 36, ""), "End": ("End", 35, ""), "Delete": ("Delete", 46, ""),
        "PageUp": ("PageUp", 33, ""), "PageDown": ("PageDown", 34, ""), " ": ("Space", 32, " ")}
ALT, CTRL, META, SHIFT = 1, 2, 4, 8


class Browser:
    """One Chromium; a context manager."""

    def __init__(self):
        program = shutil.which("chromium")
        if program is None:
            raise RuntimeError("chromium is not installed: ./dev deps installs it")
        self.profile = tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True)
        self.log = open(Path(self.profile.name) / "log", "wb+")
        its_input, self.output = distant_pipe()
        self.input, its_output = distant_pipe()

        def wire():
            os.dup2(its_input, 3)
            os.dup2(its_output, 4)

        self.process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={self.profile.name}/profile", "about:blank"], preexec_fn=wire, close_fds=False,
            env={**os.environ, "HOME": self.profile.name, "TMPDIR": self.profile.name}, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
            start_new_session=True)
        os.close(its_input)
        os.close(its_output)
        self.unread = bytearray()
        self.pages = {}  # keyed by session
        self.last_id = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.process.poll() is None:
            try:
                self.call("Browser.close")
                self.process.wait(PATIENCE)
            except (OSError, RuntimeError, TimeoutError, subprocess.TimeoutExpired):
                self.process.kill()
                self.process.wait()
        for descriptor in (self.input, self.output):
            os.close(descriptor)
        self.log.close()
        self.remove_profile()

    def remove_profile(self):
        """Its helpers outlive it for a moment, and write into the profile until they end."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        deadline = time.monotonic() + PATIENCE
        while Path(self.profile.name).exists() and time.monotonic() < deadline:
            self.profile.cleanup()

    def call(self, method, session=None, **parameters):
        """The answer to one command; events in the meantime are recorded by the pages that they belong to."""
        self.last_id += 1
        message = {"id": self.last_id, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        rest = memoryview(json.dumps(message).encode() + b"\0")
        while rest:
            rest = rest[os.write(self.output, rest):]
        deadline = time.monotonic() + PATIENCE
        while True:
            answer = self.next_message(deadline)
            if answer.get("id") == message["id"]:
                break
            self.hand_on(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def wait_for_event(self, page, method):
        deadline = time.monotonic() + PATIENCE
        while method not in page.seen:
            self.hand_on(self.next_message(deadline))

    def next_message(self, deadline):
        while (end := self.unread.find(b"\0")) < 0:
            ready, _, _ = select.select([self.input], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError(f"Chromium did not answer for {PATIENCE} s; it said: {self.complaints()}")
            got = os.read(self.input, 1 << 20)
            if not got:
                raise RuntimeError(f"Chromium ended; it said: {self.complaints()}")
            self.unread += got
        message = json.loads(self.unread[:end])
        del self.unread[:end + 1]
        return message

    def complaints(self):
        self.log.seek(0)
        return self.log.read()[-2000:].decode(errors="replace")

    def hand_on(self, event):
        page = self.pages.get(event.get("sessionId"))
        if page is not None:
            page.take_event(event["method"], event.get("params", {}))

    def page(self, width=1200, height=800, scheme="light"):
        """A new, empty page."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self.pages[session] = Page(self, session, target)
        for domain in ("Page", "Runtime", "Network", "Log"):
            page.call(f"{domain}.enable")
        page.resize(width, height)
        page.prefer(scheme)
        return page


class Page:
    def __init__(self, browser, session, target):
        self.browser, self.session, self.target = browser, session, target
        self.seen = set()  # events since the last navigation
        self.problems = []
        self.url = None

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def take_event(self, method, parameters):
        self.seen.add(method)
        if method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.problems.append("exception: " + details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "assert", "warning"):
            said = " ".join(str(each.get("value", each.get("description"))) for each in parameters["args"])
            self.problems.append(f"console: {said}")
        elif method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.problems.append("log: " + parameters["entry"]["text"])
        elif method == "Page.javascriptDialogOpening":
            self.problems.append("dialog: " + parameters["message"])
            self.call("Page.handleJavaScriptDialog", accept=False)
        elif method == "Network.requestWillBeSent":
            url = parameters["request"]["url"]
            if url.partition("#")[0] != self.url and not url.startswith(("data:", "blob:", "about:")):
                self.problems.append(f"request: {url}")

    def open(self, what, query=""):
        """Opens a file, or a URL; returns when it is loaded. `query` is written as in a URL: "?s=main"."""
        url = what if isinstance(what, str) and "://" in what else Path(what).resolve().as_uri()
        url += query
        self.url = url.partition("#")[0]
        self.seen.clear()
        if error := self.call("Page.navigate", url=url).get("errorText"):
            raise RuntimeError(f"{url}: {error}")
        self.browser.wait_for_event(self, "Page.loadEventFired")
        return self

    def reload(self):
        return self.open(self.evaluate("location.href"))

    def evaluate(self, expression):
        """The expression's value, awaited if it is a promise."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if details := answer.get("exceptionDetails"):
            raise RuntimeError(f"{expression}: {details.get('exception', {}).get('description', details['text'])}")
        return answer["result"].get("value")

    def wait_for(self, expression, seconds=PATIENCE):
        """Waits until it is true; returns its value."""
        deadline = time.monotonic() + seconds
        while not (value := self.evaluate(expression)):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{expression}: still {value!r} after {seconds} s")
            time.sleep(0.02)
        return value

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def be_phone(self, width=390, height=844):
        """A narrow window, operated with fingers."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=True)
        self.call("Emulation.setTouchEmulationEnabled", enabled=True)

    def swipe(self, x, y, to_x, to_y, steps=8):
        """A finger that goes along a line."""
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        for step in range(1, steps + 1):
            self.call("Input.dispatchTouchEvent", type="touchMove",
                      touchPoints=[{"x": x + (to_x - x) * step / steps, "y": y + (to_y - y) * step / steps}])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def tap(self, x, y):
        self.swipe(x, y, x, y, steps=0)

    def prefer(self, scheme):
        """"light" or "dark"."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def move(self, x, y):
        self.mouse("mouseMoved", x, y)

    def click(self, x, y, times=1, modifiers=0):
        self.move(x, y)
        for number in range(1, times + 1):
            for kind in ("mousePressed", "mouseReleased"):
                self.mouse(kind, x, y, button="left", clickCount=number, modifiers=modifiers)

    def drag(self, x, y, to_x, to_y, steps=8):
        self.move(x, y)
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        for step in range(1, steps + 1):
            self.mouse("mouseMoved", x + (to_x - x) * step / steps, y + (to_y - y) * step / steps, button="left", buttons=1)
        self.mouse("mouseReleased", to_x, to_y, button="left", clickCount=1)

    def scroll(self, x, y, delta_y, delta_x=0, modifiers=0):
        self.mouse("mouseWheel", x, y, deltaX=delta_x, deltaY=delta_y, modifiers=modifiers)

    def box(self, selector):
        """x, y, width, height in the window of the first element that matches."""
        box = self.evaluate(f"(() => {{ const found = document.querySelector({json.dumps(selector)}); if (!found) return null;"
                            "found.scrollIntoView({block: 'nearest', inline: 'nearest'});"
                            "const r = found.getBoundingClientRect(); return [r.x, r.y, r.width, r.height]; })()")
        if box is None:
            raise LookupError(f"nothing matches {selector}")
        return box

    def click_on(self, selector, times=1):
        x, y, width, height = self.box(selector)
        self.click(x + width / 2, y + height / 2, times)

    def hover(self, selector):
        x, y, width, height = self.box(selector)
        self.move(x + width / 2, y + height / 2)

    def key(self, name, modifiers=0):
        """`name`: "Enter", "/", "a"; modifiers: CTRL | SHIFT."""
        # Virtual key codes are those of letters and digits; "(" would be the arrow key with the same code.
        code, number, text = KEYS.get(name) or (f"Key{name.upper()}" if name.isalpha() else "",
                                                ord(name.upper()) if name.isalnum() else 0, name)
        plain = not modifiers & (ALT | CTRL | META)
        event = {"key": name, "code": code, "windowsVirtualKeyCode": number, "modifiers": modifiers}
        self.call("Input.dispatchKeyEvent", type="keyDown", **event, **({"text": text} if text and plain else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def type(self, text):
        for letter in text:
            self.key(letter)

    def screenshot(self, path, whole=False):
        """A PNG of the window, or of the whole page."""
        picture = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        Path(path).write_bytes(base64.b64decode(picture["data"]))

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
        self.browser.pages.pop(self.session, None)


class BrowserTest(unittest.TestCase):
    """The tests of a class share a Chromium; each test has pages of its own."""

    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def open(self, what, width=1200, height=800, scheme="light", query=""):
        page = self.browser.page(width, height, scheme)
        self.addCleanup(self.check_and_close, page)
        return page.open(what, query)

    def check_and_close(self, page):
        page.evaluate("0")  # everything before this has been recorded by now
        page.close()
        self.assertEqual(page.problems, [], "a page must not have errors, dialogs or requests")


def distant_pipe():
    """A pipe with descriptor numbers that do not collide: 3 and 4 are Chromium's."""
    ends = []
    for end in os.pipe():
        ends.append(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, FIRST_FREE_DESCRIPTOR))
        os.close(end)
    return ends
