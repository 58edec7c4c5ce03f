#!/usr/bin/env python3
"""What compiles here by chance would not with the libraries of other releases."""
import os
import pathlib
import re
import sys
import unittest

SOURCE = pathlib.Path(os.environ["SONDE_SOURCE"])
FOLDERS = ("src", "agents", "bindings", "fuzz", "tests", "bench", "tools")


class OtherReleases(unittest.TestCase):
    def test_fmt_join_is_included(self):
        """fmt 9 has it in <fmt/format.h> too, 11 in <fmt/ranges.h> alone."""
        files = [path for folder in FOLDERS for kind in ("*.cc", "*.h") for path in (SOURCE / folder).rglob(kind)]
        texts = {path: path.read_text(encoding="utf-8") for path in files}
        joining = [path for path, text in texts.items() if "fmt::join" in text]
        self.assertTrue(joining)
        self.assertEqual([str(path) for path in joining if "#include <fmt/ranges.h>" not in texts[path]], [])

    def test_no_release_of_python_is_asked_for(self):
        """CMake takes the one that is there."""
        for path in [SOURCE / "CMakeLists.txt", *(SOURCE / "cmake").glob("*.cmake")]:
            with self.subTest(path=path.name):
                self.assertIsNone(re.search(r"python-?3\.\d", path.read_text(encoding="utf-8")))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])  # ctest passes the build directory, which is not a test
