#include "replay/frames/address_resolver.h"

#include "replay/frames/code_space.h"

namespace sonde {

namespace {

/// `space` is where to look.
Place locate_in(const Machine& machine, SpaceId space, uint64_t time, uint64_t address,
                uint16_t cpu_mode, AddressSpace::Found* span) {
  Place place{DsoId(), address, level_of(cpu_mode)};
  if (!space.valid()) return place;
  AddressSpace::Found found = machine.space(space).find(RuntimeAddr(address), time);
  if (span != nullptr) *span = found;
  if (!found.mapping.valid()) return place;
  const Mapping& mapping = machine.mapping(found.mapping);
  place.dso = mapping.dso;
  place.address = mapping.to_object(RuntimeAddr(address));
  return place;
}

}  // namespace

Place locate(const Machine& machine, SpaceId space, uint64_t time, uint64_t address,
             uint16_t cpu_mode, AddressSpace::Found* span) {
  if (cpu_mode == abi::kMiscKernel)
    space = machine.kernel_space();
  else if (cpu_mode != abi::kMiscUser)
    space = SpaceId();
  return locate_in(machine, space, time, address, cpu_mode, span);
}

Place locate_guest(const Machine& machine, uint32_t pid, uint64_t time, uint64_t address,
                   uint16_t cpu_mode) {
  // Call chains of guests' own samples say "user" and "kernel", as they were recorded in the guest.
  if (is_guest_task(pid) && !is_guest_mode(cpu_mode))
    cpu_mode = cpu_mode == abi::kMiscUser ? abi::kMiscGuestUser : abi::kMiscGuestKernel;
  Place place =
      locate_in(machine, space_of(machine, pid, time, cpu_mode), time, address, cpu_mode, nullptr);
  bool is_process_code = machine.has_guest_code() && cpu_mode == abi::kMiscGuestKernel;
  if (!place.dso.valid() && is_process_code)
    place = locate_in(machine, machine.space_at(pid, time).space, time, address, cpu_mode, nullptr);
  return place;
}

BootCode BootCode::of(const Machine& machine) {
  DsoId kernel = machine.dsos().find("[kernel.kallsyms]");
  if (!kernel.valid()) return {};
  constexpr uint64_t kAtEnd = UINT64_MAX - 1;
  constexpr uint64_t kMostAfter = uint64_t{64} << 20;
  // x86-64 (Documentation/arch/x86/x86_64/mm.rst): modules begin here at the latest.
  constexpr uint64_t kModules = 0xffffffffc0000000;
  AddressSpace::Found text =
      machine.space(machine.kernel_space()).find(machine.dsos()[kernel].reference_address, kAtEnd);
  if (!text.mapping.valid()) return {};
  uint64_t begin = machine.mapping(text.mapping).end.value;
  uint64_t end = begin > UINT64_MAX - kMostAfter ? UINT64_MAX : begin + kMostAfter;
  return {kernel, begin, begin < kModules ? std::min(end, kModules) : end};
}

AddressResolver::AddressResolver(const Machine& machine, FrameTable& frames, bool merge_unmapped,
                                 bool late_names)
    : machine_(machine),
      frames_(frames),
      merge_unmapped_(merge_unmapped),
      late_names_(late_names),
      comms_(kCommSlots) {}

FrameId AddressResolver::resolve_elsewhere(uint64_t address, uint16_t cpu_mode) {
  if (address == previous_.address && cpu_mode == previous_.cpu_mode) return previous_.frame;
  previous_ = {address, cpu_mode, resolve_anew(address, cpu_mode)};
  return previous_.frame;
}

FrameId AddressResolver::resolve_anew(uint64_t address, uint16_t cpu_mode) {
  bool user = cpu_mode == abi::kMiscUser;
  if (is_in_guest(cpu_mode)) {
    Place place = place_in_guest(address, cpu_mode);
    return frames_.intern(place.dso, place.address, place.level);
  }
  SpaceId space = space_of(cpu_mode);
  CachedMapping& cached = slot_of(space, address);
  if (holds(cached, space, address) && !may_be_elsewhere(cached, user)) [[likely]] {
    if (cached.region == nullptr)
      return intern(
          {cached.dso, address + cached.delta, user ? FrameLevel::kUser : FrameLevel::kKernel});
    here_ = {cached.start, cached.end - cached.start, cached.delta, cached.region, cpu_mode};
    return frames_.intern(*cached.region, address + cached.delta);
  }
  return intern(locate_and_cache(space, address, cpu_mode, cached));
}

Place AddressResolver::locate_and_cache(SpaceId space, uint64_t address, uint16_t cpu_mode,
                                        CachedMapping& cached) {
  AddressSpace::Found span;
  Place place = locate_in(machine_, space, time_, address, cpu_mode, &span);
  if (span.mapping.valid()) {
    uint64_t delta = place.address - address;
    FrameRegion* region = frames_.region_of(place.dso, place.address, place.level);
    if (span.end.value - span.start.value > UINT32_MAX ||
        region != frames_.region_of(place.dso, span.start.value + delta, place.level) ||
        region != frames_.region_of(place.dso, span.end.value - 1 + delta, place.level))
      region = nullptr;
    cached = {span.start.value, span.end.value, span.valid_from, span.valid_to, delta,
              space.value,      place.dso,      region};
  } else if (span.start < span.end) {
    // Code without frame pointers leaves chains full of what are no addresses of code.
    cached = {span.start.value, span.end.value, span.valid_from, span.valid_to, 0,
              space.value,      DsoId(),        nullptr};
  }
  if (!place.dso.valid() && cpu_mode == abi::kMiscUser && may_be_execve_ && process_.valid_from > 0)
    place = locate_in(machine_, process_.before_exec, process_.valid_from - 1, address, cpu_mode,
                      nullptr);
  if (place.dso.valid()) note_object(place.dso);
  return place;
}

Place AddressResolver::place_in_guest(uint64_t address, uint16_t cpu_mode) {
  Place place = locate_guest(machine_, pid_, time_, address, cpu_mode);
  if (place.dso.valid()) note_object(place.dso);
  return place;
}

void AddressResolver::note_object(DsoId dso) {
  if (objects_found_.size() <= dso.index()) objects_found_.resize(machine_.dsos().size());
  objects_found_[dso.index()] = 1;
}

void AddressResolver::machine_changed() {
  mappings_.fill({});
  here_ = {};
  pid_ = UINT32_MAX;
  process_ = {SpaceId(), SpaceId(), 1, 0};
}

StringId AddressResolver::comm(uint32_t tid, uint64_t time) {
  CachedComm& cached = comms_[tid % kCommSlots];
  if (cached.tid == tid && cached.from <= time && time < cached.to) return cached.comm;
  Machine::CommAt at =
      late_names_ ? machine_.late_comm_span_at(tid, time) : machine_.comm_span_at(tid, time);
  cached = {tid, at.valid_from, at.valid_to, at.comm};
  return at.comm;
}

}  // namespace sonde
