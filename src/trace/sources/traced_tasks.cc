#include "trace/sources/traced_tasks.h"

#include <fmt/format.h>

#include <algorithm>

namespace sonde {

TracedTask& TracedTasks::add(int32_t pid, int32_t tid) {
  size_t index = tasks_.size();
  if (free_.empty()) {
    tasks_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
    tasks_[index] = TracedTask{};
  }
  by_tid_[tid] = index;
  tasks_[index].pid = pid;
  tasks_[index].tid = tid;
  return tasks_[index];
}

TracedTask& TracedTasks::of(int32_t pid, int32_t tid) {
  auto found = by_tid_.find(tid);
  if (found != by_tid_.end()) return tasks_[found->second];
  TracedTask& task = add(pid, tid);
  if (name_of_) task.comm = name_of_(tid);
  task.has_comm = !task.comm.empty();
  if (!task.has_comm) task.comm = fmt::format(":{}", tid);
  return task;
}

void TracedTasks::rename(int32_t pid, int32_t tid, std::string_view comm) {
  auto found = by_tid_.find(tid);
  TracedTask& task = found != by_tid_.end() ? tasks_[found->second] : add(pid, tid);
  task.comm = comm;
  task.has_comm = true;
}

void TracedTasks::fork(int32_t pid, int32_t tid, int32_t parent_tid) {
  std::string_view parent = name_of(parent_tid);
  std::string comm(parent);
  auto found = by_tid_.find(tid);
  bool again = found != by_tid_.end() && tasks_[found->second].has_exited;
  if (found != by_tid_.end() && !again) return;  // it was seen before its fork was reported
  TracedTask& task = add(pid, tid);
  task.has_comm = !comm.empty();
  task.comm = task.has_comm ? std::move(comm) : fmt::format(":{}", tid);
}

void TracedTasks::exit(int32_t tid) {
  auto found = by_tid_.find(tid);
  if (found == by_tid_.end()) return;
  tasks_[found->second].has_exited = true;
  if (keep_) return;
  free_.push_back(found->second);
  by_tid_.erase(found);
}

std::string_view TracedTasks::name_of(int32_t tid) const {
  auto found = by_tid_.find(tid);
  if (found == by_tid_.end() || !tasks_[found->second].has_comm) return {};
  return tasks_[found->second].comm;
}

TracedTask* TracedTasks::find(int32_t tid) {
  auto found = by_tid_.find(tid);
  return found == by_tid_.end() ? nullptr : &tasks_[found->second];
}

std::vector<TracedTask*> TracedTasks::with_open_calls() {
  std::vector<TracedTask*> open;
  for (TracedTask& task : tasks_)
    if (task.is_pending) open.push_back(&task);
  std::ranges::sort(open, {}, &TracedTask::entry_ns);
  return open;
}

}  // namespace sonde
