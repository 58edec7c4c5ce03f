// Options that all benchmarks of futexes have.
#pragma once

#include <linux/futex.h>

#include "base/error.h"
#include "cli/flags.h"

namespace sonde {

struct FutexLoadOptions {
  unsigned threads = 0;  // 0: as many as CPUs
  bool lock_memory = false;
  bool silent = false;
  bool shared = false;

  void declare(FlagTable& flags);
  /// Fills in the number of threads (that of the CPUs that this process may use), and locks memory
  /// if wanted. Errors: kPermission.
  Result<> prepare();
  [[nodiscard]] int flags() const { return shared ? 0 : FUTEX_PRIVATE_FLAG; }
  [[nodiscard]] const char* sharing() const { return shared ? "shared" : "private"; }
};

/// "use -t": what to do about an errno of a futex call.
std::unexpected<Error> futex_failed(const char* operation, int error);

}  // namespace sonde
