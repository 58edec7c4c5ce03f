#!/usr/bin/env python3
"""The browser of `report`, driven in tmux at 80×24 and 200×60: its rows, numbers and order are those of --stdio; and how it
ends."""
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

# Threads with names that are wide, or that contain terminal control sequences; calls of several depths.
PROGRAM = r"""
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
volatile double sum;
#define CALLED __attribute__((noinline, noclone))
CALLED void leaf_root(int n) { for (int i = 0; i < n; ++i) sum += sqrt(i); }
CALLED void leaf_copy(int n) { char a[4096]; for (int i = 0; i < n / 100; ++i) { memset(a, i, sizeof a); sum += a[i % 4096]; } }
CALLED void branch_one(void) { leaf_root(400000); leaf_copy(200000); }
CALLED void branch_two(void) { leaf_root(200000); leaf_copy(100000); sum += 1; }
CALLED void work(void) { for (int i = 0; i < 60; ++i) { branch_one(); branch_two(); } }
void* named(void* name) { prctl(PR_SET_NAME, name); work(); return 0; }
int main(void) {
  char* names[] = {"\xe6\xbc\xa2\xe5\xad\x97", "esc\033[2Jape", "worker", "second", "third", "fourth"};
  pthread_t threads[6];
  for (int i = 0; i < 6; ++i) pthread_create(&threads[i], 0, named, names[i]);
  for (int i = 0; i < 6; ++i) pthread_join(threads[i], 0);
}
"""


