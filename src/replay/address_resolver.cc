#include "replay/address_resolver.h"

namespace sonde {
namespace {

FrameLevel level_of(uint16_t cpu_mode) {
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

}  // namespace

Place locate(const Machine& machine, SpaceId space, uint64_t time, uint64_t address,
             uint16_t cpu_mode, AddressSpace::Found* span) {
  Place place{DsoId(), address, level_of(cpu_mode)};
  if (cpu_mode == abi::kMiscKernel)
    space = machine.kernel_space();
  else if (cpu_mode != abi::kMiscUser)
    return place;
  if (!space.valid()) return place;
  AddressSpace::Found found = machine.space(space).find(RuntimeAddr(address), time);
  if (span != nullptr) *span = found;
  if (!found.mapping.valid()) return place;
  const Mapping& mapping = machine.mapping(found.mapping);
  place.dso = mapping.dso;
  place.address = mapping.to_object(RuntimeAddr(address));
  return place;
}

AddressResolver::AddressResolver(const Machine& machine, FrameTable& frames)
    : machine_(machine), frames_(frames), addresses_(kAddressSlots), comms_(kCommSlots) {}

void AddressResolver::enter(uint32_t pid, uint64_t time, uint16_t cpu_mode) {
  time_ = time;
  if (pid != pid_ || time < process_.valid_from || process_.valid_to <= time) {
    pid_ = pid;
    process_ = machine_.space_at(pid, time);
  }
  may_be_execve_ = cpu_mode == abi::kMiscKernel && process_.before_exec.valid();
}

FrameId AddressResolver::resolve(uint64_t address, uint16_t cpu_mode) {
  constexpr uint16_t kExecve = 0x100;  // such answers hold for chains of execve only
  bool user = cpu_mode == abi::kMiscUser;
  uint32_t space = user ? process_.space.value : 0;
  uint16_t mode = user && may_be_execve_ ? cpu_mode | kExecve : cpu_mode;
  uint64_t hash = (address ^ (uint64_t{space} << 40) ^ mode) * 0x9e3779b97f4a7c15u;
  CachedAddress& cached = addresses_[hash >> 50];
  static_assert(kAddressSlots == size_t{1} << (64 - 50));
  if (cached.address == address && cached.space == space && cached.mode == mode &&
      cached.from <= time_ && time_ < cached.to)
    return cached.frame;
  AddressSpace::Found span;
  Place place = locate(machine_, process_.space, time_, address, cpu_mode, &span);
  if (!place.dso.valid() && user && may_be_execve_ && process_.valid_from > 0)
    place = locate(machine_, process_.before_exec, process_.valid_from - 1, address, cpu_mode);
  FrameId frame = frames_.intern(place.dso, place.address, place.level);
  cached = {address, span.valid_from, span.valid_to, space, mode, frame};
  return frame;
}

StringId AddressResolver::comm(uint32_t tid, uint64_t time) {
  CachedComm& cached = comms_[tid % kCommSlots];
  if (cached.tid == tid && cached.from <= time && time < cached.to) return cached.comm;
  Machine::CommAt at = machine_.comm_span_at(tid, time);
  cached = {tid, at.valid_from, at.valid_to, at.comm};
  return at.comm;
}

}  // namespace sonde
