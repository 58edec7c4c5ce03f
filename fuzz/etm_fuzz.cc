// Untrusted CoreSight traces, with the registers of the units that made them and the code they run
// through: whatever they say, decoding ends.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "etm/flow_decoder.h"
#include "fuzz/fuzz_target.h"

namespace {

using namespace sonde;

/// The same code everywhere.
class Code final : public etm::CodeReader {
 public:
  explicit Code(Bytes bytes) : bytes_(bytes) {}
  size_t read(uint8_t /*trace_id*/, uint64_t address, std::span<std::byte> to) override {
    if (bytes_.empty()) return 0;
    for (size_t i = 0; i < to.size(); ++i) to[i] = bytes_[(address + i) % bytes_.size()];
    return to.size();
  }

 private:
  Bytes bytes_;
};

class Nobody final : public etm::FlowObserver {
 public:
  void ran(uint8_t /*id*/, const etm::ExecutedRange& range) override {
    if (range.end < range.start) __builtin_trap();
  }
  void interrupted(uint8_t /*id*/) override {}
  void exception(uint8_t /*id*/, uint32_t /*number*/, uint64_t /*to*/) override {}
  void timestamp(uint8_t /*id*/, uint64_t /*time*/) override {}
  void context(uint8_t /*id*/, uint32_t /*context*/) override {}
  void lost(uint8_t /*id*/, etm::Lost /*why*/, uint64_t /*address*/) override {}
};

}  // namespace

FUZZ_TARGET(etm)(const uint8_t* data, size_t size) {
  ByteCursor cursor(std::as_bytes(std::span(data, size)));
  uint8_t choice = cursor.u8();
  std::vector<uint64_t> words;
  for (int i = cursor.u8() % 64; i > 0; --i) words.push_back(cursor.u64());
  auto parsed = etm::parse_trace_units(words);
  etm::TraceUnit known{.trace_id = 0x10, .id = {0x28000ea1, 0x4100f422, 0x20001088}};
  std::vector<etm::TraceUnit> units = parsed ? parsed->units : std::vector{known};
  Code code(cursor.take(std::min<size_t>(cursor.left(), 64)));
  Nobody observer;
  auto format = choice % 2 != 0 ? etm::Format::kFrames : etm::Format::kRaw;
  auto decoder = etm::FlowDecoder::make(units, format, code, observer);
  if (!decoder) return 0;
  Bytes trace = cursor.rest();
  (void)decoder->decode(trace.first(trace.size() / 2));
  (void)decoder->decode(trace.subspan(trace.size() / 2));
  return 0;
}
