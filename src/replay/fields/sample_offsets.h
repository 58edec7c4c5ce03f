// The positions of the fields that tracepoint analyses need in the samples of an event: looked up
// once per event, so that a record costs a few loads and is not decoded.
#pragma once

#include <array>
#include <span>

#include "perfdata/header/event_table.h"

namespace sonde {

/// Fields common to all samples, if their event records them.
struct SampleHead {
  uint64_t ip = 0, time = 0;
  uint32_t pid = UINT32_MAX, tid = UINT32_MAX;
  uint32_t cpu = 0;
};

struct SampleOffsets {
  static constexpr uint32_t kNowhere = UINT32_MAX;
  /// Offsets in the payload, if everything before has a fixed size.
  uint32_t ip = kNowhere, tid = kNowhere, time = kNowhere, cpu = kNowhere, period = kNowhere;
  uint32_t raw = kNowhere;
  uint32_t head_size = 0;     // of the common fields
  uint32_t chain = kNowhere;  // the call chain, which precedes the raw data
  bool is_simple = false;     // the offsets suffice; otherwise the sample is decoded in full

  static SampleOffsets of(uint64_t sample_type);

  /// Returns false if the sample is too short, or has neither time nor raw data.
  bool read(const RecordView& record, SampleHead& head) const;
  /// The raw data of a sample; empty if it has none.
  [[nodiscard]] Bytes raw_data(const RecordView& record, const SampleLayout& layout) const;

  /// The addresses of a call chain, innermost first, without context markers, and how many of them
  /// are the kernel's.
  static constexpr size_t kMaxAddresses = 127;
  struct Chain {
    std::array<uint64_t, kMaxAddresses> addresses;
    uint32_t size = 0;
    uint32_t kernel_size = 0;  // they come first
    [[nodiscard]] std::span<const uint64_t> all() const { return {addresses.data(), size}; }
    [[nodiscard]] std::span<const uint64_t> of_kernel() const {
      return {addresses.data(), kernel_size};
    }
  };
  /// Reads at most `limit` addresses, and at most kMaxAddresses.
  void read_chain(const RecordView& record, const SampleLayout& layout, size_t limit,
                  Chain& out) const;
};

/// The record that begins at `header`.
[[nodiscard]] RecordView record_at(const std::byte* header, ByteOrder order);

}  // namespace sonde
