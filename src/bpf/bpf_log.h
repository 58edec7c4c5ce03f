// libbpf's output, captured instead of printed: the cause of a failure goes into its message, the
// rest is for -v.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "base/error.h"

namespace sonde {

/// Captures libbpf's lines from construction to destruction. One at a time, on one thread.
class BpfLog {
 public:
  BpfLog();
  BpfLog(const BpfLog&) = delete;
  BpfLog& operator=(const BpfLog&) = delete;
  ~BpfLog();
  [[nodiscard]] const std::string& text() const;
  /// The line that names the cause; empty if there is none.
  [[nodiscard]] std::string cause() const;
};

/// The error for a libbpf call that has just set errno: "cannot load the BPF program that counts
/// system calls: Operation not permitted", and the cause. kPermission, or kUnsupported.
std::unexpected<Error> bpf_refused(const BpfLog& log, std::string_view action,
                                   std::string_view program);

}  // namespace sonde
