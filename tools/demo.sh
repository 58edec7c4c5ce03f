#!/usr/bin/env bash
# The demo of README.md: records a compiler with whole stacks, shows where its time goes, draws it, and compares two runs.
set -euo pipefail
sonde=$(readlink -f "$1")
cd "$(dirname "$(readlink -f "$0")")/.."
directory=build/demo
mkdir -p "$directory"

title() { printf '\n\033[1m# %s\033[0m\n' "$*"; }
show() {
  printf '\033[1m$ sonde %s\033[0m\n' "$*"
  "$sonde" "$@"
}

# The first lines of a report, without its head. A reader that closes the pipe early is not an error.
table() { { show "$@" 2>&1 || [ $? = 141 ]; } | grep -vE '^#$|^# (To display|Total Lost|Event count)' | cat -s | cut -c 1-110 | sed -n "1,${lines}p"; }

# Debian's compilers keep no frame pointers. As root, a program in the kernel follows their stacks by unwinding tables; for others,
# the kernel copies stacks, which sonde unwinds.
stacks=dwarf,65528
if "$sonde" record -q --call-graph bpf -o "$directory/try.data" -- true >/dev/null 2>&1; then stacks=bpf; fi
compile() { show record -F 999 --call-graph "$stacks" -o "$directory/$2.data" -- clang++-19 -std=c++23 "$1" -Isrc -c src/cli/manual.cc -o "$directory/manual.o"; }

title "Record a compiler, without optimisation and with it"
compile -O0 before
compile -O2 after

title "Which parts of it take the time, with all that they call (without those that are always on the stack)"
lines=44 table report -i "$directory/after.data" --stdio --children --frame-functions -g none -s sym --percent-limit 8 | grep -vE '^ *(9[5-9]|100)\.'
title "Which functions take it themselves, and who calls them"
lines=24 table report -i "$directory/after.data" --stdio --no-children --frame-functions -g callee,0.3 -s sym --percent-limit 1

title "The same as a picture, and as a page to explore"
show flamegraph --inverted --minwidth 0.05% -i "$directory/after.data" -o "$directory/flame.svg"
show view -o "$directory/page.html" "$directory/after.data"

title "What -O2 changed, and whether so few samples support it"
lines=14 table diff --noise -s dso "$directory/before.data" "$directory/after.data"
show view -o "$directory/changes.html" "$directory/before.data" "$directory/after.data"

title "Where to go on"
cat <<TEXT
  a browser      $directory/page.html, $directory/changes.html (red grew, blue shrank), $directory/flame.svg
  a terminal     build/release/sonde report -i $directory/after.data
  your program   build/release/sonde record --call-graph $stacks -- COMMAND, then build/release/sonde report
  what works     build/release/sonde doctor says what this machine lets you measure; build/release/sonde help lists the commands
TEXT
