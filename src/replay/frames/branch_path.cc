#include "replay/frames/branch_path.h"

#include <algorithm>
#include <array>
#include <span>

#include "unwind/callchain.h"

namespace sonde {
namespace {

/// More branches than this are taken for damage, as perf does.
constexpr size_t kMaxBranches = 127;

struct TakenBranch {
  abi::BranchEntry entry;
  uint32_t iterations = 0;
  uint64_t iteration_cycles = 0;
};

/// perf looks for an earlier branch from the same address in a table with one place for each hash
/// value: the first branch that comes keeps it, so which repetitions are found depends on the hash.
class FirstBranches {
 public:
  FirstBranches() { first_.fill(kNone); }
  /// The place for branches from `from`: an index, or kNone.
  uint8_t& at(uint64_t from) {
    constexpr uint64_t kGoldenRatio = 0x61c8864680b583eb;
    constexpr unsigned kBits = 7;
    return first_[(from * kGoldenRatio >> (64 - kBits)) % kPlaces];
  }
  static constexpr uint8_t kNone = 255;

 private:
  static constexpr size_t kPlaces = 127;
  std::array<uint8_t, kPlaces> first_;
};

/// The number of branches from `at` on that repeat those from `earlier` to `at`; 0 if they differ.
size_t repeated(const std::vector<TakenBranch>& branches, size_t earlier, size_t at) {
  size_t length = std::min(at - earlier, branches.size() - at);
  for (size_t i = 0; i < length; ++i)
    if (branches[earlier + i].entry.from != branches[at + i].entry.from) return 0;
  return length;
}

void remove_repetitions(std::vector<TakenBranch>& branches) {
  FirstBranches first;
  for (size_t at = 0; at < branches.size(); ++at) {
    uint8_t& earlier = first.at(branches[at].entry.from);
    if (earlier == FirstBranches::kNone) {
      earlier = static_cast<uint8_t>(at);
      continue;
    }
    // What was left out may have moved another branch there.
    if (earlier >= at || branches[earlier].entry.from != branches[at].entry.from) continue;
    size_t length = repeated(branches, earlier, at);
    if (length == 0) continue;
    auto begin = branches.begin() + static_cast<ptrdiff_t>(at);
    auto end = begin + static_cast<ptrdiff_t>(length);
    if (end != branches.end()) {
      ++end->iterations;
      end->iteration_cycles = 0;
      for (auto left_out = begin; left_out != end; ++left_out)
        end->iteration_cycles += left_out->entry.cycles();
    }
    branches.erase(begin, end);
  }
}

/// How many words at the start of the call chain are covered by the branches, newest first: a
/// branch that is a call comes from right before the address that it returns to.
size_t covered_words(const std::vector<TakenBranch>& branches, const WordView& chain) {
  constexpr uint64_t kLongestCall = 8;  // bytes
  size_t covered = 0;
  for (const TakenBranch& branch : branches) {
    if (covered == chain.size()) break;
    uint64_t back = chain[covered];
    if (abi::is_callchain_context(back) || back - branch.entry.from - 1 < kLongestCall) ++covered;
  }
  return covered;
}

/// Appends the addresses of the words [first, end) of a chain.
bool append_calls(const WordView& chain, size_t first, size_t end, std::vector<PathStep>& out) {
  size_t word = 0;
  return for_each_address(chain, [&](uint64_t ip, uint16_t cpu_mode) {
    while (abi::is_callchain_context(chain[word])) ++word;
    if (word >= first && word < end) out.push_back({.cpu_mode = cpu_mode, .ip = ip});
    ++word;
  });
}

void append_branches(const std::vector<TakenBranch>& branches, std::vector<PathStep>& out) {
  for (const TakenBranch& branch : branches) {
    out.push_back({.kind = PathStep::Kind::kTo, .ip = branch.entry.to, .branch = branch.entry});
    out.push_back({.kind = PathStep::Kind::kFrom,
                   .ip = branch.entry.from,
                   .branch = branch.entry,
                   .iterations = branch.iterations,
                   .iteration_cycles = branch.iteration_cycles});
  }
}

}  // namespace

bool append_branch_path(const Sample& sample, const BranchHistory& how,
                        std::vector<PathStep>& out) {
  std::vector<TakenBranch> branches;
  size_t all = sample.branch_count();
  if (all <= kMaxBranches)
    for (size_t i = 0; i < std::min<size_t>(all, how.max_stack); ++i)
      branches.push_back({.entry = sample.branch(how.caller_order ? all - 1 - i : i)});
  const WordView& chain = sample.callchain;
  size_t covered = how.caller_order ? 0 : covered_words(branches, chain);
  remove_repetitions(branches);

  // As many words as there are branches are left out at the other end of the walk.
  size_t left_out = std::min(branches.size(), chain.size());
  std::vector<PathStep> calls;
  bool whole = how.caller_order ? append_calls(chain, left_out, chain.size(), calls)
                                : append_calls(chain, covered, chain.size() - left_out, calls);
  std::span<const PathStep> kept(calls);
  size_t most = std::min<size_t>(kept.size(), how.max_stack);
  kept = how.caller_order ? kept.last(most) : kept.first(most);

  size_t first = out.size();
  if (how.caller_order) {
    append_branches(branches, out);
    std::reverse(out.begin() + static_cast<ptrdiff_t>(first), out.end());
    out.insert(out.begin() + static_cast<ptrdiff_t>(first), kept.begin(), kept.end());
  } else {
    append_branches(branches, out);
    out.insert(out.end(), kept.begin(), kept.end());
  }
  return whole;
}

}  // namespace sonde
