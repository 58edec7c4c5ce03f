"""Programs that want a terminal."""
import os
import pty
import select
import time


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, command, environment):
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.execvpe(command[0], command, environment)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.terminal)
        os.waitpid(self.process, 0)

    def type(self, keys):
        os.write(self.terminal, keys.encode())

    def wait_for(self, text, seconds=120):
        """What it shows until this text, with it."""
        shown, end = "", time.monotonic() + seconds
        while text not in shown:
            if time.monotonic() > end:
                raise AssertionError(f"'{text}' was not shown, but {shown!r}")
            if select.select([self.terminal], [], [], 1)[0]:
                shown += os.read(self.terminal, 65536).decode(errors="replace")
        return shown
