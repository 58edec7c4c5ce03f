#include "replay/branches/blocks.h"

#include <algorithm>
#include <map>

#include "replay/branches/branch_places.h"

namespace sonde {
namespace {

class BlockCounter {
 public:
  explicit BlockCounter(const Session& session)
      : session_(session), places_(session), counters_(session.recording()) {}

  void add(size_t index, EventId event, bool has_all_branches);
  BlockSums finish() &&;

 private:
  /// The block that a branch of the sample ends.
  struct Pass {
    size_t branch;
    uint32_t cycles;
    std::span<const BranchCounters::Counter> counters;
  };
  void add_block(const Frame* start, const Frame& end, const Pass& pass);
  void add_counts(Block& block, const Pass& pass);
  void keep_counted(Block& block) const;
  static void add_to_longest(Block& block, const Frame* start, uint32_t cycles);

  const Session& session_;
  BranchPlaces places_;
  BranchCounters counters_;
  std::vector<char> is_counted_;  // by counter
  Sample sample_;
  std::map<std::pair<uint32_t, uint64_t>, Block> blocks_;  // by symbol and end
  uint64_t total_ = 0;
};

/// Branches come newest first, each with the cycles since the one before it. `has_all_branches`:
/// otherwise code between two of them may have had others.
void BlockCounter::add(size_t index, EventId event, bool has_all_branches) {
  sample_ = Sample();
  if (!session_.decode(index, sample_)) return;
  size_t count = sample_.branch_count();
  if (count == 0 || sample_.branch(0).cycles() == 0) return;
  std::optional<Frame> start;
  for (size_t i = count; i-- > 0;) {
    abi::BranchEntry branch = sample_.branch(i);
    Frame end = places_.at(index, branch.from);
    add_block(start && has_all_branches ? &*start : nullptr, end,
              {i, branch.cycles(), counters_.of(event)});
    start = places_.at(index, branch.to);
    total_ += branch.cycles();
  }
}

void BlockCounter::add_block(const Frame* start, const Frame& end, const Pass& pass) {
  uint32_t cycles = pass.cycles;
  if (cycles == 0 || !end.symbol.valid()) return;
  Block& block = blocks_[{end.symbol.value, end.address}];
  block.dso = end.dso;
  block.symbol = end.symbol;
  block.end = end.address;
  block.cycles += cycles;
  ++block.passes;
  block.most = std::max<uint64_t>(block.most, cycles);
  block.least = block.least == 0 ? cycles : std::min<uint64_t>(block.least, cycles);
  add_counts(block, pass);
  bool is_in_function = start != nullptr && start->symbol == end.symbol;
  add_to_longest(block, is_in_function && start->address < end.address ? start : nullptr, cycles);
}

void BlockCounter::add_counts(Block& block, const Pass& pass) {
  if (pass.branch >= sample_.branch_counters.size()) return;
  uint64_t word = sample_.branch_counters[pass.branch];
  for (const BranchCounters::Counter& counter : pass.counters) {
    auto number = static_cast<size_t>(&counter - counters_.all().data());
    block.counted.resize(counters_.all().size());
    is_counted_.resize(counters_.all().size());
    is_counted_[number] = 1;
    uint64_t count = counters_.value(word, counter);
    BranchCounters::Sum& sum = block.counted[number];
    sum.count += count;
    ++sum.passes;
    sum.may_be_more |= count == counters_.most();
  }
}

void BlockCounter::add_to_longest(Block& block, const Frame* start, uint32_t cycles) {
  if (start == nullptr && block.has_start) return;
  if (start != nullptr && block.has_start && start->address > block.start) return;
  Block::Longest& longest = block.longest;
  if (start != nullptr && (!block.has_start || start->address < block.start)) {
    longest = {.replaced = longest.replaced + (longest.passes > 0 ? 1 : 0)};
    block.has_start = true;
    block.start = start->address;
  }
  if (longest.passes < Block::kKept) longest.first[longest.passes] = cycles;
  longest.cycles += cycles;
  ++longest.passes;
}

/// Leaves out counters of groups that had no samples.
void BlockCounter::keep_counted(Block& block) const {
  std::vector<BranchCounters::Sum> kept;
  block.counted.resize(is_counted_.size());
  for (size_t i = 0; i < is_counted_.size(); ++i)
    if (is_counted_[i] != 0) kept.push_back(block.counted[i]);
  block.counted = std::move(kept);
}

BlockSums BlockCounter::finish() && {
  BlockSums sums{.blocks = {}, .total_cycles = total_, .counters = {}};
  for (size_t i = 0; i < is_counted_.size(); ++i)
    if (is_counted_[i] != 0) sums.counters.push_back(counters_.all()[i]);
  for (auto& [place, block] : blocks_) {
    // Where no start is known, the block is all of the function up to its end.
    if (!block.has_start) block.start = session_.symbolizer().start_of(block.symbol);
    keep_counted(block);
    sums.blocks.push_back(std::move(block));
  }
  std::ranges::stable_sort(sums.blocks, std::greater(), &Block::cycles);
  return sums;
}

}  // namespace

BlockSums sum_blocks(const Session& session, const std::function<bool(EventId)>& wants) {
  BlockCounter counter(session);
  const SampleColumns& samples = session.samples();
  for (size_t i = 0; i < samples.size(); ++i) {
    EventId event(size_t{samples.event[i]});
    if (!wants(event)) continue;
    uint64_t types = session.events()[event].attr.branch_sample_type;
    counter.add(i, event, (types & abi::kBranchAny) != 0);
  }
  return std::move(counter).finish();
}

std::string block_lines(const Session& session, const Block& block) {
  std::string first = session.symbolizer().srcline(block.dso, block.start);
  std::string last = session.symbolizer().srcline(block.dso, block.end);
  constexpr std::string_view kNoLine = "??:0";
  // Without debug information, a line is the function's name and an offset.
  auto is_line = [&](const std::string& text) {
    return text != kNoLine && text.find(':') != std::string::npos;
  };
  return is_line(first) && is_line(last) ? fmt::format("{} -> {}", first, last) : std::string();
}

}  // namespace sonde
