"""The small root that a guest's kernel starts in: busybox, our init script, and the modules that mount the real root."""
import gzip
import os
import re
import shutil

# The modules that mount shared directories; their dependencies are read from the modules themselves.
WANTED_MODULES = ("virtio_pci", "9pnet_virtio", "9p", "overlay")
# Modules that tests load: /run/modules in the guest. Not every kernel has these.
LATER_MODULES = ("kvm_amd",)


def module_files(module_directory):
    """Module name -> file, below /lib/modules/VERSION."""
    return {path.stem.replace("-", "_"): path for path in module_directory.rglob("*.ko")}


def module_dependencies(path):
    found = re.search(rb"\0depends=([^\0]*)\0", path.read_bytes())
    return [name.replace("-", "_") for name in found.group(1).decode().split(",") if name] if found else []


def in_load_order(wanted, files):
    """Files of the wanted modules and their dependencies, dependencies first. A module without a file is built in."""
    order = []

    def add(name):
        path = files.get(name)
        if path is None or path in order:
            return
        for dependency in module_dependencies(path):
            add(dependency)
        order.append(path)

    for name in wanted:
        add(name)
    return order


class CpioWriter:
    """The kernel's initramfs format: cpio "newc", cf. Documentation/driver-api/early-userspace/buffer-format.rst."""

    def __init__(self, out):
        self._out = out
        self._inode = 0

    def directory(self, name):
        self._entry(name, 0o040755, b"")

    def file(self, name, content, mode=0o755):
        self._entry(name, 0o100000 | mode, content)

    def end(self):
        self._entry("TRAILER!!!", 0, b"")

    def _entry(self, name, mode, content):
        self._inode += 1
        raw_name = name.encode() + b"\0"
        fields = (self._inode, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(raw_name), 0)
        header = b"070701" + b"".join(b"%08X" % field for field in fields)
        self._out.write(header + raw_name + b"\0" * (-(len(header) + len(raw_name)) % 4))
        self._out.write(content + b"\0" * (-len(content) % 4))


def write_initramfs(path, busybox, init, module_directory):
    modules = in_load_order(WANTED_MODULES, module_files(module_directory))
    unfinished = path.with_suffix(".new")
    with gzip.open(unfinished, "wb", compresslevel=6) as out:
        cpio = CpioWriter(out)
        for name in ("bin", "dev", "proc", "sys", "modules", "lower", "upper", "root", "job"):
            cpio.directory(name)
        cpio.file("bin/busybox", busybox.read_bytes())
        cpio.file("init", init.read_bytes())
        for position, module in enumerate(modules):
            cpio.file(f"modules/{position:02}-{module.name}", module.read_bytes(), 0o644)
        cpio.directory("later")
        for position, module in enumerate(in_load_order(LATER_MODULES, module_files(module_directory))):
            cpio.file(f"later/{position:02}-{module.name}", module.read_bytes(), 0o644)
        cpio.end()
    shutil.move(unfinished, path)
    return os.path.getsize(path)
