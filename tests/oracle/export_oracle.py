#!/usr/bin/env python3
"""Exports, read by the formats' own readers, against `report` on the same recording: the same totals per event and function.

    tests/oracle/export_oracle.py [BUILD_DIR]      $SONDE is the binary

speedscope's importer and pprof-format come from npm (tests/readers; ./dev deps installs them in the build directory), protoc from
Debian. Firefox has no reader outside of the page: its tables are checked by the rules that the page relies on.
"""
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import unittest
from collections import defaultdict
from pathlib import Path

SOURCE = Path(os.environ.get("SONDE_SOURCE", Path(__file__).resolve().parents[2]))
BUILD = Path(sys.argv[1] if len(sys.argv) > 1 else SOURCE / "build/release").resolve()
SONDE = os.environ.get("SONDE") or str(BUILD / "sonde")
READERS = SOURCE / "tests/readers"
MODULES = BUILD.parent / "readers/node_modules"
PROGRAM = "for i in 1 2 3; do gzip -c /usr/bin/perf | head -c 300000 > /dev/null; ls -R /usr/share/doc > /dev/null; done"
HIDDEN = re.compile(r"0x[0-9a-f]+$|[0-9a-f]{16}$")


def sonde(*arguments):
    return subprocess.run([SONDE, *arguments], check=True, capture_output=True).stdout


class Totals:
    """By event and function: self weight, and total weight."""

    def __init__(self):
        self.own = defaultdict(lambda: defaultdict(float))
        self.all = defaultdict(lambda: defaultdict(float))
        self.sum = defaultdict(float)

    def add(self, event, names, value):
        """Outermost first."""
        self.sum[event] += value
        if names:
            self.own[event][names[-1]] += value
        for name in set(names):
            self.all[event][name] += value


def report_rows(*arguments):
    """(event, columns) of each row."""
    event = None
    for line in sonde("report", "--stdio", "--frame-functions", "--no-inline", "-g", "none", "-t", "|", *arguments).decode().splitlines():
        found = re.match(r"# Samples: .* of event '(.*)'", line)
        if found:
            event = found[1]
        elif line and not line.startswith("#"):
            yield event, [column.strip() for column in line.split("|")]


def shown_name(symbol, dso):
    """As stacks spell it: code without a symbol is its object."""
    name = symbol[4:]
    if HIDDEN.match(name):
        return "[unknown]" if dso == "[unknown]" else f"[{dso.rsplit('/', 1)[-1]}]"
    return re.sub(r"\((?!anonymous namespace\)|\*).*", "", name).replace(";", ":")


class Reported:
    def __init__(self, data):
        self.own = defaultdict(lambda: defaultdict(float))
        self.share = defaultdict(dict)
        seen = defaultdict(int)
        for event, (period, symbol, dso) in report_rows("-i", data, "--no-children", "-s", "sym,dso", "-F", "period,sym,dso"):
            self.own[event][shown_name(symbol, dso)] += int(period)
        for event, (share, symbol) in report_rows("-i", data, "--children", "-s", "sym", "-F", "overhead_children,sym"):
            name = shown_name(symbol, "[unknown]")
            seen[event, name] += 1
            self.share[event][name] = float(share.rstrip("%"))
        for (event, name), rows in seen.items():
            # Two functions with the same name, or addresses without one: what is below them cannot be added up from percentages.
            if rows > 1 or name == "[unknown]":
                del self.share[event][name]


# Readers: each returns the Totals of a file.

def of_folded(path, event):
    totals = Totals()
    for line in path.read_text().splitlines():
        stack, _, value = line.rpartition(" ")
        totals.add(event, stack.split(";")[1:], float(value))
    return totals


