// What libbpf has to say, kept instead of printed: the cause of a failure for its message, the rest
// for -v.
#pragma once

#include <string>

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

}  // namespace sonde
