"""One run of a guest: QEMU's command line, the job that goes in, what comes out.

The job travels in a directory shared with the guest (init.sh says what is in it), so nothing has to be picked out of a
console's text. Nothing depends on how fast the emulation is: the run goes on as conditions come true (the guest is up; it
has left a status), under limits that are long.
"""
import ctypes
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time

POLL_S = 0.05
BOOT_LIMIT_S = 600  # 15 s where nothing else runs
CONSOLE_LINES_SHOWN = 20

QEMU = {
    # -icount: time is counted in instructions, one a nanosecond, so what the processor's counters say does not depend on the
    # machine underneath. `max` has the Cortex-A57's PMU, the one that QEMU gives events to,
    # and signs return addresses. With SVE there is a register that breakpoints cannot sample.
    "arm64": ["qemu-system-aarch64", "-machine", "virt,gic-version=3", "-cpu", "max,pauth-impdef=on,sve=off", "-smp", "1", "-icount", "shift=0"],
    "x86": ["qemu-system-x86_64", "-machine", "pc", "-cpu", "max", "-smp", "2"],
}
CONSOLE = {"arm64": "ttyAMA0", "x86": "ttyS0"}
MEMORY = "2048"


class GuestError(Exception):
    """A guest that did not come up, died, or did not end in time."""


def is_installed(architecture):
    return shutil.which(QEMU[architecture.name][0]) is not None


def shared(tag, directory, writable=False):
    path = str(directory).replace(",", ",,")
    mode = "" if writable else ",readonly=on"
    return ["-fsdev", f"local,id={tag},path={path},security_model=none,multidevs=remap{mode}",
            "-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]


class Machine:
    """A guest of one architecture, with the repository `tree` in it, for one job."""

    def __init__(self, architecture, tree, job, share):
        self._architecture = architecture
        self._share = share  # a directory or None
        self._tree = tree
        self._job = job
        self._console_log = job / "console"

    def run(self, time_limit_s):
        """Runs the job's script; its output goes to ours as it comes. The script's exit status."""
        console = ["-serial", f"file:{self._console_log}"]
        streams = [Relay(self._job / "stdout", sys.stdout.buffer), Relay(self._job / "stderr", sys.stderr.buffer)]
        with self._start(console, subprocess.DEVNULL) as qemu:
            try:
                self._await_boot(qemu)
                self._await_end(qemu, time_limit_s, streams)
            finally:
                qemu.kill()
        for stream in streams:
            stream.copy()
        status = self._job / "status"
        if not status.exists():
            raise GuestError(f"the {self._architecture.name} guest died while the command ran{self._console_end()}")
        return int(status.read_text())

    def run_shell(self):
        console = ["-chardev", f"stdio,id=console,mux=on,signal=off,logfile={self._console_log}", "-serial", "chardev:console",
                   "-mon", "chardev=console"]
        with self._start(console, None) as qemu:
            qemu.wait()
        return 0

    def _start(self, console, stdin):
        name = self._architecture.name
        self._write_environment()
        shares = shared("root", self._architecture.root) + shared("job", self._job, writable=True)
        if self._architecture.has_own_root:
            shares += shared("tree", self._tree)
        if self._share:
            shares += shared("share", self._share.resolve(), writable=True)
        command = [*QEMU[name], "-accel", "tcg", "-m", MEMORY, "-nodefaults", "-display", "none", "-no-reboot",
                   "-kernel", str(self._architecture.kernel), "-initrd", str(self._architecture.initramfs),
                   "-append", f"console={CONSOLE[name]} quiet panic=-1", *console, *shares]
        return subprocess.Popen(command, stdin=stdin, preexec_fn=die_with_parent)

    def _write_environment(self):
        path = [f"{self._tree}/build/{self._architecture.preset}", "/usr/local/sbin", "/usr/local/bin", "/usr/sbin",
                "/usr/bin", "/sbin", "/bin"]
        settings = {"TREE": str(self._tree), "TREE_IS_SHARED": "1" if self._architecture.has_own_root else "0",
                    "HAS_SHARE": "1" if self._share else "0",
                    "JOB_PATH": ":".join(path), "JOB_TERM": os.environ.get("TERM", "dumb"),
                    "CONSOLE": CONSOLE[self._architecture.name]}
        lines = [f"{name}={shlex.quote(value)}\n" for name, value in settings.items()]
        (self._job / "environment").write_text("".join(lines))

    def _await_boot(self, qemu):
        deadline = time.monotonic() + BOOT_LIMIT_S
        while not (self._job / "up").exists():
            if qemu.poll() is not None:
                raise GuestError(f"the {self._architecture.name} guest did not come up{self._console_end()}")
            if time.monotonic() > deadline:
                raise GuestError(f"the {self._architecture.name} guest did not come up in {BOOT_LIMIT_S} s"
                                 f"{self._console_end()}")
            time.sleep(POLL_S)

    def _await_end(self, qemu, time_limit_s, streams):
        deadline = time.monotonic() + time_limit_s
        while qemu.poll() is None:
            if time.monotonic() > deadline:
                raise GuestError(f"the command did not end in {time_limit_s} s in the {self._architecture.name} guest"
                                 f"{self._console_end()}")
            for stream in streams:
                stream.copy()
            if (self._job / "status").exists() and self._is_off(qemu):
                return
            time.sleep(POLL_S)

    @staticmethod
    def _is_off(qemu):
        """The job has ended; switching off takes a moment, and nothing is lost if it is cut short."""
        try:
            qemu.wait(timeout=10)
        except subprocess.TimeoutExpired:
            pass
        return True

    def _console_end(self):
        if not self._console_log.exists():
            return ""
        lines = self._console_log.read_text(errors="replace").splitlines()[-CONSOLE_LINES_SHOWN:]
        return "".join(f"\n  console: {line}" for line in lines)


class Relay:
    """Copies what is new in a file that somebody else writes."""

    def __init__(self, path, out):
        path.touch()
        self._file = open(path, "rb")
        self._out = out

    def copy(self):
        while data := self._file.read(1 << 16):
            self._out.write(data)
        self._out.flush()


def die_with_parent():
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)
