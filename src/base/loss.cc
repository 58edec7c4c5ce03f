#include "base/loss.h"

#include <fmt/format.h>

#include <algorithm>

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

/// Kinds of a recording that is not what its recorder wrote. Others are gaps that the recorder
/// left, or are about what surrounds the recording.
bool is_damage(LossKind kind) {
  switch (kind) {
    case LossKind::k_unfinished_file:
    case LossKind::k_bad_record:
    case LossKind::k_truncated_file:
    case LossKind::k_trailing_garbage:
    case LossKind::k_bad_feature:
    case LossKind::k_bad_compressed:
      return true;
    default:
      return false;
  }
}

void add_saturating(uint64_t& sum, uint64_t more) {
  sum = more > UINT64_MAX - sum ? UINT64_MAX : sum + more;
}

double share_of(uint64_t part, uint64_t whole) {
  if (whole == 0) return 0;
  return std::min(1.0, static_cast<double>(part) / static_cast<double>(whole));
}

std::string summary_of(double share) {
  if (share == 0) return "the recording is incomplete";
  std::string percent = share < 0.001 ? "less than 0.1" : fmt::format("{:.1f}", share * 100);
  return fmt::format("{}% of the recording could not be read", percent);
}

}  // namespace

void ReadBytes::add(const ReadBytes& other) {
  add_saturating(promised, other.promised);
  add_saturating(unread, other.unread);
  add_saturating(records, other.records);
  add_saturating(damaged, other.damaged);
}

double ReadBytes::lost_share() const {
  double behind = share_of(unread, promised);
  // Damaged records are measured against all records, as both may have been compressed in the file.
  return behind + (1 - behind) * share_of(damaged, records);
}

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
  double share = other.lost_share();
  std::scoped_lock lock(mutex_);
  merged_share_ = std::max(merged_share_, share);
}

void LossLedger::add_bytes(const ReadBytes& bytes) {
  std::scoped_lock lock(mutex_);
  bytes_.add(bytes);
}

double LossLedger::lost_share() const {
  std::scoped_lock lock(mutex_);
  return std::max(bytes_.lost_share(), merged_share_);
}

std::string LossLedger::damage_summary() const {
  bool is_whole =
      std::ranges::none_of(entries(), [](const Entry& entry) { return is_damage(entry.kind); });
  return is_whole ? std::string() : summary_of(lost_share());
}

std::vector<std::string> LossLedger::damage() const {
  std::string summary = damage_summary();
  if (summary.empty()) return {};
  std::vector<std::string> lines = {
      fmt::format("Damaged: {}{}", summary, lost_too_much() ? "; the exit status is 1" : "")};
  for (const Entry& entry : entries())
    if (is_damage(entry.kind)) lines.push_back("  " + text(entry));
  return lines;
}

std::string LossLedger::text(const Entry& entry) {
  std::string line = fmt::format("{} {}", entry.count, what(entry));
  if (!entry.example.empty()) line += fmt::format(" ({})", entry.example);
  if (std::string_view help = remedy(entry.kind); !help.empty()) line += fmt::format("; {}", help);
  return line;
}

std::string LossLedger::what(const Entry& entry) {
  std::string_view rest = kSentences[static_cast<size_t>(entry.kind)].what;
  std::string text;
  for (;;) {
    size_t open = rest.find('{');
    text += rest.substr(0, open);
    if (open == std::string_view::npos) return text;
    size_t bar = rest.find('|', open);
    size_t close = rest.find('}', bar);
    text += entry.count == 1 ? rest.substr(open + 1, bar - open - 1)
                             : rest.substr(bar + 1, close - bar - 1);
    rest.remove_prefix(close + 1);
  }
}
std::string_view LossLedger::remedy(LossKind kind) {
  return kSentences[static_cast<size_t>(kind)].remedy;
}

}  // namespace sonde
