// The tasks of a recording at one moment: who has a tid, what it is called and who forked it. It
// follows COMM and FORK records in time order, so that a line about a moment shows the names of
// that moment; `machine`, by contrast, answers for any moment, by searching.
//
// Tids are reused. A FORK record gives a tid to a new task; the previous one stays unchanged, among
// the `former_` ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tsl/robin_map.h>

#include "base/ids.h"
#include "perfdata/records/record.h"
#include "perfdata/records/sample.h"

namespace sonde {

using TaskId = Id<struct TaskTag>;

struct Task {
  static constexpr uint32_t kUnknown = UINT32_MAX;
  uint32_t tid = 0;
  uint32_t pid = kUnknown;  // process
  uint32_t parent_tid = kUnknown;
  std::string name;      // ":tid" until a record names it
  uint32_t version = 1;  // incremented when name or process change
  bool is_named = false;
  bool has_ended = false;
  bool name_changed = false;  // by a COMM record; whoever shows names may clear it
};

class TaskTable {
 public:
  /// Starts with tid 0, "swapper".
  TaskTable();

  /// The task that has `tid` now; added if there is none. Sets its process if that was unknown;
  /// `pid` may be Task::kUnknown.
  TaskId find_or_add(uint32_t pid, uint32_t tid) {
    if (tid < by_small_tid_.size()) [[likely]]
      if (uint32_t found = by_small_tid_[tid]; found != Task::kUnknown) [[likely]] {
        if (pid != Task::kUnknown && tasks_[found].pid == Task::kUnknown)
          set_process(tasks_[found], pid);
        return TaskId(size_t{found});
      }
    return find_or_add_slowly(pid, tid);
  }

  /// Applies a COMM, FORK or EXIT record; ignores others, and damaged ones.
  void apply(const RecordView& record, const SampleLayout& layout);

  [[nodiscard]] size_t size() const { return tasks_.size(); }
  [[nodiscard]] const Task& operator[](TaskId id) const { return tasks_[id.index()]; }
  Task& edit(TaskId id) { return tasks_[id.index()]; }

  /// All tasks in the order in which perf lists them: by tid modulo 256; within each group, first
  /// those that have a tid now, by tid, then the former ones by the time at which they lost it.
  [[nodiscard]] std::vector<TaskId> in_perf_order() const;

 private:
  static constexpr uint32_t kSmallTids = 1 << 22;  // PID_MAX_LIMIT of include/linux/threads.h

  TaskId find_or_add_slowly(uint32_t pid, uint32_t tid);
  [[nodiscard]] TaskId find(uint32_t tid) const;
  void assign(uint32_t tid, TaskId task);
  static void set_process(Task& task, uint32_t pid) {
    task.pid = pid;
    ++task.version;
  }
  void set_name(TaskId task, std::string_view name);
  void fork(uint32_t pid, uint32_t tid, uint32_t parent_pid, uint32_t parent_tid);
  void take_tid(uint32_t tid);

  std::vector<Task> tasks_;
  std::vector<uint32_t> by_small_tid_;
  tsl::robin_map<uint32_t, uint32_t> by_large_tid_;
  std::vector<TaskId> former_;
};

}  // namespace sonde
