// The position of a tracepoint field in the raw data of its samples: looked up once per event, so
// that reading it is a load.
#pragma once

#include <string_view>

#include "base/bytes.h"
#include "event/print_fmt/tracepoint_format.h"

namespace sonde {

/// An integer; a field that the event lacks reads as 0.
struct IntField {
  uint32_t offset = 0;
  uint32_t size = 0;

  static IntField of(const TracepointFormat& format, std::string_view field);
  [[nodiscard]] bool is_there() const { return size != 0; }
  [[nodiscard]] uint64_t read(Bytes raw, ByteOrder order) const;
};

/// A fixed-size text.
struct TextPlace {
  uint32_t offset = 0;
  uint32_t size = 0;

  static TextPlace of(const TracepointFormat& format, std::string_view field);
  [[nodiscard]] std::string_view read(Bytes raw) const;
};

}  // namespace sonde
