// The fields of tracepoints as Python values: numbers, str for printable text, bytearray for every
// other array. What to make of a field is decided once per event.
//
// As perf has it, only signed fields of eight bytes can be negative: a narrower -1 is 4294967295
// (docs/python-scripts.md).
#pragma once

#include "base/bytes.h"
#include "event/print_fmt/tracepoint_format.h"
#include "python/python_library.h"

namespace sonde::python {

class FieldReader {
 public:
  explicit FieldReader(const TracepointField& field);
  /// Never null, unless memory runs out: what is not inside the raw data reads as 0, or as empty.
  [[nodiscard]] PyRef read(Bytes raw, ByteOrder order) const;

 private:
  TracepointField field_;
  bool may_be_negative_;
  uint64_t bits_;  // of a number, all set
};

}  // namespace sonde::python
