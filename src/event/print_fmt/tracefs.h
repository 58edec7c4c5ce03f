// Tracefs: where the kernel describes its tracepoints, /sys/kernel/tracing on most machines.
//
// Finds the mount, lists systems and events in the kernel's own order (tracepoint globs expand in
// that order, as perf's do), and reads the files of one tracepoint. Directories are read once and
// cached. What cannot be read is reported in the wording that perf's users know: which file, why,
// and the command that helps.
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace sonde {

struct TracepointName {
  std::string system;
  std::string name;
  bool operator==(const TracepointName&) const = default;
};

class Tracefs {
 public:
  /// The machine's mount: `debugfs` (--debugfs-dir or $PERF_DEBUGFS_DIR; may be empty) is searched
  /// first, then the usual places, then /proc/mounts. Searched for on first use.
  explicit Tracefs(std::string debugfs = "") : debugfs_(std::move(debugfs)) {}
  /// A directory laid out like tracefs, for tests.
  static Tracefs at(std::string directory);

  /// The directory with events/ in it; empty if tracefs is not mounted.
  [[nodiscard]] const std::string& path();

  /// Names of the systems, or of the events of one system, in the kernel's order. Errors here and
  /// below: the text of `explain`; kPermission, or kBadEvent if it does not exist.
  [[nodiscard]] Result<std::vector<std::string>> systems();
  [[nodiscard]] Result<std::vector<std::string>> events(const std::string& system);
  /// All tracepoints that match; either part may be a glob. If the system is a glob, systems that
  /// cannot be read are left out. Empty: nothing matches.
  [[nodiscard]] Result<std::vector<TracepointName>> match(const std::string& system,
                                                          const std::string& event);

  /// Whether the running kernel has the tracepoint, and we may see it.
  [[nodiscard]] bool has(std::string_view system, std::string_view event);

  /// perf_event_attr.config of the tracepoint.
  [[nodiscard]] Result<uint64_t> id(const TracepointName& tracepoint);
  /// The text of its `format` file.
  [[nodiscard]] Result<std::string> format(const TracepointName& tracepoint);
  /// Any other file below the mount ("events/header_page", "printk_formats", "saved_cmdlines").
  [[nodiscard]] Result<std::string> file(std::string_view relative);

  /// What to tell a user whose tracepoint could not be read because of `error_number`: perf's
  /// "Error:\t…\nHint:\t…" lines, without a trailing newline.
  [[nodiscard]] std::string explain(int error_number, std::string_view system,
                                    std::string_view event);

 private:
  std::unexpected<Error> unreadable(int error_number, std::string_view system,
                                    std::string_view event);
  Result<std::string> event_file(const TracepointName& tracepoint, std::string_view file);

  std::string debugfs_;
  std::optional<std::string> path_;
  std::optional<std::vector<std::string>> systems_;
  std::map<std::string, std::vector<std::string>, std::less<>> events_;
};

}  // namespace sonde
