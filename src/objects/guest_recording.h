// `inject --guest-data`: what a guest recorded about its own tasks, as records of the host.
//
// A trace or samples of the host show that a virtual machine ran, but not which of the guest's
// programs. The guest knows: its recording tells which tasks ran on which of its CPUs, and what
// they had mapped. Its records go between the host's, at the host's times, changed so that readers
// can tell the two machines apart:
//
//   - Each of the guest's events gets ids that the host does not use, and an ID_INDEX record says
//     of them which process runs the guest, and which thread the virtual CPU.
//   - Their mode is that of a guest; their CPU the one on which the virtual CPU's thread ran.
//
// The threads of the virtual CPUs are known by the names that QEMU gives them (-name
// debug-threads=on): "CPU 3/KVM".
//
//   GuestRecording guest = TRY(GuestRecording::open(data, host, options, env));
//   for (each record of the host, in the order of time) {
//     guest.watch(who, when, where);
//     write(guest.until(time));        // of the guest, before that record
//   }
//   write(guest.until(UINT64_MAX));
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <tsl/robin_map.h>

#include "base/env.h"
#include "base/hashing/number_hash.h"
#include "objects/guest_clock.h"
#include "perfdata/read/recording.h"

namespace sonde {

/// The value of --guest-data.
struct GuestData {
  std::string path;          // the guest's recording
  uint32_t machine_pid = 0;  // the process that runs the guest, on the host
  uint64_t time_offset = 0;  // of its time stamp counter, modulo 2^64
  double time_scale = 1;     // more than 0
};

/// PATH,PID[,OFFSET[,SCALE]]
Result<GuestData> parse_guest_data(std::string_view text);

class GuestRecording {
 public:
  /// `host` must outlive the object. Errors: the recordings lack what ties one to the other;
  /// nothing has been written yet.
  static Result<GuestRecording> open(const GuestData& data, const Recording& host, bool force,
                                     Env& env);

  /// The guest's events, to be appended to the host's, with their new ids.
  [[nodiscard]] const std::vector<EventDesc>& events() const { return events_; }
  /// The guest's objects, as entries for the host's header.
  [[nodiscard]] std::vector<BuildIdEntry> build_ids() const;
  /// ID_INDEX records for the new ids, which come before the guest's other records.
  void put_id_index(ByteBuilder& out) const;
  [[nodiscard]] const Recording& recording() const { return recording_; }

  /// A record of the host says that a thread is on a CPU.
  void watch(const SampleId& host_id);
  /// The guest's records that were not returned yet, up to a time of the host. They are valid
  /// until the object ends.
  Bytes until(uint64_t host_ns);

 private:
  /// A thread of the host that runs a virtual CPU.
  struct VirtualCpu {
    uint32_t tid = 0;
    uint32_t host_cpu = 0;  // where it was seen last; at first, where it will be seen
    bool was_seen = false;
  };
  struct NewId {
    uint64_t id;
    uint32_t event;  // index into events_
    uint32_t vcpu;
  };
  struct Pending {
    uint64_t host_ns;  // 0: what ran already when the recording began
    RecordView record;
    EventId event;  // of the guest's table
  };

  GuestRecording(const GuestData& data, Recording recording)
      : data_(data), recording_(std::move(recording)) {}
  Result<> find_virtual_cpus(const Recording& host);
  Result<> number_events(const Recording& host);
  Result<> collect(const GuestClock& clock);
  Result<> check_ids(const Recording& host) const;
  [[nodiscard]] std::map<uint64_t, uint32_t> cpus_of_ids() const;
  void put(const Pending& pending, ByteBuilder& out) const;
  [[nodiscard]] std::string name() const { return recording_.facts().path; }

  GuestData data_;
  Recording recording_;
  std::map<uint32_t, VirtualCpu> virtual_cpus_;               // by their number
  tsl::robin_map<uint32_t, uint32_t, NumberHash> by_thread_;  // tid → number
  std::vector<EventDesc> events_;
  tsl::robin_map<uint64_t, NewId, NumberHash> new_ids_;  // by the guest's id
  uint64_t first_id_ = 0;                                // of the guest's own
  std::vector<Pending> pending_;                         // by time
  size_t next_ = 0;
  std::deque<ByteBuilder> written_;
};

}  // namespace sonde
