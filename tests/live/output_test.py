#!/usr/bin/env python3
"""Where outputs go: what is no recording is never replaced or removed, by any writer; one recorder at a time; and what becomes of a
recording on a full disk, or at a file's size limit, read by the installed perf too. Needs root."""
import fcntl
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SONDE = os.environ["SONDE"]
PERF = shutil.which("perf")
LONG = 120
NOBODY = 65534
MARK = ["sh", "-c", "touch started"]

# Every command that writes a recording to a name, as words with {} for it. Those with MARK run a command.
RECORDERS = {
    "record": ["record", "-o", "{}", *MARK],
    "record --threads": ["record", "-a", "--threads", "-o", "{}", *MARK],
    "record --kcore": ["record", "--kcore", "-o", "{}", *MARK],
    "record -z": ["record", "-z", "-o", "{}", *MARK],
    "record --aio": ["record", "--aio", "-o", "{}", *MARK],
    "record --aggregate": ["record", "-a", "--aggregate", "-o", "{}", *MARK],
    "record --call-graph dwarf": ["record", "--call-graph", "dwarf", "-o", "{}", *MARK],
    "record --off-cpu": ["record", "--off-cpu", "-o", "{}", *MARK],
    "record --switch-output": ["record", "--switch-output=1s", "-o", "{}", *MARK],
    "record --timestamp-filename": ["record", "--timestamp-filename", "-o", "{}", *MARK],
    "record --flamegraph": ["record", "--flamegraph=other.svg", "-o", "{}", *MARK],
    "record sonde_step": ["record", "-e", "sonde_step//u", "-o", "{}", *MARK],
    "stat record": ["stat", "record", "-o", "{}", *MARK],
    "trace record": ["trace", "record", "-o", "{}", *MARK],
    "sched record": ["sched", "record", "-o", "{}", *MARK],
    "sched record --summary": ["sched", "record", "--summary", "-o", "{}", *MARK],
    "sched stats record": ["sched", "stats", "record", "-o", "{}", *MARK],
    "lock record": ["lock", "record", "-o", "{}", *MARK],
    "kmem record": ["kmem", "record", "-o", "{}", *MARK],
    "kwork record": ["kwork", "record", "-o", "{}", *MARK],
    "timechart record": ["timechart", "record", "-o", "{}", *MARK],
    "inject": ["inject", "-i", "in.data", "-o", "{}"],
    "inject -b": ["inject", "-b", "-i", "in.data", "-o", "{}"],
    "assemble": ["assemble", "in.txt", "{}"],
}
# Every other command that writes to a name.
OTHERS = {
    "flamegraph": ["flamegraph", "-i", "in.data", "-o", "{}"],
    "record --flamegraph": ["record", "-e", "cpu-clock", "-o", "own.data", "--flamegraph={}", "true"],
    "record --bundle": ["record", "-e", "cpu-clock", "-o", "own.data", "--bundle={}", "true"],
    "view": ["view", "-i", "in.data", "-o", "{}"],
    "export": ["export", "--to", "speedscope", "-i", "in.data", "-o", "{}"],
    "fold": ["fold", "-i", "in.data", "-o", "{}"],
    "heatmap": ["heatmap", "--subsecond", "-i", "in.data", "-o", "{}"],
    "timeline": ["timeline", "-i", "sched.data", "-o", "{}"],
    "sql": ["sql", "-i", "in.data", "-o", "{}", "select 1"],
    "list": ["list", "-o", "{}", "sw"],
    "stat": ["stat", "-e", "cs", "-o", "{}", "true"],
    "stat --save": ["stat", "-e", "cs", "--save", "{}", "true"],
    "trace": ["trace", "-o", "{}", "true"],
    "archive": ["archive", "-o", "{}", "in.data"],
    "archive --bundle": ["archive", "--bundle", "-o", "{}", "in.data"],
    "data --to-json": ["data", "convert", "-f", "-i", "in.data", "--to-json", "{}"],
    "data --to-ctf": ["data", "convert", "-f", "-i", "in.data", "--to-ctf", "{}"],
}


def contents(top):
    """Everything below a folder: names, with what files hold and links lead to."""
    found = {}
    for path in sorted(top.rglob("*")):
        found[path] = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
    return found


class OutputTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.path = Path(directory.name)
        self.environment = {**os.environ, "PERF_BUILDID_DIR": str(self.path / "cache")}

    def run_it(self, *words, expect=None, **more):
        run = subprocess.run([SONDE, *map(str, words)], cwd=self.path, env=self.environment, text=True, timeout=LONG,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
        if expect is not None:
            self.assertEqual(run.returncode, expect, f"{words}: {run.stderr}")
        return run

    def make_inputs(self):
        self.run_it("record", "-e", "cpu-clock", "-g", "-o", "in.data", "sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done",
                    expect=0)
        self.run_it("record", "-e", "sched:sched_switch", "-a", "-o", "sched.data", "true", expect=0)
        with open(self.path / "in.txt", "w") as out:
            out.write(self.run_it("assemble", "-d", "in.data", expect=0).stdout)

    def refused(self, name, words, place):
        """Nothing changes, nothing is started, and a line says why."""
        (self.path / "started").unlink(missing_ok=True)
        before = contents(place)
        run = self.run_it(*(word.replace("{}", f"place/{name}") for word in words))
        self.assertNotEqual(run.returncode, 0, (words, run.stderr))
        self.assertFalse((self.path / "started").exists(), words)
        self.assertEqual(contents(place), before, words)
        lines = [line for line in run.stderr.splitlines() if "place/" in line]
        self.assertEqual(len(lines), 1, (words, run.stderr))
        return lines[0]

    def test_recorders_replace_only_recordings(self):
        self.make_inputs()
        for number, (name, words) in enumerate(RECORDERS.items()):
            with self.subTest(name):
                place = self.path / "place"
                place.mkdir()
                (place / "file").write_text("notes")
                (place / "directory/inner").mkdir(parents=True)
                (place / "directory/inner/notes").write_text("mine")
                (place / "mixed").mkdir()
                shutil.copy(self.path / "in.data", place / "mixed/data")
                (place / "mixed/notes").write_text("mine")
                os.symlink(place / "directory", place / "link")
                for foreign in ("file", "directory", "mixed", "link"):
                    self.assertIn("no recording", self.refused(foreign, words, place))
                if not words[0] in ("inject", "assemble"):  # they keep nothing
                    for foreign in ("file", "directory", "mixed", "link"):
                        shutil.rmtree(place / "x.old", ignore_errors=True)
                        (place / "x.old").unlink(missing_ok=True)
                        shutil.copy(self.path / "in.data", place / "x")
                        os.rename(place / foreign, place / "x.old")
                        self.assertIn("cannot be kept there", self.refused("x", words, place))
                        os.rename(place / "x.old", place / foreign)
                shutil.rmtree(place)

    def test_other_outputs_never_replace_a_recording_or_a_directory(self):
        self.make_inputs()
        for name, words in OTHERS.items():
            with self.subTest(name):
                place = self.path / "place"
                place.mkdir()
                shutil.copy(self.path / "in.data", place / "recording")
                (place / "directory").mkdir()
                (place / "directory/notes").write_text("mine")
                for there in ("recording", "directory"):
                    before = contents(place)
                    run = self.run_it(*(word.replace("{}", f"place/{there}") for word in words))
                    self.assertNotEqual(run.returncode, 0, (words, run.stderr))
                    self.assertIn(f"place/{there}", run.stderr)
                    self.assertEqual(contents(place), before, words)
                # What they made themselves they make again.
                for _ in range(2):
                    self.run_it(*(word.replace("{}", "place/new") for word in words), expect=0)
                if name == "trace":
                    os.remove(place / "new.old")
                    (place / "new.old").write_text("notes\n")
                    self.assertIn("no output of trace", self.refused("new", words, place))
                shutil.rmtree(place)

    def test_archives_replace_only_archives(self):
        self.make_inputs()
        for words in (OTHERS["archive"], OTHERS["archive --bundle"]):
            place = self.path / "place"
            place.mkdir()
            (place / "file").write_text("notes")
            self.assertIn("no archive", self.refused("file", words, place))
            shutil.rmtree(place)
        self.run_it("archive", "-o", "/dev/null", "in.data", expect=0)
        self.assertTrue(Path("/dev/null").is_char_device())

    def test_ctf_replaces_only_traces(self):
        self.make_inputs()
        trace = self.path / "trace"
        self.run_it("data", "convert", "-i", "in.data", "--to-ctf", "trace", expect=0)
        (trace / "perf_stream_4095").write_text("of an earlier recording")
        self.run_it("data", "convert", "-i", "in.data", "--to-ctf", "trace", expect=0)
        self.assertFalse((trace / "perf_stream_4095").exists())
        (trace / "notes").write_text("mine")
        before = contents(trace)
        self.assertNotEqual(self.run_it("data", "convert", "-i", "in.data", "--to-ctf", "trace").returncode, 0)
        self.assertEqual(contents(trace), before)

    def test_settings_are_changed_where_they_are(self):
        def set_in(path, status=0):
            done = subprocess.run([SONDE, "config", "core.x=1"], env={**os.environ, "PERF_CONFIG": str(path)}, text=True, timeout=LONG,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
            self.assertEqual(done.returncode, status, done.stderr)
            return done.stderr

        top = self.path
        os.mknod(top / "device", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        (top / "directory").mkdir()
        (top / "others").symlink_to("settings")
        os.chown(top / "others", NOBODY, NOBODY, follow_symlinks=False)
        for name in "device", "directory", "others":
            with self.subTest(name):
                before = os.lstat(top / name)
                self.assertIn("no file of settings", set_in(top / name, 255))
                self.assertEqual(os.lstat(top / name)[:8], before[:8])
        (top / "settings").write_text("[core]\n\tx = 2\n")
        (top / "settings").chmod(0o600)
        os.chown(top / "settings", NOBODY, NOBODY)
        (top / "settings.new").write_text("precious")
        (top / "link").symlink_to("settings")
        set_in(top / "link")
        self.assertTrue((top / "link").is_symlink())
        self.assertIn("x = 1", (top / "settings").read_text())
        status = os.stat(top / "settings")
        self.assertEqual((stat.S_IMODE(status.st_mode), status.st_uid), (0o600, NOBODY))
        self.assertEqual((top / "settings.new").read_text(), "precious")
        self.assertEqual({path.name for path in top.iterdir()}, {"device", "directory", "others", "settings", "settings.new", "link"})

    def test_generated_script_replaces_only_its_like(self):
        self.make_inputs()
        script = self.path / "perf-script.py"
        for _ in range(2):
            self.run_it("script", "-i", "sched.data", "-g", "python", expect=0)
        script.write_text("# mine\n")
        run = self.run_it("script", "-i", "sched.data", "-g", "python")
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("perf-script.py", run.stderr)
        self.assertEqual(script.read_text(), "# mine\n")
        script.unlink()
        (self.path / "far").write_text("mine")
        script.symlink_to("far")
        self.assertNotEqual(self.run_it("script", "-i", "sched.data", "-g", "python").returncode, 0)
        self.assertEqual((self.path / "far").read_text(), "mine")

    def test_daemon_removes_nothing_foreign(self):
        base = self.path / "base"
        (base / "session-one").mkdir(parents=True)
        (base / "session-one/control").write_text("mine")
        config = self.path / "config"
        config.write_text(f"[daemon]\nbase = {base}\n[session-one]\nrun = -e cpu-clock -a\n")
        before = (base / "session-one/control").read_text()
        self.run_it("daemon", "start", "--config", config)
        self.run_it("daemon", "stop", "--config", config)
        # It holds its lock until it is gone.
        with open(base / "lock", "r+b") as lock:
            fcntl.lockf(lock, fcntl.LOCK_EX)
        self.assertEqual((base / "session-one/control").read_text(), before)
        (base / "control").unlink(missing_ok=True)
        (base / "control").write_text("mine")
        self.run_it("daemon", "start", "--config", config)
        self.assertEqual((base / "control").read_text(), "mine")

    def test_recordings_of_all_kinds_replace_each_other(self):
        kinds = (["-e", "cpu-clock"], ["-e", "cpu-clock", "-a", "--threads"])
        for first in kinds:
            for second in kinds:
                for way in (first, second, first, second):
                    self.run_it("record", *way, "-o", "x", "true", expect=0)
                self.assertEqual((self.path / "x").is_dir(), second is kinds[1])
                self.assertEqual((self.path / "x.old").is_dir(), first is kinds[1])

    def test_switch_max_files_removes_only_recordings(self):
        subprocess.run([SONDE, "record", "-e", "cpu-clock", "-F", "2000", "-a", "--switch-output=200K", "--switch-max-files=2", "-o",
                        "x", "sleep", "3"], cwd=self.path, env=self.environment, check=True, timeout=LONG, stderr=subprocess.DEVNULL)
        self.assertLessEqual(len(list(self.path.glob("x.2*"))), 3)

    def test_devices(self):
        for _ in range(2):
            self.run_it("record", "-e", "cpu-clock", "-o", "/dev/null", "true", expect=0)
        self.assertTrue(Path("/dev/null").is_char_device())
        self.assertFalse(Path("/dev/null.old").exists())

    # two recorders

    def wait_for_line(self, process, text):
        for line in process.stderr:
            if text in line:
                return
        self.fail(f"it ended without {text!r}")

    def test_second_recorder_is_refused(self):
        for way in ([], ["--threads"], ["--switch-output=1G"], ["-z"]):
            with self.subTest(way):
                first = subprocess.Popen([SONDE, "record", "-v", "-e", "cpu-clock", "-a", "-D", "1", "-o", "x", *way, "sleep", str(LONG)],
                                         cwd=self.path, env=self.environment, text=True, stderr=subprocess.PIPE)
                self.wait_for_line(first, "Events enabled")
                for other in (["-e", "cpu-clock"], ["-e", "cpu-clock", "-a", "--threads"], ["-e", "cpu-clock", "--switch-output=1G"]):
                    before = sorted(self.path.iterdir())
                    run = self.run_it("record", *other, "-o", "x", *MARK)
                    self.assertNotEqual(run.returncode, 0)
                    self.assertEqual([line for line in run.stderr.splitlines() if "x" in line],
                                     [f"x: another recorder (pid {first.pid}) is writing there: wait for its end, or name another "
                                      "output with -o"])
                    self.assertEqual(sorted(self.path.iterdir()), before)
                first.send_signal(signal.SIGINT)
                first.communicate(timeout=LONG)
                self.run_it("record", "-e", "cpu-clock", "-o", "x", "true", expect=0)

    def test_a_killed_recorder_blocks_nobody(self):
        first = subprocess.Popen([SONDE, "record", "-v", "-e", "cpu-clock", "-a", "-D", "1", "-o", "x", "sleep", str(LONG)],
                                 cwd=self.path, env=self.environment, text=True, stderr=subprocess.PIPE)
        self.wait_for_line(first, "Events enabled")
        first.kill()
        first.communicate()
        self.run_it("record", "-e", "cpu-clock", "-o", "x", "true", expect=0)
        self.assertTrue((self.path / "x.old").exists())

    # no room

    def busy(self, seconds_of_work):
        return ["sh", "-c", f"i=0; while [ $i -lt {seconds_of_work * 400000} ]; do i=$((i+1)); done"]

    def on_small_disk(self, size, words):
        """A command with a full disk below `small`, seen by it alone; what is there afterwards is copied to `kept`."""
        shutil.rmtree(self.path / "kept", ignore_errors=True)
        (self.path / "small").mkdir(exist_ok=True)
        script = (f"mount -t tmpfs -o size={size} none small || exit 99; \"$@\"; status=$?; cp -r small kept; umount small; exit $status")
        return subprocess.run(["unshare", "-m", "--propagation", "private", "sh", "-c", script, "sh", *map(str, words)], cwd=self.path,
                              env=self.environment, text=True, timeout=LONG, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def samples_seen(self, file):
        """By Sonde and, the same, by perf."""
        stats = self.run_it("report", "--stats", "-i", file, expect=0).stdout
        found = re.search(r"SAMPLE events: +(\d+)", stats)
        samples = int(found.group(1)) if found else 0
        if PERF:
            theirs = subprocess.run([PERF, "report", "--stats", "-i", file], cwd=self.path, text=True, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE)
            self.assertEqual(theirs.returncode, 0, theirs.stderr)
            found = re.search(r"SAMPLE events: +(\d+)", theirs.stdout)
            self.assertEqual(int(found.group(1)) if found else 0, samples)
            subprocess.run([PERF, "script", "-i", file], cwd=self.path, stdout=subprocess.DEVNULL, check=True)
        return samples

    # A command's samples at the highest rate: about 10,000 to 40,000 a second, of 40 bytes.
    SAMPLER = ["-e", "cpu-clock:u", "-c", "25000", "--no-buildid-cache"]

    def test_full_disk_keeps_what_fitted(self):
        for size, way, least in (("256k", [], 0.5), ("1m", [], 0.85), ("1m", ["-m", "4M"], 0.85), ("1m", ["--aio"], 0.85), ("3m", [], 0.9)):
            with self.subTest(size=size, way=way):
                run = self.on_small_disk(size, [SONDE, "record", *self.SAMPLER, *way, "-o", "small/x", *self.busy(40)])
                self.assertNotEqual(run.returncode, 0, run.stderr)
                lines = [line for line in run.stderr.splitlines() if "No space left" in line]
                self.assertEqual(len(lines), 1, run.stderr)
                self.assertRegex(lines[0], r"small/x: No space left on device; .*free some space")
                room = {"256k": 256, "1m": 1024, "3m": 3072}[size] * 1024
                self.assertGreater(self.samples_seen("kept/x") * 40, least * room)
                header = self.run_it("report", "--header-only", "-i", "kept/x", expect=0).stdout
                self.assertRegex(header, r"# hostname : \S+")
                self.assertRegex(header, r"# event : name = cpu-clock:u")

    def test_full_disk_keeps_directories_and_compressed_files(self):
        # On whole CPUs, 100,000 samples a second leave nothing for others where the clock's interrupt is dear.
        for way in (["-z", "-F", "max"], ["-a", "--threads", "-F", "10000"]):
            with self.subTest(way):
                run = self.on_small_disk("1m", [SONDE, "record", "-e", "cpu-clock", "-g", *way, "-o", "small/x",
                                                *self.busy(40 if "-z" in way else 20)])
                self.assertNotEqual(run.returncode, 0, run.stderr)
                self.assertEqual(run.stderr.count("No space left"), 1, run.stderr)
                # Compressed ones are many. The others' stacks are of whatever else runs, and of a kilobyte at most.
                self.assertGreater(self.samples_seen("kept/x"), 1000 if "-z" in way else 300)

    def test_file_size_limit_is_like_a_full_disk(self):
        limit = ["sh", "-c", "ulimit -f 2048; exec \"$@\"", "sh"]  # blocks of 512 bytes
        run = subprocess.run([*limit, SONDE, "record", *self.SAMPLER, "-o", "x", *self.busy(40)], cwd=self.path, env=self.environment,
                             text=True, timeout=LONG, stderr=subprocess.PIPE)
        self.assertNotEqual(run.returncode, 0)
        self.assertGreater(run.returncode, 0, "it died by SIGXFSZ")
        lines = [line for line in run.stderr.splitlines() if "File too large" in line]
        self.assertEqual(len(lines), 1, run.stderr)
        self.assertIn("ulimit -f", lines[0])
        self.assertGreater(self.samples_seen("x") * 40, 0.85 * 1024 * 1024)
        # What the recorder runs has the signal's usual effect.
        run = subprocess.run([*limit, SONDE, "record", "-e", "cpu-clock", "-o", "y", "sh", "-c", "exec dd if=/dev/zero of=big bs=64k count=100"],
                             cwd=self.path, env=self.environment, text=True, timeout=LONG, stderr=subprocess.PIPE)
        self.assertEqual(run.returncode, 128 + signal.SIGXFSZ, run.stderr)

    def test_copies_on_a_full_disk_keep_what_fitted(self):
        self.run_it("record", *self.SAMPLER, "--max-size", "800K", "-o", "in.data", "sh", "-c", "while :; do :; done")
        self.assertGreater((self.path / "in.data").stat().st_size, 600_000)
        for words in (["inject", "-i", "in.data", "-o", "small/x"], ["inject", "-b", "-i", "in.data", "-o", "small/x"]):
            run = self.on_small_disk("512k", [SONDE, *words])
            self.assertNotEqual(run.returncode, 0, run.stderr)
            self.assertEqual(run.stderr.count("No space left"), 1, run.stderr)
            self.assertGreater(self.samples_seen("kept/x") * 40, 0.8 * 512 * 1024)

    def test_a_disk_without_any_room_leaves_nothing_that_is_in_the_way(self):
        script = "head -c 100000 /dev/zero > small/full 2>/dev/null; \"$@\"; status=$?; rm small/full; [ ! -s small/x ] || exit 98; exit $status"
        run = self.on_small_disk("16k", ["sh", "-c", script, "sh", SONDE, "record", "-e", "cpu-clock", "-o", "small/x", "true"])
        self.assertNotIn(run.returncode, (0, 98, 99), run.stderr)
        self.assertIn("No space left", run.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])  # ctest passes the build directory, which is not a test
