#include "replay/frames/run_time_addresses.h"

namespace sonde {
namespace {

uint64_t pair_of(uint32_t high, uint32_t low) {
  return (uint64_t{high} << 32) | low;
}

}  // namespace

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
  auto delta = deltas_.find(pair_of(in_kernel ? kernel_ : owner, frame.dso.value));
  if (delta == deltas_.end() || !delta->second) return std::nullopt;
  // Boot code has the kernel's object, but was found without a mapping.
  if (in_kernel && *delta->second != 0) return std::nullopt;
  return frame.address - *delta->second;
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
    uint64_t delta = mapping.to_object(piece.start) - piece.start.value;
    auto [known, is_new] = deltas_.try_emplace(pair_of(owner, mapping.dso.value), delta);
    if (!is_new && known->second != delta) known.value() = std::nullopt;
  }
}

}  // namespace sonde
