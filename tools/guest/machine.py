"""One run of a guest: QEMU's command line, the job's input and output.

The job is passed in a directory shared with the guest (init.sh says what is in it), so nothing has to be parsed out of a
console's text. Nothing depends on the speed of the emulation: the run proceeds as conditions come true (the guest is up; it has
left a status), with generous limits.
"""
import ctypes
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time

POLL_S = 0.05
BOOT_LIMIT_S = 600  # 15 s if nothing else runs
CONSOLE_LINES_SHOWN = 20
MONITOR_PATIENCE_S = 5
# The state of each CPU, printed for a guest that hangs.
MONITOR_QUESTIONS = ("info cpus", "info registers -a", "x/6i $pc", "cpu 1", "x/6i $pc")

QEMU = {
    # -icount: time is counted in instructions, one per nanosecond, so the processor's counters do not depend on the host. `max`
    # has the Cortex-A57's PMU, the one for which QEMU emulates events, and signs return addresses. With SVE there is a register
    # that breakpoints cannot sample.
    "arm64": ["qemu-system-aarch64", "-machine", "virt,gic-version=3", "-cpu", "max,pauth-impdef=on,sve=off", "-smp", "1", "-icount", "shift=0"],
    "x86": ["qemu-system-x86_64", "-machine", "pc", "-cpu", "max", "-smp", "2"],
}
# One thread emulates both processors. With a thread each, a processor may keep executing QEMU's translation of the breakpoint that
# the guest's kernel writes while it patches a static key or a tracepoint: the kernel finds no breakpoint there, returns to the
# instruction, and so on for ever.
ACCELERATOR = "tcg,thread=single"
CONSOLE = {"arm64": "ttyAMA0", "x86": "ttyS0"}
# On a busy host the kernel's test of the emulated timer may find it late, and panic.
KERNEL_OPTIONS = {"x86": "no_timer_check ", "arm64": ""}
MEMORY = "2048"


class GuestError(Exception):
    """A guest that did not boot, died, or did not end in time."""


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

    def run(self, time_limit_s, silence_limit_s=None):
        """Runs the job's script and passes its output on as it comes. Returns the script's exit status. A script that prints
        nothing for `silence_limit_s` is considered hung."""
        console = ["-serial", f"file:{self._console_log}"]
        streams = [Relay(self._job / "stdout", sys.stdout.buffer), Relay(self._job / "stderr", sys.stderr.buffer)]
        with self._start(console, subprocess.DEVNULL) as qemu:
            try:
                self._await_boot(qemu)
                self._await_end(qemu, time_limit_s, silence_limit_s, streams)
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
        command = [*QEMU[name], "-accel", ACCELERATOR, "-m", MEMORY, "-nodefaults", "-display", "none", "-no-reboot",
                   "-monitor", f"unix:{self._job / 'monitor'},server=on,wait=off", "-kernel", str(self._architecture.kernel), "-initrd", str(self._architecture.initramfs),
                   "-append", f"console={CONSOLE[name]} {KERNEL_OPTIONS[name]}quiet panic=-1", *console, *shares]
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

    def _await_end(self, qemu, time_limit_s, silence_limit_s, streams):
        start = last_word = time.monotonic()
        while qemu.poll() is None:
            now = time.monotonic()
            if any([stream.copy() for stream in streams]):
                last_word = now
            if now > start + time_limit_s:
                raise GuestError(f"the command did not end in {time_limit_s} s in the {self._architecture.name} guest"
                                 f"{self._where_it_stands()}")
            if silence_limit_s and now > last_word + silence_limit_s:
                raise GuestError(f"the command in the {self._architecture.name} guest said nothing for {silence_limit_s} s"
                                 f"{self._where_it_stands()}")
            if (self._job / "status").exists() and self._is_off(qemu):
                return
            time.sleep(POLL_S)

    def _where_it_stands(self):
        """The end of the console, and QEMU's description of the CPUs."""
        return self._console_end() + "".join(f"\n  {line}" for line in ask_monitor(self._job / "monitor"))

    @staticmethod
    def _is_off(qemu):
        """The job has ended; powering off takes a moment, and nothing is lost if it is cut short."""
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
    """Copies what is new in a file that another process writes."""

    def __init__(self, path, out):
        path.touch()
        self._file = open(path, "rb")
        self._out = out

    def copy(self):
        """Whether there was anything new."""
        any_data = False
        while data := self._file.read(1 << 16):
            any_data = True
            self._out.write(data)
        self._out.flush()
        return any_data


def ask_monitor(path):
    """Lines of QEMU's answers to MONITOR_QUESTIONS; as many as it gives."""
    said = b""
    try:
        with socket.socket(socket.AF_UNIX) as monitor:
            monitor.settimeout(MONITOR_PATIENCE_S)
            monitor.connect(str(path))
            for question in ("", *MONITOR_QUESTIONS):
                if question:
                    monitor.sendall(question.encode() + b"\n")
                end = time.monotonic() + MONITOR_PATIENCE_S
                answer = b""
                while not answer.endswith(b"(qemu) ") and time.monotonic() < end:
                    answer += monitor.recv(1 << 16)
                said += answer
    except OSError as error:
        said += f"QEMU's monitor: {error}".encode()
    return [line.rstrip() for line in said.decode(errors="replace").splitlines()]


def die_with_parent():
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)