class ReportBrowserTest(tmux.TmuxTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        program = cls.home / "specimen"
        program.with_suffix(".c").write_text(PROGRAM)
        subprocess.run(["cc", "-O1", "-g", "-fno-omit-frame-pointer", "-o", program, program.with_suffix(".c"), "-lm", "-lpthread"],
                       check=True)
        for name, events in (("perf.data", ["-e", "cpu-clock"]), ("two.data", ["-e", "cpu-clock", "-e", "task-clock"])):
            subprocess.run([SONDE, "record", "--call-graph", "fp", "--sample-cpu", "-F", "999", *events, "-o", cls.home / name, program], check=True,
                           capture_output=True)

    def browser(self, *options, size=(80, 24), **how):
        terminal = self.terminal(*size, [SONDE, "report", *options], cwd=self.home, **how)
        terminal.wait_for(r"Samples: ")
        return terminal

    def rows(self, *options):
        """Lines of --stdio that are rows."""
        text = subprocess.run([SONDE, "report", "--stdio", *options], cwd=self.home, check=True,
                              capture_output=True).stdout.decode(errors="replace")
        return [line for line in text.splitlines() if re.match(r" +\d+\.\d\d%", line)]

    def cpus(self):
        """CPUs that have samples."""
        return re.findall(r"^ +\d\S+ +(\d+)", subprocess.run([SONDE, "report", "--stdio", "-g", "none", "--no-children", "-s", "cpu"],
                          cwd=self.home, check=True, capture_output=True, text=True).stdout, re.M)

    @staticmethod
    def plain(line):
        """A row in comparable form: without the expand sign; names that are cut, wide or unprintable may differ."""
        return re.sub(r"[^\x20-\x7e].*", "", " " + line[1:]).rstrip()

    def same_rows(self, shown, expected, width):
        self.assertEqual([self.plain(line) for line in shown], [self.plain(line[:width]) for line in expected])

    def quit(self, terminal):
        terminal.press("q")
        terminal.wait_for("^left with 0$")

    # --- rows ---

    def test_every_row_is_a_row_of_the_text(self):
        expected = self.rows()
        self.assertGreater(len(expected), 20)
        for width, height in SIZES:
            terminal = self.browser(size=(width, height))
            page = height - HEAD - FOOT
            lines = terminal.wait_for(f" 1/{len(expected)}$")
            self.same_rows([line for line in lines[HEAD:-FOOT] if line], expected[:page], width)
            terminal.press("End")
            lines = terminal.wait_for(f" {len(expected)}/{len(expected)}$")
            shown = [line for line in lines[HEAD:-FOOT] if line]
            self.same_rows(shown, expected[-len(shown):], width)
            terminal.press("Home")
            terminal.wait_for(f" 1/{len(expected)}$")
            # Row by row.
            for row in range(2, min(len(expected), 40) + 1):
                terminal.press("Down")
                terminal.wait_for(f" {row}/{len(expected)}$")
            self.quit(terminal)

    def test_options_are_those_of_the_text(self):
        for options in (["--no-children", "-s", "sym"], ["-s", "dso", "-n"], ["--percent-limit", "5"], ["-F", "overhead,sym,comm"]):
            expected = self.rows(*options)
            terminal = self.browser(*options, size=(200, 60))
            lines = terminal.wait_for(f" 1/{len(expected)}$")
            self.same_rows([line for line in lines[HEAD:-FOOT] if line], expected[:60 - HEAD - FOOT], 200)
            self.quit(terminal)

    def test_intervals_come_and_go(self):
        plain, wide = self.rows("-s", "sym"), self.rows("-s", "sym", "--confidence")
        self.assertRegex(wide[0], r"% +\d+\.\d\d \.\. +\d+\.\d\d ")
        terminal = self.browser("-s", "sym", size=(200, 60))
        terminal.press("Down", "Down")
        for expected, title in ((wide, True), (plain, False)):
            terminal.press("I")
            lines = terminal.wait_until(lambda lines: ("95% interval" in lines[1]) == title, "the other columns")
            self.assertRegex(lines[-1], f" 3/{len(expected)}$")
            self.same_rows([line for line in lines[HEAD:-FOOT] if line], expected[:60 - HEAD - FOOT], 200)
        self.quit(terminal)

    def test_unfolded_calls_are_those_of_the_text(self):
        for options in (["-s", "sym"], ["--no-children", "-s", "dso"], ["-g", "fractal,0.5,callee", "-s", "sym"]):
            text = subprocess.run([SONDE, "report", "--stdio", *options], cwd=self.home, check=True, capture_output=True,
                                  text=True).stdout
            expected = re.findall(r"--(\d+\.\d\d%)--(.*)", text)
            terminal = self.browser(*options)
            terminal.press("e")
            terminal.wait_for("^-")
            terminal.press("P")
            path = self.home / re.search(r"written: (\S+)", "\n".join(terminal.wait_for("written: "))).group(1)
            shown = re.findall(r"^ {4,}[-+ ] (\d+\.\d\d%) (\S.*)", path.read_text(), re.M)
            path.unlink()
            self.assertTrue(expected)
            self.assertEqual(shown, expected)
            terminal.press("c")
            terminal.wait_gone("^-")
            self.quit(terminal)

    def test_a_row_is_unfolded_level_by_level(self):
        terminal = self.browser("-s", "sym", "-g", "caller")
        terminal.press("/")
        terminal.type("] work")
        terminal.press("Enter")
        terminal.wait_for(r"^\+.*\] work")
        terminal.press("+")
        terminal.wait_for(r"^-.*\] work\n +[+] \d+\.\d\d% branch_one$")
        terminal.press("Down", "Enter")
        terminal.wait_for(r"- \d+\.\d\d% branch_one\n +(\d+\.\d\d% )?leaf_")
        terminal.press("Home", "Enter")
        terminal.wait_gone("branch_one")
        terminal.press("H")
        terminal.wait_for(r"branch_one\n +(\d+\.\d\d% )?leaf_")
        self.quit(terminal)

    def test_callers_of_the_row_at_hand(self):
        terminal = self.browser("-s", "sym", "-g", "caller")
        terminal.press("C-f")
        terminal.type("branch_one")
        terminal.press("Enter")
        terminal.press("x")
        terminal.wait_for(r"^-.*\] branch_one\n(?:.*branch_one\n)? +[-+ ]? *(?:\d+\.\d\d% )?work$")
        terminal.wait_for("all › callers")
        terminal.press("Escape")
        terminal.wait_gone("all › callers")
        self.quit(terminal)

    def test_callers_and_callees_side_by_side(self):
        terminal = self.browser("-s", "sym", size=(120, 40))
        terminal.press("C-f")
        terminal.type("branch_one")
        terminal.press("Enter")
        terminal.press("X")
        lines = terminal.wait_for("^ Callers and callees of branch_one$")
        callers, callees = ("\n".join(part) for part in zip(*(line.split("│", 1) for line in lines[1:-1])))
        self.assertRegex(callers, r"Callers(?:.*\n)+.*branch_one(?:.*\n)+.* work\b")
        self.assertRegex(callees, r"Callees(?:.*\n)+.*branch_one(?:.*\n)+.*leaf_")
        self.assertNotIn("leaf_", callers)
        terminal.resize(80, 24)
        terminal.wait_gone("Callees")
        terminal.press("Tab")
        terminal.wait_for("Callees")
        terminal.press("Escape")
        terminal.wait_for("^ Samples: ")
        self.quit(terminal)

    def test_flame_graph(self):
        terminal = self.browser(size=(120, 24))
        terminal.press("f")
        lines = terminal.wait_for(r"^│all *$")
        self.assertRegex(lines[2], "│worker")
        self.assertRegex("\n".join(lines), r"│branch_one")
        self.assertRegex(lines[-1], r"^ 100\.00%  all")
        terminal.press("Down", "Enter")
        lines = terminal.wait_until(lambda lines: not lines[1].startswith("│all"), "the zoomed graph")
        terminal.press("/")
        terminal.type("branch")
        terminal.wait_for(r"[1-9] boxes")
        terminal.press("Enter", "Escape")
        terminal.wait_for(r"^│all *$")
        terminal.press("Escape")
        terminal.wait_for(r"^  Children")
        self.quit(terminal)

    def test_hierarchy(self):
        text = subprocess.run([SONDE, "report", "--stdio", "-g", "none", "--hierarchy", "-s", "dso,sym"], cwd=self.home,
                              check=True, capture_output=True, text=True).stdout
        expected = [line for line in text.splitlines() if re.match(r" +\d+\.\d\d%", line)]
        terminal = self.browser("-g", "none", "--hierarchy", "-s", "dso,sym", size=(120, 60))
        terminal.wait_for(r"^\+ +\d")
        terminal.press("e")
        lines = terminal.wait_for(f"/{len(expected)}$")
        shown = [re.sub(r"[-+]", " ", line, count=1) for line in lines[HEAD:-FOOT] if line]
        self.assertEqual([line.split() for line in shown], [line.split() for line in expected[:len(shown)]])
        self.quit(terminal)

    def test_remarks_of_a_hierarchy(self):
        def options(limit):
            return ["-g", "none", "--no-children", "--hierarchy", "-s", "comm,sym", "--percent-limit", str(limit)]

        def remarks(limit):
            return subprocess.run([SONDE, "report", "--stdio", *options(limit)], cwd=self.home, check=True,
                                  capture_output=True).stdout.count(b"no entry >= ")

        # A thread that has that much, none of whose functions does.
        text = subprocess.run([SONDE, "report", "--stdio", "-g", "none", "--no-children", "-s", "comm,sym", "-t", ";"], cwd=self.home,
                              check=True, capture_output=True).stdout.decode(errors="replace")
        shares = {}
        for share, comm in re.findall(r"^ *(\d+\.\d+)%? *;([^;\n]*);", text, re.M):
            shares.setdefault(comm.strip(), []).append(float(share))
        whole, largest = max(((sum(parts), max(parts)) for parts in shares.values()), key=lambda pair: pair[0] - pair[1])
        limit = round((whole + largest) / 2, 2)
        self.assertGreater(remarks(limit), 0, text)
        terminal = self.browser(*options(limit), size=(120, 60))
        terminal.press("e")
        lines = terminal.wait_for("no entry >= ")
        self.assertEqual("\n".join(lines).count("no entry >= "), remarks(limit))
        self.quit(terminal)

    # --- searching ---

    def test_filter_is_live_and_is_taken_back(self):
        expected = self.rows()
        found = [line for line in expected if "leaf" in line]
        terminal = self.browser()
        terminal.press("/")
        terminal.type("leaf")
        lines = terminal.wait_for(f"{len(found)} of {len(expected)} rows")
        self.same_rows([line for line in lines[HEAD:-FOOT] if line], found[:24 - HEAD - FOOT], 80)
        terminal.press("C-u")
        terminal.type("leaf_(root|copy)$")
        terminal.wait_for(f"0 of {len(expected)} rows")
        terminal.press("C-r")
        terminal.wait_for(f"{len(found)} of {len(expected)} rows")
        terminal.press("Enter")
        terminal.wait_for(f"filter /leaf.*: {len(found)} of")
        terminal.press("Escape")
        terminal.wait_for(f" [0-9]+/{len(expected)}$")
        self.quit(terminal)

    def test_search_counts_and_goes_around(self):
        expected = self.rows("-s", "sym")
        places = [i + 1 for i, line in enumerate(expected) if "branch" in line]
        terminal = self.browser("-s", "sym")
        terminal.press("C-f")
        terminal.type("branch")
        terminal.wait_for(f"{len(places)} matches")
        terminal.press("Enter")
        terminal.wait_for(f" {places[0]}/{len(expected)}$")
        terminal.press("n")
        terminal.wait_for(f" {places[1]}/{len(expected)}$")
        terminal.press("N", "N")
        terminal.wait_for(f" {places[-1]}/{len(expected)}$")
        self.quit(terminal)

    def test_sort_by_any_column(self):
        expected = self.rows("-s", "sym")
        terminal = self.browser("-s", "sym")
        terminal.press("<")  # the last
        lines = terminal.wait_for("↓Symbol|↓ Symbol")
        self.assertEqual(len([line for line in lines[HEAD:-FOOT] if line]), min(len(expected), 24 - HEAD - FOOT))
        names = [line[line.index('['):] for line in lines[HEAD:-FOOT] if line]
        self.assertEqual(names, sorted(names))
        terminal.press("R")
        lines = terminal.wait_for("↑Symbol|↑ Symbol")
        names = [line[line.index('['):] for line in lines[HEAD:-FOOT] if line]
        self.assertEqual(names, sorted(names, reverse=True))
        self.quit(terminal)

    # --- zooming ---

    def test_zoomed_tables_are_those_of_the_options(self):
        terminal = self.browser()
        everything = terminal.screen()
        first = self.rows()[0]
        for key, options in (("d", lambda row: ["-d", row[3]]), ("t", lambda row: ["-c", row[2]])):
            # A row whose names are plain.
            number = next(i for i, line in enumerate(self.rows()) if "worker" in line and "specimen" in line)
            row = self.rows()[number].split()
            expected = self.rows(*options(row))
            terminal.press("/")
            terminal.type("worker")
            terminal.press("Enter")
            terminal.wait_for("filter 'worker'")
            terminal.press("C-f")
            terminal.type("specimen")
            terminal.press("Enter")
            terminal.press(key)
            lines = terminal.wait_for(f"all › .* 1/{len(expected)}$")
            self.same_rows([line for line in lines[HEAD:-FOOT] if line], expected[:24 - HEAD - FOOT], 80)
            terminal.press("Escape")
            terminal.wait_for("filter 'worker'")
            terminal.press("Escape")
            terminal.press("Home")
            terminal.wait_until(lambda lines: lines == everything, "the first screen")
        self.assertTrue(first)
        self.quit(terminal)

    def test_zoom_by_cpu_and_time(self):
        terminal = self.browser()
        cpu = min(self.cpus())
        for down, answer, options in (("CPUs", cpu, ["-C", cpu]), ("time", "10%-50%", ["--time", "10%-50%"])):
            expected = self.rows(*options)
            terminal.press("z")
            lines = terminal.wait_for("─ ?Zoom|Zoom ─")
            items = [line for line in lines if line.count("│") >= 2]
            for _ in range(next(i for i, line in enumerate(items) if down in line)):
                terminal.press("Down")
            terminal.press("Enter")
            terminal.type(answer)
            terminal.press("Enter")
            lines = terminal.wait_for(f"all › .* 1/{len(expected)}$")
            self.same_rows([line for line in lines[HEAD:-FOOT] if line], expected[:24 - HEAD - FOOT], 80)
            terminal.press("Escape")
            terminal.wait_for("h help")
        self.quit(terminal)

    def test_events_and_files(self):
        terminal = self.browser("-i", "two.data", size=(120, 24))
        terminal.wait_for(r"\[1/2 Tab\] .*cpu-clock")
        terminal.press("Tab")
        terminal.wait_for(r"\[2/2 Tab\] .*task-clock")
        terminal.press("s")
        terminal.wait_for("Other recordings")
        terminal.press("Enter")  # perf.data
        terminal.wait_for(r"cpu-clock'.* perf\.data$")
        self.quit(terminal)

    # --- single samples ---

    def test_samples_of_a_row_and_what_is_around_them(self):
        text = subprocess.run([SONDE, "script", "-G", "--ns", "-F", "tid,time,ip,sym"], cwd=self.home, check=True, capture_output=True,
                              text=True).stdout
        taken = [(int(tid), int(seconds) * 10**9 + int(part), symbol) for tid, seconds, part, symbol in
                 re.findall(r"^ *(\d+) +(\d+)\.(\d{9}): +[0-9a-f]+ (\S+)$", text, re.M)]
        times = {f"{time // 10**9}.{time // 1000 % 10**6:06}": (tid, time) for tid, time, symbol in taken if symbol == "leaf_root"}
        self.assertGreater(len(times), 4)
        terminal = self.browser("-s", "sym", "--no-children", "--samples", "4", size=(120, 60))
        terminal.press("C-f")
        terminal.type("leaf_root")
        terminal.press("Enter")
        terminal.press("S")
        item = r"(\d+\.\d{6})  \S.* (\d+)  \[\d{3}\]"
        lines = terminal.wait_for("─ ?Samples|Samples ─")
        shown = [match.groups() for line in lines if (match := re.search(item, line))]
        self.assertEqual(len(shown), 4)
        self.assertEqual(shown, sorted(shown))
        for time, tid in shown:
            self.assertEqual(times[time][0], int(tid))
        terminal.press("Down", "Enter")
        tid, at = times[shown[1][0]]
        around = sum(tid == other and abs(time - at) <= 10**7 for other, time, _ in taken)
        lines = terminal.wait_for("around ")
        self.assertEqual(sum(bool(re.match(r"[ >] " + item, line)) for line in lines), around)
        marked = [line for line in lines if line.startswith("> ")]
        self.assertEqual(len(marked), 1)
        self.assertRegex(marked[0], re.escape(shown[1][0]) + ".* leaf_root ")
        terminal.press("q")
        terminal.wait_for("^ Samples: ")
        self.quit(terminal)
        terminal = self.browser()
        terminal.press("S")
        terminal.wait_for("report --samples N")
        self.quit(terminal)

    # --- the terminal ---

    def test_help_menu_header(self):
        terminal = self.browser()
        for key, text in (("h", "Unfolding"), ("F1", "Unfolding"), ("i", "# captured on|# hostname"), ("m", "print to a file")):
            terminal.press(key)
            terminal.wait_for(text)
            terminal.press("Escape")
            terminal.wait_gone(text)
        self.quit(terminal)

    def test_damage_is_in_the_title(self):
        whole = (self.home / "perf.data").read_bytes()
        (self.home / "elsewhere").mkdir()  # the menu of files lists those beside each other
        (self.home / "elsewhere" / "cut.data").write_bytes(whole[: len(whole) * 3 // 4])
        text = subprocess.run([SONDE, "report", "--stdio", "-i", "elsewhere/cut.data"], cwd=self.home, capture_output=True, text=True)
        self.assertEqual(text.returncode, 1)
        share = re.search(r"^# Damaged: (.*% of the recording could not be read)", text.stdout, re.M)[1]
        terminal = self.browser("-i", "elsewhere/cut.data", size=(200, 60))
        terminal.wait_for("^ *" + re.escape(share) + r" \(i\) · Samples: ")
        terminal.press("i")
        terminal.wait_for("# Damaged: " + re.escape(share))
        terminal.press("q")
        terminal.wait_for(r"\(i\) · Samples: ")
        terminal.press("q")
        terminal.wait_for("^left with 1$")

    def test_mouse(self):
        terminal = self.browser("-s", "sym")
        terminal.wait_for(r"^\+")
        terminal.click(HEAD + 2, 10)
        terminal.wait_for(r" 3/\d+$")
        terminal.click(HEAD, 0)
        terminal.wait_for(r"^-")
        self.quit(terminal)

    def test_resize(self):
        terminal = self.browser()
        expected = self.rows()
        terminal.resize(120, 40)
        lines = terminal.wait_until(lambda lines: len(lines) == 40 and re.search(r"\d+/\d+$", lines[-1]), "the larger screen")
        self.same_rows([line for line in lines[HEAD:-FOOT] if line], expected[:40 - HEAD - FOOT], 120)
        terminal.resize(20, 5)
        lines = terminal.wait_until(lambda lines: len(lines) == 5 and re.search(r"\d+/\d+$", lines[-1]), "the small screen")
        self.same_rows(lines[HEAD:-FOOT], expected[:2], 20)
        terminal.press("Down")
        terminal.wait_for(r" 2/\d+$")
        terminal.resize(8, 2)
        terminal.wait_for("too")
        terminal.resize(80, 24)
        terminal.wait_for("Samples: ")
        self.quit(terminal)

    def test_the_terminal_is_left_as_it_was(self):
        for key in ("q", "C-c"):
            terminal = self.browser()
            terminal.press(key)
            lines = terminal.wait_for("^left with 0$")
            self.assertEqual(lines[0], "left with 0")  # the alternate screen is gone
            terminal.wait_until(lambda _: os.path.exists(f"{terminal.folder.name}/after") and terminal.settings()[1], "stty")
            before, after = terminal.settings()
            self.assertEqual(before, after)

    def test_signals_end_it_cleanly(self):
        for number, status in ((signal.SIGTERM, 0), (signal.SIGSEGV, 128 + signal.SIGSEGV)):
            terminal = self.browser()
            os.kill(terminal.child(), number)
            terminal.wait_for(f"^left with {status}$")
            terminal.wait_until(lambda _: os.path.exists(f"{terminal.folder.name}/after") and terminal.settings()[1], "stty")
            before, after = terminal.settings()
            self.assertEqual(before, after)

    def test_stopped_and_taken_up_again(self):
        terminal = self.terminal(100, 24, ["bash", "--norc", "--noprofile", "-i"], cwd=self.home, environment={"PS1": "shell> "})
        terminal.wait_for("^shell>")
        terminal.type("stty -a > before; clear\n")
        terminal.wait_until(lambda lines: lines[0] == "shell>", "the prompt")
        terminal.type(f"{SONDE} report\n")
        before = terminal.wait_for("^ Samples: ")
        for stop in (1, 2):
            terminal.press("C-z")
            terminal.wait_for("Stopped")
            # Numbered: what the shell printed at the first stop is on the screen again at the second.
            terminal.type(f"stty -a > during; clear; echo the shell is here, {stop}\n")
            terminal.wait_for(f"^the shell is here, {stop}")
            self.assertEqual((self.home / "during").read_text(), (self.home / "before").read_text())
            terminal.type("fg\n")
            terminal.wait_until(lambda lines: lines == before, "the same screen")
        terminal.press("Down")
        terminal.wait_for(r" 2/\d+$")
        terminal.press("q")
        terminal.wait_for("^shell>")
        terminal.type("stty -a > after; exit\n")
        terminal.wait_for("^left with 0$")
        self.assertEqual((self.home / "after").read_text(), (self.home / "before").read_text())

    def test_a_terminal_that_goes_away_ends_it(self):
        terminal = self.browser()
        pid = terminal.child()
        terminal.kill()
        tmux.wait_for_end(pid)

    def test_colours_only_where_they_are_wanted(self):
        terminal = self.browser()
        self.assertRegex("\n".join(terminal.screen(colors=True)), r"\033\[[0-9;]*3[128]")
        self.quit(terminal)
        terminal = self.browser(environment={"NO_COLOR": "1"})
        self.assertNotRegex("\n".join(terminal.screen(colors=True)), r"\033\[(?:[0-9;]*;)?[34][0-8]")
        self.quit(terminal)

    def test_names_do_not_steer_the_terminal(self):
        terminal = self.browser("-s", "comm", size=(100, 24))
        terminal.wait_for("esc\ufffd\\[2Jape")
        terminal.wait_for("漢字")
        self.quit(terminal)

    def test_text_where_it_is_asked_for_or_there_is_no_terminal(self):
        for options in (["--stdio"], ["--stats"]):
            terminal = self.terminal(80, 24, ["env", "PAGER=cat", SONDE, "report", *options], cwd=self.home)
            terminal.wait_for("^left with 0$")
        done = subprocess.run([SONDE, "report", "--tui"], cwd=self.home, capture_output=True, text=True, check=True)
        self.assertIn("# Samples", done.stdout)
        self.assertIn("--tui", done.stderr)
        terminal = self.terminal(80, 24, ["env", "PAGER=cat", SONDE, "report"], cwd=self.home, environment={"TERM": "dumb"})
        terminal.wait_for("^left with 0$")


if __name__ == "__main__":
    unittest.main(argv=["report_browser", *sys.argv[2:]], verbosity=2 if len(sys.argv) > 2 else 1)
