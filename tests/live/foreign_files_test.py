#!/usr/bin/env python3
"""What others put where Sonde looks for files, as root: links to files that only root may read, other people's files under a second
name, pipes. Nothing of them is shown, copied or waited for, and nothing is created or removed where they lead. Needs root."""
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

from own_directory import OwnDirectoryTest

SONDE = os.environ["SONDE"]
LONGEST = 60  # nothing takes that long: what waits for a pipe waits for ever
NOBODY = 65534
SECRET = "the_secret_name"
PYTHON = shutil.which("python3", path="/usr/local/bin:/usr/bin:/bin") or sys.executable  # nobody must be able to start it
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
# In namespaces of its own, nobody can put anything anywhere.
APART = [*AS_NOBODY, "unshare", "-U", "-r", "-m", "--propagation", "private"]
# Ends when a process has had 50 ms of processor time, however busy the machine is.
UNTIL_IT_RAN = r"""
ticks() { set -- $(sed 's/.*) //' /proc/$1/stat); echo $((${12} + ${13})); }
end=$(($(ticks $1) + 5))
while [ $(ticks $1) -lt $end ]; do sleep 0.05; done
"""

# Computes in memory that it filled itself, as compilers at run time do.
JITTED = r"""
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
int main(void) {
  unsigned char* code = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#ifdef __aarch64__
  unsigned loop[] = {0xd2a00200, 0xf1000400, 0x54ffffe1, 0xd65f03c0}; /* mov x0, #0x100000; subs x0, x0, #1; b.ne; ret */
#else
  unsigned char loop[] = {0xb9, 0, 0, 0x10, 0, 0xff, 0xc9, 0x75, 0xfc, 0xc3}; /* mov ecx, 0x100000; dec ecx; jnz; ret */
#endif
  memcpy(code, loop, sizeof loop);
  __builtin___clear_cache((char*)code, (char*)code + sizeof loop);
  printf("ready %lx\n", (unsigned long)code);
  fflush(stdout);
  for (;;) ((void (*)(void))code)();
}
"""
# A program with a function of a given name.
NAMED = r"""
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) void FUNCTION(void) { for (volatile long i = 0; i < 100000; ++i) {} }
int main(void) {
  if (FOR_EVER) puts("ready"), fflush(stdout);
  do FUNCTION(); while (FOR_EVER);
  return 0;
}
"""
# Looks like a Java virtual machine that does not listen yet.
VIRTUAL_MACHINE = """
import mmap, os, signal, socket, sys, time
root, kind = sys.argv[1:]
open("libjvm.so", "wb").write(bytes(4096))
kept = mmap.mmap(os.open("libjvm.so", os.O_RDONLY), 4096, prot=mmap.PROT_READ)
asked = []
signal.signal(signal.SIGQUIT, lambda *_: asked.append(1))
if root != "-":
    os.chroot(root)
    os.chdir("/")
print("ready", flush=True)
own = f"/tmp/.attach_pid{os.getpid()}"
while not asked:
    time.sleep(0.01)
if kind == "answers":
    owner = os.lstat(own).st_uid
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"/tmp/.java_pid{os.getpid()}")
    listener.listen()
    while True:  # a recorder asks at its start and at its end
        peer = listener.accept()[0]
        print(owner, peer.recv(100), flush=True)
        peer.sendall(b"0\\n")
        peer.close()
time.sleep(600)
"""


def allows_namespaces():
    return subprocess.run([*APART, "true"], capture_output=True, check=False).returncode == 0


def compile_program(source, program, *flags):
    subprocess.run(["cc", "-O1", "-x", "c", "-", "-o", program, *flags], input=source, text=True, check=True)


