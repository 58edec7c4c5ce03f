#include "profile/addressed_paths.h"

#include <algorithm>

namespace sonde {

AddressedPaths::AddressedPaths(const ProfileInput& input, PathFrames& frames,
                               const RetainedPaths& kept)
    : input_(input), frames_(frames), kept_(kept) {
  if (const Machine* machine = input.details.machine_of_chains()) places_.emplace(*machine);
}

uint32_t AddressedPaths::owner_of(uint32_t sample) {
  const SampleColumns& samples = input_.samples;
  if (!places_ || was_copied(sample)) return kNobody;
  return places_->enter(samples.pid[sample], samples.time[sample], samples.cpu_mode[sample]);
}

std::span<const FrameId> AddressedPaths::steps(RowReader& reader, ChainId chain, uint32_t& owner) {
  if (owner != kNobody && place_steps(chain, owner)) return path_;
  owner = kNobody;
  read_steps(reader, chain);
  return path_;
}

/// False if a frame's address cannot be told.
bool AddressedPaths::place_steps(ChainId chain, uint32_t owner) {
  path_.clear();
  for (FrameId id : kept_.frames(chain)) {
    std::optional<FrameId> step = frames_.known_step_of(id, owner);
    if (!step) {
      std::optional<uint64_t> ip = places_->of(input_.frame(id), owner);
      if (!ip) return false;
      step = frames_.step_of({id, *ip}, owner);
    }
    path_.push_back(*step);
  }
  return true;
}

void AddressedPaths::read_steps(RowReader& reader, ChainId chain) {
  path_.clear();
  std::span<const FrameId> frames = input_.chains[chain];
  std::span<const FrameId> kept = kept_.frames(chain);
  auto first = static_cast<size_t>(kept.data() - frames.data());
  addresses_.clear();
  if (record_has_addresses(reader.sample(), frames.first(first + kept.size())))
    input_.details.chain_addresses(reader.details(), reader.sample(), addresses_);
  size_t known = 0;
  for (size_t at = 0; at < first + kept.size(); ++at) {
    // Frames beyond the recorded ones were unwound: their addresses are offsets in the object.
    uint64_t ip = known < addresses_.size() ? addresses_[known] : input_.frame(frames[at]).address;
    // Frames of inlined functions precede the recorded frame.
    if (known < addresses_.size() && !InlinedSymbols::has(input_.frame(frames[at]).symbol)) ++known;
    if (at >= first) path_.push_back(frames_.step_of(CodePlace{frames[at], ip}));
  }
}

/// Whether the record has the addresses of those frames for which they matter. For chains from
/// copied stacks it only has the kernel's, which nearly always have symbols, and the record is not
/// in any cache.
bool AddressedPaths::record_has_addresses(uint32_t sample, std::span<const FrameId> frames) const {
  if (!was_copied(sample)) return true;
  return std::ranges::any_of(frames, [&](FrameId id) {
    const Frame& frame = input_.frame(id);
    return frame.level != FrameLevel::kUser && frames_.needs_address(frame);
  });
}

std::span<const FrameId> AddressedPaths::keep(std::span<const FrameId> path) {
  if (path.empty()) return {};
  if (blocks_.empty() || blocks_.back().capacity() - blocks_.back().size() < path.size())
    blocks_.emplace_back().reserve(std::max(kBlock, path.size()));
  LargeVector<FrameId>& block = blocks_.back();
  block.insert(block.end(), path.begin(), path.end());
  return std::span(block).last(path.size());
}

}  // namespace sonde
