#!/usr/bin/env python3
"""`perf probe` and `sonde probe` on the same program: the definitions that they would write (-D), what one makes and the other
lists and removes, the functions that can be probed, the cache that they share, what is an error. In programs only: probes of the
kernel are compared in a guest (tests/guest/x86/probe_test.py). Needs root and perf."""
import os
import re
import subprocess
import tempfile
from pathlib import Path

import kernel_turn
import side_by_side
from tracefs import TRACEFS

SONDE = os.environ["SONDE"]
PERF = side_by_side.needed_perf()
GROUP = f"oracle{os.getpid()}"  # no other run has it
NAMES = {PERF: "perf", SONDE: "sonde"}  # in those of probes, where a file's name may have what those must not
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
struct part { int id; char name[8]; struct part* next; long sums[3]; };
int total;
static inline __attribute__((always_inline)) int twice(int a) { total += a; return a * 2; }
__attribute__((noinline)) long po_leaf(long x, const char* text) {
  total += (int)x;
  return x + text[0];
}
__attribute__((noinline)) long po_mid(struct part* part, int n) {
  long sum = 0;
  for (int i = 0; i < n; i++)
    sum += po_leaf(i + part->id, part->name);
  return sum + twice(n);
}
int main(int count, char** words) {
  struct part part = {7, "part", 0, {1, 2, 3}};
  printf("%ld %d\n", po_mid(&part, count), twice(count));
  return words[0] == 0;
}
"""
# Definitions whose lines must be the same. In the second list, both must refuse.
SAME = ["po_leaf", "po_leaf %di", "po_leaf x=%di:u32 %si", "po_leaf%return $retval", "po_leaf%return result=$retval:s64",
        "named=po_leaf", "grp:named=po_leaf", "po_leaf text=+0(%si):string", "po_leaf +0(+8(%sp)):u64", "po_leaf $stack0",
        "po_leaf $comm", "po_leaf \\7:u8", "po_leaf@probed.c", "po_leaf x", "po_leaf x text:string", "po_leaf first=x:u8",
        "po_leaf $params", "po_mid part->id part->name part->next", "po_mid part->sums[1]", "po_mid n:x32", "po_mid:3", "po_mid:3 i",
        "probed.c:14", "probed.c:14 n", "po_mid;return*", "twice", "po_*", "po_mid+0"]
REFUSED = ["nosuch", "po_leaf nosuch", "po_mid:4000", "nosuch.c:3", "po_leaf%nothing", "po_leaf:x", "po_leaf+1:3",
           "po_leaf%return:3", "1bad=po_leaf", "po_mid part->nosuch", "po_leaf+100000"]

both = side_by_side.Comparison("probe")


def ask(tool, *words, home):
    done = subprocess.run([tool, "probe", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          env=dict(os.environ, HOME=str(home)), check=False)
    return done


def plain(text):
    """Offsets without leading zeros, names of kernel's default types left out."""
    lines = [re.sub(r":0x0+([0-9a-f]+)", r":0x\1", line.rstrip()) for line in text.splitlines()]
    return sorted(lines)


def definitions(app, home):
    for definition in SAME:
        theirs, ours = (ask(tool, "-x", app, "-D", definition, home=home) for tool in (PERF, SONDE))
        both.lines(f"-D '{definition}'", side_by_side.Said(plain(theirs.stdout), theirs.returncode),
                   side_by_side.Said(plain(ours.stdout), ours.returncode))
    for definition in REFUSED:
        theirs, ours = (ask(tool, "-x", app, "-D", definition, home=home) for tool in (PERF, SONDE))
        both.expect(theirs.returncode != 0, f"perf takes '{definition}'")
        both.expect(ours.returncode != 0 and ours.stderr.count("\n") == 1, f"sonde says of '{definition}': {ours.stderr}")


def functions(app, home):
    for words in (["-F"], ["-F", "po_*"], ["-F", "po_* | main"], ["-F", "po_* & !*mid"], ["-F", "[!d-z_]*"]):
        theirs, ours = (ask(tool, "-x", app, *words, home=home) for tool in (PERF, SONDE))
        both.lines(" ".join(words), side_by_side.Said(theirs.stdout.splitlines(), theirs.returncode),
                   side_by_side.Said(ours.stdout.splitlines(), ours.returncode))


def listed(app, home, group):
    theirs, ours = (ask(tool, "-l", group + ":*", home=home).stdout.splitlines() for tool in (PERF, SONDE))
    return theirs, ours