class ForeignFilesTest(OwnDirectoryTest):
    def setUp(self):
        super().setUp()
        self.path.chmod(0o755)
        self.environment = {**os.environ, "HOME": str(self.path / "home"), "PERF_CONFIG": "/dev/null"}
        for name in ("PERF_BUILDID_DIR", "DEBUGINFOD_URLS"):
            self.environment.pop(name, None)
        (self.path / "home").mkdir()
        # Not below /tmp, in whose place these programs mount something.
        folder = tempfile.TemporaryDirectory(dir="/var/tmp")
        self.addCleanup(folder.cleanup)
        self.private = Path(folder.name)
        self.private.chmod(0o711)
        self.open = self.path / "open"
        self.open.mkdir()
        os.chown(self.open, NOBODY, NOBODY)

    def run_it(self, *words, status=0, **more):
        run = subprocess.run([str(w) for w in words], cwd=self.path, text=True, timeout=LONGEST, errors="replace",
                             env=self.environment, capture_output=True, check=False, **{"stdin": subprocess.DEVNULL, **more})
        if status is not None:
            self.assertEqual(run.returncode, status, run.stdout + run.stderr)
        self.assertNotIn(SECRET, run.stdout + run.stderr)
        return run

    def sonde(self, *words, **more):
        return self.run_it(SONDE, *words, **more)

    def start(self, *words, **more):
        """A process that says that it is ready, and until the test ends."""
        process = subprocess.Popen([str(w) for w in words], cwd=self.open, text=True, stdout=subprocess.PIPE, start_new_session=True,
                                   **{"stdin": subprocess.DEVNULL, **more})
        self.addCleanup(self.stop, process)
        self.said = self.line_of(process)
        self.assertTrue(self.said.startswith("ready"), self.said)
        return process

    def line_of(self, process):
        self.assertTrue(select.select([process.stdout], [], [], LONGEST)[0], "it says nothing")
        return process.stdout.readline()

    def stop(self, process):
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            process.stdout.close()

    def need_namespaces(self):
        if not allows_namespaces():
            self.skipTest("this machine refuses new user and mount namespaces")

    def map_of(self, process):
        path = Path(f"/tmp/perf-{process.pid}.map")
        self.addCleanup(path.unlink, missing_ok=True)
        return path

    def jitted(self):
        program = self.open / "jitted"
        compile_program(JITTED, program)
        return program

    def secret_map(self):
        path = self.private / "secret"
        path.write_text(f"0 ffffffffffff {SECRET}\n")
        path.chmod(0o600)
        return path

    def assert_no_secret(self, *folders):
        """In no file of these folders."""
        for folder in folders:
            for path in Path(folder).rglob("*"):
                if path.is_file() and not path.is_symlink():
                    self.assertNotIn(SECRET.encode(), path.read_bytes(), path)

    # Perf maps

    def copies_of_maps(self, plant):
        """What `record --jit=auto` copies, of a process in whose own /tmp a map was planted."""
        self.need_namespaces()
        plant = plant.format(secret=self.secret_map())
        script = f"mount -t tmpfs none /tmp; cd /tmp; {plant}; echo ready; exec sleep 600"
        process = self.start(*APART, "bash", "-c", script)
        copy = self.map_of(process)
        self.sonde("record", "--jit=auto", "-o", "data", "-p", process.pid, "--", "true")
        return copy

    def test_a_directory_of_symbols_is_a_root(self):
        """Links below --symfs lead where they lead on the machine that it is an image of, also those that are absolute or climb."""
        image, program, outside = self.path / "image", self.path / "program", self.path / "store/program"
        inside = Path(f"{image}{outside}")
        for file, function in (program, "of_the_machine"), (outside, SECRET), (inside, "of_the_machine"):
            file.parent.mkdir(parents=True, exist_ok=True)
            compile_program(NAMED, file, "-Wl,--build-id=none", f"-DFUNCTION={function}", "-DFOR_EVER=1")
        self.sonde("record", "-N", "-B", "-F", "1000", "-e", "cpu-clock:u", "-o", "good", "--", "timeout", "0.3", program, status=None)
        program.unlink()
        link = Path(f"{image}{program}")
        for target in outside, Path("../" * 30) / str(outside)[1:], outside.relative_to(self.path):
            link.unlink(missing_ok=True)
            link.symlink_to(target)
            shown = self.sonde("report", "--stdio", "-i", "good", "--symfs", image, "--unverified-symbols").stdout
            functions = self.sonde("probe", "--symfs", image, "-x", program, "-F").stdout
            for text in shown, functions:
                self.assertIn("of_the_machine", text, target)
                self.assertNotIn(SECRET, text, target)
        # The directory may also be made of links to what lies elsewhere.
        link.unlink()
        (self.path / "elsewhere").mkdir()
        shutil.move(inside, self.path / "elsewhere/program")
        link.symlink_to(self.path / "elsewhere/program")
        self.assertIn("of_the_machine", self.sonde("report", "--stdio", "-i", "good", "--symfs", image, "--unverified-symbols").stdout)

    def test_a_map_of_another_namespace_is_copied_for_us_alone(self):
        copy = self.copies_of_maps("echo 1000 10 a_name > perf-$$.map")
        self.assertEqual(copy.read_text(), "1000 10 a_name\n")
        self.assertEqual(copy.stat().st_mode & 0o777, 0o600)

    def test_what_is_no_map_of_the_process_is_not_copied(self):
        for plant in ("ln -s {secret} perf-$$.map", "touch perf-$$.map; mount --bind {secret} perf-$$.map",
                      "ln -s /etc/hostname perf-$$.map", "mkfifo perf-$$.map", "mkdir perf-$$.map", "ln -s /dev/zero perf-$$.map",
                      "ln -s /proc/self/fd/0 perf-$$.map", "echo 1000 10 a_name > other; ln other perf-$$.map",
                      "echo 1000 10 a_name > perf-$$.map; truncate -s 100M perf-$$.map"):
            with self.subTest(plant=plant):
                self.assertFalse(self.copies_of_maps(plant).exists())

    def test_a_copy_replaces_no_file_of_others(self):
        self.need_namespaces()
        theirs = self.path / "theirs"
        theirs.write_text("1000 10 theirs\n")
        script = "mount -t tmpfs none /tmp; echo 1000 10 a_name > /tmp/perf-$$.map; echo ready; exec sleep 600"
        process = self.start(*APART, "bash", "-c", script)
        copy = self.map_of(process)
        for there in ("file", "link"):
            copy.unlink(missing_ok=True)
            if there == "file":
                copy.write_text("1000 10 theirs\n")
                os.chown(copy, NOBODY, NOBODY)
            else:
                copy.symlink_to(theirs)
            self.sonde("record", "--jit=auto", "-o", "data", "-p", process.pid, "--", "true")
            self.assertEqual(copy.read_text(), "1000 10 theirs\n")

    def record_jitted(self, process):
        self.sonde("record", "-N", "-e", "cpu-clock", "-F", "499", "-o", "data", "-p", process.pid, "--", "sleep", "0.3")
        self.assertIn("jitted", self.sonde("report", "--stdio", "-i", "data").stdout)

    def test_a_map_is_believed_if_the_process_could_write_it(self):
        process = self.start(*AS_NOBODY, self.jitted())
        address = self.said.split()[1]
        path = self.map_of(process)
        self.record_jitted(process)
        path.write_text(f"{address} 1000 a_name\n")
        for owner, is_believed in ((NOBODY, True), (0, True), (NOBODY - 1, False)):
            os.chown(path, owner, owner)
            run = self.sonde("report", "--stdio", "-i", "data")
            self.assertEqual("a_name" in run.stdout, is_believed, owner)
            self.assertEqual("not owned by current user or root" in run.stderr, not is_believed, run.stderr)
        self.stop(process)  # whose the map should be is not known any more
        os.chown(path, NOBODY, NOBODY)
        run = self.sonde("report", "--stdio", "-i", "data")
        self.assertNotIn("a_name", run.stdout)
        self.assertIn(f"File {path} not owned by current user or root", run.stderr)

    def test_a_map_that_leads_elsewhere_is_not_believed(self):
        process = self.start(*AS_NOBODY, self.jitted())
        path = self.map_of(process)
        self.record_jitted(process)
        secret = self.secret_map()
        for plant, why in ((lambda: path.symlink_to(secret), "it is a symbolic link"), (lambda: path.hardlink_to(secret), "second name"),
                           (lambda: os.mkfifo(path, 0o666), "it is a FIFO, not a regular file")):
            path.unlink(missing_ok=True)
            plant()
            for words in (["report", "--stdio"], ["script"], ["annotate", "--stdio"], ["fold"]):
                run = self.sonde(*words, "-i", "data", status=None)  # annotate finds nothing to show
                if words[0] != "annotate":
                    self.assertIn(why, run.stderr, words)
            self.sonde("record", "--jit=auto", "--bundle", "-e", "cpu-clock", "-o", "bundled", "-p", process.pid, "--", "sleep", "0.1")
            self.sonde("archive", "-i", "data", status=None)
            self.sonde("report", "--stdio", "-i", "bundled.bundle", status=None)  # without a sample, if the machine is busy
        self.assert_no_secret(self.path)

    def test_top_does_not_wait_for_a_pipe(self):
        process = self.start(*AS_NOBODY, self.jitted())
        os.mkfifo(self.map_of(process), 0o666)
        top = subprocess.Popen([SONDE, "top", "--stdio", "-e", "cpu-clock", "-d", "1", "-p", str(process.pid)], env=self.environment, text=True,
                               cwd=self.path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        watchdog = threading.Timer(LONGEST, top.kill)
        watchdog.start()
        try:
            line = next((line for line in top.stdout if "[unknown]" in line or "0x" in line), "")
            self.assertTrue(line, "no screen came")
            top.send_signal(signal.SIGTERM)
            top.communicate()
            self.assertNotEqual(top.returncode, -signal.SIGKILL)
        finally:
            watchdog.cancel()
            top.kill()
            top.wait()
            top.stdout.close()

    # Jitdumps

    def test_dumps_that_are_none(self):
        dump = self.open / f"jit-{os.getpid()}.dump"
        dump.write_bytes(bytes(4096))
        source = "import mmap, os, sys; f = os.open(sys.argv[1], os.O_RDWR); m = mmap.mmap(f, 4096, prot=5, flags=2); print('ready', flush=True)\nwhile True: pass"
        dump.chmod(0o666)
        process = self.start(*AS_NOBODY, PYTHON, "-c", source, dump)
        self.sonde("record", "-N", "-k", "mono", "-e", "cpu-clock", "-o", "data", "-p", process.pid, "--", "sleep", "0.1")
        secret = self.secret_map()
        for plant, why in ((lambda: dump.symlink_to(secret), "it is a symbolic link"), (lambda: os.mkfifo(dump), "it is a FIFO")):
            dump.unlink()
            plant()
            for words in (["report", "--stdio"], ["inject", "-j", "-o", "jitted"]):
                run = self.sonde(*words, "-i", "data", status=None)
                self.assertIn(why, run.stderr, words)
        self.assert_no_secret(self.path)

    # Java virtual machines

    def virtual_machine(self, root, kind):
        program = self.open / "machine.py"
        program.write_text(VIRTUAL_MACHINE)
        where = APART if root != "-" else AS_NOBODY
        return self.start(*where, PYTHON, program, root, kind)

    def ask(self, process):
        return self.sonde("record", "--jit=auto", "-o", "data", "-p", process.pid, "--", "true").stderr

    def test_a_virtual_machine_is_asked_as_its_own_user(self):
        self.need_namespaces()
        root = self.open / "root"
        (root / "tmp").mkdir(parents=True)
        os.chown(root / "tmp", NOBODY, NOBODY)
        process = self.virtual_machine(root, "answers")
        self.assertNotIn("wrote no map", self.ask(process))
        # Root of its namespace is nobody here.
        self.assertEqual(self.line_of(process), "0 " + repr(b"1\0jcmd\0Compiler.perfmap\0\0\0") + "\n")

    def test_nothing_is_created_where_a_link_leads(self):
        self.need_namespaces()
        root = self.open / "linked"
        root.mkdir()
        (root / "tmp").symlink_to(self.private)
        before = self.private.stat().st_mtime_ns
        process = self.virtual_machine(root, "silent")
        self.assertIn("wrote no map", self.ask(process))
        self.assertEqual(self.private.stat().st_mtime_ns, before)

    def test_nothing_is_created_in_a_folder_that_is_mounted_there(self):
        self.need_namespaces()
        self.private.chmod(0o755)  # to be found, but not to be written
        (self.open / "machine.py").write_text(VIRTUAL_MACHINE)
        before = self.private.stat().st_mtime_ns
        script = f"mount --bind {self.private} /tmp && exec {PYTHON} - - silent < machine.py"
        process = self.start(*APART, "bash", "-c", script)
        self.assertIn("wrote no map", self.ask(process))
        self.assertEqual(self.private.stat().st_mtime_ns, before)

    def test_sockets_of_others_are_not_talked_to(self):
        with socket.socket(socket.AF_UNIX) as theirs:
            theirs.bind(str(self.private / "socket"))
            theirs.listen()
            theirs.setblocking(False)
            (self.private / "socket").chmod(0o777)
            self.private.chmod(0o755)
            process = self.virtual_machine("-", "silent")
            for plant in (os.symlink, os.link):
                path = Path(f"/tmp/.java_pid{process.pid}")
                path.unlink(missing_ok=True)
                self.addCleanup(path.unlink, missing_ok=True)
                plant(self.private / "socket", path)
                self.assertIn("wrote no map", self.ask(process))
                self.assertRaises(BlockingIOError, theirs.accept)

    # Objects

    def test_an_object_that_was_replaced(self):
        """By a program that only root may read: its functions are nobody's business."""
        self.need_namespaces()
        compile_program(NAMED, self.private / "secret", f"-DFUNCTION={SECRET}", "-DFOR_EVER=0")
        compile_program(NAMED, self.open / "app", "-DFUNCTION=its_own_name", "-DFOR_EVER=1")
        (self.private / "secret").chmod(0o700)
        for replace in (f"rm /tmp/app; ln -s {self.private}/secret /tmp/app", f"mount --bind {self.private}/secret /tmp/app",
                        "rm /tmp/app; mkfifo /tmp/app"):
            with self.subTest(replace=replace):
                script = f"mount -t tmpfs none /tmp; cp app /tmp/app; exec 3<&0; (read line <&3; {replace}; echo replaced) & exec /tmp/app"
                process = self.start(*APART, "bash", "-c", script, stdin=subprocess.PIPE)
                process.stdin.write("\n")
                process.stdin.close()
                self.assertEqual(self.line_of(process), "replaced\n")
                for how in ([], ["--buildid-mmap"], ["--call-graph", "dwarf"]):
                    self.sonde("record", "-e", "cpu-clock", "-o", "data", *how, "-p", process.pid, "--", "sh", "-c", UNTIL_IT_RAN, "sh", process.pid)
                    for words in (["report", "--stdio", "-v"], ["script"], ["buildid-list"], ["fold"]):
                        self.sonde(*words, "-i", "data")
                self.sonde("archive", "-i", "data", status=None)
                self.sonde("buildid-cache", "--target-ns", process.pid, "-a", "/tmp/app", status=None)
                self.sonde("probe", "-x", "/tmp/app", "--target-ns", process.pid, "-F", status=None)
                self.sonde("probe", "-x", f"/proc/{process.pid}/root/tmp/app", "-F", status=None)
                self.sonde("stat", "-e", "sdt_x:y", "-p", process.pid, "--", "true", status=None)
                self.assert_no_secret(self.path)
                self.stop(process)

    # Pipes

    def test_pipes_are_refused_at_once(self):
        pipe = self.path / "pipe"
        os.mkfifo(pipe)
        self.sonde("record", "-e", "cpu-clock", "-o", "good", "--", "true")
        refused = f"cannot read {pipe}: it is a FIFO, not a regular file"
        for words in (["report", "--stdio", "-i", "good", "-k", pipe], ["report", "--stdio", "-i", "good", "--symfs", self.path / "fs"],
                      ["annotate", "--stdio", "-i", "good"]):
            (self.path / "fs").mkdir(exist_ok=True)
            self.sonde(*words, status=None)
        for words in (["stat", "--compare", pipe, "--", "true"], ["buildid-cache", "-a", pipe],
                      ["probe", "-x", pipe, "-F"], ["script", "-i", "good", "-s", pipe]):
            self.assertNotEqual(self.sonde(*words, status=None).returncode, -9, words)
        self.assertIn(refused, self.run_it("env", f"PERF_CONFIG={pipe}", SONDE, "report", "-i", "good", status=None).stderr)
        os.mkfifo(self.path / "home/.perfconfig")
        del self.environment["PERF_CONFIG"]
        run = self.sonde("report", "-i", "good", status=None)
        self.assertIn(".perfconfig: it is a FIFO, not a regular file", run.stderr)
        self.assertNotEqual(run.returncode, 0)

    def test_a_pipe_instead_of_the_recording(self):
        """The usual name is looked for; another one is the user's, and may be a pipe."""
        for name in ("perf.data", "perf.data.old"):
            os.mkfifo(self.path / name)
        for words in (["report", "--stdio"], ["script"], ["annotate", "--stdio"], ["diff"], ["evlist"], ["buildid-list"]):
            run = self.sonde(*words, status=None)
            self.assertNotEqual(run.returncode, 0, words)
            self.assertIn("it is a FIFO, not a regular file", run.stderr, words)
        self.sonde("record", "-e", "cpu-clock", "-o", "good", "--", "true")
        folder = self.path / "folder"
        folder.mkdir()
        os.mkfifo(folder / "data")
        self.assertIn("it is a FIFO", self.sonde("report", "--stdio", "-i", folder, status=None).stderr)
        script = "exec \"$0\" report --stdio -i <(cat good)"
        self.assertIn("cpu-clock", self.run_it("bash", "-c", script, SONDE).stdout)
        script = "exec \"$0\" report --stdio -i good --kallsyms <(cat /proc/kallsyms)"
        self.run_it("bash", "-c", script, SONDE)
        script = "exec \"$0\" fold <(printf 'a;b 1\\n')"
        self.assertEqual(self.run_it("bash", "-c", script, SONDE).stdout, "a;b 1\n")

    def test_pipes_in_the_cache(self):
        program = self.path / "app"
        compile_program(NAMED, program, "-DFUNCTION=its_own_name", "-DFOR_EVER=0")
        self.sonde("record", "-e", "cpu-clock:u", "-F", "20000", "-o", "good", "--", program)
        cached = [path for path in (self.path / "home/.debug").rglob("*") if path.is_file() and not path.is_symlink()]
        self.assertTrue(cached)
        for path in cached:
            path.unlink()
            os.mkfifo(path)
        for words in (["report", "--stdio", "-i", "good"], ["buildid-cache", "-l"], ["list", "sdt_*:*"], ["archive", "-i", "good"],
                      ["record", "-e", "cpu-clock", "-o", "again", "--", program], ["probe", "--cache", "--list"]):
            self.sonde(*words, status=None)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
