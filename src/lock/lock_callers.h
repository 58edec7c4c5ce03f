// Who waits for a lock: the innermost function of a call chain that belongs neither to the lock nor
// to the scheduler. Each distinct chain is examined once.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tsl/robin_map.h>

#include "base/hashing/digest.h"
#include "lock/lock_functions.h"
#include "lock/lock_pipeline.h"

namespace sonde {

struct LockCaller {
  uint64_t key = 0;    // equal for chains with the same caller
  std::string name;    // "sock_write_iter+0x18c", "Unknown"
  bool passes = true;  // the filter
};

/// How to find a chain's caller.
struct LockCallerOptions {
  size_t skip = 3;  // innermost addresses that are the tracepoint's and the lock's
  std::vector<std::string>
      functions;  // only chains with one of these in a function's name; empty: all
};

/// Returns the kernel symbol of an address.
using KernelNamer = std::function<std::optional<KernelSymbol>(uint64_t)>;

[[nodiscard]] LockCaller find_lock_caller(std::span<const uint64_t> chain, size_t kernel_size,
                                          const LockCallerOptions& options,
                                          const LockFunctions& functions, const KernelNamer& namer);

class LockCallers {
 public:
  /// All must outlive this; `kernel` must know its symbols.
  LockCallers(const LockPipeline& pipeline, const LockFunctions& functions,
              const ScanMachine& kernel, LockCallerOptions options)
      : pipeline_(pipeline), functions_(functions), kernel_(kernel), options_(std::move(options)) {}

  const LockCaller& of(const LockEvent& event);

 private:
  const LockPipeline& pipeline_;
  const LockFunctions& functions_;
  const ScanMachine& kernel_;
  LockCallerOptions options_;
  tsl::robin_map<Digest, uint32_t, DigestHash> by_chain_;
  std::vector<LockCaller> callers_;
};

}  // namespace sonde
