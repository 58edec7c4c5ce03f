// Where the samples of an event keep what analyses of tracepoints want of them: looked up once per
// event, so that a record costs a few loads and is not decoded.
#pragma once

#include <array>
#include <span>

#include "perfdata/event_table.h"

namespace sonde {

/// What every sample says, where its event records it.
struct SampleHead {
  uint64_t ip = 0, time = 0;
  uint32_t pid = UINT32_MAX, tid = UINT32_MAX;
  uint32_t cpu = 0;
};

struct SamplePlaces {
  static constexpr uint32_t kNowhere = UINT32_MAX;
  /// Offsets in the payload, where all that stands before has a fixed size.
  uint32_t ip = kNowhere, tid = kNowhere, time = kNowhere, cpu = kNowhere, period = kNowhere;
  uint32_t raw = kNowhere;
  uint32_t head_size = 0;     // of what every sample says
  uint32_t chain = kNowhere;  // the call chain that stands before the raw data
  bool is_simple = false;     // the offsets say everything; else the sample is decoded in full

  static SamplePlaces of(uint64_t sample_type);

  /// False where the sample is shorter than it must be, or has neither time nor raw data.
  bool read(const RecordView& record, SampleHead& head) const;
  /// The raw data of a sample; empty where it has none.
  [[nodiscard]] Bytes raw_data(const RecordView& record, const SampleLayout& layout) const;

  /// Addresses of a call chain, innermost first, without the marks of contexts, and how many of
  /// them are the kernel's.
  static constexpr size_t kMostAddresses = 127;
  struct Chain {
    std::array<uint64_t, kMostAddresses> addresses;
    uint32_t size = 0;
    uint32_t kernel_size = 0;  // they come first
    [[nodiscard]] std::span<const uint64_t> all() const { return {addresses.data(), size}; }
    [[nodiscard]] std::span<const uint64_t> of_kernel() const {
      return {addresses.data(), kernel_size};
    }
  };
  /// At most `limit` addresses, and at most kMostAddresses.
  void read_chain(const RecordView& record, const SampleLayout& layout, size_t limit,
                  Chain& out) const;
};

/// The record that begins at `header`.
[[nodiscard]] RecordView record_at(const std::byte* header, ByteOrder order);

}  // namespace sonde
