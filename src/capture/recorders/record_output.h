// RecordOutput: the file, directory or pipe that a recording goes to: its name, what happens to an
// existing one, and --switch-output's change from one file to the next.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/sys.h"
#include "capture/recorders/record_options.h"
#include "perfdata/write/writer.h"

namespace sonde {

class RecordOutput {
 public:
  struct Settings {
    const OutputOptions& output;
    const SwitchOutputOptions& switching;
    int stdout_fd = 1;
    uint32_t mmap_length = 0;
    uint32_t directory_streams = 0;
    Sys* sys = nullptr;
  };
  /// Whether `output` means stdout: "-", or no name and stdout is a pipe.
  static bool is_pipe(const OutputOptions& output, int stdout_fd);

  /// Whether a recording can be written there: for the time before anything is started, so that a
  /// refusal costs nobody a run.
  static Result<> check(const OutputOptions& output, int stdout_fd);

  /// What is there becomes FILE.old; see perfdata/write/recording_place.h.
  static Result<RecordOutput> create(const Settings& settings);

  [[nodiscard]] PerfDataWriter& writer() { return *writer_; }
  [[nodiscard]] bool is_pipe() const { return writer_->is_pipe(); }
  /// The name to show in the last line: "perf.data", "-", "perf.data.<timestamp>".
  [[nodiscard]] std::string shown_name() const;

  /// --switch-output, --timestamp-filename: renames the finished file with its time as a suffix and
  /// returns the new name. `next` begins the following file. Files beyond --switch-max-files are
  /// removed.
  Result<std::string> rename_finished();
  Result<> next();

 private:
  static std::string path_of(const OutputOptions& output, int stdout_fd);
  explicit RecordOutput(const Settings& settings) : settings_(settings) {}
  Result<> open();

  Settings settings_;
  std::string path_;
  std::optional<PerfDataWriter> writer_;
  std::vector<std::string> finished_;
};

/// "2026112108132259": local time down to hundredths of a second.
std::string file_timestamp(int64_t now_ns);

}  // namespace sonde
