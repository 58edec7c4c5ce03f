// TraceChanges: changes settings in tracefs and restores them on destruction, even if the process
// is killed.
//
// The content of each file is read before anything is written, and a guard process knows it
// (base/end_guard.h): if this process is killed, the guard restores it. Files that already have the
// requested content are not touched. Settings are restored in reverse order, so that the tracer
// stops first and the recording switch comes last.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/process/end_guard.h"
#include "ftrace/trace_directory.h"
#include "ftrace/trace_settings.h"

namespace sonde {

class TraceChanges {
 public:
  /// Errors name the file or the function, the kernel's reason and the remedy; in that case nothing
  /// is changed.
  static Result<TraceChanges> make(const TraceDirectory& where,
                                   const std::vector<TraceWrite>& writes);
  TraceChanges(TraceChanges&& other) noexcept = default;
  TraceChanges& operator=(TraceChanges&&) = delete;
  ~TraceChanges();

  /// The files changed, in order, and their previous content.
  struct Change {
    std::string path;
    std::vector<std::string> before;
  };
  [[nodiscard]] const std::vector<Change>& changes() const { return changes_; }

 private:
  TraceChanges() = default;
  std::vector<Change> changes_;
  EndGuard guard_;
};

/// Empties the file and writes the words, one at a time. Returns 0 or an errno; `bad_word` gets the
/// rejected word.
int write_trace_file(const std::string& path, const std::vector<std::string>& words,
                     std::string* bad_word = nullptr);

}  // namespace sonde
