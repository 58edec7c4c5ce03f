#include "unwind/leaf_caller.h"

#include <algorithm>

namespace sonde {
namespace {

constexpr uint8_t kArm64LinkRegister = 30;  // in DWARF, too

bool is_stored(const CfiTable& table, const UnwindRule& rule) {
  return std::ranges::any_of(table.saved(rule), [&](const SavedRegister& saved) {
    return saved.reg == rule.return_register && saved.how != SavedAs::kSame;
  });
}

}  // namespace

std::optional<uint64_t> caller_in_link_register(const UnwindPlace& leaf, uint64_t link_register) {
  const UnwindRule* rule = leaf.cfi == nullptr ? nullptr : leaf.cfi->find(leaf.address);
  if (rule == nullptr || rule->return_register != kArm64LinkRegister) return std::nullopt;
  if (is_stored(*leaf.cfi, *rule)) return std::nullopt;
  uint64_t back = rule->signs_return ? link_register & kUserAddressBits : link_register;
  if (back == 0) return std::nullopt;
  return back - 1;
}

}  // namespace sonde
