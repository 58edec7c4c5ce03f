// The recorded machine: its tasks, address spaces and objects, with their history.
//
// State-changing records (mmap, comm, fork, exit, ksymbol, …) are applied in time order. After
// `freeze()` the machine is immutable and answers queries about any moment (a thread's comm, a
// process's mappings) from any thread. To follow a live stream, apply more records and freeze
// again; `forget_before` drops what no later record can refer to, so that following needs no more
// memory than the running tasks do.
//
// A recorder in a PID namespace sees all tasks outside of it as task 0, as it sees the idle task
// (perf_event_pid_type in the kernel's events/core.c). Their names and memory cannot be told apart,
// so task 0 has one name then, which says so, and no memory.
//
// An address space lives from a fork or exec to the next exec or the exit: after an exec the old
// mappings are gone, so a sample is never resolved with its parent's libraries (perf keeps them
// where they don't overlap).
//
// A recording may also hold what guests recorded of themselves. Their tasks have numbers of their
// own here (machine/task_number.h), their kernels address spaces of their own, and their objects
// are none of the host's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tsl/robin_map.h>

#include "base/expansion_allowance.h"
#include "base/hashing/number_hash.h"
#include "base/loss.h"
#include "base/string_pool.h"
#include "machine/address_space.h"
#include "machine/dso.h"
#include "machine/task_number.h"
#include "perfdata/header/guest_ids.h"
#include "perfdata/read/recording.h"
#include "perfdata/records/sideband.h"

namespace sonde {

using SpaceId = Id<struct SpaceTag>;

/// The process of a guest that is recorded without one: perf's DEFAULT_GUEST_KERNEL_ID.
constexpr uint32_t kAnyGuest = 0;

/// Whether code of this mode is a virtual machine's.
constexpr bool is_guest_mode(uint16_t cpu_mode) {
  return cpu_mode == abi::kMiscGuestKernel || cpu_mode == abi::kMiscGuestUser;
}

/// The name of task 0 where it stands for every task outside of the recorder's PID namespace.
constexpr std::string_view kOutsideName = "[outside this PID namespace]";
/// The name that a COMM record of the host gives a thread.
constexpr std::string_view name_given(uint32_t tid, std::string_view comm) {
  return tid == 0 && !comm.starts_with("swapper") ? kOutsideName : comm;
}

/// A thread's name from `time` on.
struct CommChange {
  uint64_t time;
  StringId comm;
  bool exec;
  bool by_fork = false;  // the parent's name
};

class Machine {
 public:
  explicit Machine(StringPool& strings);

  /// Applies one record, in time order; records that do not change state are ignored. `guest`:
  /// whose record it is, by its id; null for the host's.
  void apply(const RecordView& record, const SampleLayout& layout, uint64_t time,
             LossLedger& losses, const GuestCpu* guest = nullptr);
  /// Records that a process's compiler put code at `start`; `offset` is its position in `dso`, a
  /// jitdump. From then on, mappings of anonymous memory leave the process's generated code alone:
  /// compilers repeatedly map and protect the memory of code that runs. Without a time, the code is
  /// assumed to have been there since the process's latest exec.
  void apply_code(uint32_t pid, std::optional<uint64_t> time, RuntimeAddr start, uint64_t size,
                  DsoId dso, FileOffset offset);
  /// Sets the build id of a path, from BUILD_ID sections and records. Without `file` it applies to
  /// every file at the path, unless several follow.
  void set_build_id(std::string_view path, std::string_view build_id, uint16_t misc,
                    const FileIdentity& file = {});
  /// The same for a file of the guest that process `pid` runs, if it was mapped.
  void set_guest_build_id(std::string_view path, std::string_view build_id, uint32_t pid);
  void freeze();
  /// Drops tasks that ended, and memory that was unmapped, before `time`. The ids of dropped spaces
  /// and mappings are reused. Call freeze afterwards.
  void forget_before(uint64_t time);

