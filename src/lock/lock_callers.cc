#include "lock/lock_callers.h"

#include <algorithm>

#include "lock/lock_row.h"

namespace sonde {

LockCaller find_lock_caller(std::span<const uint64_t> chain, size_t kernel_size,
                            const LockCallerOptions& options, const LockFunctions& functions,
                            const KernelNamer& namer) {
  LockCaller caller;
  caller.passes = options.functions.empty();
  for (size_t i = 0; i < chain.size(); ++i) {
    uint64_t address = chain[i];
    auto symbol = i < kernel_size ? namer(address) : std::nullopt;
    if (symbol && !caller.passes)
      caller.passes = std::ranges::any_of(options.functions, [&](const std::string& part) {
        return symbol->name.find(part) != std::string_view::npos;
      });
    if (i < options.skip || (symbol && functions.contains(address))) continue;
    caller.key = add_to_caller_key(caller.key, address);
    if (symbol && caller.name.empty()) caller.name = symbol->label();
  }
  if (caller.name.empty()) caller.name = "Unknown";
  return caller;
}

const LockCaller& LockCallers::of(const LockEvent& event) {
  auto [found, is_new] = by_chain_.try_emplace(event.chain, static_cast<uint32_t>(callers_.size()));
  if (is_new) {
    SampleOffsets::Chain chain;
    pipeline_.read_chain(event, chain);
    callers_.push_back(
        find_lock_caller(chain.all(), chain.kernel_size, options_, functions_,
                         [this](uint64_t address) { return kernel_.kernel_symbol(address); }));
  }
  return callers_[found->second];
}

}  // namespace sonde
