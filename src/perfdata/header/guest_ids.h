// Which ids of events are a guest's: ID_INDEX records say so in recordings that hold what guests
// recorded of themselves (`inject --guest-data`).
#pragma once

#include <cstdint>
#include <vector>

#include <tsl/robin_map.h>

#include "base/hashing/number_hash.h"

namespace sonde {

/// A virtual CPU of a guest.
struct GuestCpu {
  uint32_t guest;        // index in GuestIds::machines()
  uint32_t machine_pid;  // the host's process that runs the guest
  uint32_t vcpu;
};

class GuestIds {
 public:
  /// Task numbers have room for the guest in eight bits (machine/task_number.h).
  static constexpr size_t kMostGuests = 256;

  /// `tid` is the host's thread that runs the virtual CPU; UINT32_MAX if the record does not say.
  /// False if there are too many guests to tell this one apart.
  bool add(uint64_t id, uint32_t machine_pid, uint32_t vcpu, uint32_t tid);

  [[nodiscard]] bool empty() const { return by_id_.empty(); }
  /// Null: an id of the host.
  [[nodiscard]] const GuestCpu* of(uint64_t id) const {
    auto found = by_id_.find(id);
    return found == by_id_.end() ? nullptr : &found->second;
  }
  /// What a thread of the host runs; null: no virtual CPU.
  [[nodiscard]] const GuestCpu* run_by(uint32_t tid) const {
    auto found = by_thread_.find(tid);
    return found == by_thread_.end() ? nullptr : &found->second;
  }
  /// The guests, by the host's process that runs each.
  [[nodiscard]] const std::vector<uint32_t>& machines() const { return machines_; }

 private:
  std::vector<uint32_t> machines_;
  tsl::robin_map<uint64_t, GuestCpu, NumberHash> by_id_;
  tsl::robin_map<uint32_t, GuestCpu> by_thread_;
};

}  // namespace sonde