  /// The comm of a thread at a time; ":tid" if unknown (":-1" for no thread), "swapper" for tid 0.
  [[nodiscard]] StringId comm_at(uint32_t tid, uint64_t time) const {
    return comm_span_at(tid, time).comm;
  }
  /// The same with the time for which the answer is valid: [valid_from, valid_to).
  struct CommAt {
    StringId comm;
    uint64_t valid_from = 0;
    uint64_t valid_to = UINT64_MAX;
  };
  [[nodiscard]] CommAt comm_span_at(uint32_t tid, uint64_t time) const;
  /// Whether task 0 stands for every task outside of the recorder's PID namespace.
  [[nodiscard]] bool has_outside_tasks() const { return has_outside_tasks_; }
  /// The name of the program that a process runs at a time: what its last exec named it, even if
  /// its main thread was given another name since. Before an exec, the main thread's name.
  [[nodiscard]] CommAt program_at(uint32_t pid, uint64_t time) const;
  /// The same, but a thread that has no name yet has its first one: a COMM record that comes late
  /// tells of the same thread. Not of what had the number before a fork.
  [[nodiscard]] CommAt late_comm_span_at(uint32_t tid, uint64_t time) const;
  /// Whether the name came from an exec (perf marks such threads).
  [[nodiscard]] bool exec_at(uint32_t tid, uint64_t time) const;

  /// The address space of a process at a time. Invalid if the process is unknown.
  struct SpaceAt {
    SpaceId space;
    SpaceId
        before_exec;  // the image replaced by an exec: its frames end the chains of execve itself
    uint64_t valid_from = 0;
    uint64_t valid_to = UINT64_MAX;
  };
  [[nodiscard]] SpaceAt space_at(uint32_t pid, uint64_t time) const;
  [[nodiscard]] SpaceId kernel_space() const { return SpaceId(size_t{0}); }
  /// The kernel's addresses in the virtual machine that process `pid` runs; those of the guest that
  /// is recorded without a process, if it has none of its own; invalid if there is neither.
  [[nodiscard]] SpaceId guest_kernel_space(uint32_t pid) const;
  /// The guests of which the recording holds records, by the process that runs each.
  void set_guests(const std::vector<uint32_t>& machines) { guests_ = machines; }
  /// The process of the host that runs a guest's task; nullopt for a task of the host.
  [[nodiscard]] std::optional<uint32_t> machine_pid_of(uint32_t task) const {
    if (!is_guest_task(task) || guest_of_task(task) >= guests_.size()) return std::nullopt;
    return guests_[guest_of_task(task)];
  }
  /// The kernel's addresses as a task sees them: the host's kernel, or that of the task's guest.
  [[nodiscard]] SpaceId kernel_space_of(uint32_t task) const {
    auto machine_pid = machine_pid_of(task);
    return machine_pid ? guest_kernel_space(*machine_pid) : kernel_space();
  }
  /// The task that a virtual CPU ran at a time, by the guest's records of switches. Both are
  /// UINT32_MAX if there is none before.
  struct RunningTask {
    uint32_t pid = UINT32_MAX, tid = UINT32_MAX;
  };
  [[nodiscard]] RunningTask running_on(const GuestCpu& cpu, uint64_t time) const;
  /// Says where the kernel of a guest, or one of its modules, lies unless the recording says
  /// otherwise. `path` is as in MMAP records: "[guest.kernel.kallsyms]_text", the path of a module;
  /// `reference` the address of the symbol named there. In time order with the records.
  void add_guest_mapping(uint32_t pid, std::string_view path, RuntimeAddr start, RuntimeAddr end,
                         RuntimeAddr reference, uint64_t time = 0);
  /// Whether guests run code of the process that runs them, at the same addresses (test programs of
  /// KVM do).
  void set_guest_code(bool in_process) { guest_code_ = in_process; }
  [[nodiscard]] bool has_guest_code() const { return guest_code_; }
  [[nodiscard]] const AddressSpace& space(SpaceId id) const { return spaces_[id.index()].memory; }

  [[nodiscard]] const Mapping& mapping(MappingId id) const { return mappings_[id.index()]; }
  [[nodiscard]] const DsoTable& dsos() const { return dsos_; }
  DsoTable& edit_dsos() { return dsos_; }
  [[nodiscard]] StringPool& strings() const { return strings_; }

