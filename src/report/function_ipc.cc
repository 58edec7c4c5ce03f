#include "report/function_ipc.h"

namespace sonde::report {

FunctionIpcs::FunctionIpcs(const Session& session)
    : session_(session), code_(session, {.source = false, .source_paths = {}}) {}

std::optional<FunctionIpc> FunctionIpcs::of(SymbolId symbol) {
  std::scoped_lock lock(mutex_);
  auto [known, added] = known_.try_emplace(symbol.value);
  if (added && annotate::BranchColumns::has_any(session_)) known->second = find(symbol);
  return known->second;
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
