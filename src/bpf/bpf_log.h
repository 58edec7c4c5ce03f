// What libbpf has to say, kept instead of printed: the cause of a failure for its message, the rest
// for -v.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "base/error.h"

namespace sonde {

/// From construction to destruction libbpf's lines go here. One at a time, on one thread.
class BpfLog {
 public:
  BpfLog();
  BpfLog(const BpfLog&) = delete;
  BpfLog& operator=(const BpfLog&) = delete;
  ~BpfLog();
  [[nodiscard]] const std::string& text() const;
  /// The line that names the cause; empty where there is none.
  [[nodiscard]] std::string cause() const;
};

/// The error of a call of libbpf that has just set errno: "cannot load the BPF program that counts
/// system calls: Operation not permitted", and the cause. kPermission, or kUnsupported.
std::unexpected<Error> bpf_refused(const BpfLog& log, std::string_view action,
                                   std::string_view program);

}  // namespace sonde
