// What `-D` prints after every dumped sample: its thread and its object.
//
//    ... thread: ls:19914
//    ...... dso: [kernel.kallsyms]
//
// A sample of several counters gets these lines once per counter that has grown. Filters by name
// leave them in place, as they do the dump; only -C removes them.
#pragma once

#include <functional>
#include <span>

#include <tsl/robin_map.h>

#include "perfdata/dump/dump.h"
#include "replay/session.h"

namespace sonde {

class SampleTails {
 public:
  /// Prints more after the lines of a row of the session.
  using AfterRow = std::function<void(uint32_t row, Sink&)>;

  SampleTails(const Session& session, std::span<const uint32_t> cpus, AfterRow after = {});
  void put(const TimedRecord& record, const Sample* sample, Sink& out) const;

 private:
  void put_row(uint32_t row, Sink& out) const;
  void put_unlisted(const Sample& sample, Sink& out) const;

  const Session& session_;
  std::vector<uint32_t> cpus_;
  AfterRow after_;
  tsl::robin_map<const std::byte*, std::vector<uint32_t>> rows_;  // by address of the record
};

/// All records of the session's recording, with these lines: what `report -D` prints.
void dump_session(const Session& session, std::span<const uint32_t> cpus, LossLedger& losses,
                  Sink& out);

}  // namespace sonde
