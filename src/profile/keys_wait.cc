// The sort key of waits: what a thread waited for (record --off-cpu).
#include <tsl/robin_map.h>

#include "profile/key_tools.h"
#include "profile/wait_reason.h"

namespace sonde {
namespace {

class WaitKey final : public KeyOfInput {
 public:
  WaitKey(const ProfileInput& input, const KeySettings& settings) : KeyOfInput(input, settings) {}

  uint64_t of_row(RowReader& row) override {
    const Sample& sample = row.details();
    std::optional<OffCpuState> state;
    if (auto note = decode_off_cpu_note(sample.raw, sample.order)) state = note->state;
    ChainId chain = input_.samples.chain_of(row.sample());
    // Few chains are common to many samples.
    uint64_t known_by = uint64_t{chain.valid() ? chain.value : UINT32_MAX} << 8 |
                        (state ? static_cast<uint64_t>(*state) : UINT8_MAX);
    auto [known, is_new] = reasons_.try_emplace(known_by, 0);
    if (is_new) known.value() = static_cast<uint64_t>(reason_of(state, chain));
    return known.value();
  }
  [[nodiscard]] int collate(uint64_t a, uint64_t b) const override { return three_way(a, b); }
  void text(uint64_t value, std::string& out) const override {
    out += wait_reason_name(static_cast<WaitReason>(value));
  }
  [[nodiscard]] size_t width(uint64_t value, uint32_t /*first_sample*/) const override {
    return wait_reason_name(static_cast<WaitReason>(value)).size();
  }

 private:
  [[nodiscard]] WaitReason reason_of(std::optional<OffCpuState> state, ChainId chain) const {
    std::span<const FrameId> frames;
    if (chain.valid()) frames = input_.chains[chain];
    return wait_reason(state, [&](size_t i) -> std::optional<std::string_view> {
      if (i >= frames.size()) return std::nullopt;
      SymbolId symbol = input_.frame(frames[i]).symbol;
      return symbol.valid() ? input_.symbols.name(symbol) : std::string_view();
    });
  }
  tsl::robin_map<uint64_t, uint64_t> reasons_;
};

}  // namespace

MadeKey make_wait_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<WaitKey>(input, settings, "wait", "Waits for");
}

}  // namespace sonde
