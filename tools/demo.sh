#!/usr/bin/env bash
# The demo of README.md: records the compiler at work and shows where its time goes.
set -euo pipefail
sonde=$(readlink -f "$1")
cd "$(dirname "$(readlink -f "$0")")/.."
directory=build/demo
mkdir -p "$directory"
data=$directory/perf.data

show() {
  printf '\n\033[1m$ sonde %s\033[0m\n' "$*"
  "$sonde" "$@"
}

show record -g -o "$data" -- g++ -std=c++23 -O2 -Isrc -c src/cli/manual.cc -o "$directory/manual.o"

# The first lines of two reports. A reader that closes the pipe early is not an error.
head_of() { { show "$@" 2>&1 || [ $? = 141 ]; } | grep -v '^#$' | cut -c 1-110 | sed -n "1,${lines}p"; }

lines=24 head_of report -i "$data" --stdio --no-children -g none
lines=40 head_of report -i "$data" --stdio --children -g caller --dsos '[kernel.kallsyms]' --percent-limit 2

cat <<TEXT

The recording is $data. Look further:
  build/release/sonde report -i $data --stdio --sort dso
  build/release/sonde script -i $data | less
  build/release/sonde help report
TEXT
