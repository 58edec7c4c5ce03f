// Assembles ETMv4 traces for tests (Arm IHI 0064, chapter 6).
//
//   TraceBuilder trace;
//   trace.begin(0x1000).taken().not_taken().address(0x2000);
//   in_frames(trace.bytes(), 0x10)
#pragma once

#include <cstdint>
#include <vector>

#include "etm/trace_unit.h"

namespace sonde::etm {

/// A unit as it is in many phones: ETMv4.2 with 32-bit context ids, 64-bit addresses.
inline TraceUnit test_unit(uint32_t cpu, uint8_t trace_id) {
  return {.cpu = cpu, .trace_id = trace_id, .id = {0x28000ea1, 0x4100f422, 0x20001088}};
}

class TraceBuilder {
 public:
  [[nodiscard]] const std::vector<uint8_t>& bytes() const { return bytes_; }

  TraceBuilder& add(std::initializer_list<uint8_t> packet) {
    bytes_.insert(bytes_.end(), packet);
    return *this;
  }
  /// Sync, trace info, tracing begins in AArch64 at EL0, in non-secure state.
  TraceBuilder& begin(uint64_t at) {
    add({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80});
    add({0x01, 0x01, 0x00});
    return trace_on().add({0x81, 0x30}).address(at);
  }
  TraceBuilder& trace_on() { return add({0x04}); }
  TraceBuilder& overflow() { return add({0x00, 0x05}); }
  TraceBuilder& taken() { return add({0xf7}); }
  TraceBuilder& not_taken() { return add({0xf6}); }
  TraceBuilder& address(uint64_t to) {
    add({0x9d, static_cast<uint8_t>((to >> 2) & 0x7f), static_cast<uint8_t>((to >> 9) & 0x7f)});
    for (int shift = 16; shift < 64; shift += 8) add({static_cast<uint8_t>(to >> shift)});
    return *this;
  }
  /// `number` below 32; 2 is a call, 14 an interrupt.
  TraceBuilder& exception(uint8_t number, uint64_t return_address) {
    add({0x06, static_cast<uint8_t>(number << 1 | 1)});
    return address(return_address);
  }
  /// The thread that runs.
  TraceBuilder& context(uint32_t id) {
    add({0x81, 0xb0});
    for (int shift = 0; shift < 32; shift += 8) add({static_cast<uint8_t>(id >> shift)});
    return *this;
  }
  TraceBuilder& timestamp(uint32_t time) {
    add({0x02});
    for (int i = 0; i < 4; ++i, time >>= 7) add({static_cast<uint8_t>((time & 0x7f) | 0x80)});
    return add({static_cast<uint8_t>(time & 0x7f)});
  }

 private:
  std::vector<uint8_t> bytes_;
};

/// Frames of 16 bytes, filled up with zeros: of 15 bytes the even ones may change the id instead,
/// and the last one has their lowest bits (Arm IHI 0029, formatter).
inline std::vector<uint8_t> in_frames(const std::vector<uint8_t>& trace, uint8_t trace_id) {
  std::vector<uint8_t> frames;
  for (size_t at = 0; at < trace.size();) {
    uint8_t low_bits = 0;
    frames.push_back(static_cast<uint8_t>(trace_id << 1 | 1));
    for (int i = 1; i < 15; ++i) {
      uint8_t byte = at < trace.size() ? trace[at++] : uint8_t{0};
      frames.push_back(i % 2 != 0 ? byte : static_cast<uint8_t>(byte & 0xfe));
      if (i % 2 == 0) low_bits |= static_cast<uint8_t>((byte & 1) << (i / 2));
    }
    frames.push_back(low_bits);
  }
  return frames;
}

}  // namespace sonde::etm
