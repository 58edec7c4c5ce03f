"""Tests that each have a directory of their own, which is initially empty and removed at the end."""
import tempfile
import unittest
from pathlib import Path


class OwnDirectoryTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.path = Path(directory.name)
