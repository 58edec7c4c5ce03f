// FollowedTasks: which tasks a BPF program that includes programs/followed_tasks.h follows, and
// FollowPhase: when. For the .cc files of such programs' loaders:
//
//   set_followed(tasks, *skeleton->rodata);   before it is loaded
//   follow_tasks(*skeleton, tasks.tids)       before it is attached, and later for additional ones
//   follow_begun(*skeleton, tasks)            when it is attached
//   set_phase(*skeleton, FollowPhase::kOn);   at any time
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

struct bpf_map;

namespace sonde {

struct FollowedTasks {
  bool all = false;
  std::vector<uint32_t> tids = {};  // otherwise these
  bool inherit = true;              // and the tasks they start
  bool enable_on_exec = false;      // starts when one of them executes a program
  // Lists them anew: some may have begun before the program was there to see it. Empty: no others.
  std::function<std::vector<uint32_t>()> list = {};
};

/// Off: an exec can still turn it on (enable_on_exec). Over: it cannot.
enum class FollowPhase : uint8_t { kOff, kOn, kOver };  // enum follow_state

template <typename Settings>
void set_followed(const FollowedTasks& tasks, Settings& settings) {
  settings.all_tasks = tasks.all;
  settings.inherit = tasks.inherit;
  settings.enable_on_exec = tasks.enable_on_exec;
}

/// Adds threads or processes to a map of ids. False if the kernel refuses; errno says why.
bool add_threads(const bpf_map* table, std::span<const uint32_t> tids);
/// Whether the map contains any.
[[nodiscard]] bool has_threads(const bpf_map* table);

/// False if the kernel refuses; errno says why.
template <typename Skeleton>
bool follow_tasks(Skeleton& skeleton, std::span<const uint32_t> tids) {
  if (!add_threads(skeleton.maps.tasks, tids)) return false;
  __atomic_fetch_add(&skeleton.bss->generation, 1, __ATOMIC_RELAXED);
  return true;
}

/// False if the kernel refuses; errno says why.
template <typename Skeleton>
bool follow_begun(Skeleton& skeleton, const FollowedTasks& tasks) {
  return !tasks.list || follow_tasks(skeleton, tasks.list());
}

template <typename Skeleton>
void set_phase(Skeleton& skeleton, FollowPhase phase) {
  __atomic_store_n(&skeleton.bss->enabled, static_cast<uint8_t>(phase), __ATOMIC_RELEASE);
}

}  // namespace sonde
