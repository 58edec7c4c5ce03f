#!/usr/bin/env python3
"""Debian packages of a build: ./dev deb. They are checked by lintian, and go to build/packages.

  deb.py BUILD [--out DIRECTORY]

Each package but sonde-perf is a component of `cmake --install` (cmake/install.cmake) below /usr; what is here is what only Debian
wants: control files, compressed manual pages, changelog and copyright, and the name `perf` (sonde-perf/).
"""
import argparse
import dataclasses
import gzip
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from release import TREE, Release

HERE = pathlib.Path(__file__).resolve().parent

# Libraries that are loaded when a command needs them, each named in a message if it is missing. dpkg-shlibdeps sees linked ones.
# Each by its names in several releases.
RECOMMENDS = "libdebuginfod1 | libdebuginfod1t64, libpython3.11 | libpython3.13 | libpython3.14, libsqlite3-0"
SUGGESTS = "libcapstone4 | libcapstone5, libopencsd1, libpfm4, sonde-jvmti, sonde-perf"


@dataclasses.dataclass(frozen=True)
class Package:
    name: str
    summary: str
    description: str
    section: str = "devel"
    programs: tuple = ()  # below /usr: what is linked to libraries
    depends: str = ""
    fields: tuple = ()
    is_component: bool = True
    for_all_architectures: bool = False


PACKAGES = (
    Package("sonde", "performance analysis of Linux: where the time goes",
            "Sonde records programs, processes or a whole machine and shows where they\n"
            "spend their time. It has the commands, the command lines and the files of\n"
            "Linux perf, and draws flame graphs and interactive pages itself.",
            programs=("bin/sonde",), fields=(("Recommends", RECOMMENDS), ("Suggests", SUGGESTS))),
    Package("sonde-perf", "performance analysis of Linux under the name perf",
            "Makes sonde an alternative for the command perf, with its manual pages and\n"
            "completion. The package linux-perf takes the same name in a way that\n"
            "allows no alternatives, so only one of the two can be installed.",
            depends="sonde (= {version})", fields=(("Conflicts", "linux-perf"),), is_component=False, for_all_architectures=True),
    Package("sonde-jvmti", "performance analysis of Linux: agent for Java virtual machines",
            "An agent that tells profilers which methods and lines a Java virtual\n"
            "machine's compiled code belongs to. It writes the files that sonde inject\n"
            "and perf inject read.",
            section="java", programs=("lib/sonde/libsonde-jvmti.so",)),
    Package("python3-sonde", "performance events of Linux for Python",
            "The Python module perf: it opens performance events, reads counters, and\n"
            "reads records as they occur. Its interface is that of the module of Linux\n"
            "perf.",
            section="python", programs=("lib/python3/dist-packages/perf.abi3.so",), depends="python3 (>= 3.10)"),
    Package("sonde-dbgsym", "debug symbols for sonde, sonde-jvmti and python3-sonde",
            "Debuggers and sonde find these files by the build id of a program.",
            section="debug", depends="sonde (= {version})", fields=(("Auto-Built-Package", "debug-symbols"),)),
)


def run(*words, **options):
    return subprocess.run([str(word) for word in words], check=True, text=True, **options)


