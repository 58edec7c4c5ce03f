// Untrusted Intel PT traces: packets are read to the end, whatever they are, and following them
// through code that is all bytes of the input ends, too, with cycles or without; so do the quick
// ways.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/sink.h"
#include "fuzz/fuzz_target.h"
#include "pt/flow_decoder.h"
#include "pt/packet.h"
#include "pt/quick_flow.h"
#include "pt/vm_time.h"
#include "pt/walker.h"

namespace {

class PtFuzzCode final : public sonde::pt::CodeReader {
 public:
  PtFuzzCode(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  size_t read(uint64_t address, std::span<std::byte> to, uint64_t) override {
    uint64_t at = address & 0xfff;
    if (at >= size_) return 0;
    size_t count = std::min<size_t>(to.size(), size_ - at);
    std::memcpy(to.data(), data_ + at, count);
    return count;
  }

 private:
  const uint8_t* data_;
  size_t size_;
};

class PtFuzzCount : public sonde::pt::FlowObserver {
 public:
  void instruction(const sonde::pt::Instruction& i, uint64_t) override {
    if (i.size == 0 || i.size > i.bytes.size()) __builtin_trap();
  }
  void enabled(uint64_t, uint64_t) override {}
  void disabled(std::optional<uint64_t>, std::optional<uint64_t>, uint64_t) override {}
  void interrupted(uint64_t, std::optional<uint64_t>, uint64_t) override {}
  void transaction(bool, bool, std::optional<uint64_t>, uint64_t) override {}
  void ptwrite(std::optional<uint64_t>, uint64_t, uint64_t) override {}
  void core_frequency(uint32_t, uint64_t) override {}
  void control_flow(const sonde::pt::ControlFlowEvent& event, std::optional<uint64_t>,
                    uint64_t) override {
    for (const sonde::pt::EventDatum& datum : event.data)
      if (datum.type > 0x3f) __builtin_trap();
  }
  void items(const sonde::pt::BlockItems& items, std::optional<uint64_t>, uint64_t) override {
    using sonde::pt::BlockType;
    if (!items.get(BlockType::kBasic, 0) != ((items.present(BlockType::kBasic) & 1) == 0))
      __builtin_trap();
  }
  void items_cut(uint64_t records) override {
    if (records == 0) __builtin_trap();
  }
  void lost(sonde::pt::FlowError why, uint64_t, uint64_t) override {
    if (sonde::pt::describe(why).empty()) __builtin_trap();
  }
};

/// Lets instructions be skipped.
class PtFuzzSkip final : public PtFuzzCount {
 public:
  explicit PtFuzzSkip(uint64_t most) : most_(most) {}
  Indifference indifference(uint64_t) override { return {most_, most_ % 2 == 0}; }
  void skipped(uint64_t, uint64_t count, const sonde::pt::Instruction& last, uint64_t) override {
    if (count == 0 || count > most_ || last.size == 0) __builtin_trap();
  }

 private:
  uint64_t most_;
};

class PtFuzzPlaces final : public PtFuzzCount {
 public:
  void instruction(const sonde::pt::Instruction&, uint64_t) override {}
};

}  // namespace

FUZZ_TARGET(pt)(const uint8_t* data, size_t size) {
  using namespace sonde;
  Bytes trace(reinterpret_cast<const std::byte*>(data), size);
  StringSink out;
  pt::put_packets(trace, out);
  PtFuzzCode code(data, size);
  PtFuzzCount count;
  pt::TraceSetup cycles;
  cycles.counts_cycles = size % 2 == 0;
  if (pt::can_follow()) (void)pt::follow_by_libipt(trace, cycles, code, count);
  // Also traces that `follow` would leave to libipt.
  pt::TraceSetup events;
  events.traces_events = true;
  pt::walk(trace, events, {.skd022 = true}, code, count);
  PtFuzzSkip skip(size);
  pt::walk(trace, {}, {}, code, skip);
  // In two pieces, so that packets lie in both.
  Bytes first = trace.first(size / 2), rest = trace.subspan(size / 2);
  pt::TraceSetup setup;
  setup.crystal_numerator = setup.crystal_denominator = 1;
  pt::TscOffsets offsets;
  pt::TscTranslation translation(setup, offsets, [](std::string_view) {});
  translation.run({{first, 0}, {rest, 1000}}, [&](size_t piece, size_t at, Bytes bytes) {
    if (at + bytes.size() > (piece == 0 ? first : rest).size()) __builtin_trap();
  });
  setup.mtc_period = 3;
  PtFuzzPlaces places;
  for (pt::QuickDetail detail : {pt::QuickDetail::kAddresses, pt::QuickDetail::kPsbs})
    pt::follow_quickly(trace, setup, detail, places);
  return 0;
}
