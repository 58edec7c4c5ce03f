#include "profile/branch_counts.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>
#include <utility>

namespace sonde {
namespace {

constexpr uint32_t kConditional = 1;  // type of a branch

constexpr std::string_view kTypeNames[] = {"",         "COND", "UNCOND",  "IND",    "CALL",
                                           "IND_CALL", "RET",  "SYSCALL", "SYSRET", "COND_CALL",
                                           "COND_RET", "ERET", "IRQ",     "SERROR", "NO_TX"};

/// Appends words in parentheses, which the first opens and the end closes.
class Words {
 public:
  explicit Words(std::string& out) : out_(out) {}
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;
  ~Words() {
    if (any_) out_ += ')';
  }
  template <typename... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    out_ += any_ ? " " : " (";
    any_ = true;
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

 private:
  std::string& out_;
  bool any_ = false;
};

bool crosses(const abi::BranchEntry& branch, uint64_t area) {
  return branch.from / area != branch.to / area;
}

void append_types(const BranchCounts& counts, Words& words) {
  if (counts.forward) words.add("COND_FWD");
  if (counts.backward) words.add("COND_BWD");
  for (uint32_t type = kConditional + 1; type < std::size(kTypeNames); ++type)
    if ((counts.types >> type & 1) != 0) words.add("{}", kTypeNames[type]);
  if (counts.crosses_4k) words.add("CROSS_4K");
  if (counts.crosses_2m) words.add("CROSS_2M");
}

void append_of_target(const BranchCounts& counts, Words& words) {
  if (counts.types != 0) append_types(counts, words);
  auto percent = [&](uint64_t part) {
    return 100.0 * static_cast<double>(part) / static_cast<double>(counts.branches);
  };
  if (counts.predicted < counts.branches) words.add("predicted:{:.1f}%", percent(counts.predicted));
  constexpr double kLeastAborts = 0.1;  // percent
  if (counts.aborted > 0 && percent(counts.aborted) >= kLeastAborts)
    words.add("abort:{:.1f}%", percent(counts.aborted));
}

void append_of_source(const BranchCounts& counts, Words& words) {
  if (uint64_t cycles = counts.cycles / counts.branches; cycles > 0) words.add("cycles:{}", cycles);
  if (counts.iterations == 0 || counts.later_sources == 0) return;
  uint64_t iterations = counts.iterations / counts.later_sources;
  if (iterations == 0) return;
  words.add("iter:{}", iterations);
  words.add("avg_cycles:{}", counts.iteration_cycles / counts.iterations);
}

}  // namespace

void BranchCounts::add(const PathStep& step) {
  bool is_first = !std::exchange(has_steps, true);
  if (step.kind == PathStep::Kind::kCall) return;
  ++branches;
  is_target = step.kind == PathStep::Kind::kTo;
  const abi::BranchEntry& branch = step.branch;
  if (!is_target) {
    cycles += branch.cycles();
    iterations += step.iterations;
    iteration_cycles += step.iteration_cycles;
    if (!is_first) ++later_sources;
    return;
  }
  predicted += branch.predicted() ? 1 : 0;
  aborted += branch.aborted() ? 1 : 0;
  uint32_t type = branch.branch_type();
  if (type == 0 || branch.from == 0) return;
  types |= uint32_t{1} << type;
  if (type == kConditional) (branch.to > branch.from ? forward : backward) = true;
  constexpr uint64_t kPage = uint64_t{1} << 12, kLargePage = uint64_t{1} << 21;
  if (crosses(branch, kLargePage))
    crosses_2m = true;
  else if (crosses(branch, kPage))
    crosses_4k = true;
}

void append_counts(const BranchCounts& counts, std::string& out) {
  if (counts.branches == 0) {
    out += " (calltrace)";
    return;
  }
  Words words(out);
  if (counts.is_target)
    append_of_target(counts, words);
  else
    append_of_source(counts, words);
}

}  // namespace sonde
