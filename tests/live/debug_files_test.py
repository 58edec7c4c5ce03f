#!/usr/bin/env python3
"""Where lines, inlined functions and symbols come from when they are not in the object: our cache, which may contain anything,
and a debuginfod server."""
import http.server
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

SONDE = os.environ["SONDE"]
PROGRAM = """
#include <map>
#include <regex>
#include <string>
[[gnu::noinline]] long count(const std::string& text) {
  std::map<std::string, long> words;
  std::regex word("[a-z]+");
  for (std::sregex_iterator i(text.begin(), text.end(), word), end; i != end; ++i) ++words[i->str()];
  long longest = 0;
  for (auto& [name, times] : words) longest = std::max(longest, times);
  return longest;
}
int main() {
  long sum = 0;
  for (int i = 0; i < 20000; ++i) sum += count("the quick brown fox jumps over the lazy dog and the cat");
  return sum == 0;
}
"""


def run(*command, **more):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=True, timeout=300, **more)


class Server:
    """What a debuginfod server does, for one object."""

    def __init__(self, build_id, files):
        asked = self.asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                content = files.get(self.path.removeprefix(f"/buildid/{build_id}/"))
                self.send_response(404 if content is None else 200)
                self.send_header("Content-Length", str(len(content or b"")))
                self.end_headers()
                self.wfile.write(content or b"")

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class DebugFiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.path = Path(cls.directory.name)
        (cls.path / "program.cc").write_text(PROGRAM)
        cls.program = cls.path / "program"
        run("g++", "-std=c++17", "-O2", "-g", "-fno-omit-frame-pointer", cls.path / "program.cc", "-o", cls.program)
        cls.whole = cls.program.read_bytes()
        cls.data = cls.path / "perf.data"
        run(SONDE, "record", "-q", "-e", "cpu-clock", "-F", "2000", "-g", "-o", cls.data, "--", cls.program,
            env={**os.environ, "PERF_BUILDID_DIR": str(cls.path / "nothing")})
        cls.build_id = next(line.split()[0] for line in run(SONDE, "buildid-list", "-i", cls.data).stdout.splitlines()
                            if line.endswith("/program"))

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def setUp(self):
        self.program.write_bytes(self.whole)
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.path / "home"), "SONDE_CACHE": "off",
                            "PERF_BUILDID_DIR": str(self.path / "nothing"), "PERF_CONFIG": "/dev/null",
                            "DEBUGINFOD_CACHE_PATH": str(self.path / "fetched")}
        shutil.rmtree(self.path / "fetched", ignore_errors=True)

    def report(self, *options, **variables):
        return run(SONDE, "report", "--stdio", "-i", self.data, *options, env={**self.environment, **variables}).stdout

    def strip(self):
        run("strip", "--strip-all", self.program)

    def test_the_cache_says_what_the_file_says_and_may_hold_anything(self):
        cache = self.path / "cache"
        views = [("--inline", "--no-children"), ("--no-children", "-g", "none", "--sort", "srcline,sym")]
        plain = [self.report(*view) for view in views]
        self.assertIn("(inlined)", plain[0])
        self.assertRegex(plain[1], r"\.(h|tcc):[1-9]")
        for _ in range(2):
            self.assertEqual([self.report(*view, SONDE_CACHE=str(cache)) for view in views], plain)
        kept = cache / f"{self.build_id}.lines"  # next to those of libraries that have debug information here
        whole = kept.read_bytes()
        # It is really used: without debug information in the file, the answers are the same.
        run("strip", "--strip-debug", self.program)
        self.assertEqual([self.report(*view, SONDE_CACHE=str(cache)) for view in views], plain)
        self.program.write_bytes(self.whole)
        for bad in (b"", whole[:100], whole[:-1], whole[:2000] + b"\xff" + whole[2001:], os.urandom(4000)):
            kept.write_bytes(bad)
            self.assertEqual([self.report(*view, SONDE_CACHE=str(cache)) for view in views], plain)
            self.assertEqual(kept.read_bytes()[:32], whole[:32])  # rebuilt

    def test_a_cache_that_cannot_be_written_is_none(self):
        file = self.path / "file"
        file.write_text("")
        self.assertEqual(self.report("--inline", SONDE_CACHE=str(file / "below")), self.report("--inline"))

    def test_debuginfod_is_asked_for_what_is_not_here(self):
        view = ("--no-children", "-g", "none", "--sort", "srcline,sym")
        plain = self.report(*view)
        self.assertIn("regex_executor.tcc:", plain)
        debug = self.path / "program.debug"
        run("objcopy", "--only-keep-debug", self.program, debug)
        self.strip()
        self.assertNotIn("regex_executor.tcc:", self.report(*view))
        server = Server(self.build_id, {"debuginfo": debug.read_bytes()})
        try:
            self.assertEqual(self.report(*view, DEBUGINFOD_URLS=server.url), self.report(*view))
            self.assertEqual(server.asked, [])  # nobody asked it to
            self.assertEqual(self.report(f"--debuginfod={server.url}", *view), plain)
            self.assertIn(f"/buildid/{self.build_id}/debuginfo", server.asked)
            shutil.rmtree(self.path / "fetched")
            self.assertEqual(self.report("--debuginfod", *view, DEBUGINFOD_URLS=server.url), plain)
            inlined = self.report("--debuginfod", "--inline", "--no-children", DEBUGINFOD_URLS=server.url)
            self.assertIn("(inlined)", inlined)
            shutil.rmtree(self.path / "fetched")
            config = self.path / "perfconfig"
            config.write_text(f"[buildid-cache]\n\tdebuginfod = {server.url}\n")
            self.assertEqual(self.report(*view, PERF_CONFIG=str(config)), plain)
            lines = run(SONDE, "script", "--debuginfod", "-F", "ip,sym,srcline", "-i", self.data,
                        env={**self.environment, "DEBUGINFOD_URLS": server.url}).stdout
            self.assertRegex(lines, r"\.(h|tcc):[1-9]")
        finally:
            server.close()

    def test_a_recording_keeps_what_servers_have(self):
        debug = self.path / "program.debug"
        run("objcopy", "--only-keep-debug", self.program, debug)
        self.strip()
        server = Server(self.build_id, {"debuginfo": debug.read_bytes()})
        environment = {**self.environment, "PERF_BUILDID_DIR": str(self.path / "buildids")}
        data = self.path / "kept.data"
        record = (SONDE, "record", "-q", "-e", "cpu-clock:u", "-F", "2000", "-o", data)
        kept = self.path / "buildids" / ".build-id" / self.build_id[:2] / self.build_id[2:] / "debug"
        try:
            run(*record, "--", self.program, env={**environment, "DEBUGINFOD_URLS": server.url})
            self.assertEqual(server.asked, [])  # nobody asked it to
            self.assertFalse(kept.exists())
            # The object itself is there by now; its debug file is added.
            run(*record, f"--debuginfod={server.url}", "--", self.program, env=environment)
            self.assertEqual(kept.read_bytes(), debug.read_bytes())
            # Perf's word for the servers of the environment, and its way to make it permanent.
            for words, config in (["--debuginfod=system"], ""), ([], "[record]\n\tdebuginfod = system\n"):
                shutil.rmtree(self.path / "buildids")
                shutil.rmtree(self.path / "fetched")
                (self.path / "perfconfig").write_text(config)
                run(*record, *words, "--", self.program,
                    env={**environment, "DEBUGINFOD_URLS": server.url, "PERF_CONFIG": str(self.path / "perfconfig")})
                self.assertEqual(kept.read_bytes(), debug.read_bytes())
        finally:
            server.close()
        # Nobody has to be asked any more.
        shown = run(SONDE, "report", "--stdio", "-i", data, "--sort", "srcline,sym", env=environment).stdout
        self.assertRegex(shown, r"\.(h|tcc):[1-9]")
        for words, said in (["--debuginfod"], "DEBUGINFOD_URLS"), (["--debuginfod=http://x", "-N"], "build-id cache"):
            done = subprocess.run([*record, *words, "true"], env=environment, capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 129)
            self.assertIn(said, done.stderr)

    def test_below_symfs(self):
        view = ("--no-children", "-g", "none", "--sort", "srcline,sym", "--dso", "program")
        plain = self.report(*view)
        below = self.path / "elsewhere" / self.program.relative_to("/")
        below.parent.mkdir(parents=True)
        below.write_bytes(self.whole)
        self.strip()
        self.assertEqual(self.report("--symfs", self.path / "elsewhere", *view), plain)
        # A separate debug file below it, found by the object's debug link.
        run("objcopy", "--only-keep-debug", below, below.with_name("program.debug"))
        run("strip", "--strip-all", below)
        run("objcopy", "--add-gnu-debuglink=program.debug", below, cwd=below.parent)
        self.assertEqual(self.report("--symfs", self.path / "elsewhere", *view), plain)

    def test_debuginfod_without_servers_is_refused(self):
        done = subprocess.run([SONDE, "report", "--debuginfod", "-i", self.data], env=self.environment,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 129)
        self.assertIn("DEBUGINFOD_URLS", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
