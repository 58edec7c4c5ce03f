"""A terminal for driving browsers: tmux, on a server of its own, without the user's configuration.

    class BrowserTest(tmux.TmuxTest):
        def test_it_quits(self):
            terminal = self.terminal(80, 24, [SONDE, "report", "-i", data])
            terminal.wait_for("Samples: ")
            terminal.press("q")
            terminal.wait_for("left with 0")

The command runs in a shell, which prints `left with STATUS` when it has ended. Tests wait for screens, they never sleep.
"""
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

PATIENCE = 60  # how many seconds a screen may take on a busy machine


def wait_for_end(pid):
    end = time.monotonic() + PATIENCE
    while os.path.exists(f"/proc/{pid}"):
        if time.monotonic() > end:
            raise AssertionError(f"process {pid} did not end")
        time.sleep(0.02)


class Terminal:
    def __init__(self, columns, rows, command, cwd=None, environment=None):
        self.folder = tempfile.TemporaryDirectory(prefix="tmux")
        self.socket = os.path.join(self.folder.name, "socket")
        words = " ".join(shlex.quote(str(word)) for word in command)
        variables = {"TERM": "screen-256color", "LC_ALL": "C.UTF-8", **(environment or {})}
        settings = " ".join(f"{name}={shlex.quote(value)}" for name, value in variables.items())
        line = f"stty -a > {self.folder.name}/before; env {settings} {words}; echo left with $?; " \
               f"stty -a > {self.folder.name}/after; exec sleep 1000"
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows), "sh", "-c", line, cwd=cwd)

    def tmux(self, *words, check=True, **how):
        environment = {name: value for name, value in os.environ.items() if name not in ("TMUX", "TERM")}
        return subprocess.run(["tmux", "-u", "-S", self.socket, *words], env={**environment, "TERM": "screen-256color",
                              "LC_ALL": "C.UTF-8"}, check=check, capture_output=True, text=True, **how).stdout

    def press(self, *keys):
        """tmux's key names: "Up", "Enter", "C-c", "F1"."""
        self.tmux("send-keys", *keys)

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def click(self, row, column):
        """The bytes that a terminal with SGR mouse mode sends; both count from 0."""
        self.type(f"\033[<0;{column + 1};{row + 1}M\033[<0;{column + 1};{row + 1}m")

    def resize(self, columns, rows):
        self.tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def screen(self, colors=False):
        """Lines without trailing blanks."""
        text = self.tmux("capture-pane", "-p", *(["-e"] if colors else []))
        return [line.rstrip() for line in text.split("\n")[:-1]]

    def wait_until(self, condition, what):
        """The screen, once the condition holds twice in a row: tmux may show half of one that is being drawn."""
        end = time.monotonic() + PATIENCE
        seen = None
        while not condition(lines := self.screen()) or lines != seen:
            if time.monotonic() > end:
                raise AssertionError(f"{what} did not come; the screen:\n" + "\n".join(lines))
            seen = lines
            time.sleep(0.03)
        return lines

    def wait_for(self, pattern):
        return self.wait_until(lambda lines: re.search(pattern, "\n".join(lines), re.M), repr(pattern))

    def wait_gone(self, pattern):
        return self.wait_until(lambda lines: not re.search(pattern, "\n".join(lines), re.M), f"the end of {pattern!r}")

    def shell(self):
        return int(self.tmux("display-message", "-p", "#{pane_pid}"))

    def child(self):
        """The command's process."""
        with open(f"/proc/{self.shell()}/task/{self.shell()}/children", encoding="ascii") as file:
            return int(file.read().split()[0])

    def settings(self):
        """The terminal's settings, (before, after) the command."""
        return tuple(Path(self.folder.name, name).read_text(encoding="utf-8") for name in ("before", "after"))

    def kill(self):
        self.tmux("kill-server", check=False)

    def close(self):
        self.kill()
        self.folder.cleanup()


class TmuxTest(unittest.TestCase):
    """`home` is a folder of the class's own."""

    @classmethod
    def setUpClass(cls):
        if shutil.which("tmux") is None:
            raise AssertionError("tmux is not installed: ./dev deps")
        cls.folder = tempfile.TemporaryDirectory()
        cls.home = Path(cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def terminal(self, columns, rows, command, **how):
        terminal = Terminal(columns, rows, command, **how)
        self.addCleanup(terminal.close)
        return terminal