def of_each_other(app, home):
    """What one makes, both list in the same words, and the other removes."""
    for maker, other in ((PERF, SONDE), (SONDE, PERF)):
        group = f"{GROUP}_{NAMES[maker]}"
        texts = []
        for definition in ("one=po_leaf x=%di:u32", "two=po_leaf%return $retval", "three=po_mid:3", "four=po_leaf %di %si"):
            made = ask(maker, "-x", app, "-a", f"{group}:{definition}", home=home)
            both.expect(made.returncode == 0, f"{maker} makes {definition}: {made.stderr}")
            texts.append(made.stderr)
        again = [ask(tool, "-x", app, "-a", f"{group}:one=po_leaf", home=home).returncode for tool in (PERF, SONDE)]
        both.expect(0 not in again, f"a name of {maker} is not taken twice")
        theirs, ours = listed(app, home, group)
        both.lines(f"-l of what {maker} made", side_by_side.Said(theirs), side_by_side.Said(ours), least=4)
        removed = ask(other, "-d", f"{group}:t*", home=home)
        both.expect(sorted(removed.stderr.splitlines()) == [f"Removed event: {group}:three", f"Removed event: {group}:two__return"],
                    f"{other} -d: {removed.stderr}")
        ask(other, "-d", f"{group}:*", home=home)
        both.expect(listed(app, home, group) == ([], []), f"{other} removes all of {maker}")
        nothing = [ask(tool, "-d", f"{group}:*", home=home) for tool in (PERF, SONDE)]
        both.expect(all(done.returncode != 0 and "does not hit any event" in done.stderr for done in nothing), "-d of nothing")


def what_is_said(app, home):
    """The texts about new events."""
    for words in (["po_leaf"], ["po_leaf x=%di:u32 %si"], [GROUP + "_said:my=po_leaf%return $retval"],
                  ["-a", GROUP + "_said:a=po_leaf", "-a", GROUP + "_said:b=po_mid"]):
        theirs, ours = (ask(tool, "-n", "-x", app, *words, home=home) for tool in (PERF, SONDE))
        in_our_words = theirs.stderr.replace("You can now use it in all perf tools, such as:",
                                             "Commands take it now like any other event:")
        both.lines(f"-n {words}", side_by_side.Said(sorted(in_our_words.splitlines())),
                   side_by_side.Said(sorted(ours.stderr.replace("sonde", "perf").splitlines())), least=4)


def the_cache(app, home):
    for maker, other in ((PERF, SONDE), (SONDE, PERF)):
        name = "kept_by_" + NAMES[maker]
        ask(maker, "--cache", "-x", app, f"{GROUP}_cache:{name}=po_leaf x=%di:u32", home=home)
        ask(maker, "-d", f"{GROUP}_cache:{name}", home=home)
        kept = ask(other, "--cache", "-l", home=home).stdout
        both.expect(f"{GROUP}_cache:{name}=po_leaf x=%di:u32" in kept, f"{other} lists what {maker} keeps: {kept}")
        made = ask(other, "-x", app, f"%{name}", home=home)
        both.expect(made.returncode == 0, f"{other} makes %{name}: {made.stderr}")
        ask(other, "-d", f"{GROUP}_cache:{name}", home=home)
        theirs, ours = (ask(tool, "--cache", "-l", home=home).stdout.splitlines() for tool in (PERF, SONDE))
        both.lines(f"--cache -l with {name}", side_by_side.Said(theirs), side_by_side.Said(ours), least=2)


def main():
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory)
        (path / "probed.c").write_text(PROGRAM)
        app = path / f"probed{os.getpid()}"
        subprocess.run(["gcc", "-g", "-O1", "-o", app, "probed.c"], cwd=path, check=True)
        home = path / "home"
        home.mkdir()
        try:
            definitions(str(app), home)
            functions(str(app), home)
            with kernel_turn.taken():
                of_each_other(str(app), home)
                what_is_said(str(app), home)
                the_cache(str(app), home)
        finally:
            subprocess.run([PERF, "probe", "-q", "-d", GROUP + "_*:*"], stderr=subprocess.DEVNULL, check=False)
            subprocess.run([PERF, "probe", "-q", "-d", f"probe_probed{os.getpid()}:*"], stderr=subprocess.DEVNULL, check=False)
    both.finish()


if __name__ == "__main__":
    main()
