// A perf.data file as readable text, and back. For tests: the input of a golden test is such a
// text, so that a reader sees what the recording contains.
//
//   # A sample of a user program.
//   order: big
//   event : name = cpu-clock, id = { 7 }, type = 1, sample_type = IP|TID|TIME|CALLCHAIN
//   feature HOSTNAME: "vm"
//   COMM pid=10 tid=10 comm="bash" exec time=1000
//   SAMPLE ip=0x401000 pid=10 tid=10 time=2000 chain=user,0x401000,0x401100
//   raw: 44 00 00 00 00 00 08 00
//
// One directive per line; a backslash at the end continues it, `#` begins a comment.
//
//   order: little|big          byte order (little)
//   mode: file|pipe            (file)
//   attr size: N               stored bytes per attr (128)
//   compression: LEVEL         the records before the next directive of that kind go through zstd
//   data size: N               what the header claims, instead of the truth; 0: a crashed recorder
//   truncate: N                drops N bytes at the end of the file
//   event : FIELD = VALUE, …   as `perf evlist -v` and `# event :` lines of `report --header` say
//                              it; `unit = TEXT` and `scale = X` besides
//   feature NAME: …            strings or numbers where the section is made of those (HOSTNAME
//                              "x", CMDLINE "perf" "record", NRCPUS 2 2, SAMPLE_TIME 1 2); or
//                              hex bytes, or hex lines as below
//   BUILD_ID mode=user id=hex:0011 path="/bin/x"
//   RECORD field=value …       RECORD is a name as in `script -D`, without PERF_RECORD_
//   raw: HEX                   bytes of the data section, as they are
//
// Fields of records are named as in the structs in sample.h, sideband.h and user_records.h. Numbers
// are decimal or 0x…, strings are quoted ("\x41" and "\"" work), bytes are "hex:00ff", lists are
// separated by commas. `misc=` or `mode=` sets the header's misc. The id block after a record uses
// time=, cpu=, id=, stream=, event= (index into the events) and the record's pid=, tid=; id.time=
// and so on override these.
//
// The text of `report -D` and `script -D` (dump.h), ours or perf's, is also accepted after the
// directives above: its hex lines give the bytes and its offsets the order; everything else in it
// is ignored. A dump with `--header` includes its events; a dump of a pipe contains them as
// records.
//
//   0x108@perf.data [0x50]: event: 69
//   .  0000:  45 00 00 00 00 00 50 00 02 00 00 00 00 00 00 00  E.....P.........
#pragma once

#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/loss.h"
#include "base/sink.h"
#include "perfdata/read/recording.h"

namespace sonde {

/// The file that `text` describes. An error names the line and what is wrong with it.
Result<std::vector<std::byte>> assemble(std::string_view text);

/// The inverse: directives for header, events and features, then the dump of all records.
/// assemble(disassemble(x)) has x's events, features and records; and x's exact data section if x
/// is neither compressed nor a directory.
void disassemble(const Recording& recording, LossLedger& losses, Sink& out);

}  // namespace sonde
