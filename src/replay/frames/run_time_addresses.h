// From a frame back to the address that it had in a process. Frames identify places by object, so
// that processes share them; where an object lay in a process is known from its mappings. That
// saves reading a sample's record again for the addresses of its call chain.
//
// The parts of a file may be mapped at different distances from each other than they have in it;
// code is in what is executable. There is no answer where mappings leave a choice: for code that
// was mapped at several places, for guests, and for samples taken in the kernel that may come from
// execve itself, if the image before and the one after it share an object (AddressResolver::enter).
#pragma once

#include <array>
#include <optional>

#include <tsl/robin_map.h>

#include "base/hashing/number_hash.h"
#include "machine/machine.h"
#include "replay/frames/frame_table.h"

namespace sonde {

/// Where an object lay in an address space: what is added to a run-time address to get the one in
/// the object.
class ObjectPlace {
 public:
  /// One of the object's mappings, of [begin, end) in the object.
  void add(uint64_t delta, uint64_t begin, uint64_t end, bool is_executable);
  /// Nothing if the mappings of what is at this address in the object do not agree.
  [[nodiscard]] std::optional<uint64_t> delta_of(uint64_t address) const;

 private:
  struct Delta {
    uint64_t value = 0;
    bool is_known = false, varies = false;
    void add(uint64_t delta);
  };
  Delta all_, code_;  // of all mappings, of the executable ones
  uint64_t code_begin_ = UINT64_MAX, code_end_ = 0;
};

class RunTimeAddresses {
 public:
  static constexpr uint32_t kNobody = UINT32_MAX;

  /// `machine` must not change while this is in use.
  explicit RunTimeAddresses(const Machine& machine);

  /// Sets whose sample is looked at. Returns a number; samples with the same one have the same
  /// address for the same frame. kNobody: nothing is known.
  uint32_t enter(uint32_t pid, uint64_t time, uint16_t cpu_mode);
  /// The address at which the owner, which enter() returned, ran a frame of a recorded chain.
  std::optional<uint64_t> of(const Frame& frame, uint32_t owner);

 private:
  struct CachedProcess {
    uint32_t pid = 0;
    Machine::SpaceAt at{SpaceId(), SpaceId(), 1, 0};
  };
  static constexpr size_t kProcesses = 64;

  [[nodiscard]] const Machine::SpaceAt& space_at(uint32_t pid, uint64_t time);
  uint32_t owner_of(SpaceId space, SpaceId before_exec);
  void take(uint32_t owner, SpaceId space);

  const Machine& machine_;
  std::array<CachedProcess, kProcesses> processes_;
  tsl::robin_map<uint64_t, uint32_t, NumberHash> owners_;     // by both address spaces
  tsl::robin_map<uint64_t, ObjectPlace, NumberHash> places_;  // by owner and object
  uint32_t kernel_;                                           // the owner of kernel code
};

}  // namespace sonde
