// The parent key, which searches up the call chain.
#include <map>
#include <optional>

#include "base/bounds/regex.h"
#include "profile/keys/key_tools.h"

namespace sonde {
namespace {

/// The first function on the call path that matches a regular expression.
class ParentKey final : public KeyOfInput {
 public:
  using KeyOfInput::KeyOfInput;
  Result<> compile() {
    Result<Regex> regex = Regex::compile(settings_.parent_pattern);
    if (!regex) return fail(ErrorCode::kFailed, "Invalid regex: {}", regex.error().message);
    pattern_ = std::move(*regex);
    return {};
  }
  uint64_t of_row(RowReader& row) override {
    ChainId chain = input_.samples.chain_of(row.sample());
    if (!chain.valid()) return kOther;
    std::span<const FrameId> frames = input_.chains[chain];
    for (size_t i = 0; i < frames.size(); ++i) {
      size_t at = settings_.caller_order ? frames.size() - 1 - i : i;
      SymbolId symbol = input_.frame(frames[at]).symbol;
      if (symbol.valid() && matches(symbol)) return symbol.value;
    }
    return kOther;
  }
  [[nodiscard]] int collate(uint64_t a, uint64_t b) const override {
    if (a == kOther || b == kOther) return three_way(a == kOther, b == kOther);
    return name_of(a).compare(name_of(b));
  }
  void text(uint64_t value, std::string& out) const override {
    out += value == kOther ? "[other]" : name_of(value);
  }
  [[nodiscard]] size_t width(uint64_t value, uint32_t /*first_sample*/) const override {
    return value == kOther ? 0 : name_of(value).size();
  }

 private:
  static constexpr uint64_t kOther = kNoParent;
  [[nodiscard]] std::string_view name_of(uint64_t value) const {
    return input_.symbols.name(SymbolId(static_cast<size_t>(value)));
  }
  bool matches(SymbolId symbol) {
    auto [known, added] = matches_.try_emplace(symbol.value, false);
    if (added) known->second = pattern_->matches(input_.symbols.name(symbol));
    return known->second;
  }
  std::optional<Regex> pattern_;
  std::map<uint32_t, bool> matches_;
};

}  // namespace

KeyResult make_parent_key(const ProfileInput& input, const KeySettings& settings) {
  auto key = std::make_unique<ParentKey>(input, settings);
  key->name = "parent";
  key->title = "Parent symbol";
  key->cuts = true;
  TRY(key->compile());
  return key;
}

}  // namespace sonde