def of_json(path):
    document = json.loads(path.read_text())
    totals = Totals()
    for stack in document["stacks"]:
        names = [document["frames"][i]["name"] for i in stack["frames"]]
        kinds = [document["frames"][i]["kind"] for i in stack["frames"]]
        assert kinds[0] == "task" and "task" not in kinds[1:]
        for event, value in zip(document["events"], stack["values"], strict=True):
            totals.add(event["name"], names[1:], value)
    for event in document["events"]:
        totals.sum[event["name"]] += event["without_stack"]
        assert totals.sum[event["name"]] == event["total"]
    return totals


def of_chrome(path):
    document = json.loads(path.read_text())
    stacks = document["stackFrames"]
    totals = Totals()
    named = {(event["pid"], event["tid"]) for event in document["traceEvents"] if event["name"] == "thread_name"}
    before = 0
    for sample in document["samples"]:
        assert (sample["pid"], sample["tid"]) in named and sample["ts"] >= before
        before = sample["ts"]
        names, at = [], sample.get("sf")
        while at is not None:
            names.insert(0, stacks[at]["name"])
            at = stacks[at].get("parent")
        totals.add(sample["name"], names, sample["weight"])
    return totals


def check_firefox_thread(document, thread):
    for name in ("samples", "stackTable", "frameTable", "funcTable", "resourceTable", "nativeSymbols", "markers"):
        table = thread[name]
        for column, values in table.items():
            assert not isinstance(values, list) or len(values) == table["length"], f"{name}.{column}"
    stacks, frames, functions = thread["stackTable"], thread["frameTable"], thread["funcTable"]
    assert all(prefix is None or prefix < i for i, prefix in enumerate(stacks["prefix"])), "a parent comes later"
    assert all(0 <= frame < frames["length"] for frame in stacks["frame"])
    assert all(0 <= function < functions["length"] for function in frames["func"])
    assert all(0 <= name < len(thread["stringArray"]) for name in functions["name"])
    assert all(-1 <= resource < thread["resourceTable"]["length"] for resource in functions["resource"])
    assert all(0 <= library < len(document["libs"]) for library in thread["resourceTable"]["lib"])
    for table in (stacks, frames):
        for category, subcategory in zip(table["category"], table["subcategory"]):
            assert subcategory < len(document["meta"]["categories"][category]["subcategories"])
    times = thread["samples"]["time"]
    assert times == sorted(times) and isinstance(thread["pid"], str)


def of_firefox(path):
    with gzip.open(path) as file:
        document = json.load(file)
    assert document["meta"]["preprocessedProfileVersion"] == 48
    assert any(category["color"] == "grey" for category in document["meta"]["categories"])
    totals = Totals()
    for thread in document["threads"]:
        check_firefox_thread(document, thread)
        event = re.search(r"\(([^()]*)\)$", thread["name"])[1]
        samples, stacks = thread["samples"], thread["stackTable"]
        scale = {"tracing-ms": 1e6, "samples": 1}[samples["weightType"]]
        for stack, weight in zip(samples["stack"], samples["weight"]):
            names = []
            while stack is not None:
                function = thread["frameTable"]["func"][stacks["frame"][stack]]
                names.insert(0, thread["stringArray"][thread["funcTable"]["name"][function]])
                stack = stacks["prefix"][stack]
            totals.add(event, names, round(weight * scale))
    return totals


def text_messages(text):
    """protoc's text as nested lists of (name, value)."""
    stack = [[]]
    for line in text.splitlines():
        line = line.strip()
        if line.endswith("{"):
            made = []
            stack[-1].append((line[:-2], made))
            stack.append(made)
        elif line == "}":
            stack.pop()
        else:
            name, _, value = line.partition(": ")
            stack[-1].append((name, value[1:-1] if value.startswith('"') else int(value)))
    return stack[0]


def all_of(message, name):
    return [value for key, value in message if key == name]


def one_of(message, name, default=None):
    return next(iter(all_of(message, name)), default)


def decode(path, message, proto):
    with open(path, "rb") as file:
        return text_messages(subprocess.run(["protoc", f"--decode={message}", f"--proto_path={READERS}", READERS / proto],
                                            stdin=file, check=True, capture_output=True, text=True).stdout)


