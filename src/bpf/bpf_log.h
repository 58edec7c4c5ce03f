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

/// "the BPF program that counts system calls", and what does the job where the kernel cannot run
/// it: "record without --aggregate".
struct BpfSubject {
  constexpr BpfSubject(std::string_view program_name, std::string_view other_way = {})
      : program(program_name), instead(other_way) {}
  std::string_view program, instead;
};

/// Of a call of bpf(2) that was refused for lack of permission: what is missing, or who forbids it.
[[nodiscard]] std::string why_bpf_is_not_permitted();

/// The error for a libbpf call that has just set errno: "cannot load the BPF program that counts
/// system calls: Operation not permitted", and the cause. kPermission, with what privilege is
/// missing; or kUnsupported, with what to do instead.
std::unexpected<Error> bpf_refused(const BpfLog& log, std::string_view action,
                                   const BpfSubject& subject);

}  // namespace sonde
