// Arbitrary bytes as a recording, shown as `report --header -I` and `report -D` show it: features,
// BPF programs, every record, traces.
#include "fuzz/fuzz_target.h"
#include "perfdata/dump/dump.h"
#include "perfdata/dump/header_text.h"

FUZZ_TARGET(dump)(const uint8_t* data, size_t size) {
  using namespace sonde;
  LossLedger losses;
  auto recording =
      Recording::open_bytes({reinterpret_cast<const std::byte*>(data), size}, "fuzz", losses);
  if (!recording) return 0;
  StringSink out;
  write_header_text(out, *recording, size % 2 == 0);
  DumpOptions options{.command = size % 3 == 0 ? DumpFor::kScript : DumpFor::kReport,
                      .in_file_order = size % 5 == 0};
  dump_recording(*recording, options, {}, losses, out);
  return 0;
}
