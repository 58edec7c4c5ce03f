// Sort keys of waits: what a thread waited for (record --off-cpu), and who ended the wait (record
// --off-cpu-waker).
#include "profile/keys/key_tools.h"
#include "profile/keys/wait_reason.h"

namespace sonde {
namespace {

constexpr std::string_view kNone = "-";

class WaitKey final : public KeyOfInput {
 public:
  WaitKey(const ProfileInput& input, const KeySettings& settings) : KeyOfInput(input, settings) {}

  uint64_t of_row(RowReader& row) override {
    if (!input_.details.may_wait(row.sample())) return kNoWait;
    ChainId chain = input_.samples.chain_of(row.sample());
    std::span<const FrameId> frames;
    if (chain.valid()) frames = input_.chains[chain];
    auto name_of = [this](FrameId frame) {
      SymbolId symbol = input_.frame(frame).symbol;
      return symbol.valid() ? input_.symbols.name(symbol) : std::string_view();
    };
    return static_cast<uint64_t>(reasons_.of(row.details(), chain, frames, name_of));
  }
  [[nodiscard]] int collate(uint64_t a, uint64_t b) const override { return three_way(a, b); }
  void text(uint64_t value, std::string& out) const override { out += name_of(value); }
  [[nodiscard]] size_t width(uint64_t value, uint32_t /*first_sample*/) const override {
    return name_of(value).size();
  }

 private:
  static constexpr uint64_t kNoWait = UINT64_MAX;
  static std::string_view name_of(uint64_t value) {
    return value == kNoWait ? kNone : wait_reason_name(static_cast<WaitReason>(value));
  }

  WaitReasons reasons_;
};

class WakerKey final : public KeyOfInput {
 public:
  WakerKey(const ProfileInput& input, const KeySettings& settings) : KeyOfInput(input, settings) {}

  uint64_t of_row(RowReader& row) override {
    std::string_view waker = input_.details.waker_of(row.details());
    return input_.strings.intern(waker.empty() ? kNone : waker).value;
  }
  [[nodiscard]] int collate(uint64_t a, uint64_t b) const override {
    return a == b ? 0 : name_of(a).compare(name_of(b));
  }
  void text(uint64_t value, std::string& out) const override { out += name_of(value); }
  [[nodiscard]] NameKind names() const override { return NameKind::kTask; }
  [[nodiscard]] size_t width(uint64_t value, uint32_t /*first_sample*/) const override {
    return name_of(value).size();
  }

 private:
  [[nodiscard]] std::string_view name_of(uint64_t value) const {
    return input_.strings.view(StringId(size_t{value}));
  }
};

}  // namespace

KeyResult make_waker_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<WakerKey>(input, settings, "waker", "Woken by");
}

KeyResult make_wait_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<WaitKey>(input, settings, "wait", "Waits for");
}

}  // namespace sonde
