#include "machine/machine.h"

#include <sys/mman.h>

#include <algorithm>

#include <fmt/format.h>

#include "perfdata/records/damage.h"

namespace sonde {
namespace {

constexpr uint16_t kKsymbolTypeBpf = 1;
constexpr uint16_t kKsymbolUnregister = 1;
/// What a copied piece of an address space takes in memory, before and after it was frozen.
constexpr uint64_t kPieceBytes = 128;

/// The last element whose time is not after `time`, or end().
template <typename Vector>
auto last_at(const Vector& changes, uint64_t time) {
  auto after = std::upper_bound(changes.begin(), changes.end(), time,
                                [](uint64_t t, const auto& change) { return t < change.time; });
  return after == changes.begin() ? changes.end() : std::prev(after);
}

/// Whose numbers a record's are: replaced by those that its machine's tasks have here.
uint32_t task_here(uint32_t recorded, const GuestCpu* guest) {
  return guest == nullptr ? recorded : guest_task(guest->guest, recorded);
}

uint64_t key_of(const GuestCpu& cpu) {
  return (uint64_t{cpu.guest} << 32) | cpu.vcpu;
}

/// The end of the time span of the element before `next`.
template <typename Vector, typename Iterator>
uint64_t time_of(const Vector& changes, Iterator next) {
  return next == changes.end() ? UINT64_MAX : next->time;
}

}  // namespace

Machine::Machine(StringPool& strings) : strings_(strings) {
  spaces_.emplace_back();  // the kernel's
  Thread& idle = threads_[0];
  set_comm(idle, "swapper", 0, false);
}

void Machine::apply(const RecordView& record, const SampleLayout& layout, uint64_t time,
                    LossLedger& losses, const GuestCpu* guest) {
  auto with = [&]<typename Record>(auto&& action) {
    if (auto decoded = decode_as<Record>(record, layout))
      action(*decoded);
    else
      add_damaged(record, kShortRecord, losses);
  };
  if (!is_guest_mode(record.cpu_mode())) guest = nullptr;
  // Of a guest that no id names, only the kernel is known: the numbers of its tasks are its own.
  bool is_mapping = record.type == abi::kRecordMmap || record.type == abi::kRecordMmap2;
  if (is_guest_mode(record.cpu_mode()) && guest == nullptr && !is_mapping) return;
  auto here = [guest](uint32_t task) { return task_here(task, guest); };
  switch (record.type) {
    case abi::kRecordMmap:
    case abi::kRecordMmap2:
      return with.operator()<MmapRecord>([&](const MmapRecord& mmap) {
        bool is_of_user = record.cpu_mode() == abi::kMiscUser;
        if (is_of_user && is_about_task_0(record, mmap.pid)) return;
        apply_mmap(mmap, time, guest);
      });
    case abi::kRecordComm:
      return with.operator()<CommRecord>([&](CommRecord comm) {
        comm.pid = here(comm.pid), comm.tid = here(comm.tid);
        if (!is_about_task_0(record, comm.tid, comm.comm)) apply_comm(comm, time);
      });
    case abi::kRecordFork:
      return with.operator()<TaskRecord>([&](TaskRecord task) {
        task.pid = here(task.pid), task.tid = here(task.tid);
        task.ppid = here(task.ppid), task.ptid = here(task.ptid);
        if (is_about_task_0(record, task.tid)) return;
        if (!apply_fork(task, record.misc, time))
          add_damaged(record, "its process has too many mappings to be copied once more", losses);
      });
    case abi::kRecordExit:
      return with.operator()<TaskRecord>([&](const TaskRecord& task) {
        uint32_t tid = here(task.tid);
        if (is_about_task_0(record, tid)) return;
        auto found = threads_.find(tid);
        if (found == threads_.end()) return;
        found.value().exited = true;
        found.value().exit_ns = time;
      });
    case abi::kRecordKsymbol:
      return with.operator()<KsymbolRecord>(
          [&](const KsymbolRecord& k) { apply_ksymbol(k, time, guest); });
    case abi::kRecordCgroup:
      // Guests number theirs as the host does.
      return with.operator()<CgroupRecord>([&](const CgroupRecord& cgroup) {
        if (guest == nullptr) cgroups_[cgroup.id] = std::string(cgroup.path);
      });
    case abi::kRecordNamespaces:
      return with.operator()<NamespacesRecord>([&](NamespacesRecord set) {
        set.pid = here(set.pid), set.tid = here(set.tid);
        if (is_about_task_0(record, set.tid)) return;
        apply_namespaces(set, time);
      });
    case abi::kRecordSwitch:
    case abi::kRecordSwitchCpuWide:
      if (guest != nullptr) apply_switch(record, layout, time, *guest);
      return;
    default:
      return;
  }
}

bool Machine::is_about_task_0(const RecordView& record, uint32_t tid, std::string_view comm) {
  if (tid != 0) return false;
  // A CPU that comes online forks its idle task. All else is what only other tasks do.
  bool is_of_idle = record.type == abi::kRecordFork ||
                    (record.type == abi::kRecordComm && name_given(tid, comm) != kOutsideName);
  if (is_of_idle || has_outside_tasks_) return true;
  has_outside_tasks_ = true;
  threads_[0].comms.assign(1, {0, strings_.intern(kOutsideName), false});
  return true;
}

void Machine::apply_mmap(const MmapRecord& record, uint64_t time, const GuestCpu* guest) {
  uint16_t mode = record.misc & abi::kMiscCpuModeMask;
  if (mode == abi::kMiscGuestKernel) return apply_guest_mmap(record, time, guest);
  if (mode == abi::kMiscGuestUser && guest == nullptr) return;  // of which guest?
  if (mode != abi::kMiscUser && mode != abi::kMiscGuestUser) return apply_kernel_mmap(record, time);
  MmapRecord here = record;
  here.pid = task_here(record.pid, guest), here.tid = task_here(record.tid, guest);
  apply_user_mmap(here, time, guest);
}

DsoId Machine::object_of(const MmapRecord& record, DsoKind kind, const GuestCpu* guest) {
  if (kind == DsoKind::kJit) {
    std::string map = fmt::format("/tmp/perf-{}.map", recorded_task(record.pid));
    return guest == nullptr ? dsos_.find_or_add(map, kind, false)
                            : dsos_.find_or_add_guest(map, kind, guest->machine_pid, false);
  }
  if (guest != nullptr)
    return dsos_.find_or_add_guest(record.path, kind, guest->machine_pid, false);
  FileIdentity file;
  if (kind == DsoKind::kFile) file = {record.major, record.minor, record.inode};
  return dsos_.find_or_add(record.path, kind, file);
}

void Machine::apply_user_mmap(const MmapRecord& record, uint64_t time, const GuestCpu* guest) {
  DsoKind kind = user_mapping_kind(record.path, record.executable());
  Mapping mapping;
  mapping.start = record.start;
  mapping.end = record.start + record.length;
  if (mapping.end < mapping.start) mapping.end = RuntimeAddr(UINT64_MAX);
  // Old kernels stored the address there.
  mapping.offset = kind == DsoKind::kVdso ? FileOffset(0) : record.offset;
  mapping.identity = kind == DsoKind::kJit || kind == DsoKind::kNoSymbols;
  mapping.protection = record.is_v2 ? record.protection : record.executable() ? PROT_EXEC : 0;
  mapping.shared = (record.flags & MAP_SHARED) != 0;
  mapping.inode = record.inode;
  mapping.dso = object_of(record, kind, guest);
  Dso& dso = dsos_.edit(mapping.dso);
  if (guest == nullptr) note_process(dso, record.pid);
  if (dso.build_id.empty() && !record.build_id.empty()) dso.build_id = as_text(record.build_id);
  thread_of(record.pid, record.tid);
  Space& space = spaces_[current_space(record.pid, time).index()];
  bool is_anonymous = kind == DsoKind::kJit || record.path.starts_with("[anon:");
  if (!space.has_code || !is_anonymous)
    return space.memory.map(time, mapping.start, mapping.end, add_mapping(mapping));
  space.memory.map_around(time, mapping.start, mapping.end, add_mapping(mapping),
                          [&](MappingId there) {
                            DsoKind of = dsos_[mappings_[there.index()].dso].kind;
                            return of == DsoKind::kJit || of == DsoKind::kJitDump;
                          });
}

void Machine::apply_code(uint32_t pid, std::optional<uint64_t> time, RuntimeAddr start,
                         uint64_t size, DsoId dso, FileOffset offset) {
  if (pid == 0) return;  // of any process outside of the recorder's PID namespace
  Mapping mapping;
  mapping.start = start;
  mapping.end = start + size;
  mapping.offset = offset;
  mapping.dso = dso;
  mapping.protection = PROT_READ | PROT_EXEC;
  Space& space = spaces_[current_space(pid, time.value_or(0)).index()];
  space.has_code = true;
  uint64_t since = time ? *time : process_spaces_[pid].back().time;
  space.memory.map(since, mapping.start, mapping.end, add_mapping(mapping));
}

namespace {

/// What an MMAP record says about a kernel or a module.
struct KernelPart {
  std::string_view path, reference_symbol;
  DsoKind kind = DsoKind::kModule;
  Mapping mapping;  // without its object
};

/// `kernel`: how the kernel's name begins.
KernelPart kernel_part(std::string_view kernel, std::string_view recorded, RuntimeAddr start,
                       RuntimeAddr end) {
  KernelPart part;
  bool is_kernel = recorded.starts_with(kernel);
  part.path = is_kernel ? recorded.substr(0, recorded.find(']') + 1) : recorded;
  if (is_kernel) part.kind = DsoKind::kKernel;
  part.reference_symbol = is_kernel ? recorded.substr(part.path.size()) : std::string_view();
  part.mapping.start = start;
  part.mapping.end = end < start ? RuntimeAddr(UINT64_MAX) : end;
  part.mapping.offset = FileOffset(start.value);
  part.mapping.identity = true;
  return part;
}

RuntimeAddr end_of(const MmapRecord& record) {
  return record.length == 0 ? RuntimeAddr(UINT64_MAX) : record.start + record.length;
}

}  // namespace

/// Kernel and modules: the offset of "[kernel.kallsyms]_text" is the address of _text.
void Machine::apply_kernel_mmap(const MmapRecord& record, uint64_t time) {
  KernelPart part = kernel_part("[kernel.kallsyms", record.path, record.start, end_of(record));
  part.mapping.dso = dsos_.find_or_add(part.path, part.kind, true);
  Dso& dso = dsos_.edit(part.mapping.dso);
  if (!record.build_id.empty()) dso.build_id = as_text(record.build_id);
  if (part.kind == DsoKind::kKernel) {
    dso.reference_symbol = part.reference_symbol;
    dso.reference_address = RuntimeAddr(record.offset.value);
  }
  spaces_[0].memory.map(time, part.mapping.start, part.mapping.end, add_mapping(part.mapping));
}

void Machine::apply_guest_mmap(const MmapRecord& record, uint64_t time, const GuestCpu* guest) {
  // A guest's own record: of its kernel by the name that a host has for its own, of no process.
  constexpr std::string_view kOwnKernel = "[kernel.kallsyms]";
  uint32_t pid = guest != nullptr           ? guest->machine_pid
                 : record.pid == UINT32_MAX ? kAnyGuest
                                            : record.pid;
  std::string path(record.path);
  if (path.starts_with(kOwnKernel)) {
    std::string name = pid == kAnyGuest ? std::string("[guest.kernel.kallsyms]")
                                        : fmt::format("[guest.kernel.kallsyms.{}]", pid);
    path.replace(0, kOwnKernel.size(), name);
  }
  add_guest_mapping(pid, path, record.start, end_of(record), RuntimeAddr(record.offset.value),
                    time);
}

void Machine::add_guest_mapping(uint32_t pid, std::string_view path, RuntimeAddr start,
                                RuntimeAddr end, RuntimeAddr reference, uint64_t time) {
  KernelPart part = kernel_part("[guest.kernel.kallsyms", path, start, end);
  part.mapping.dso = dsos_.find_or_add_guest(part.path, part.kind, pid, true);
  if (part.kind == DsoKind::kKernel) {
    Dso& dso = dsos_.edit(part.mapping.dso);
    dso.reference_symbol = part.reference_symbol;
    dso.reference_address = reference;
  }
  guest_kernel(pid).map(time, part.mapping.start, part.mapping.end, add_mapping(part.mapping));
}

AddressSpace& Machine::guest_kernel(uint32_t pid) {
  auto [entry, added] = guest_kernels_.try_emplace(pid, SpaceId(spaces_.size()));
  if (added) spaces_.emplace_back();
  return spaces_[entry->second.index()].memory;
}

void Machine::apply_switch(const RecordView& record, const SampleLayout& layout, uint64_t time,
                           const GuestCpu& guest) {
  if ((record.misc & abi::kMiscSwitchOut) != 0) return;  // who runs next follows
  SampleId id = decode_trailing_id(record, layout);
  std::vector<TaskChange>& changes = running_[key_of(guest)];
  if (!changes.empty()) time = std::max(time, changes.back().time);
  changes.push_back({time, {guest_task(guest.guest, id.pid), guest_task(guest.guest, id.tid)}});
}

Machine::RunningTask Machine::running_on(const GuestCpu& cpu, uint64_t time) const {
  auto found = running_.find(key_of(cpu));
  if (found == running_.end()) return {};
  auto at = last_at(found->second, time);
  return at == found->second.end() ? RunningTask() : at->task;
}

SpaceId Machine::guest_kernel_space(uint32_t pid) const {
  auto found = guest_kernels_.find(pid);
  if (found == guest_kernels_.end()) found = guest_kernels_.find(kAnyGuest);
  return found == guest_kernels_.end() ? SpaceId() : found->second;
}

void Machine::apply_comm(const CommRecord& record, uint64_t time) {
  set_comm(thread_of(record.pid, record.tid), record.comm, time, record.exec);
  if (record.exec) new_space(record.pid, time, true);
}

bool Machine::apply_fork(const TaskRecord& record, uint16_t misc, uint64_t time) {
  // Nobody knows the name of a parent that has no number.
  const Thread* parent = record.ptid == 0 ? nullptr : thread(record.ptid);
  StringId inherited =
      parent != nullptr && !parent->comms.empty() ? parent->comms.back().comm : StringId();
  Thread& child = thread_of(record.pid, record.tid);
  child.pid = record.pid;
  child.ppid = record.pid == record.ppid ? child.ppid : record.ppid;
  child.parent_tid = record.ptid;
  child.exited = false;
  child.start_ns = time;
  bool is_named = !child.comms.empty();
  if (inherited.valid()) {
    set_comm(child, strings_.view(inherited), time, false);
    child.comms.back().by_fork = true;
  } else if (!is_named) {
    child.unnamed_from = time;
  } else {
    set_comm(child, fmt::format(":{}", recorded_task(record.tid)), time,
             false);  // the tid is being reused
  }

  if (record.pid == record.ppid) return true;           // a thread: same memory
  bool maps_follow = (misc & abi::kMiscForkExec) != 0;  // synthesised: mappings follow as records
  SpaceId parent_space = maps_follow ? SpaceId() : current_space(record.ppid, time);
  SpaceId space = new_space(record.pid, time);
  if (!parent_space.valid()) return true;
  const Space& original = spaces_[parent_space.index()];
  Space& copy = spaces_[space.index()];
  // A few bytes that say "fork" stand for all mappings of the parent.
  if (!copy.copies.take(sizeof record, original.memory.current_pieces() * kPieceBytes))
    return false;
  copy.memory = original.memory.current(time);
  copy.has_code = original.has_code;
  return true;
}

void Machine::apply_ksymbol(const KsymbolRecord& record, uint64_t time, const GuestCpu* guest) {
  AddressSpace& kernel = guest == nullptr ? spaces_[0].memory : guest_kernel(guest->machine_pid);
  RuntimeAddr end = record.address + record.length;
  if ((record.flags & kKsymbolUnregister) != 0) return kernel.unmap(time, record.address, end);
  Mapping mapping;
  mapping.start = record.address;
  mapping.end = end;
  mapping.offset = FileOffset(record.address.value);
  mapping.identity = true;
  DsoKind kind = record.ksym_type == kKsymbolTypeBpf ? DsoKind::kBpf : DsoKind::kModule;
  mapping.dso = guest == nullptr
                    ? dsos_.find_or_add(record.name, kind, true)
                    : dsos_.find_or_add_guest(record.name, kind, guest->machine_pid, true);
  if (Dso& dso = dsos_.edit(mapping.dso); dso.kind == DsoKind::kBpf)
    if (Dso::Program program{record.address, end};
        dso.programs.empty() || dso.programs.back() != program)
      dso.programs.push_back(program);
  kernel.map(time, mapping.start, mapping.end, add_mapping(mapping));
}

void Machine::apply_namespaces(const NamespacesRecord& record, uint64_t time) {
  NamespaceSet set{time, {}};
  for (size_t i = 0; i + 1 < record.links.size(); i += 2)
    set.links.push_back({record.links[i], record.links[i + 1]});
  thread_of(record.pid, record.tid);
  namespaces_[record.pid].push_back(std::move(set));
}

void Machine::set_comm(Thread& thread, std::string_view comm, uint64_t time, bool exec) {
  // Records come in time order; a late one must not break the order that searches rely on.
  if (!thread.comms.empty()) time = std::max(time, thread.comms.back().time);
  thread.comms.push_back({time, strings_.intern(comm), exec});
}

Machine::Thread& Machine::thread_of(uint32_t pid, uint32_t tid) {
  auto [entry, added] = threads_.try_emplace(tid);
  Thread& thread = entry.value();
  if (added) thread.pid = pid;
  return thread;
}

SpaceId Machine::current_space(uint32_t pid, uint64_t time) {
  auto found = process_spaces_.find(pid);
  if (found != process_spaces_.end() && !found->second.empty()) return found->second.back().space;
  return new_space(pid, time);
}

SpaceId Machine::new_space(uint32_t pid, uint64_t time, bool exec) {
  SpaceId id(spaces_.size());
  if (free_spaces_.empty()) {
    spaces_.emplace_back();
  } else {
    id = free_spaces_.back();
    free_spaces_.pop_back();
  }
  spaces_[id.index()].pid = pid;
  spaces_[id.index()].has_code = false;
  std::vector<SpaceChange>& changes = process_spaces_[pid];
  if (!changes.empty()) time = std::max(time, changes.back().time);
  changes.push_back({time, id, exec});
  return id;
}

MappingId Machine::add_mapping(const Mapping& mapping) {
  if (!free_mappings_.empty()) {
    MappingId id = free_mappings_.back();
    free_mappings_.pop_back();
    mappings_[id.index()] = mapping;
    return id;
  }
  mappings_.push_back(mapping);
  return MappingId(mappings_.size() - 1);
}

void Machine::set_build_id(std::string_view path, std::string_view build_id, uint16_t misc,
                           const FileIdentity& file) {
  uint16_t mode = misc & abi::kMiscCpuModeMask;
  // A guest's file is not the host's at that path.
  if (is_guest_mode(mode)) return;
  bool kernel_side = mode == abi::kMiscKernel;
  DsoKind kind = DsoKind::kFile;
  if (kernel_side)
    kind = path.starts_with("[kernel") ? DsoKind::kKernel : DsoKind::kModule;
  else
    kind = user_mapping_kind(path, false);
  if (kernel_side || kind != DsoKind::kFile)
    dsos_.edit(dsos_.find_or_add(path, kind, kernel_side)).build_id = build_id;
  else if (file.known())
    dsos_.edit(dsos_.find_or_add(path, kind, file)).build_id = build_id;
  else
    set_build_id_of_path(path, build_id);
}

void Machine::set_guest_build_id(std::string_view path, std::string_view build_id, uint32_t pid) {
  constexpr std::string_view kOwnKernel = "[kernel.kallsyms]";
  std::string name(path);
  if (path == kOwnKernel) name = fmt::format("[guest.kernel.kallsyms.{}]", pid);
  DsoId id = dsos_.find_guest(name, pid);
  if (!id.valid()) return;
  Dso& dso = dsos_.edit(id);
  // In a guest, too, there may be several files at a path: nothing says which was mapped.
  dso.is_ambiguous |= !dso.build_id.empty() && dso.build_id != build_id;
  dso.build_id = dso.is_ambiguous ? "" : build_id;
}

void Machine::set_build_id_of_path(std::string_view path, std::string_view build_id) {
  dsos_.find_or_add(path, DsoKind::kFile, false);
  auto [known, first] = build_ids_of_paths_.try_emplace(std::string(path), build_id);
  bool another = !first && known->second != build_id;
  // What was said of all files at a path is not said again: there may be very many of both.
  const Dso& last = dsos_[dsos_.last_of(path)];
  if (!first && (last.is_ambiguous || (!another && last.build_id == build_id))) return;
  std::vector<DsoId> all = dsos_.all_of(path);
  for (DsoId id : all) {
    Dso& dso = dsos_.edit(id);
    dso.is_ambiguous |= another && all.size() > 1;
    dso.build_id = dso.is_ambiguous ? "" : build_id;
  }
}

/// Keeps the first processes that map an object, and the last ones, which are likelier to be alive.
void Machine::note_process(Dso& dso, uint32_t pid) const {
  constexpr size_t kMax = 8;
  if (dso.pid == 0) dso.pid = pid;
  if (dso.kind != DsoKind::kFile || std::ranges::find(dso.pids, pid) != dso.pids.end()) return;
  if (dso.pids.size() < kMax)
    dso.pids.push_back(pid);
  else
    dso.pids.back() = pid;
  constexpr size_t kMountNamespace = 5;  // linux/perf_event.h, "NET, UTS, IPC, PID, USER, MNT …"
  if (dso.mount_namespace != 0) return;
  auto sets = namespaces_.find(pid);
  if (sets == namespaces_.end() || sets->second.empty()) return;
  const std::vector<Namespace>& links = sets->second.back().links;
  if (links.size() > kMountNamespace) dso.mount_namespace = links[kMountNamespace].inode;
}

/// Files at one path that turned out to be the same object (the same layer in two containers) are
/// merged into one DSO.
void Machine::join_same_objects() {
  if (!dsos_.any_path_twice()) return;
  std::vector<DsoId> same = dsos_.same_objects();
  for (Mapping& mapping : mappings_)
    if (mapping.dso.valid()) mapping.dso = same[mapping.dso.index()];
}

void Machine::freeze() {
  join_same_objects();
  for (Space& space : spaces_) space.memory.freeze();
}

Machine::CommAt Machine::comm_span_at(uint32_t tid, uint64_t time) const {
  CommAt answer;
  auto found = threads_.find(tid);
  if (found != threads_.end() && !found->second.comms.empty()) {
    const std::vector<CommChange>& comms = found->second.comms;
    auto at = last_at(comms, time);
    if (at != comms.end()) return {at->comm, at->time, time_of(comms, std::next(at))};
    answer.valid_to = comms.front().time;
  }
  bool is_idle = is_guest_task(tid) && recorded_task(tid) == 0;
  answer.comm = strings_.intern(
      is_idle ? "swapper" : fmt::format(":{}", static_cast<int32_t>(recorded_task(tid))));
  return answer;
}

Machine::CommAt Machine::program_at(uint32_t pid, uint64_t time) const {
  SpaceAt space = space_at(pid, time);
  if (space.space.valid() && exec_at(pid, space.valid_from))
    return {comm_at(pid, space.valid_from), space.valid_from, space.valid_to};
  CommAt name = comm_span_at(pid, time);
  // What the name is valid for may reach into the next program's time, which is named by its exec.
  name.valid_from = std::max(name.valid_from, space.valid_from);
  name.valid_to = std::min(name.valid_to, space.valid_to);
  return name;
}

Machine::CommAt Machine::late_comm_span_at(uint32_t tid, uint64_t time) const {
  CommAt answer = comm_span_at(tid, time);
  auto found = threads_.find(tid);
  if (found == threads_.end() || found->second.comms.empty()) return answer;
  const Thread& thread = found->second;
  const CommChange& first = thread.comms.front();
  if (time >= first.time || first.by_fork) return answer;
  if (time >= thread.unnamed_from) return {first.comm, thread.unnamed_from, first.time};
  answer.valid_to = std::min(answer.valid_to, thread.unnamed_from);
  return answer;
}

bool Machine::exec_at(uint32_t tid, uint64_t time) const {
  auto found = threads_.find(tid);
  if (found == threads_.end()) return false;
  auto at = last_at(found->second.comms, time);
  return at != found->second.comms.end() && at->exec;
}

Machine::SpaceAt Machine::space_at(uint32_t pid, uint64_t time) const {
  auto found = process_spaces_.find(pid);
  if (found == process_spaces_.end()) return {};
  const std::vector<SpaceChange>& changes = found->second;
  auto at = last_at(changes, time);
  SpaceAt answer;
  if (at == changes.end()) {
    if (!changes.empty()) answer.valid_to = changes.front().time;
    return answer;
  }
  answer.space = at->space;
  if (at->exec && at != changes.begin()) answer.before_exec = std::prev(at)->space;
  answer.valid_from = at->time;
  answer.valid_to = time_of(changes, std::next(at));
  return answer;
}

std::vector<std::pair<uint32_t, const Machine::Thread*>> Machine::threads() const {
  std::vector<std::pair<uint32_t, const Thread*>> all;
  all.reserve(threads_.size());
  for (const auto& [tid, thread] : threads_) all.emplace_back(tid, &thread);
  std::sort(all.begin(), all.end());
  return all;
}

const Machine::Thread* Machine::thread(uint32_t tid) const {
  auto found = threads_.find(tid);
  return found == threads_.end() ? nullptr : &found->second;
}

std::string_view Machine::cgroup_path(uint64_t id) const {
  auto found = cgroups_.find(id);
  return found == cgroups_.end() ? std::string_view() : std::string_view(found->second);
}

Machine::Namespace Machine::namespace_of(uint32_t pid, uint32_t type, uint64_t time) const {
  auto found = namespaces_.find(pid);
  if (found == namespaces_.end()) return {};
  auto at = last_at(found->second, time);
  if (at == found->second.end() || type >= at->links.size()) return {};
  return at->links[type];
}

}  // namespace sonde
