"""Fresh root directories of distributions, made by mmdebstrap and kept as build/roots/SUITE.tar. It takes root.

    with fresh_root("bookworm", "") as root:
        root.expect("cat /etc/debian_version", "12.")
"""
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

from release import TREE
from suites import mirror

ROOTS = TREE / "build" / "roots"
# perf looks for the objects of a recorded process where the process lives that has its number now. Numbers that tests record are threads
# of the kernel here, which did not come along into the new root; on a machine of its own they would see it.
HIDE_KERNEL_THREADS = ("for n in 7 10 20 30 100; do if [ -d /proc/$n ] && ! readlink /proc/$n/exe >/dev/null; then "
                       "mount -t tmpfs -o ro,size=4k none /proc/$n; fi; done")
# What installing and removing any package changes.
VOLATILE = ("var/cache", "var/log", "var/lib/apt", "var/lib/dpkg", "var/lib/systemd", "var/lib/ucf", "etc/ld.so.cache", "tmp", "run",
            "packages", "root", "proc", "sys", "dev")


class Failure(Exception):
    pass


class Root:
    """A root directory of a distribution, with the kernel's file systems of this machine."""

    def __init__(self, suite, directory):
        self.suite = suite
        self.directory = directory

    def start(self, command):
        """Starts a shell command there, with a user's environment and its output in a pipe. The directory becomes the root of its mount
        namespace, rather than of the process (chroot): who enters another namespace and returns is where he was."""
        enter = [f"mount --rbind /{name} {self.directory}/{name}" for name in ("proc", "sys", "dev")]
        enter = [f"mount --bind {self.directory} {self.directory}", *enter, f"cd {self.directory}", "mkdir -p .outside",
                 "pivot_root . .outside", "umount -l /.outside", "rmdir /.outside", HIDE_KERNEL_THREADS, "cd /root", "exec /bin/sh -c \"$1\""]
        environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "TERM": "dumb",
                       "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
        return subprocess.Popen(["unshare", "--mount", "sh", "-c", " && ".join(enter), "_", command], text=True, errors="replace",
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment)

    def run(self, command, status=0):
        """Runs a shell command there and returns what it printed; its status must be `status`."""
        started = self.start(command)
        shown = started.communicate()[0]
        if started.returncode != status:
            raise Failure(f"{command}: status {started.returncode}, not {status}:\n{shown[-3000:]}")
        return shown

    def expect(self, command, *words, status=0):
        shown = self.run(command, status)
        for word in words:
            if word not in shown:
                raise Failure(f"{command}: no '{word}' in its output:\n{shown[-3000:]}")
        print(f"{self.suite}: {command}", flush=True)
        return shown

    def files(self):
        found = set()
        for directory, folders, names in os.walk(self.directory):
            place = os.path.relpath(directory, self.directory)
            folders[:] = [name for name in folders if os.path.normpath(f"{place}/{name}") not in VOLATILE]
            found.update(os.path.normpath(f"{place}/{name}") for name in names)
        return found - set(VOLATILE)


def make_archive(suite, archive, source):
    if not shutil.which("mmdebstrap"):
        raise Failure("mmdebstrap is missing: ./dev deps installs it")
    ROOTS.mkdir(parents=True, exist_ok=True)
    new = archive.with_suffix(".new.tar")
    done = subprocess.run(["mmdebstrap", "--variant=minbase", "--include=man-db", "--quiet", suite, str(new), source], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        new.unlink(missing_ok=True)
        raise Failure(f"no root directory of {suite} from {source}: {done.stdout.strip().splitlines()[-1:]}")
    new.rename(archive)


def end_all_within(directory):
    """Ends what runs below a root directory, sessions of its own included."""
    wanted = os.stat(directory)
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if os.path.samestat(os.stat(process / "root"), wanted):
                os.kill(int(process.name), signal.SIGKILL)


@contextlib.contextmanager
def fresh_root(suite, source):
    """A Root, which is removed at the end, also when it is interrupted or told to end (SIGTERM)."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(f"{suite}: told to end"))
    archive = ROOTS / f"{suite}.tar"
    if not archive.exists():
        make_archive(suite, archive, source or mirror())
    with tempfile.TemporaryDirectory(prefix=f"sonde-{suite}.") as directory:
        subprocess.run(["tar", "-x", "--exclude=./dev/*", "-f", archive, "-C", directory], check=True)
        shutil.copy("/etc/resolv.conf", pathlib.Path(directory, "etc/resolv.conf"))
        try:
            yield Root(suite, pathlib.Path(directory))
        finally:
            end_all_within(directory)
