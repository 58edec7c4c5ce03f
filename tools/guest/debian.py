"""Debian packages of any architecture, downloaded and unpacked outside the system.

apt-get does the downloading, with the machine's own package sources and keys, but with lists, cache and dpkg status in a
directory of ours: so no foreign architecture is added to the machine, and nothing on it is changed. Packages are unpacked, never
configured: the result is a tree of files that serves as a compiler's sysroot and as a guest's root directory.
"""
import os
import pathlib
import re
import subprocess


class FetchError(Exception):
    """Packages that are not available: no network, or a source without that architecture."""


class PackageSource:
    """apt for one architecture, with its state below `directory`."""

    def __init__(self, directory, architecture):
        self.architecture = architecture
        self.archives = directory / "archives"
        lists, status = directory / "lists", directory / "status"
        for made in (lists / "partial", self.archives / "partial"):
            made.mkdir(parents=True, exist_ok=True)
        status.touch()  # nothing is installed, so all dependencies are downloaded
        settings = {
            "APT::Architecture": architecture,
            "APT::Architectures::": architecture,
            "APT::Sandbox::User": "",
            "APT::Get::AllowUnauthenticated": "false",
            "Acquire::Languages": "none",
            "Acquire::Retries": "3",
            "Dir::State::Lists": lists,
            "Dir::State::status": status,
            "Dir::Cache::archives": self.archives,
            "Dir::Cache::pkgcache": "",
            "Dir::Cache::srcpkgcache": "",
            "Debug::NoLocking": "true",
        }
        self._options = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]

    def update(self):
        # A source that has nothing for this architecture is a warning here; what is missing shows when it is requested.
        self._apt("apt-get", "-qq", "update")

    def fetch_closure(self, packages):
        """Package files of `packages` and all their dependencies; what an earlier call downloaded is deleted."""
        for old in self.archives.glob("*.deb"):
            old.unlink()
        self._apt("apt-get", "-qq", "install", "--yes", "--no-install-recommends", "--download-only", *packages)
        return sorted(self.archives.glob("*.deb"))

    def fetch_one(self, package, directory):
        """The file of `package` alone, in `directory`."""
        directory.mkdir(parents=True, exist_ok=True)
        self._apt("apt-get", "-qq", "download", package, cwd=directory)
        return max(directory.glob(f"{package}_*.deb"), key=os.path.getmtime)

    def dependency(self, package, pattern):
        """The package among the dependencies of `package` whose whole name matches `pattern`: a meta package's real one."""
        shown = self._apt("apt-cache", "depends", package)
        names = re.findall(r"Depends: (\S+)", shown)
        found = [name for name in names if re.fullmatch(pattern, name)]
        if not found:
            raise FetchError(f"{package}:{self.architecture} depends on no package like {pattern}")
        return found[0]

    def _apt(self, program, *words, cwd=None):
        done = subprocess.run([program, *self._options, *words], cwd=cwd, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode != 0:
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise FetchError(f"{program} {words[-1]} ({self.architecture}): {last}")
        return done.stdout


def unpack(package, root):
    """The files of one package file below `root`, whose /bin, /lib and /sbin may be links into /usr."""
    root.mkdir(parents=True, exist_ok=True)
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as packed:
        subprocess.run(["tar", "-x", "--keep-directory-symlink", "--no-same-owner", "-f", "-", "-C", root],
                       stdin=packed.stdout, check=True)
    if packed.returncode != 0:
        raise FetchError(f"{package}: dpkg-deb cannot unpack it")


def make_root(packages, root):
    """Builds a root directory from package files, with Debian's merged /usr; absolute links are made to stay inside."""
    for name in ("bin", "sbin", "lib"):
        (root / "usr" / name).mkdir(parents=True)
        (root / name).symlink_to(f"usr/{name}")
    for package in packages:
        unpack(package, root)
    for directory, folders, files in os.walk(root):
        for name in folders + files:
            keep_link_inside(pathlib.Path(directory, name), root)


def keep_link_inside(path, root):
    """Makes an absolute link relative: as a sysroot, the tree is not at /."""
    if not path.is_symlink() or not os.readlink(path).startswith("/"):
        return
    target = root / os.readlink(path).lstrip("/")
    path.unlink()
    path.symlink_to(os.path.relpath(target, path.parent))
