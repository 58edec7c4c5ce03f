#include "capture/synthesis/records_file.h"

#include "capture/synthesis/session_features.h"
#include "perfdata/write/recording_place.h"
#include "perfdata/write/writer.h"

namespace sonde {

Result<uint64_t> write_records_file(const std::string& path, const EventDesc& event, Bytes records,
                                    const Env& env, Features more) {
  TRY(keep_previous(path));
  PerfDataWriter writer = TRY(PerfDataWriter::create(path, {}));
  Features features = std::move(more);
  collect_machine_features(features);
  features.command_line = {env.command_line};
  mark_present(features);
  TRY(writer.begin({event}, features));
  // If the first fails, the second keeps what fitted.
  Result<> written = writer.main().write(records);
  TRY(writer.finish(features));
  TRY(written);
  return writer.bytes_written();
}

}  // namespace sonde
