#!/usr/bin/env python3
"""`probe` in programs in Rust: functions by their paths, and what they are passed, which is what the program prints. Needs root, and
rustc, which the repository does not ask for."""
import os
import re
import shutil
import subprocess
import sys
import unittest

from own_directory import OwnDirectoryTest
from probe_events import remove_probes

SONDE = os.environ["SONDE"]
GROUP = f"liverust{os.getpid()}"
PROGRAM = r"""
mod shapes {
    pub struct Part { pub port: u16, pub big: i64 }
    pub struct Shape { pub id: u32, pub part: Part, pub name: String }
    impl Shape {
        #[inline(never)]
        pub fn area(&self, scale: i32) -> i64 { self.id as i64 * scale as i64 + self.part.big + self.part.port as i64 }
    }
    pub trait Named { fn label(&self, n: u8) -> usize; }
    impl Named for Shape {
        #[inline(never)]
        fn label(&self, n: u8) -> usize { self.name.len() + n as usize }
    }
}
use shapes::Named;
#[inline(never)]
fn generic<T: Into<i64> + Copy>(value: T) -> i64 { let v: i64 = value.into(); v * 2 }
fn main() {
    for i in 0..4i32 {
        let part = shapes::Part { port: 65000 + i as u16, big: -(1i64 << 40) };
        let shape = shapes::Shape { id: 10 + i as u32, part, name: "x".repeat(i as usize) };
        let scale = i - std::env::args().count() as i32;
        println!("area id={} scale={} port={} big={}", shape.id, scale, shape.part.port, shape.part.big);
        println!("back result={}", shape.area(scale));
        println!("label n={} len={}", i + 3, shape.name.len());
        let length = shape.label(i as u8 + 3);
        println!("generic value={}", i * 5);
        let sum = generic(i * 5) + generic(i as i64);
        assert!(length < 100 && sum < 1000);
    }
}
"""


class ProbeRustTest(OwnDirectoryTest):
    def setUp(self):
        super().setUp()
        (self.path / "app.rs").write_text(PROGRAM)
        self.addCleanup(remove_probes, SONDE, f"{GROUP}:*")

    def run_tool(self, *words):
        done = subprocess.run(words, cwd=self.path, text=True, capture_output=True, timeout=120, stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def compile(self, *flags):
        self.run_tool("rustc", "-g", *flags, "-o", "app", "app.rs")

    def recorded(self, *definitions):
        """The lines that the program printed of these probes, and what was recorded, in its words."""
        app = str(self.path / "app")
        words = [word for definition in definitions for word in ("-a", f"{GROUP}:{definition}")]
        self.run_tool(SONDE, "probe", "-q", "-x", app, *words)
        printed = self.run_tool(SONDE, "record", "-o", "perf.data", "-e", f"{GROUP}:*", "--", app).splitlines()
        names = {definition.split("=")[0] for definition in definitions}
        script = self.run_tool(SONDE, "script", "-F", "event,trace")
        remove_probes(SONDE, f"{GROUP}:*")
        lines = [re.sub(rf"\s*{GROUP}:(\w+?)(?:__return)?:\s+\([^)]*\)\s+", r"\1 ", line).strip() for line in script.splitlines()]
        return [line for line in printed if line.split()[0] in names], lines

    def test_without_optimisation(self):
        self.compile()
        printed, recorded = self.recorded(
            "area=app::shapes::Shape::area id=self->id:u32 scale port=self->part.port:u16 big=self->part.big",
            "back=shapes::Shape::area%return result=$retval:s64", "label=label n=n:u8 len=self->name.vec.len:u64",
            "generic=app::generic::<i32> value")
        self.assertEqual(len(printed), 16)
        self.assertEqual(recorded, printed)

    def test_optimised_by_both_manglings(self):
        for flags in (["-O"], ["-O", "-C", "symbol-mangling-version=v0"]):
            self.compile(*flags)
            printed, recorded = self.recorded("back=<app::shapes::Shape>::area%return result=$retval:s64", "generic=generic<i32> value")
            self.assertEqual(len(printed), 8)
            self.assertEqual(recorded, printed, flags)

    def test_source_and_variables(self):
        self.compile()
        self.assertIn("self.id as i64 * scale as i64", self.run_tool(SONDE, "probe", "-x", "app", "-L", "shapes::Shape::area"))
        shown = self.run_tool(SONDE, "probe", "-x", "app", "-V", "app::shapes::Shape::label")
        self.assertRegex(shown, r"struct Shape\*\tself\n")
        self.assertRegex(shown, r"u8\tn\n")


if __name__ == "__main__":
    if shutil.which("rustc") is None:
        print("SKIPPED: there is no rustc here, so nothing of this was tested")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
