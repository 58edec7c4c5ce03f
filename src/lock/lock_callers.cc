#include "lock/lock_callers.h"

#include <algorithm>

#include "lock/lock_row.h"

namespace sonde {

LockCaller find_lock_caller(const SamplePlaces::Chain& chain, const LockCallerOptions& options,
                            const LockFunctions& functions, const WalkMachine& kernel) {
  LockCaller caller;
  caller.passes = options.functions.empty();
  for (size_t i = 0; i < chain.size; ++i) {
    uint64_t address = chain.addresses[i];
    auto symbol = i < chain.kernel_size ? kernel.kernel_symbol(address) : std::nullopt;
    if (symbol && !caller.passes)
      caller.passes = std::ranges::any_of(options.functions, [&](const std::string& part) {
        return symbol->name.find(part) != std::string_view::npos;
      });
    if (i < options.skip || (symbol && functions.contains(address))) continue;
    caller.key = add_to_caller_key(caller.key, address);
    if (symbol && caller.name.empty()) caller.name = kernel.kernel_label(address);
  }
  if (caller.name.empty()) caller.name = "Unknown";
  return caller;
}

const LockCaller& LockCallers::of(const LockEvent& event) {
  auto [found, is_new] = by_chain_.try_emplace(event.chain, static_cast<uint32_t>(callers_.size()));
  if (is_new) {
    SamplePlaces::Chain chain;
    feed_.read_chain(event, chain);
    callers_.push_back(find_lock_caller(chain, options_, functions_, kernel_));
  }
  return callers_[found->second];
}

}  // namespace sonde
