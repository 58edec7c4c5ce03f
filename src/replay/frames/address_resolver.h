// From an address in a sample to a frame: finds the mapping that it belonged to, in its address
// space, at that time.
//
// There is one resolver per worker thread. It keeps small direct-mapped caches (memory region →
// mapping, process → address space, thread → comm), in which each entry has the time span for which
// it is valid, and interns into the frame table it was given. Addresses themselves are not cached:
// the frame table identifies places by DSO, so processes that run the same code share them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "machine/machine.h"
#include "replay/frames/frame_table.h"

namespace sonde {

/// The location of an address, before it is interned.
struct Place {
  DsoId dso;
  uint64_t address = 0;
  FrameLevel level = FrameLevel::kUnknown;
};

/// The level of an address, from the cpu mode of the sample or context.
inline FrameLevel level_of(uint16_t cpu_mode) {
  switch (cpu_mode) {
    case abi::kMiscUser:
      return FrameLevel::kUser;
    case abi::kMiscKernel:
      return FrameLevel::kKernel;
    case abi::kMiscGuestKernel:
      return FrameLevel::kGuestKernel;
    case abi::kMiscGuestUser:
      return FrameLevel::kGuestUser;
    case abi::kMiscHypervisor:
      return FrameLevel::kHypervisor;
    default:
      return FrameLevel::kUnknown;
  }
}

/// Looks up the place of an address without any cache. `space` is the process's address space;
/// `cpu_mode` decides whose address it is.
Place locate(const Machine& machine, SpaceId space, uint64_t time, uint64_t address,
             uint16_t cpu_mode, AddressSpace::Found* span = nullptr);

/// The same for an address in a virtual machine. `pid` is the process that runs it, or a task of
/// the guest (machine/task_number.h). In the former case what programs the guest runs is not known:
/// the address is its kernel's, or code of the process itself, if guests run that.
Place locate_guest(const Machine& machine, uint32_t pid, uint64_t time, uint64_t address,
                   uint16_t cpu_mode);

/// Where the kernel's boot code may be: the recorded mapping ends with the kernel's text; boot
/// code, where the stacks of idle CPUs begin, comes soon after, and before the modules. The
/// kernel's symbols decide.
struct BootCode {
  DsoId kernel;  // invalid: it has no mapping
  uint64_t begin = 0, end = 0;

  static BootCode of(const Machine& machine);
  /// Whether an address for which there is no mapping may be in it.
  [[nodiscard]] bool may_contain(uint64_t address, DsoId dso, FrameLevel level) const {
    return !dso.valid() && level == FrameLevel::kKernel && address >= begin && address < end;
  }
};

class AddressResolver {
 public:
  /// `merge_unmapped`: all addresses at which nothing was mapped in a process are one frame, with
  /// the address 0. `late_names`: threads have their first name also before they got it.
  AddressResolver(const Machine& machine, FrameTable& frames, bool merge_unmapped = false,
                  bool late_names = false);

  /// Sets whose sample is being resolved. A sample taken in the kernel may come from execve itself:
  /// the user part of its chain still belongs to the image that is being replaced.
  void enter(uint32_t pid, uint64_t time, uint16_t cpu_mode);
  FrameId resolve(uint64_t address, uint16_t cpu_mode) {
    // Neighbours in a chain are mostly in the same object.
    if (address - here_.start < here_.size && cpu_mode == here_.cpu_mode) [[likely]]
      return frames_.intern(*here_.region, address + here_.delta);
    return resolve_elsewhere(address, cpu_mode);
  }
  /// The same without a frame.
  Place place(uint64_t address, uint16_t cpu_mode);
  StringId comm(uint32_t tid, uint64_t time);
  /// Per object: whether any address was found in it. May be shorter than the list of objects.
  [[nodiscard]] const std::vector<char>& objects_found() const { return objects_found_; }
  /// What was valid indefinitely may have an end now, and ids of forgotten address spaces are
  /// reused.
  void machine_changed();
  /// Whether the process that was entered is described by the recording.
  [[nodiscard]] bool process_known() const { return process_.space.valid(); }

