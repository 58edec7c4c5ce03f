// What a trace knows about descriptors and names apart from calls: names that appeared in the trace
// and, for a running machine, the answers of another source (/proc).
#pragma once

#include <string>

#include "trace/arguments/fd_names.h"
#include "trace/sources/traced_tasks.h"

namespace sonde {

class TaskFds final : public FdSource {
 public:
  /// `running` is null for recordings. Both outlive this.
  TaskFds(const TracedTasks& tasks, FdSource* running) : tasks_(tasks), running_(running) {}

  std::string fd(int32_t pid, int32_t fd) override {
    return running_ != nullptr ? running_->fd(pid, fd) : "";
  }
  std::string working_directory(int32_t pid) override {
    return running_ != nullptr ? running_->working_directory(pid) : "";
  }
  std::string comm(int32_t tid) override {
    std::string_view told = tasks_.name_of(tid);
    if (!told.empty()) return std::string(told);
    return running_ != nullptr ? running_->comm(tid) : "";
  }
  uint64_t now_ns() override { return running_ != nullptr ? running_->now_ns() : 0; }

 private:
  const TracedTasks& tasks_;
  FdSource* running_;
};

}  // namespace sonde
