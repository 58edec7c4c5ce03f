#include "sched/task_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "machine/machine.h"
#include "perfdata/records/sideband.h"

namespace sonde {

TaskTable::TaskTable() {
  set_name(find_or_add(0, 0), "swapper");
}

TaskId TaskTable::find(uint32_t tid) const {
  if (tid < kSmallTids) {
    uint32_t found = tid < by_small_tid_.size() ? by_small_tid_[tid] : Task::kUnknown;
    return found == Task::kUnknown ? TaskId() : TaskId(size_t{found});
  }
  auto found = by_large_tid_.find(tid);
  return found == by_large_tid_.end() ? TaskId() : TaskId(size_t{found->second});
}

void TaskTable::assign(uint32_t tid, TaskId task) {
  if (tid >= kSmallTids) {
    by_large_tid_[tid] = task.value;
    return;
  }
  if (tid >= by_small_tid_.size()) {
    size_t room = std::min<size_t>(kSmallTids, std::max<size_t>(tid + 1, 2 * by_small_tid_.size()));
    by_small_tid_.resize(room, Task::kUnknown);
  }
  by_small_tid_[tid] = task.value;
}

TaskId TaskTable::find_or_add_slowly(uint32_t pid, uint32_t tid) {
  if (TaskId found = find(tid); found.valid()) {
    Task& task = edit(found);
    if (task.pid == Task::kUnknown) set_process(task, pid);
    return found;
  }
  TaskId added(tasks_.size());
  tasks_.push_back({.tid = tid, .pid = pid, .name = fmt::format(":{}", static_cast<int32_t>(tid))});
  assign(tid, added);
  return added;
}

void TaskTable::set_name(TaskId task, std::string_view name) {
  edit(task).name = name;
  edit(task).is_named = true;
  ++edit(task).version;
}

/// Ends the current use of a tid.
void TaskTable::take_tid(uint32_t tid) {
  TaskId known = find(tid);
  if (!known.valid()) return;
  former_.push_back(known);
  assign(tid, TaskId());
}

void TaskTable::fork(uint32_t pid, uint32_t tid, uint32_t parent_pid, uint32_t parent_tid) {
  TaskId parent = find_or_add(parent_pid, parent_tid);
  if (tasks_[parent.index()].pid != parent_pid) {
    // The previous parent had another process: its exit was lost.
    take_tid(parent_tid);
    parent = find_or_add(parent_pid, parent_tid);
  }
  take_tid(tid);
  TaskId child = find_or_add(pid, tid);
  Task& task = edit(child);
  const Task& forked_by = tasks_[parent.index()];
  task.parent_tid = forked_by.tid;
  if (forked_by.is_named) set_name(child, std::string(forked_by.name));
}

void TaskTable::apply(const RecordView& record, const SampleLayout& layout) {
  if (is_guest_mode(record.cpu_mode())) return;  // of another machine's task
  if (record.type == abi::kRecordComm) {
    auto comm = decode_as<CommRecord>(record, layout);
    if (!comm) return;
    // The scheduler's events have the host's numbers: there, task 0 is the idle one, in records a
    // task outside of the recorder's PID namespace as well.
    if (comm->tid != 0) set_name(find_or_add(comm->pid, comm->tid), comm->comm);
    // perf attributes it to the task that made the record.
    SampleId who = decode_trailing_id(record, layout);
    if (TaskId by = find(who.tid); by.valid()) edit(by).name_changed = true;
    return;
  }
  if (record.type != abi::kRecordFork && record.type != abi::kRecordExit) return;
  auto task = decode_as<TaskRecord>(record, layout);
  if (!task || task->tid == 0) return;
  if (record.type == abi::kRecordFork)
    fork(task->pid, task->tid, task->ppid, task->ptid);
  else if (TaskId ended = find(task->tid); ended.valid())
    edit(ended).has_ended = true;
}

std::vector<TaskId> TaskTable::in_perf_order() const {
  constexpr uint32_t kGroups = 256;
  std::vector<TaskId> order;
  for (size_t i = 0; i < tasks_.size(); ++i)
    if (find(tasks_[i].tid) == TaskId(i)) order.push_back(TaskId(i));
  // As a signed number: -1 is who an ended thread was, as far as the kernel can say.
  std::ranges::sort(order, {},
                    [this](TaskId id) { return static_cast<int32_t>(tasks_[id.index()].tid); });
  order.insert(order.end(), former_.begin(), former_.end());
  auto group = [this](TaskId id) { return tasks_[id.index()].tid % kGroups; };
  std::ranges::stable_sort(order, {}, group);
  return order;
}

}  // namespace sonde
