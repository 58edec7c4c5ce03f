// FtraceSession: one of the kernel's tracers at work, and its text.
//
//   FtraceSession session = TRY(FtraceSession::open(tracefs, settings));
//   session.set_enabled(true);
//   … poll session.fd(); session.read() until it gives nothing …
//   session.set_enabled(false); … read the rest …
//
// When the object goes, tracefs is as it was (trace_changes.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "ftrace/trace_changes.h"
#include "ftrace/trace_directory.h"

namespace sonde {

class FtraceSession {
 public:
  /// Tracing is off.
  static Result<FtraceSession> open(const std::string& tracefs, const TraceSettings& settings);

  Result<> set_enabled(bool enabled);
  /// The headings of the tracer's columns.
  [[nodiscard]] std::string heading() const;
  /// Readable when there is text.
  [[nodiscard]] int fd() const { return pipe_.get(); }
  /// The next text, whole lines mostly; empty: there is none now. Valid until the next call.
  [[nodiscard]] std::string_view read();

  [[nodiscard]] const TraceDirectory& directory() const { return directory_; }
  [[nodiscard]] const std::vector<TraceChanges::Change>& changes() const {
    return changes_.changes();
  }
  /// Whose tracing is interrupted, where the buffers are shared: the tracer that was set.
  [[nodiscard]] std::string interrupted() const;

 private:
  FtraceSession(TraceDirectory directory, TraceChanges changes)
      : directory_(std::move(directory)), changes_(std::move(changes)), buffer_(kBufferSize, 0) {}
  static constexpr size_t kBufferSize = 1 << 16;

  // Closed in the opposite order: an instance that is read cannot be removed.
  TraceDirectory directory_;
  TraceChanges changes_;
  Fd pipe_;
  std::string buffer_;
};

}  // namespace sonde