def of_otlp(path):
    data = decode(path, "readers.otlp.ProfilesData", "otlp.proto")
    dictionary = one_of(data, "dictionary")
    strings = all_of(dictionary, "string_table")
    functions = all_of(dictionary, "function_table")
    locations = all_of(dictionary, "location_table")
    stacks = all_of(dictionary, "stack_table")
    attributes = all_of(dictionary, "attribute_table")
    assert strings[0] == "" and not (functions[0] or locations[0] or stacks[0] or attributes[0])
    assert not one_of(dictionary, "mapping_table") and not one_of(dictionary, "link_table")

    def name_of(location):
        return strings[one_of(functions[one_of(one_of(locations[location], "lines"), "function_index")], "name_strindex")]

    totals = Totals()
    for resource in all_of(data, "resource_profiles"):
        keys = {one_of(attribute, "key") for attribute in all_of(one_of(resource, "resource"), "attributes")}
        assert keys == {"process.pid", "process.executable.name"}
        for profile in all_of(one_of(resource, "scope_profiles"), "profiles"):
            event = strings[one_of(one_of(profile, "sample_type"), "type_strindex")]
            for sample in all_of(profile, "samples"):
                keys = {strings[one_of(attributes[i], "key_strindex")] for i in all_of(sample, "attribute_indices")}
                assert keys == {"thread.id", "thread.name"}
                stack = [name_of(i) for i in all_of(stacks[one_of(sample, "stack_index", 0)], "location_indices")]
                totals.add(event, stack[::-1], one_of(sample, "values"))
    return totals


def of_perfetto(path):
    totals, names, frames, stacks, mappings = Totals(), {}, {}, {}, {}
    events, counted, threads = {}, defaultdict(int), set()
    for packet in all_of(decode(path, "readers.Trace", "perfetto.proto"), "packet"):
        sequence = one_of(packet, "trusted_packet_sequence_id")
        for tree in all_of(packet, "process_tree"):
            threads |= {one_of(thread, "tid") for thread in all_of(tree, "threads")}
        for defaults in all_of(packet, "trace_packet_defaults"):
            events[sequence] = one_of(one_of(one_of(defaults, "perf_sample_defaults"), "timebase"), "name")
        for interned in all_of(packet, "interned_data"):
            for string in all_of(interned, "function_names"):
                names[sequence, one_of(string, "iid")] = one_of(string, "str", "")
            for mapping in all_of(interned, "mappings"):
                mappings[sequence, one_of(mapping, "iid")] = mapping
            for frame in all_of(interned, "frames"):
                assert (sequence, one_of(frame, "mapping_id")) in mappings
                frames[sequence, one_of(frame, "iid")] = names[sequence, one_of(frame, "function_name_id")]
            for stack in all_of(interned, "callstacks"):
                stacks[sequence, one_of(stack, "iid")] = [frames[sequence, frame] for frame in all_of(stack, "frame_ids")]
        for sample in all_of(packet, "perf_sample"):
            assert one_of(sample, "tid") in threads
            clock = sequence, one_of(sample, "cpu")
            value = one_of(sample, "timebase_count") - counted[clock]
            counted[clock] += value
            totals.add(events[sequence], stacks.get((sequence, one_of(sample, "callstack_iid")), []), value)
    return totals


