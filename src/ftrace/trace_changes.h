// TraceChanges: settings in tracefs that are made, and put back when the object goes, whatever
// becomes of the process.
//
// What stood in a file is read before anything is written, and a guard process knows it
// (base/end_guard.h): should this one be killed, the guard puts it back. Files that already say
// what is asked for are not touched. Settings go back in the opposite order, so that the tracer
// stops first and recording is as it was last.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/end_guard.h"
#include "base/error.h"
#include "ftrace/trace_directory.h"
#include "ftrace/trace_settings.h"

namespace sonde {

class TraceChanges {
 public:
  /// Errors name the file or the function, the kernel's reason and what helps; nothing is changed
  /// then.
  static Result<TraceChanges> make(const TraceDirectory& where,
                                   const std::vector<TraceWrite>& writes);
  TraceChanges(TraceChanges&& other) noexcept = default;
  TraceChanges& operator=(TraceChanges&&) = delete;
  ~TraceChanges();

  /// Files that were changed, in order, and what they said before.
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

/// Empties the file and writes the words, one a time. 0 or an errno; `bad_word` gets the word that
/// was refused.
int write_trace_file(const std::string& path, const std::vector<std::string>& words,
                     std::string* bad_word = nullptr);

}  // namespace sonde
