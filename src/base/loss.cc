#include "base/loss.h"

namespace sonde {
namespace {

struct Sentence {
  std::string_view what;
  std::string_view remedy;
};

constexpr Sentence kSentences[] = {
#define LOSS(name, what, remedy) {what, remedy},
#include "base/losses.def"
#undef LOSS
};

}  // namespace

void LossLedger::add(LossKind kind, uint64_t count, std::string_view example) {
  if (count == 0) return;
  std::scoped_lock lock(mutex_);
  Slot& slot = slots_[static_cast<size_t>(kind)];
  if (slot.count == 0) slot.example = example;
  slot.count += count;
}

uint64_t LossLedger::count(LossKind kind) const {
  std::scoped_lock lock(mutex_);
  return slots_[static_cast<size_t>(kind)].count;
}

uint64_t LossLedger::total() const {
  std::scoped_lock lock(mutex_);
  uint64_t sum = 0;
  for (const Slot& slot : slots_) sum += slot.count;
  return sum;
}

std::vector<LossLedger::Entry> LossLedger::entries() const {
  std::scoped_lock lock(mutex_);
  std::vector<Entry> found;
  for (size_t i = 0; i < std::size(kSentences); ++i)
    if (slots_[i].count != 0)
      found.push_back({static_cast<LossKind>(i), slots_[i].count, slots_[i].example});
  return found;
}

void LossLedger::merge(const LossLedger& other) {
  for (const Entry& entry : other.entries()) add(entry.kind, entry.count, entry.example);
}

std::string_view LossLedger::what(LossKind kind) {
  return kSentences[static_cast<size_t>(kind)].what;
}
std::string_view LossLedger::remedy(LossKind kind) {
  return kSentences[static_cast<size_t>(kind)].remedy;
}

}  // namespace sonde
