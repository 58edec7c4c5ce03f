// Untrusted CoreSight traces, with the registers of the units that made them and the code they run
// through: whatever they say, decoding ends.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "etm/flow_decoder.h"
#include "fuzz/fuzz_target.h"
#include "itrace/etm_flow.h"

namespace {

using namespace sonde;

/// The same code everywhere.
class EtmCode final : public etm::CodeReader {
 public:
  explicit EtmCode(Bytes bytes) : bytes_(bytes) {}
  size_t read(uint8_t /*trace_id*/, uint64_t address, std::span<std::byte> to) override {
    if (bytes_.empty()) return 0;
    for (size_t i = 0; i < to.size(); ++i) to[i] = bytes_[(address + i) % bytes_.size()];
    return to.size();
  }

 private:
  Bytes bytes_;
};

/// Instructions have sizes.
class Instructions final : public pt::FlowObserver {
 public:
  void instruction(const pt::Instruction& instruction, uint64_t /*now*/) override {
    if (instruction.size == 0) __builtin_trap();
  }
  void enabled(uint64_t /*ip*/, uint64_t /*now*/) override {}
  void disabled(std::optional<uint64_t> /*at*/, std::optional<uint64_t> /*to*/,
                uint64_t /*now*/) override {}
  void interrupted(uint64_t /*from*/, std::optional<uint64_t> /*to*/, uint64_t /*now*/) override {}
  void transaction(bool /*begins*/, bool /*aborted*/, std::optional<uint64_t> /*ip*/,
                   uint64_t /*now*/) override {}
  void ptwrite(std::optional<uint64_t> /*ip*/, uint64_t /*value*/, uint64_t /*now*/) override {}
  void core_frequency(uint32_t /*ratio*/, uint64_t /*now*/) override {}
  void lost(pt::FlowError /*why*/, uint64_t /*ip*/, uint64_t /*now*/) override {}
};

/// Of all units as if they were one.
class Ranges final : public etm::FlowObserver {
 public:
  explicit Ranges(EtmCode& code)
      : flow_(instructions_, [&code](uint64_t address, std::span<std::byte> to) {
          return code.read(0, address, to);
        }) {}
  void ran(uint8_t /*id*/, const etm::ExecutedRange& range) override {
    if (range.end < range.start) __builtin_trap();
    flow_.ran(range, 0);
  }
  void interrupted(uint8_t /*id*/) override { flow_.interrupted(0); }
  void exception(uint8_t /*id*/, uint32_t number, uint64_t to) override {
    flow_.exception(number, to, 0);
  }
  void timestamp(uint8_t /*id*/, uint64_t /*time*/) override {}
  void context(uint8_t /*id*/, uint32_t /*context*/) override {}
  void lost(uint8_t /*id*/, etm::Lost why, uint64_t address) override {
    flow_.lost(why, address, 0);
  }

 private:
  Instructions instructions_;
  itrace::EtmFlow flow_;
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
  EtmCode code(cursor.take(std::min<size_t>(cursor.left(), 64)));
  Ranges observer(code);
  auto format = choice % 2 != 0 ? etm::Format::kFrames : etm::Format::kRaw;
  auto decoder = etm::FlowDecoder::make(units, format, code, observer);
  if (!decoder) return 0;
  Bytes trace = cursor.rest();
  (void)decoder->decode(trace.first(trace.size() / 2));
  (void)decoder->decode(trace.subspan(trace.size() / 2));
  return 0;
}
