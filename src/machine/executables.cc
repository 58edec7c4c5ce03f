#include "machine/executables.h"

#include <sys/mman.h>

#include <algorithm>

#include <tsl/robin_map.h>

namespace sonde {
namespace {

bool is_library(const Dso& object) {
  size_t at = object.short_name.find(".so");
  return at != std::string::npos &&
         (at + 3 == object.short_name.size() || object.short_name[at + 3] == '.');
}

/// Invalid if nothing is known of the space.
DsoId executable_in(const Machine& machine, SpaceId space) {
  for (const AddressSpace::Piece& piece : machine.space(space).pieces()) {
    const Mapping& mapping = machine.mapping(piece.mapping);
    const Dso& object = machine.dsos()[mapping.dso];
    if ((mapping.protection & PROT_EXEC) != 0 && object.kind == DsoKind::kFile &&
        !object.is_kernel_side && !is_library(object))
      return mapping.dso;
  }
  return {};
}

class Executables {
 public:
  explicit Executables(const Machine& machine) : machine_(machine) {}

  std::vector<NamedExecutable> all() {
    for (const auto& [tid, thread] : machine_.threads()) {
      if (is_guest_task(tid)) continue;
      const std::vector<CommChange>& names = thread->comms;
      for (size_t i = 0; i < names.size(); ++i)
        add(names[i], i + 1 < names.size() ? names[i + 1].time : UINT64_MAX, thread->pid,
            tid == thread->pid);
    }
    std::ranges::sort(found_);
    auto again = std::ranges::unique(found_);
    found_.erase(again.begin(), again.end());
    return std::move(found_);
  }

 private:
  /// What a thread of this name runs until `until`. Its name may be older than what is known of the
  /// memory. The other threads of a process end when it runs something else, so only the first is
  /// followed through that.
  void add(const CommChange& name, uint64_t until, uint32_t pid, bool is_first) {
    bool goes_on = true;
    for (uint64_t time = name.time; goes_on;) {
      Machine::SpaceAt at = machine_.space_at(pid, time);
      if (at.space.valid()) add_executable(name.comm, at.space);
      goes_on = at.valid_to > time && at.valid_to < until && (is_first || !at.space.valid());
      time = at.valid_to;
    }
  }
  void add_executable(StringId comm, SpaceId space) {
    auto [entry, is_new] = of_space_.try_emplace(space.value, DsoId());
    if (is_new) entry.value() = executable_in(machine_, space);
    if (entry->second.valid()) found_.push_back({comm, entry->second});
  }

  const Machine& machine_;
  tsl::robin_map<uint32_t, DsoId> of_space_;  // by SpaceId
  std::vector<NamedExecutable> found_;
};

}  // namespace

std::vector<NamedExecutable> executables_of(const Machine& machine) {
  return Executables(machine).all();
}

}  // namespace sonde
