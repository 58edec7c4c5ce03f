// Requests to a daemon: what a client writes to its control socket. perf's daemon and Sonde's
// understand each other.
//
// A request is 72 bytes in the machine's byte order (observed with strace on perf 6.1):
//
//   list    u32 0 · i32 verbose · char separator, 0 for text for people
//   signal  u32 1 · i32 signal · char[64] session
//   stop    u32 2
//   ping    u32 3 · char[64] session
//
// The session "all" is every session. The answer is text, up to the end of the connection.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/error.h"

namespace sonde {

struct DaemonRequest {
  enum class Kind : uint32_t { kList = 0, kSignal = 1, kStop = 2, kPing = 3 };

  static constexpr size_t kSize = 72;
  /// With the terminating NUL.
  static constexpr size_t kMaxNameSize = 64;
  static constexpr std::string_view kAllSessions = "all";

  Kind kind = Kind::kList;
  bool verbose = false;               // list
  char separator = 0;                 // list
  int signal = 0;                     // signal
  std::string session{kAllSessions};  // signal, ping

  /// Whether it is for this session.
  [[nodiscard]] bool concerns(std::string_view name) const {
    return session == kAllSessions || session == name;
  }
  /// `session` must be shorter than kMaxNameSize.
  [[nodiscard]] std::array<std::byte, kSize> encode() const;
  /// Fails (kCorrupt) for an unknown kind, a wrong size and a name without an end.
  static Result<DaemonRequest> decode(Bytes bytes);
};

}  // namespace sonde
