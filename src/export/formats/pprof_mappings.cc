#include "export/formats/pprof_mappings.h"

#include <algorithm>

namespace sonde {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kFirstStart = 0x10000;
/// No file is that large, and no code runs at such low addresses.
constexpr uint64_t kEndOfFiles = uint64_t{1} << 32;

}  // namespace

PprofMappings::PprofMappings(const StackProfile& profile) {
  for (const StackFrame& frame : profile.frames) {
    if (!frame.object.valid()) continue;
    auto [entry, is_new] =
        mapping_of_.try_emplace(frame.object.value, static_cast<uint32_t>(mappings_.size()));
    if (is_new)
      mappings_.push_back({.id = entry->second + 1, .object = frame.object, .start = UINT64_MAX});
    PprofMapping& mapping = mappings_[entry->second];
    if (frame.address == 0) continue;
    mapping.start = std::min(mapping.start, frame.address / kPage * kPage);
    mapping.limit = std::max(mapping.limit, frame.address / kPage * kPage + kPage);
  }
  for (PprofMapping& mapping : mappings_)
    if (mapping.limit == 0) mapping.start = 0;
  put_files_in_a_row();
}

void PprofMappings::put_files_in_a_row() {
  shift_.resize(mappings_.size());
  uint64_t next = kFirstStart;
  for (size_t i = 0; i < mappings_.size(); ++i) {
    PprofMapping& mapping = mappings_[i];
    if (mapping.limit == 0 || mapping.limit > kEndOfFiles) continue;
    shift_[i] = next;
    mapping.start = next;
    mapping.limit += next;
    next = mapping.limit + kPage;
  }
}

PprofPlace PprofMappings::place_of(const StackFrame& frame) const {
  auto found = mapping_of_.find(frame.object.value);
  if (!frame.object.valid() || found == mapping_of_.end()) return {};
  const PprofMapping& mapping = mappings_[found->second];
  return {mapping.id, frame.address == 0 ? 0 : frame.address + shift_[found->second]};
}

}  // namespace sonde