  struct Thread {
    uint32_t pid = 0;                  // process
    uint32_t ppid = 0;                 // parent process, 0 if unknown
    uint32_t parent_tid = UINT32_MAX;  // the thread that forked it, if a record says so
    std::vector<CommChange> comms;     // by time
    bool exited = false;
    uint64_t start_ns = 0;
    uint64_t exit_ns = 0;       // if it exited
    uint64_t unnamed_from = 0;  // ns: the last fork before its first name; 0: none
  };
  /// All threads named in any record, by ascending tid.
  [[nodiscard]] std::vector<std::pair<uint32_t, const Thread*>> threads() const;
  [[nodiscard]] const Thread* thread(uint32_t tid) const;

  /// The path of a cgroup id (CGROUP records); empty if unknown.
  [[nodiscard]] std::string_view cgroup_path(uint64_t id) const;
  /// Device and inode of a process's namespace (NAMESPACES records); type is the index in perf's
  /// order.
  struct Namespace {
    uint64_t device = 0, inode = 0;
  };
  [[nodiscard]] Namespace namespace_of(uint32_t pid, uint32_t type, uint64_t time) const;
  [[nodiscard]] size_t task_count() const { return threads_.size(); }

 private:
  struct Space {
    AddressSpace memory;
    ExpansionShare copies;  // of pieces that a fork copied
    uint32_t pid = 0;
    bool has_code = false;  // from a jitdump
  };
  struct SpaceChange {
    uint64_t time;
    SpaceId space;
    bool exec = false;
  };
  struct NamespaceSet {
    uint64_t time;
    std::vector<Namespace> links;
  };

  void apply_mmap(const MmapRecord& record, uint64_t time, const GuestCpu* guest);
  void apply_kernel_mmap(const MmapRecord& record, uint64_t time);
  void apply_guest_mmap(const MmapRecord& record, uint64_t time, const GuestCpu* guest);
  void apply_user_mmap(const MmapRecord& record, uint64_t time, const GuestCpu* guest);
  DsoId object_of(const MmapRecord& record, DsoKind kind, const GuestCpu* guest);
  void apply_switch(const RecordView& record, const SampleLayout& layout, uint64_t time,
                    const GuestCpu& guest);
  /// Whether a record is about task 0 of the host, which is not described then; notes what that
  /// says.
  bool is_about_task_0(const RecordView& record, uint32_t tid, std::string_view comm = {});
  void set_comm(Thread& thread, std::string_view comm, uint64_t time, bool exec);
  void apply_comm(const CommRecord& record, uint64_t time);
  /// False if the parent's mappings are too many: the child has none then.
  bool apply_fork(const TaskRecord& record, uint16_t misc, uint64_t time);
  void apply_ksymbol(const KsymbolRecord& record, uint64_t time, const GuestCpu* guest);
  void apply_namespaces(const NamespacesRecord& record, uint64_t time);
  Thread& thread_of(uint32_t pid, uint32_t tid);
  SpaceId current_space(uint32_t pid, uint64_t time);
  SpaceId new_space(uint32_t pid, uint64_t time, bool exec = false);
  MappingId add_mapping(const Mapping& mapping);
  AddressSpace& guest_kernel(uint32_t pid);
  void drop_space(SpaceId space);
  void collect_mappings();
  void join_same_objects();
  void set_build_id_of_path(std::string_view path, std::string_view build_id);
  void note_process(Dso& dso, uint32_t pid) const;

  StringPool& strings_;
  DsoTable dsos_;
  std::vector<Mapping> mappings_;
  std::vector<MappingId> free_mappings_;
  std::vector<SpaceId> free_spaces_;
  std::vector<Space> spaces_;                        // 0: the kernel
  tsl::robin_map<uint32_t, SpaceId> guest_kernels_;  // by the process that runs the guest
  bool guest_code_ = false;
  bool has_outside_tasks_ = false;
  std::vector<uint32_t> guests_;
  struct TaskChange {
    uint64_t time;
    RunningTask task;
  };
  tsl::robin_map<uint64_t, std::vector<TaskChange>, NumberHash> running_;  // by virtual CPU
  tsl::robin_map<uint32_t, std::vector<SpaceChange>> process_spaces_;
  tsl::robin_map<uint32_t, Thread> threads_;
  tsl::robin_map<uint64_t, std::string, NumberHash> cgroups_;
  tsl::robin_map<uint32_t, std::vector<NamespaceSet>> namespaces_;
  tsl::robin_map<std::string, std::string> build_ids_of_paths_;
};

}  // namespace sonde
