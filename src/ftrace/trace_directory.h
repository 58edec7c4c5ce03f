// TraceDirectory: where `ftrace` writes its settings: its own instance below tracefs, whose buffers
// and settings nobody else sees, or tracefs itself, which all users of the machine share.
//
//   TraceDirectory where = TRY(TraceDirectory::open("/sys/kernel/tracing", "function"));
//   where.path("current_tracer")    /sys/kernel/tracing/instances/sonde_4711/current_tracer
//
// Before Linux 6.12 function_graph only works for the whole machine, and on all kernels the filters
// of its -G and -g exist only once. The instance is removed with the object; instances left behind
// by dead processes are removed by the next one.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/process/end_guard.h"

namespace sonde {

class TraceDirectory {
 public:
  /// Errors: kNotFound without tracefs, kUnsupported for a tracer that the kernel does not have,
  /// kPermission if tracefs cannot be read.
  static Result<TraceDirectory> open(const std::string& tracefs, const std::string& tracer);
  TraceDirectory(TraceDirectory&& other) noexcept;
  TraceDirectory& operator=(TraceDirectory&&) = delete;
  ~TraceDirectory();

  /// A file of the instance; of tracefs if the instance lacks it, or there is none.
  [[nodiscard]] std::string path(std::string_view file) const;
  [[nodiscard]] bool is_shared() const { return instance_.empty(); }
  /// The instance; empty if there is none.
  [[nodiscard]] const std::string& instance() const { return instance_; }
  [[nodiscard]] const std::string& tracefs() const { return tracefs_; }

 private:
  explicit TraceDirectory(std::string tracefs) : tracefs_(std::move(tracefs)) {}
  void remove();
  std::string tracefs_, instance_;
  EndGuard guard_;  // removes the instance if we cannot
};

}  // namespace sonde
