// What the loaders of programs that include programs/traced_calls.h have in common: which of the
// programs are loaded, and what they are attached to. For the .cc files of such loaders.
#pragma once

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <span>
#include <string_view>
#include <vector>

#include "base/background_close.h"
#include "base/clock.h"
#include "bpf/bpf_log.h"
#include "bpf/traced_calls.h"

namespace sonde {

/// Attachments, detached on destruction.
class BpfLinks {
 public:
  BpfLinks() = default;
  BpfLinks(const BpfLinks&) = delete;
  BpfLinks& operator=(const BpfLinks&) = delete;
  ~BpfLinks() { clear(); }
  /// False: there is no link; errno says why.
  bool add(bpf_link* link) {
    if (link != nullptr) links_.push_back(link);
    return link != nullptr;
  }
  void clear() {
    std::vector<int> fds;
    for (bpf_link* link : links_) fds.push_back(bpf_link__fd(link));
    BackgroundClose background(fds);
    for (bpf_link* link : links_) bpf_link__destroy(link);
    links_.clear();
  }

 private:
  std::vector<bpf_link*> links_;
};

/// To be called before loading: leaves out the programs that these calls do not need. (on_enter and
/// on_exit handle 32-bit programs when the others are attached to individual calls' tracepoints.)
template <typename Skeleton>
void leave_out_unused(const TracedCalls& calls, Skeleton& skeleton) {
  bool by_name = !calls.tracepoints.empty();
  for (bpf_program* program : {skeleton.progs.on_own_enter, skeleton.progs.on_own_exit}) {
    bpf_program__set_autoload(program, by_name);
    bpf_program__set_autoattach(program, false);  // attached to events that only the loader knows
  }
  for (bpf_program* program : {skeleton.progs.on_enter, skeleton.progs.on_exit}) {
    bpf_program__set_autoload(program, !by_name || calls.compat.any());
    bpf_program__set_autoattach(program, !by_name);
  }
}

/// What such programs are attached to. Calls with their own tracepoints are traced there; 32-bit
/// programs, which have none, only once one of them is seen.
struct CallLinks {
  BpfLinks links;
  bool looks_after_compat = true;
  bool has_compat_calls = false;
};

template <typename Skeleton>
Result<> attach_traced(const TracedCalls& calls, Skeleton& skeleton, std::string_view name,
                       CallLinks& attached) {
  BpfLog log;
  if (!add_threads(skeleton.maps.excluded, calls.excluded))
    return bpf_refused(log, "fill the table of excluded tasks of", name);
  if (!follow_tasks(skeleton, calls.tasks.tids))
    return bpf_refused(log, "fill the table of threads of", name);
  for (const std::string& call : calls.tracepoints) {
    auto attach = [&](bpf_program* program, const std::string& event) {
      return attached.links.add(bpf_program__attach_tracepoint(program, "syscalls", event.c_str()));
    };
    if (!attach(skeleton.progs.on_own_enter, "sys_enter_" + call) ||
        !attach(skeleton.progs.on_own_exit, "sys_exit_" + call))
      return bpf_refused(log, "attach to the tracepoints of " + call, name);
  }
  if (bpf_object__attach_skeleton(skeleton.skeleton) != 0 || !follow_begun(skeleton, calls.tasks))
    return bpf_refused(log, "attach", name);
  attached.looks_after_compat = calls.tracepoints.empty();
  attached.has_compat_calls = calls.compat.any();
  return {};
}

/// Whether a 32-bit program was seen for the first time, so that the programs are now attached to
/// its calls too.
template <typename Skeleton>
Result<bool> attach_to_new_compat(Skeleton& skeleton, std::string_view name, CallLinks& attached) {
  if (attached.looks_after_compat || !attached.has_compat_calls) return false;
  if (__atomic_load_n(&skeleton.bss->saw_compat_program, __ATOMIC_RELAXED) == 0) return false;
  attached.looks_after_compat = true;
  BpfLog log;
  for (bpf_program* program : {skeleton.progs.on_enter, skeleton.progs.on_exit})
    if (!attached.links.add(bpf_program__attach(program))) return bpf_refused(log, "attach", name);
  return true;
}

/// Once it is off, no exec turns it on again.
template <typename Skeleton>
void put_enabled(Skeleton& skeleton, bool enabled) {
  auto* shared = skeleton.bss;
  if (enabled) __atomic_store_n(&shared->enabled_at_ns, monotonic_ns(), __ATOMIC_RELAXED);
  set_phase(skeleton, enabled ? FollowPhase::kOn : FollowPhase::kOver);
}

}  // namespace sonde