 private:
  /// What one mapping, or a gap between mappings, says about the addresses in [start, end), for a
  /// span of time.
  struct CachedMapping {
    uint64_t start = 0, end = 0;  // empty: free entry
    uint64_t from = 0, to = 0;
    uint64_t delta = 0;  // address inside the DSO - run time address
    uint32_t space = 0;
    DsoId dso;                      // invalid: a gap
    FrameRegion* region = nullptr;  // of all its addresses; null if they don't share one
  };
  /// The mapping of the previous address.
  struct Here {
    uint64_t start = 0, size = 0;
    uint64_t delta = 0;
    FrameRegion* region = nullptr;
    uint16_t cpu_mode = 0;
  };
  /// Chains that went astray often repeat an address to their end.
  struct Previous {
    uint64_t address = 0;
    uint16_t cpu_mode = UINT16_MAX;  // no mode: nothing is known
    FrameId frame;
  };
  struct CachedComm {
    uint32_t tid = 0;
    uint64_t from = 1, to = 0;
    StringId comm;
  };
  static constexpr size_t kMappingSlots = 128;  // 8 KiB: stays in the first-level cache
  static constexpr size_t kCommSlots = 256;

  [[nodiscard]] SpaceId space_of(uint16_t cpu_mode) const {
    return cpu_mode == abi::kMiscUser ? process_.space : machine_.kernel_space();
  }
  [[nodiscard]] CachedMapping& slot_of(SpaceId space, uint64_t address);
  [[nodiscard]] bool holds(const CachedMapping& cached, SpaceId space, uint64_t address) const {
    return address - cached.start < cached.end - cached.start && cached.space == space.value &&
           cached.from <= time_ && time_ < cached.to;
  }
  /// Where nothing is mapped, the image that execve replaces may have had something.
  [[nodiscard]] bool may_be_elsewhere(const CachedMapping& cached, bool user) const {
    return !cached.dso.valid() && user && may_be_execve_;
  }
  [[nodiscard]] FrameId intern(const Place& place) const {
    bool merges = merge_unmapped_ && !place.dso.valid() && place.level == FrameLevel::kUser;
    return frames_.intern(place.dso, merges ? 0 : place.address, place.level);
  }
  FrameId resolve_elsewhere(uint64_t address, uint16_t cpu_mode);
  FrameId resolve_anew(uint64_t address, uint16_t cpu_mode);
  Place locate_and_cache(SpaceId space, uint64_t address, uint16_t cpu_mode, CachedMapping& cached);
  [[nodiscard]] bool is_in_guest(uint16_t cpu_mode) const {
    return (cpu_mode != abi::kMiscUser && cpu_mode != abi::kMiscKernel) || is_guest_task(pid_);
  }
  /// Guests' code is rare, and its addresses are not cached.
  Place place_in_guest(uint64_t address, uint16_t cpu_mode);
  void note_object(DsoId dso);

  const Machine& machine_;
  FrameTable& frames_;
  bool merge_unmapped_;
  bool late_names_;
  Here here_;          // for the process and time last entered
  Previous previous_;  // the same
  std::array<CachedMapping, kMappingSlots> mappings_;
  std::vector<CachedComm> comms_;
  uint32_t pid_ = UINT32_MAX;
  uint64_t time_ = 0;
  Machine::SpaceAt process_{SpaceId(), SpaceId(), 1, 0};
  bool may_be_execve_ = false;
  std::vector<char> objects_found_;
};

inline void AddressResolver::enter(uint32_t pid, uint64_t time, uint16_t cpu_mode) {
  time_ = time;
  here_.size = 0;
  previous_.cpu_mode = UINT16_MAX;
  if (pid != pid_ || time < process_.valid_from || process_.valid_to <= time) {
    pid_ = pid;
    process_ = machine_.space_at(pid, time);
  }
  may_be_execve_ = cpu_mode == abi::kMiscKernel && process_.before_exec.valid();
}

/// Code mappings are megabytes long; each megabyte has its own entry.
inline AddressResolver::CachedMapping& AddressResolver::slot_of(SpaceId space, uint64_t address) {
  uint64_t hash = ((address >> 20) + space.value * 0x2545u) * 0x9e3779b97f4a7c15u;
  static_assert(kMappingSlots == size_t{1} << (64 - 57));
  return mappings_[hash >> 57];
}

inline Place AddressResolver::place(uint64_t address, uint16_t cpu_mode) {
  if (is_in_guest(cpu_mode)) return place_in_guest(address, cpu_mode);
  SpaceId space = space_of(cpu_mode);
  CachedMapping& cached = slot_of(space, address);
  if (holds(cached, space, address) && !may_be_elsewhere(cached, cpu_mode == abi::kMiscUser))
      [[likely]]
    return {cached.dso, address + cached.delta, level_of(cpu_mode)};
  return locate_and_cache(space, address, cpu_mode, cached);
}

}  // namespace sonde
