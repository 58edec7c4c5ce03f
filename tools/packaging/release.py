"""What all packages say of themselves: version, date, who made them, licence."""
import email.utils
import functools
import os
import pathlib
import re
import subprocess

TREE = pathlib.Path(__file__).resolve().parent.parent.parent


class Release:
    """The version is CMakeLists.txt's, the date that of the last commit, so that a build again gives the same bytes."""

    @functools.cached_property
    def version(self):
        text = (TREE / "CMakeLists.txt").read_text()
        return re.search(r"^project\(sonde VERSION (\S+)", text, re.M).group(1)

    @property
    def debian_version(self):
        return f"{self.version}-1"

    @functools.cached_property
    def architecture(self):
        return self._output_of("dpkg", "--print-architecture")

    @functools.cached_property
    def seconds(self):
        return int(os.environ.get("SOURCE_DATE_EPOCH") or self._output_of("git", "log", "-1", "--format=%ct"))

    @functools.cached_property
    def maintainer(self):
        """DEBFULLNAME and DEBEMAIL, which Debian's tools read; else who made the last commit."""
        name = os.environ.get("DEBFULLNAME") or self._output_of("git", "log", "-1", "--format=%cN")
        address = os.environ.get("DEBEMAIL") or self._output_of("git", "log", "-1", "--format=%cE")
        return f"{name} <{address}>"

    def changelog(self):
        return (f"sonde ({self.debian_version}) unstable; urgency=medium\n\n"
                f"  * Version {self.version}: its history is in the source's git repository.\n\n"
                f" -- {self.maintainer}  {email.utils.formatdate(self.seconds)}\n")

    def copyright(self):
        """Debian's machine-readable form of LICENSE."""
        title, holder, *text = (TREE / "LICENSE").read_text().strip().split("\n\n")
        del title
        paragraphs = "\n .\n".join("\n".join(f" {line}" for line in paragraph.splitlines()) for paragraph in text)
        return ("Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
                "Upstream-Name: sonde\n\n"
                f"Files: *\nCopyright: {holder.removeprefix('Copyright (c) ')}\nLicense: Expat\n{paragraphs}\n")

    @staticmethod
    def _output_of(*words):
        return subprocess.run(words, cwd=TREE, check=True, text=True, stdout=subprocess.PIPE).stdout.strip()
