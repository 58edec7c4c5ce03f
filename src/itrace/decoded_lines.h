// For tests: what add_trace_samples adds to a recording, a line for each record.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <vector>

#include "itrace/decode.h"
#include "perfdata/records/trace_flags.h"
#include "perfdata/text/file_builder.h"

namespace sonde::itrace {

/// The line of a sample; errors are "error CODE IP TIME MESSAGE".
using SampleLine =
    std::function<std::string(const std::string& event, const Sample& sample, uint32_t flags)>;

inline std::string line_of(const RecordView& record, const Recording& recording,
                           const SampleLine& line) {
  if (record.type == abi::kRecordAuxtraceError) {
    auto error = decode_user<AuxtraceErrorRecord>(record);
    return error ? fmt::format("error {} {:x} {} {}", error->code, error->ip, error->time,
                               error->message)
                 : "bad";
  }
  EventId event = recording.events().of(record);
  Sample sample;
  if (!event.valid() || !decode_sample(record, recording.events()[event].layout, sample))
    return "bad";
  return line(recording.events()[event].name, sample, trace_flags_of(record).value_or(~0u));
}

/// `root`: where the traced program's files are. `options` as of --itrace. `all`: all samples that
/// the recording then has.
inline Result<std::vector<std::string>> decoded_lines(FileBuilder& file, const std::string& root,
                                                      const ItraceOptions& options,
                                                      LossLedger& losses, const SampleLine& line,
                                                      bool all = false) {
  std::vector<std::byte> bytes = file.file();
  Recording recording = TRY(Recording::open_bytes(bytes, "test", losses));
  size_t before = recording.blocks().size();
  StringPool strings;
  Machine machine(strings);
  for (const RecordBlock& block : recording.blocks()) {
    RecordRange range(block, kHostOrder);
    for (RecordView record; range.next(record);)
      if (record.type < abi::kRecordUserStart)
        machine.apply(record, recording.events().all()[0].layout, 1, losses);
  }
  machine.freeze();
  FinderOptions where;
  where.symfs = root;
  ObjectFinder finder(where);
  StringSink output;
  TRY(add_trace_samples(recording, machine, {finder}, options, LogSetup(output), losses));
  std::vector<std::string> lines;
  for (size_t i = all ? 0 : before; i < recording.blocks().size(); ++i) {
    RecordRange range(recording.blocks()[i], kHostOrder);
    for (RecordView record; range.next(record);)
      if (!all || record.type == abi::kRecordSample)
        lines.push_back(line_of(record, recording, line));
  }
  return lines;
}

}  // namespace sonde::itrace