def linked_libraries(package, root, work):
    """What the package's programs are linked to, as a list of dependencies."""
    if not package.programs:
        return ""
    (work / "debian").mkdir(exist_ok=True)
    (work / "debian" / "control").write_text("Source: sonde\n\nPackage: sonde\nArchitecture: any\n")
    programs = [f"-e{root / 'usr' / program}" for program in package.programs]
    shown = run("dpkg-shlibdeps", "-O", *programs, cwd=work, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return shown.removeprefix("shlibs:Depends=").strip()


def compress(path):
    """As `gzip -9n`: the same bytes in every build."""
    with open(path.with_name(path.name + ".gz"), "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed:
        packed.write(path.read_bytes())
    path.unlink()


def write_documents(package, root, release):
    documents = root / "usr" / "share" / "doc" / package.name
    if package.section == "debug":  # they have no documents of their own
        documents.parent.mkdir(parents=True)
        documents.symlink_to("sonde")
        return
    documents.mkdir(parents=True, exist_ok=True)
    (documents / "LICENSE").unlink(missing_ok=True)  # it is the file `copyright` here
    (documents / "copyright").write_text(release.copyright())
    changelog = documents / "changelog.Debian"
    changelog.write_text(release.changelog())
    compress(changelog)
    for page in root.glob("usr/share/man/man*/*"):
        compress(page)


def make_perf_files(sonde, root):
    """What sonde-perf has: completion and manuals of a program called perf. Its links are made by its scripts."""
    with tempfile.TemporaryDirectory() as directory:
        perf = pathlib.Path(directory, "perf")
        perf.symlink_to(sonde)
        files = {"share/bash-completion/completions/perf": "bash", "share/zsh/vendor-completions/_perf": "zsh",
                 "share/fish/vendor_completions.d/perf.fish": "fish"}
        for name, shell in files.items():
            write(root / "usr" / name, output_of(perf, "help", "--completion", shell))
        # Not perf.1: linux-perf has that, and an alternative leads here.
        write(root / "usr/share/man/man1/perf.sonde.1", output_of(perf, "help", "--troff"))
        for command in output_of(perf, "--list-cmds").split():
            write(root / f"usr/share/man/man1/perf-{command}.1", output_of(perf, "help", "--troff", command))


def output_of(program, *words):
    return run(program, *words, stdout=subprocess.PIPE, env={**os.environ, "PERF_CONFIG": "/dev/null"}).stdout


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def control_file(package, root, release, work):
    depends = [words for words in (package.depends.format(version=release.debian_version), linked_libraries(package, root, work)) if words]
    kilobytes = sum((path.lstat().st_size + 1023) // 1024 for path in root.rglob("*"))
    fields = [("Package", package.name), ("Source", "sonde"), ("Version", release.debian_version),
              ("Architecture", "all" if package.for_all_architectures else release.architecture),
              ("Maintainer", release.maintainer), ("Installed-Size", kilobytes), ("Depends", ", ".join(depends)), *package.fields,
              ("Section", package.section), ("Priority", "optional")]
    text = "".join(f"{name}: {value}\n" for name, value in fields if value and (name, package.name) != ("Source", "sonde"))
    return text + f"Description: {package.summary}\n" + "".join(f" {line}\n" for line in package.description.splitlines())


def write_control(package, root, release, work):
    control = control_file(package, root, release, work)
    sums = "".join(f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(root)}\n"
                   for path in sorted(root.rglob("*")) if path.is_file() and not path.is_symlink())
    meta = root / "DEBIAN"
    meta.mkdir()
    (meta / "control").write_text(control)
    (meta / "md5sums").write_text(sums)
    scripts = HERE / package.name
    for script in sorted(scripts.iterdir()) if scripts.is_dir() else ():
        shutil.copy(script, meta)
        (meta / script.name).chmod(0o755)


def make_package(package, build, out, release, work):
    root = work / package.name
    root.mkdir()
    if package.is_component:
        run("cmake", "--install", build, "--prefix", "/usr", "--component", package.name, env={**os.environ, "DESTDIR": str(root)},
            stdout=subprocess.DEVNULL)
    else:
        make_perf_files(build / "sonde", root)
    write_documents(package, root, release)
    write_control(package, root, release, work)
    # Debug information is compressed inside its files.
    compression = ["-Zgzip", "-z1"] if package.section == "debug" else ["-Zxz"]
    run("dpkg-deb", "--root-owner-group", *compression, "--build", root, out, stdout=subprocess.DEVNULL,
        env={**os.environ, "SOURCE_DATE_EPOCH": str(release.seconds)})


def check(packages):
    """lintian's opinion; its errors end this."""
    if not shutil.which("lintian"):
        sys.exit("deb.py: lintian is missing: ./dev deps installs it")
    as_root = ["--allow-root"] if os.geteuid() == 0 else []
    if subprocess.run(["lintian", *as_root, "--fail-on", "error", *packages], check=False).returncode != 0:
        sys.exit("deb.py: lintian does not accept these packages")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="a build directory in which everything is built that is installed")
    parser.add_argument("--out", type=pathlib.Path, default=TREE / "build" / "packages")
    arguments = parser.parse_args()
    os.umask(0o022)
    release = Release()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for old in arguments.out.glob("*.deb"):
        old.unlink()
    with tempfile.TemporaryDirectory(prefix="sonde-deb.") as work:
        for package in PACKAGES:
            make_package(package, arguments.build.resolve(), arguments.out, release, pathlib.Path(work))
    packages = sorted(arguments.out.glob("*.deb"))
    check(packages)
    for package in packages:
        print(f"{package.stat().st_size / 1e6:8.1f} MB  {package}")


if __name__ == "__main__":
    main()
