#!/usr/bin/env python3
"""`top` on a terminal, driven in tmux at 80×24 and 200×60: the browser on live data, its keys, and what it saves. Needs root."""
import os
import re
import signal
import subprocess
import sys
import unittest

import tmux

SONDE = os.environ["SONDE"]
SIZES = [(80, 24), (200, 60)]
HEAD, FOOT = 2, 1  # lines of the screen that are not rows

BUSY = """
#include <unistd.h>
volatile long sum;
__attribute__((noinline)) void the_hot_function(void) { for (long i = 0; i < 1000000; ++i) sum += i; }
__attribute__((noinline)) void the_other_function(void) { for (long i = 0; i < 100000; ++i) sum -= i; }
__attribute__((noinline)) void work(void) { the_hot_function(); the_other_function(); sum += 1; }
int main(void) { for (;;) { work(); getppid(); } }
"""


class TopBrowserTest(tmux.TmuxTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.program = cls.home / "busybody"
        source = cls.program.with_suffix(".c")
        source.write_text(BUSY)
        subprocess.run(["cc", "-O1", "-g", "-fno-omit-frame-pointer", "-o", cls.program, source], check=True)

    def busy(self):
        process = subprocess.Popen([self.program])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def top(self, *options, size=(80, 24), **how):
        """For a busy program."""
        self.target = self.busy()
        return self.machine("-p", self.target.pid, *options, size=size, **how)

    def machine(self, *options, size=(80, 24), **how):
        terminal = self.terminal(*size, [SONDE, "top", "-e", "cpu-clock", "-d", "0.2", *options], cwd=self.home, **how)
        terminal.wait_for("busybody|the_hot|ended")
        return terminal

    @staticmethod
    def rows(lines):
        return [line for line in lines[HEAD:-FOOT] if re.match(r"[-+ ] *\d+\.\d\d%", line)]

    def quit(self, terminal):
        terminal.press("q")
        terminal.wait_for("^left with 0$")

    # --- live data ---

    def test_rows_are_live(self):
        for size in SIZES:
            terminal = self.top(size=size)
            lines = terminal.wait_for(r"^ +[5-9]\d\.\d\d%  busybody +\[\.\] the_hot_function$")
            self.assertRegex(lines[0], r"^ \d+ samples/s of 'cpu-clock' at 4000 Hz, kernel")
            # Another screen, with other numbers.
            terminal.wait_until(lambda now, first=lines: now[0] != first[0] and self.rows(now), "the next screen")
            self.quit(terminal)

    def test_the_whole_machine(self):
        self.busy()
        terminal = self.machine(size=(200, 60))
        lines = terminal.wait_for(r" all, \d+ CPUs?, 0\.2 s$")
        shares = [float(line[1:].split("%")[0]) for line in self.rows(lines)]
        self.assertEqual(shares, sorted(shares, reverse=True))
        self.assertLess(sum(shares), 100.5)
        terminal.press("C-c")
        terminal.wait_for("^left with 0$")

    def test_the_cursor_stays_on_its_row(self):
        terminal = self.top("-s", "sym")
        terminal.press("C-f")
        terminal.type("other")
        terminal.press("Enter")
        before = terminal.wait_for("the_other_function")
        terminal.wait_until(lambda now: now[0] != before[0] and re.search(r" \d+/\d+$", now[-1]), "the next screen")
        terminal.press("p")
        terminal.wait_for("^ paused: ")
        terminal.press("a")  # the current row is still that one
        terminal.wait_for("^ the_other_function")
        terminal.press("Escape")
        terminal.wait_for("^ paused: ")
        self.quit(terminal)

    def test_call_chains_stay_unfolded(self):
        terminal = self.top("-g", "-s", "sym", size=(100, 40))
        terminal.press("C-f")
        terminal.type("] main")
        terminal.press("Enter", "Enter")
        unfolded = r"^- +\d.*\] main\n(?: .*\n)*? +[-+]? *\d+\.\d\d% the_hot_function$"
        before = terminal.wait_for(unfolded)
        terminal.wait_until(lambda now: now[0] != before[0] and re.search(unfolded, "\n".join(now), re.M), "the next tree")
        terminal.press("x")
        terminal.wait_for("^ callers$|^ callees$")
        terminal.press("e")
        terminal.wait_for(r"\] the_hot_function\n(?:.*the_hot_function\n)? +[-+]? *work\n +[-+]? *main$")
        terminal.press("c")
        terminal.wait_gone("^-")
        self.quit(terminal)

    def test_hierarchy(self):
        terminal = self.top("--hierarchy", "-s", "comm,dso,sym")
        terminal.press("e")
        before = terminal.wait_for(r"^ +- +\d+\.\d\d% +busybody\n +\d+\.\d\d% +\[\.\] the_hot_function")
        terminal.wait_until(lambda now: now[0] != before[0] and "the_hot_function" in "\n".join(now), "the next screen")
        self.quit(terminal)

    def test_several_events(self):
        terminal = self.top("-e", "task-clock", size=(120, 24))
        terminal.wait_for(r"^ \[1/2 Tab\] .*'cpu-clock'")
        terminal.press("Tab")
        terminal.wait_for(r"^ \[2/2 Tab\] .*'task-clock'")
        self.quit(terminal)

    # --- keys ---

    def test_filter_sort_and_number_of_rows(self):
        terminal = self.top()
        terminal.press("/")
        terminal.type("the_")
        terminal.press("Enter")
        lines = terminal.wait_for(r"filter 'the_': 2 of \d+ rows")
        self.assertEqual(len(self.rows(lines)), 2)
        terminal.press("<")  # by symbol
        terminal.wait_for("↓ ?Symbol")
        terminal.press("R")
        lines = terminal.wait_for("↑ ?Symbol")
        self.assertIn("the_other_function", self.rows(lines)[0])
        terminal.press("Escape")
        terminal.wait_gone("filter '")
        terminal.press("#")
        terminal.wait_for("Rows ")
        terminal.press("C-u")
        terminal.type("1")
        terminal.press("Enter")
        terminal.wait_for("1 rows .* 1/1$")
        self.quit(terminal)

    def test_pause_keeps_the_screen(self):
        terminal = self.top()
        terminal.press("p")
        terminal.wait_for("^ paused: .*")
        terminal.press("Down")  # removes the message
        lines = terminal.wait_for(" 2/")
        process = self.target
        process.kill()
        process.wait()
        # It knows that the target is gone, and still shows the same.
        after = terminal.wait_for("^ ended: ")
        self.assertEqual(self.rows(after), self.rows(lines))
        self.quit(terminal)

    def test_pause_and_go_on(self):
        terminal = self.top()
        terminal.press("p")
        terminal.wait_for("^ paused: ")
        terminal.press("p")
        terminal.wait_gone("^ paused: ")
        before = terminal.screen()[0]
        terminal.wait_until(lambda lines: lines[0] != before, "the next screen")
        self.quit(terminal)

    def test_delay_zero_and_modes(self):
        terminal = self.top(size=(120, 24))
        for answer, pattern in (("0.3", r", 0\.3 s$"), ("x", "is no number"), ("0", "shortest delay")):
            terminal.press("d")
            terminal.wait_for("Seconds between screens")
            terminal.press("C-u")
            terminal.type(answer)
            terminal.press("Enter")
            terminal.wait_for(pattern)
        for key, on, off in (("z", "each screen starts anew", "samples fade"), ("U", "programs are left out", "programs are shown"),
                             ("F", "shares of what is shown", "shares of all")):
            terminal.press(key)
            terminal.wait_for(on)
            terminal.press(key)
            terminal.wait_for(off)
        terminal.press("K")
        terminal.wait_for("kernel is left out")
        terminal.wait_until(lambda lines: self.rows(lines) and not any("[k]" in line for line in lines), "no kernel")
        terminal.press("f")
        terminal.wait_for("at least so many samples")
        terminal.press("C-u")
        terminal.type("100000000")
        terminal.press("Enter")
        terminal.wait_for("no samples")
        self.quit(terminal)

    def test_code_of_the_row_at_hand_and_by_name(self):
        terminal = self.top()
        terminal.wait_until(lambda now: self.rows(now) and "the_hot_function" in self.rows(now)[0], "the function as first row")
        terminal.press("a")
        lines = terminal.wait_for("^ the_hot_function")
        self.assertRegex("\n".join(lines), r"\d+\.\d\d +[0-9a-f]+: ")
        terminal.press("Escape")
        terminal.wait_for("samples/s")
        terminal.press("s")
        terminal.wait_for("Code of the function")
        terminal.type("the_other_function")
        terminal.press("Enter")
        terminal.wait_for("^ the_other_function")
        terminal.press("q")
        terminal.wait_for("samples/s")
        terminal.press("s")
        terminal.wait_for("Code of the function")
        terminal.type("nobody")
        terminal.press("Enter")
        terminal.wait_for("no sample of late fell on nobody")
        self.quit(terminal)

    def test_report_of_what_was_seen(self):
        terminal = self.top("-g", size=(100, 30))
        terminal.press("r")
        terminal.wait_for(r"^ Samples: \S+ +of event 'cpu-clock'.*what was seen of late$")
        terminal.press("f")
        terminal.wait_for("│the_hot_function")
        terminal.press("q")
        terminal.wait_for("^ Samples: ")
        terminal.press("q")
        terminal.wait_for("samples/s")
        self.quit(terminal)

    def test_what_is_saved_is_what_was_seen(self):
        terminal = self.top()
        terminal.press("p")
        terminal.wait_for("^ paused: ")
        terminal.press("w")
        line = terminal.wait_for(r"perf.data: the last [\d.]+ s, \d+ samples")[-1]
        self.quit(terminal)
        report = subprocess.run([SONDE, "report", "--stdio", "-n", "-s", "sym"], cwd=self.home, capture_output=True, text=True,
                                check=True).stdout
        rows = {line.split()[-1]: int(line.split()[1]) for line in report.splitlines() if re.match(r" +\d", line)}
        self.assertEqual(sum(rows.values()), int(re.search(r"(\d+) samples", line)[1]))
        self.assertGreater(rows["the_hot_function"], sum(rows.values()) / 2)
        (self.home / "perf.data").unlink()

    def test_help_menu_print(self):
        terminal = self.top()
        for key, text in (("h", "What is live"), ("m", "save that as perf.data")):
            terminal.press(key)
            terminal.wait_for(text)
            terminal.press("Escape")
            terminal.wait_gone(text)
        terminal.press("P")
        path = self.home / re.search(r"written: (\S+)", "\n".join(terminal.wait_for("written: "))).group(1)
        self.assertIn("the_hot_function", path.read_text())
        path.unlink()
        self.quit(terminal)

    # --- the terminal ---

    def test_sizes(self):
        terminal = self.top(size=(20, 5))
        terminal.resize(8, 2)
        terminal.wait_for("too")
        terminal.resize(120, 40)
        terminal.wait_until(lambda lines: len(lines) == 40 and self.rows(lines), "the larger screen")
        self.quit(terminal)

    def test_ends_leave_the_terminal_as_it_was(self):
        for end in (lambda terminal: terminal.press("q"), lambda terminal: terminal.press("C-c"),
                    lambda terminal: os.kill(terminal.child(), signal.SIGTERM)):
            terminal = self.top()
            end(terminal)
            lines = terminal.wait_for("^left with 0$")
            self.assertEqual(lines[0], "left with 0")
            terminal.wait_until(lambda _, of=terminal: os.path.exists(f"{of.folder.name}/after") and of.settings()[1], "stty")
            before, after = terminal.settings()
            self.assertEqual(before, after)

    def test_a_terminal_that_goes_away_ends_it(self):
        terminal = self.top()
        pid = terminal.child()
        terminal.kill()
        tmux.wait_for_end(pid)

    def test_text_where_it_is_asked_for(self):
        self.target = self.busy()
        for options, environment in ((["--stdio"], {}), ([], {"TERM": "dumb"})):
            terminal = self.terminal(80, 24, [SONDE, "top", "-d", "0.2", "-p", self.target.pid, *options], cwd=self.home,
                                     environment=environment)
            terminal.wait_for("PerfTop:")
            terminal.press("q")
            terminal.wait_for("left with 0")


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("needs root")
        sys.exit(77)
    unittest.main(argv=["top_browser", *sys.argv[2:]], verbosity=2 if len(sys.argv) > 2 else 1)