def read_by_node(script, path):
    done = subprocess.run(["node", READERS / script, path], env={**os.environ, "NODE_PATH": str(MODULES)},
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{script}: {done.stderr}")
    return json.loads(done.stdout)


def of_speedscope(path):
    totals = Totals()
    for profile in read_by_node("speedscope_totals.cjs", path)["profiles"]:
        event = profile["name"].rsplit(" ", 1)[1]
        totals.sum[event] += profile["total"]
        for name, of in profile["functions"].items():
            totals.own[event][name] += of["self"]
            totals.all[event][name] += of["total"]
    return totals


def of_pprof(path):
    read = read_by_node("pprof_totals.cjs", path)
    totals = Totals()
    assert {label.split("=")[0] for label in read["labels"]} == {"pid", "tid", "comm"}
    for i, (kind, unit) in enumerate(read["types"]):
        if not kind.endswith("_event"):
            assert kind.endswith("_sample") and unit == "count"
            continue
        event = kind.removesuffix("_event")
        totals.sum[event] = read["totals"][i]
        for name, of in read["functions"].items():
            totals.own[event][name] += of["self"][i]
            totals.all[event][name] += of["total"][i]
    return totals


class Exports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.data = Path("recorded.data").resolve()
        sonde("record", "-o", cls.data, "-F", "499", "-g", "-e", "cpu-clock", "-e", "page-faults", "--", "sh", "-c", PROGRAM)
        cls.reported = Reported(str(cls.data))
        assert set(cls.reported.own) == {"cpu-clock", "page-faults"}, dict(cls.reported.own)

    def export(self, kind, *options):
        path = Path(f"out.{kind}").resolve()
        sonde("export", "--no-inline", "--to", kind, "-i", str(self.data), "-o", str(path), *options)
        return path

    def compare(self, totals, events=("cpu-clock", "page-faults")):
        self.assertEqual(set(totals.sum), set(events))
        for event in events:
            own = {name: value for name, value in totals.own[event].items() if value}
            self.assertEqual(own, {name: value for name, value in self.reported.own[event].items() if value}, event)
            for name, share in self.reported.share[event].items():
                self.assertAlmostEqual(100 * totals.all[event][name] / totals.sum[event], share, delta=0.0051,
                                       msg=f"{event}: {name} with all below")

    def test_folded(self):
        for event in ("cpu-clock", "page-faults"):
            self.compare(of_folded(self.export("folded", "-e", event), event), (event,))

    def test_json(self):
        self.compare(of_json(self.export("json")))

    def test_chrome(self):
        self.compare(of_chrome(self.export("chrome")))

    def test_firefox(self):
        self.compare(of_firefox(self.export("firefox")))

    @unittest.skipUnless(shutil.which("protoc"), "protoc is not here: ./dev deps")
    def test_perfetto(self):
        self.compare(of_perfetto(self.export("perfetto")))

    @unittest.skipUnless(shutil.which("protoc"), "protoc is not here: ./dev deps")
    def test_otlp(self):
        self.compare(of_otlp(self.export("otlp", "--experimental")))

    def test_otlp_is_experimental(self):
        done = subprocess.run([SONDE, "export", "--to", "otlp", "-i", str(self.data)], capture_output=True)
        self.assertEqual((done.returncode, done.stdout), (129, b""))
        self.assertIn(b"--experimental", done.stderr)

    @unittest.skipUnless((MODULES / "speedscope").is_dir(), f"no speedscope in {MODULES}: ./dev deps")
    def test_speedscope(self):
        self.compare(of_speedscope(self.export("speedscope")))

    @unittest.skipUnless((MODULES / "pprof-format").is_dir(), f"no pprof-format in {MODULES}: ./dev deps")
    def test_pprof(self):
        path = self.export("pprof")
        self.compare(of_pprof(path))
        self.assertEqual(read_by_node("pprof_totals.cjs", path)["addresses"], 0)
        path = self.export("pprof", "--addresses")
        self.compare(of_pprof(path))
        self.assertGreater(read_by_node("pprof_totals.cjs", path)["addresses"], 100)

    def test_same_bytes_each_time(self):
        for kind in ("chrome", "firefox", "json", "perfetto", "pprof", "speedscope"):
            first = self.export(kind).read_bytes()
            self.assertEqual(first, self.export(kind).read_bytes(), kind)


if __name__ == "__main__":
    program = unittest.main(argv=sys.argv[:1], verbosity=1, exit=False)
    for _, reason in program.result.skipped:
        print(f"SKIPPED: {reason}")
    sys.exit(0 if program.result.wasSuccessful() else 1)
