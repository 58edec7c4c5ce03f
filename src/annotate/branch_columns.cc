#include "annotate/branch_columns.h"

#include <algorithm>

#include "replay/branches/branch_events.h"

namespace sonde::annotate {
namespace {

/// A block that longer ones replaced so often has no figure worth showing (as in perf).
constexpr uint32_t kTooManyOverlaps = 0x7fff;

double percent_of(uint64_t part, uint64_t all) {
  return all == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(all);
}

/// The instructions of a listing, by address in the object.
class Instructions {
 public:
  Instructions(view::Listing& out, uint64_t start) : out_(out) {
    for (size_t i = 0; i < out.lines.size(); ++i) {
      const view::ListingLine& line = out.lines[i];
      if (line.kind == view::ListingKind::kInstruction)
        lines_.push_back({start + (line.address - out.start), i});
    }
  }

  [[nodiscard]] size_t count() const { return lines_.size(); }
  [[nodiscard]] uint64_t address(size_t i) const { return lines_[i].address; }
  [[nodiscard]] view::ListingBranches& branches(size_t i) const {
    return out_.lines[lines_[i].line].branches;
  }
  /// The first one at `address` or after it.
  [[nodiscard]] size_t from(uint64_t address) const {
    return static_cast<size_t>(std::ranges::lower_bound(lines_, address, {}, &Line::address) -
                               lines_.begin());
  }

 private:
  struct Line {
    uint64_t address;
    size_t line;
  };
  view::Listing& out_;
  std::vector<Line> lines_;
};

/// Runs that join at an instruction are a share of those that get from it to the next branch.
void add_coverage(const Instructions& code, std::span<const CodePiece> pieces) {
  size_t piece = 0;
  for (size_t i = 0; i < code.count(); ++i) {
    uint64_t address = code.address(i);
    while (piece < pieces.size() && pieces[piece].last < address) ++piece;
    if (piece == pieces.size()) return;
    const CodePiece& here = pieces[piece];
    view::ListingBranches& out = code.branches(i);
    if (here.first == address && here.begins > 0) {
      size_t branch = piece;
      while (branch + 1 < pieces.size() && pieces[branch].ends == 0) ++branch;
      out.joined = percent_of(here.begins, pieces[branch].runs);
    }
    if (here.last == address && here.ends > 0) {
      out.left = percent_of(here.ends, here.runs);
      out.predicted = percent_of(here.predicted, here.ends);
    }
  }
}

/// Sums of a function's blocks.
struct Sums {
  uint64_t cycles = 0;
  uint64_t run = 0;      // instructions, each time that it ran
  uint64_t covered = 0;  // instructions that have a figure
};

void add_ipc(const Instructions& code, const Block& block, Sums& sums) {
  size_t begin = code.from(block.start), end = code.from(block.end + 1);
  const Block::Longest& passes = block.longest;
  if (!block.has_start || begin >= end || passes.cycles == 0 || passes.replaced >= kTooManyOverlaps)
    return;
  uint64_t run = (end - begin) * passes.passes;
  double ipc = static_cast<double>(run) / static_cast<double>(passes.cycles);
  uint64_t covered = 0;
  for (size_t i = begin; i < end; ++i) {
    view::ListingBranches& out = code.branches(i);
    if (out.ipc > 0) continue;
    out.ipc = ipc;
    ++covered;
  }
  if (covered == 0) return;
  sums.cycles += passes.cycles;
  sums.run += run;
  sums.covered += covered;
}

}  // namespace

bool BranchColumns::has_any(const Session& session) {
  const SampleColumns& samples = session.samples();
  return samples.count.empty() && samples.size() > 0 && samples.record.size() == samples.size() &&
         has_branch_stacks(session.events());
}

BranchColumns::BranchColumns(const Session& session)
    : coverage_(session), counters_(session.recording()) {
  auto has_stack = [&](EventId event) { return has_branch_stack(session.events()[event]); };
  BlockSums sums = sum_blocks(session, has_stack);
  counted_ = std::move(sums.counters);
  for (Block& block : sums.blocks) blocks_[block.symbol.value].push_back(std::move(block));
  for (auto& [symbol, blocks] : blocks_) std::ranges::sort(blocks, std::greater(), &Block::end);
}

void BranchColumns::add(SymbolId symbol, const SymbolInfo& function, view::Listing& out) const {
  Instructions code(out, function.start);
  add_coverage(code, coverage_.of(function.dso));
  auto found = blocks_.find(symbol.value);
  if (found == blocks_.end()) return;
  Sums sums;
  for (const Block& block : found->second) {
    add_ipc(code, block, sums);
    size_t at = code.from(block.end);
    if (at == code.count() || code.address(at) != block.end) continue;
    view::ListingBranches& line = code.branches(at);
    line.cycles = block.average();
    line.least_cycles = block.least;
    line.most_cycles = block.most;
    if (counted_.empty()) continue;
    line.counters = counters_.text(counted_, block.counted, false);
    out.counter_width = std::max(out.counter_width, line.counters.size());
  }
  out.has_cycles = true;
  if (!counted_.empty()) out.counter_legend = counters_.legend();
  if (sums.cycles > 0)
    out.average_ipc = static_cast<double>(sums.run) / static_cast<double>(sums.cycles);
  out.ipc_coverage = percent_of(sums.covered, code.count());
}

}  // namespace sonde::annotate
