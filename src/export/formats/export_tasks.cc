#include "export/formats/export_tasks.h"

#include <fmt/format.h>

#include <tsl/robin_map.h>

#include "machine/task_number.h"

namespace sonde {
namespace {

constexpr uint32_t kNoProcess = UINT32_MAX;

/// A guest's tasks have numbers that say nothing to a user; their names have the guest's.
std::string with_number(std::string name, uint32_t number, uint32_t number_in_file) {
  if (number == number_in_file || is_guest_task(number)) return name;
  return fmt::format("{} ({})", name, number);
}

}  // namespace

ExportTasks::ExportTasks(const ExportSamples& samples)
    : samples_(samples),
      process_of_(samples.thread_count(), kNoProcess),
      tids_(samples.thread_count()),
      next_(kTaskLimit) {
  for (uint32_t i = 0; i < tids_.size(); ++i) {
    of_the_kernel_.insert(samples.thread(i).pid);
    of_the_kernel_.insert(samples.thread(i).tid);
  }
  find_processes();
  number_threads();
}

void ExportTasks::find_processes() {
  tsl::robin_map<uint64_t, uint32_t, NumberHash> known;                        // by pid and name
  tsl::robin_map<uint32_t, std::pair<uint32_t, uint32_t>, NumberHash> of_pid;  // first, and count
  auto add = [&](uint32_t thread) {
    uint32_t pid = samples_.thread(thread).pid;
    auto made = static_cast<uint32_t>(processes_.size());
    auto [entry, is_first] = of_pid.try_emplace(pid, made, 0u);
    uint32_t nth = entry.value().second++;
    processes_.push_back(
        {.number = is_first ? pid : next_number(), .nth = nth, .named_by = thread});
    return made;
  };
  for (uint32_t i = 0; i < tids_.size(); ++i) {
    if (!samples_.knows_process(i)) continue;
    const StackThread& thread = samples_.thread(i);
    auto [entry, is_new] =
        known.try_emplace((uint64_t{thread.pid} << 32) | thread.process_name.value, kNoProcess);
    if (is_new) entry.value() = add(i);
    process_of_[i] = entry->second;
  }
  for (uint32_t i = 0; i < tids_.size(); ++i) {
    if (process_of_[i] != kNoProcess) continue;
    auto found = of_pid.find(samples_.thread(i).pid);
    process_of_[i] = found != of_pid.end() ? found->second.first : add(i);
  }
}

void ExportTasks::number_threads() {
  tsl::robin_set<uint32_t, NumberHash> taken;
  for (uint32_t i = 0; i < tids_.size(); ++i) {
    const StackThread& thread = samples_.thread(i);
    // Readers know a process's main thread by its number.
    uint32_t wanted = thread.tid == thread.pid ? pid(i) : thread.tid;
    tids_[i] = taken.insert(wanted).second ? wanted : next_number();
  }
}

uint32_t ExportTasks::next_number() {
  while (of_the_kernel_.contains(next_)) ++next_;
  return next_++;
}

std::string ExportTasks::process_name(uint32_t thread) const {
  return with_number(samples_.process_name(named_by(thread)), samples_.thread(thread).pid,
                     pid(thread));
}

std::string ExportTasks::thread_name(uint32_t thread) const {
  return with_number(samples_.thread_name(thread), samples_.thread(thread).tid, tids_[thread]);
}

}  // namespace sonde
