"""`sched stats` on a kernel that counts (CONFIG_SCHEDSTATS): its figures are between those read inside and around the
recording."""
import re
import unittest
from pathlib import Path

from inside import PERF, SONDE, GuestTest

COUNTERS = Path("/proc/schedstat")
SWITCH = Path("/proc/sys/kernel/sched_schedstats")
# Two processes that send each other a byte, back and forth.
MESSAGES = ("pipe(A,B);pipe(C,D);select(B);$|=1;select(D);$|=1;"
            "if(fork){for(1..300){syswrite(B,x);sysread(C,$_,1)}}else{for(1..300){sysread(A,$_,1);syswrite(D,x)}}")
LOAD = ["sh", "-c", f"cat {COUNTERS} > begin; perl -e '{MESSAGES}'; cat {COUNTERS} > end"]
# The counter's position on a CPU's line, after its name.
PLACES = {"sched_count": 3, "sched_goidle": 4, "ttwu_count": 5, "ttwu_local": 6, "run_delay": 8}


def counters(text):
    """(CPU, counter) -> value."""
    rows = [line.split() for line in text.splitlines() if line.startswith("cpu")]
    return {(int(row[0][3:]), name): int(row[place]) for row in rows for name, place in PLACES.items()}


def shown(text):
    """The same from a report."""
    values, cpu = {}, None
    for line in text.splitlines():
        if title := re.fullmatch(r"CPU (\d+|<.*>)(, DOMAIN.*)?", line.strip()):
            cpu = int(title[1]) if title[1].isdigit() and not title[2] else None
        elif cpu is not None and (row := re.match(r"(\w+) +: +(\d+)\b", line)):
            values[cpu, row[1]] = int(row[2])
    return values


class SchedStatsTest(GuestTest):
    def setUp(self):
        self.before = SWITCH.read_text(encoding="ascii")
        self.addCleanup(SWITCH.write_text, self.before, encoding="ascii")

    def test_figures_are_those_of_the_kernel(self):
        SWITCH.write_text("1", encoding="ascii")
        around = [counters(COUNTERS.read_text(encoding="ascii"))]
        self.run_tool(SONDE, "sched", "stats", "record", "-o", "stats.data", "--", *LOAD)
        around.append(counters(COUNTERS.read_text(encoding="ascii")))
        inside = [counters((self.path / name).read_text(encoding="ascii")) for name in ("begin", "end")]
        report = shown(self.text(SONDE, "sched", "stats", "report", "-i", "stats.data"))
        self.assertEqual({cpu for cpu, _ in report}, {cpu for cpu, _ in inside[0]})
        for key, value in inside[0].items():
            self.assertGreaterEqual(report[key], inside[1][key] - value, key)
            self.assertLessEqual(report[key], around[1][key] - around[0][key], key)
        self.assertGreater(sum(value for (_, name), value in report.items() if name == "ttwu_count"), 300)

    def test_the_header_names_the_domains(self):
        self.run_tool(SONDE, "sched", "stats", "record", "-o", "stats.data", "--", "true")
        header = self.text(SONDE, "report", "--header-only", "-I", "-i", "stats.data")
        text = COUNTERS.read_text(encoding="ascii")
        version = int(re.match(r"version (\d+)", text)[1])
        self.assertIn(f"# schedstat version\t: {version}\n", header)
        masks = re.findall(r"(?m)^domain\d+ (?:[A-Z]+ )?([0-9a-f,]+) ", text)
        self.assertEqual(re.findall(r"# Domain cpu map   : (.*)\n", header), masks)
        self.assertGreater(len(masks), 0)
        # perf 6.1 does not know the section, and ignores it.
        self.assertIn("# hostname : ", self.text(PERF, "report", "--header-only", "-i", "stats.data"))

    def test_a_diff_has_both(self):
        SWITCH.write_text("1", encoding="ascii")
        for name in ("first.data", "second.data"):
            self.run_tool(SONDE, "sched", "stats", "record", "-o", name, "--", *LOAD)
        text = self.text(SONDE, "sched", "stats", "diff", "first.data", "second.data")
        both = re.search(r"(?m)^sched_count +: +(\d+), +(\d+) ", text)
        for name, value in zip(("first.data", "second.data"), both.groups()):
            report = self.text(SONDE, "sched", "stats", "report", "-i", name)
            self.assertEqual(re.search(r"(?m)^sched_count +: +(\d+)", report)[1], value)

    def test_counting_is_switched_on_for_the_while(self):
        SWITCH.write_text("0", encoding="ascii")
        report = self.text(SONDE, "sched", "stats", *LOAD)
        self.assertEqual(SWITCH.read_text(encoding="ascii").strip(), "0")
        self.assertGreater(sum(value for (_, name), value in shown(report).items() if name == "ttwu_count"), 300)


if __name__ == "__main__":
    unittest.main(argv=["sched_stats"])
