#include "top/save.h"

#include <fmt/format.h>

#include "capture/synthesis/preamble.h"
#include "perfdata/records/user_records.h"
#include "perfdata/write/recording_place.h"
#include "perfdata/write/writer.h"

namespace sonde::top {

Result<std::string> write_recording(const std::string& path, const Seen& seen, Env& env) {
  const Capture& capture = seen.capture;
  const RecordOptions& options = seen.options;
  RecordScan scan(capture.attrs(),
                  {.call_chains = options.sampling.call_graph != CallGraphMode::kNone});
  PerfDataWriter writer = TRY(PerfDataWriter::create(path, {.sys = &env.sys}));
  TRY(writer.begin(event_descriptions(capture), seen.features));
  ByteBuilder records;
  write_event_records(capture, records);
  synthesise_state(capture, options, env.losses, records);
  if (seen.unwinding != nullptr) seen.unwinding->map_interpreted_files(records);
  encode_empty(abi::kRecordFinishedInit, records);
  ByteBuilder round;
  encode_empty(abi::kRecordFinishedRound, round);
  // `finish` tells of a write that failed, and keeps what fitted.
  auto put = [&](Bytes bytes) {
    scan.piece(bytes);
    (void)writer.main().write(bytes);
  };
  put(records.view());
  for (const auto& interval : seen.copies.kept()) {
    for (const std::vector<std::byte>& copy : interval) put(copy);
    put(round.view());
    scan.end_round();
  }
  Features all = seen.features;
  if (seen.unwinding != nullptr) all.interpreted_files = seen.unwinding->interpreted_files();
  const ScanCounts& counts = scan.counts();
  if (counts.has_time()) all.sample_time = SampleTimeRange{counts.first_ns, counts.last_ns};
  all.build_ids = build_ids_of(scan.hits());
  all.present.clear();
  mark_present(all);
  TRY(writer.finish(all));
  double seconds =
      counts.has_time() ? static_cast<double>(counts.last_ns - counts.first_ns) / 1e9 : 0;
  return fmt::format("{}: the last {:.1f} s, {} samples{}", path, seconds, counts.samples,
                     seen.copies.dropped_any() ? "; earlier ones are gone" : "");
}

Result<std::string> save_recording(const std::string& path, const Seen& seen, Env& env) {
  TRY(keep_previous(path));
  return write_recording(path, seen, env);
}

}  // namespace sonde::top
