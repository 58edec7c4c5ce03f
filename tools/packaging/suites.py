"""Other releases of Debian, from the mirror that this machine's own apt uses."""
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "guest"))
import debian  # noqa: E402


def own_suite():
    """This machine's release: "bookworm"."""
    for line in pathlib.Path("/etc/os-release").read_text().splitlines():
        if line.startswith("VERSION_CODENAME="):
            return line.partition("=")[2].strip('"')
    raise debian.FetchError("/etc/os-release names no release of Debian")


def mirror():
    """Where this machine's apt gets its release from."""
    shown = subprocess.run(["apt-get", "indextargets", "--format", "$(SITE) $(RELEASE) $(COMPONENT)", "Created-By: Packages"],
                           check=True, text=True, stdout=subprocess.PIPE).stdout
    for line in shown.splitlines():
        site, release, component = line.split()
        if (release, component) == (own_suite(), "main"):
            return site
    raise debian.FetchError(f"no package source of this machine has {own_suite()} main: apt-get update, or see sources.list(5)")


class SuiteSource(debian.PackageSource):
    """Packages of another release, and sources of this one."""

    def __init__(self, directory, suite):
        super().__init__(directory, "amd64")
        sources = directory / "sources.list"
        sources.write_text(f"deb {mirror()} {suite} main\ndeb-src {mirror()} {own_suite()} main\n")
        self._options += ["-o", f"Dir::Etc::SourceList={sources}", "-o", "Dir::Etc::SourceParts=/dev/null"]

    def fetch_source(self, package, directory):
        """Unpacks the source of `package`, and returns its directory."""
        directory.mkdir(parents=True)
        self._apt("apt-get", "-qq", "source", package, cwd=directory)
        return next(path for path in directory.iterdir() if path.is_dir())
