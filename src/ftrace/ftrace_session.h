// FtraceSession: a running kernel tracer, and its text output.
//
//   FtraceSession session = TRY(FtraceSession::open(tracefs, settings));
//   session.set_enabled(true);
//   … poll session.fd(); session.read() until it returns nothing …
//   session.set_enabled(false); … read the rest …
//
// Destruction restores the previous state of tracefs (trace_changes.h).
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
  /// Tracing is initially off.
  static Result<FtraceSession> open(const std::string& tracefs, const TraceSettings& settings);

  Result<> set_enabled(bool enabled);
  /// The column headings of the tracer.
  [[nodiscard]] std::string heading() const;
  /// Readable when there is text.
  [[nodiscard]] int fd() const { return pipe_.get(); }
  /// The next text, mostly whole lines; empty if there is none now. Valid until the next call.
  [[nodiscard]] std::string_view read();

  [[nodiscard]] const TraceDirectory& directory() const { return directory_; }
  [[nodiscard]] const std::vector<TraceChanges::Change>& changes() const {
    return changes_.changes();
  }
  /// If the buffers are shared: the tracer that was set before, whose tracing is interrupted.
  [[nodiscard]] std::string interrupted() const;

 private:
  FtraceSession(TraceDirectory directory, TraceChanges changes)
      : directory_(std::move(directory)), changes_(std::move(changes)), buffer_(kBufferSize, 0) {}
  static constexpr size_t kBufferSize = 1 << 16;

  // Closed in reverse order: an instance that is being read cannot be removed.
  TraceDirectory directory_;
  TraceChanges changes_;
  Fd pipe_;
  std::string buffer_;
};

}  // namespace sonde
