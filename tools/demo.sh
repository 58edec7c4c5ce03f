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

show record -g -o "$data" -- g++ -std=c++23 -O2 -Isrc -c src/cmd/manual.cc -o "$directory/manual.o"

report=(report -i "$data" --stdio --no-children -g caller --percent-limit 1)
# The head of it: the reader that goes away early is no failure.
{ show "${report[@]}" 2>&1 || [ $? = 141 ]; } | sed -n 1,60p

cat <<TEXT

The recording is $data. Look further:
  build/release/sonde report -i $data --stdio --sort dso
  build/release/sonde script -i $data | less
  build/release/sonde help report
TEXT
