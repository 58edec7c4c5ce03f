"""The parts of a guest, from Debian's packages: kernel, initramfs and, for arm64, a root directory.

Each part is built once and kept in build/guest/ARCH; it is rebuilt when its inputs change. A root directory for a foreign
architecture is a compiler's sysroot as well, for `cmake --preset arm64` (cmake/arm64.cmake).
"""
import dataclasses
import hashlib
import inspect
import pathlib
import re
import shutil

import debian
import initramfs

TOOL = pathlib.Path(__file__).resolve().parent
TREE = TOOL.parent.parent
CACHE = TREE / "build" / "guest"

# What an arm64 root has besides the libraries: a compiler's part, the oracle, and what a shell script needs.
ROOT_PACKAGES = ["libstdc++-12-dev", "linux-perf", "libc-bin", "bash", "coreutils", "busybox-static", "util-linux", "grep", "sed"]


@dataclasses.dataclass(frozen=True)
class Architecture:
    name: str
    debian_name: str
    preset: str  # whose sonde runs there
    has_own_root: bool  # otherwise this machine's / is the guest's

    @property
    def directory(self):
        return CACHE / self.name

    @property
    def kernel(self):
        return self.directory / "kernel" / "vmlinuz"

    @property
    def initramfs(self):
        return self.directory / "kernel" / "initramfs.gz"

    @property
    def root(self):
        return self.directory / "root" if self.has_own_root else pathlib.Path("/")


ARCHITECTURES = {
    "arm64": Architecture("arm64", "arm64", "arm64", True),
    "x86": Architecture("x86", "amd64", "release", False),
}


def library_packages():
    """The libraries that Sonde is built on: that paragraph of tools/packages.txt, by Debian 12's names."""
    text = (TREE / "tools" / "packages.txt").read_text()
    paragraph = re.search(r"^# libraries that Sonde is made of\n((?:\S.*\n)+)", text, re.M)
    return re.sub(r"\s*[#|].*", "", paragraph.group(1)).split()


def prepare(architecture):
    """Builds what is missing; returns at once if everything is there."""
    parts = {"kernel": (make_kernel, kernel_key())}
    if architecture.has_own_root:
        parts["root"] = (make_root, root_key())
    missing = {name: part for name, part in parts.items() if not is_made(architecture.directory / name, part[1])}
    if not missing:
        return
    packages = architecture.directory / "packages"
    source = debian.PackageSource(packages, architecture.debian_name)
    source.update()
    for name, (make, key) in missing.items():
        replace_directory(architecture.directory / name, key, lambda new, make=make: make(architecture, source, new))
    shutil.rmtree(packages)


def kernel_key():
    return digest(*(TOOL / name for name in ("debian.py", "initramfs.py", "init.sh")), inspect.getsource(make_kernel))


def root_key():
    return digest(TOOL / "debian.py", inspect.getsource(make_root), *library_packages(), *ROOT_PACKAGES)


def make_kernel(architecture, source, out):
    out.mkdir()
    unpacked = out / "unpacked"
    version = r"linux-image-\d\S*"
    image = source.dependency(f"linux-image-{architecture.debian_name}", version)
    for package in (image, "busybox-static"):
        debian.unpack(source.fetch_one(package, out / "packages"), unpacked)
    next(unpacked.glob("boot/vmlinuz-*")).rename(out / "vmlinuz")
    initramfs.write_initramfs(out / "initramfs.gz", unpacked / "bin" / "busybox", TOOL / "init.sh", unpacked / "lib" / "modules")
    shutil.rmtree(unpacked)
    shutil.rmtree(out / "packages")


def make_root(architecture, source, out):
    del architecture
    out.mkdir()
    debian.make_root(source.fetch_closure([*library_packages(), *ROOT_PACKAGES]), out)
    (out / "usr" / "bin" / "sh").symlink_to("bash")  # what installation, as opposed to unpacking, would have created


def digest(*inputs):
    sum_of_all = hashlib.sha256()
    for entry in inputs:
        content = entry.read_bytes() if isinstance(entry, pathlib.Path) else entry.encode()
        sum_of_all.update(b"%d:" % len(content) + content)
    return sum_of_all.hexdigest()


def stamp_of(directory):
    return directory.with_name(directory.name + ".made-of")


def is_made(directory, key):
    stamp = stamp_of(directory)
    return directory.is_dir() and stamp.is_file() and stamp.read_text() == key


def replace_directory(directory, key, make):
    """Replaces the directory with what `make` builds; an interrupted build is not mistaken for a complete one."""
    stamp_of(directory).unlink(missing_ok=True)
    new = directory.with_name(directory.name + ".new")
    for old in (new, directory):
        if old.exists():
            shutil.rmtree(old)
    make(new)
    new.rename(directory)
    stamp_of(directory).write_text(key)
