#include "replay/frames/run_time_addresses.h"

#include <sys/mman.h>

#include <algorithm>

namespace sonde {
namespace {

uint64_t pair_of(uint32_t high, uint32_t low) {
  return (uint64_t{high} << 32) | low;
}

}  // namespace

void ObjectPlace::Delta::add(uint64_t delta) {
  varies = varies || (is_known && delta != value);
  is_known = true;
  value = delta;
}

void ObjectPlace::add(uint64_t delta, uint64_t begin, uint64_t end, bool is_executable) {
  all_.add(delta);
  if (!is_executable) return;
  code_.add(delta);
  code_begin_ = std::min(code_begin_, begin);
  code_end_ = std::max(code_end_, end);
}

/// The linker's first mapping of a library is of all its file, at the distance of its first part;
/// where recorders note data, too, only what is executable tells where the code went.
std::optional<uint64_t> ObjectPlace::delta_of(uint64_t address) const {
  bool is_code = code_begin_ <= address && address < code_end_;
  const Delta& delta = all_.varies && is_code ? code_ : all_;
  return delta.varies ? std::nullopt : std::optional(delta.value);
}

RunTimeAddresses::RunTimeAddresses(const Machine& machine)
    : machine_(machine), kernel_(owner_of(machine.kernel_space(), SpaceId())) {}

uint32_t RunTimeAddresses::enter(uint32_t pid, uint64_t time, uint16_t cpu_mode) {
  if (cpu_mode != abi::kMiscUser && cpu_mode != abi::kMiscKernel) return kNobody;
  const Machine::SpaceAt& process = space_at(pid, time);
  return owner_of(process.space, cpu_mode == abi::kMiscKernel ? process.before_exec : SpaceId());
}

std::optional<uint64_t> RunTimeAddresses::of(const Frame& frame, uint32_t owner) {
  if (!frame.dso.valid()) return frame.address;
  if (frame.level != FrameLevel::kUser && frame.level != FrameLevel::kKernel) return std::nullopt;
  bool in_kernel = frame.level == FrameLevel::kKernel;
  auto place = places_.find(pair_of(in_kernel ? kernel_ : owner, frame.dso.value));
  if (place == places_.end()) return std::nullopt;
  std::optional<uint64_t> delta = place->second.delta_of(frame.address);
  // Boot code has the kernel's object, but was found without a mapping.
  if (!delta || (in_kernel && *delta != 0)) return std::nullopt;
  return frame.address - *delta;
}

const Machine::SpaceAt& RunTimeAddresses::space_at(uint32_t pid, uint64_t time) {
  CachedProcess& cached = processes_[pid % kProcesses];
  if (cached.pid != pid || time < cached.at.valid_from || cached.at.valid_to <= time)
    cached = {pid, machine_.space_at(pid, time)};
  return cached.at;
}

uint32_t RunTimeAddresses::owner_of(SpaceId space, SpaceId before_exec) {
  auto [known, is_new] = owners_.try_emplace(pair_of(space.value, before_exec.value),
                                             static_cast<uint32_t>(owners_.size()));
  if (is_new) {
    take(known->second, space);
    take(known->second, before_exec);
  }
  return known->second;
}

void RunTimeAddresses::take(uint32_t owner, SpaceId space) {
  if (!space.valid()) return;
  for (const AddressSpace::Piece& piece : machine_.space(space).pieces()) {
    const Mapping& mapping = machine_.mapping(piece.mapping);
    uint64_t begin = mapping.to_object(piece.start);
    uint64_t delta = begin - piece.start.value;
    places_[pair_of(owner, mapping.dso.value)].add(delta, begin, begin + (piece.end - piece.start),
                                                   (mapping.protection & PROT_EXEC) != 0);
  }
}

}  // namespace sonde
