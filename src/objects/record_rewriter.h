// RecordRewriter: a stage of `inject` that replaces records of the copy one by one.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "perfdata/header/event_table.h"
#include "perfdata/records/record.h"

namespace sonde {

struct InjectedRecord {
  RecordView view;
  EventId event;               // invalid for the recorder's own records
  const SampleLayout& layout;  // of that event
  uint64_t time_ns;            // its own, or that of the record before it
};

class RecordRewriter {
 public:
  virtual ~RecordRewriter() = default;
  /// False: the record stays as it is. True: what was appended to `out`, maybe nothing, replaces
  /// it.
  virtual bool rewrite(const InjectedRecord& record, ByteBuilder& out) = 0;
};

}  // namespace sonde
