// TraceDirectory: where `ftrace` writes its settings: an instance of its own below tracefs, whose
// buffers and settings nobody else sees, or tracefs itself, which all of the machine's users share.
//
//   TraceDirectory where = TRY(TraceDirectory::open("/sys/kernel/tracing", "function"));
//   where.path("current_tracer")    /sys/kernel/tracing/instances/sonde_4711/current_tracer
//
// Kernels before 6.12 have function_graph for the whole machine only, and all have the filters of
// its -G and -g once. An instance goes with the object; those that processes have left behind which
// are no more go with the next one.
#pragma once

#include <string>
#include <string_view>

#include "base/end_guard.h"
#include "base/error.h"

namespace sonde {

class TraceDirectory {
 public:
  /// Errors: kNotFound without tracefs, kUnsupported for a tracer that the kernel does not have,
  /// kPermission where tracefs cannot be read.
  static Result<TraceDirectory> open(const std::string& tracefs, const std::string& tracer);
  TraceDirectory(TraceDirectory&& other) noexcept;
  TraceDirectory& operator=(TraceDirectory&&) = delete;
  ~TraceDirectory();

  /// A file of the instance; of tracefs where the instance lacks it, or there is none.
  [[nodiscard]] std::string path(std::string_view file) const;
  [[nodiscard]] bool is_shared() const { return instance_.empty(); }
  /// The instance; empty where there is none.
  [[nodiscard]] const std::string& instance() const { return instance_; }
  [[nodiscard]] const std::string& tracefs() const { return tracefs_; }

 private:
  explicit TraceDirectory(std::string tracefs) : tracefs_(std::move(tracefs)) {}
  void remove();
  std::string tracefs_, instance_;
  EndGuard guard_;  // removes the instance if we cannot
};

}  // namespace sonde
