#include "report/function_ipc.h"

#include "replay/branches/branch_events.h"

namespace sonde::report {

FunctionIpcs::FunctionIpcs(const Session& session)
    : session_(session), code_(session, {.source = false, .source_paths = {}}) {}

std::optional<FunctionIpc> FunctionIpcs::of(SymbolId symbol) {
  std::scoped_lock lock(mutex_);
  auto [known, added] = known_.try_emplace(symbol.value);
  if (added && has_blocks(symbol)) known->second = find(symbol);
  return known->second;
}

/// Others need not be disassembled.
bool FunctionIpcs::has_blocks(SymbolId symbol) {
  if (!with_blocks_) {
    with_blocks_.emplace();
    auto has_stack = [&](EventId event) { return has_branch_stack(session_.events()[event]); };
    if (annotate::BranchColumns::has_any(session_))
      for (const Block& block : sum_blocks(session_, has_stack).blocks)
        if (block.has_start) with_blocks_->insert(block.symbol.value);
  }
  return with_blocks_->contains(symbol.value);
}

std::optional<FunctionIpc> FunctionIpcs::find(SymbolId symbol) {
  // The listing's samples do not matter.
  std::vector<view::ListingHits> none(session_.events().size());
  annotate::FunctionHits function{symbol, session_.symbolizer().info(symbol), {}, none};
  const EventId events[] = {EventId(size_t{0})};
  auto listing = code_.make(function, {{}, none}, events);
  if (!listing || listing->average_ipc <= 0) return std::nullopt;
  return FunctionIpc{listing->average_ipc, listing->ipc_coverage};
}

}  // namespace sonde::report
