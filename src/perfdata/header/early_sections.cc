#include "perfdata/header/early_sections.h"

#include <algorithm>

namespace sonde {
namespace {

constexpr uint64_t kEarlyMagic = 0x43455345444e4f53;  // "SONDESEC"
constexpr uint64_t kEarlyEntrySize = 24;
constexpr uint64_t kEarlyHeadSize = 16;
constexpr uint64_t kRecordAlignment = 8;  // of records

}  // namespace

void encode_early_sections(std::span<EncodedSection> sections, uint64_t offset, ByteBuilder& out) {
  if (sections.empty()) return;
  uint64_t at = offset + kEarlyHeadSize + sections.size() * kEarlyEntrySize;
  out.u64(kEarlyMagic);
  out.u64(sections.size());
  for (EncodedSection& section : sections) {
    section.stored_at = at;
    out.u64(section.bit);
    out.u64(at);
    out.u64(section.content.size());
    at += section.content.size();
  }
  for (const EncodedSection& section : sections) out.bytes(section.content.view());
  out.zeros((kRecordAlignment - at % kRecordAlignment) % kRecordAlignment);
}

std::vector<FeatureTable::Entry> read_early_sections(const FileHeader& header, Bytes file) {
  uint64_t end = std::min<uint64_t>(header.data.offset, file.size());
  Bytes front = file.first(end);
  if (header.attrs.offset > end || header.attrs.size > end - header.attrs.offset) return {};
  ByteCursor in(front.subspan(header.attrs.offset + header.attrs.size), header.order);
  if (in.u64() != kEarlyMagic || !in.ok()) return {};
  uint64_t count = in.u64();
  if (!in.ok() || !in.fits(count, kEarlyEntrySize)) return {};
  std::vector<FeatureTable::Entry> entries;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t bit = in.u64(), at = in.u64(), size = in.u64();
    bool is_next = entries.empty() || bit > entries.back().bit;
    if (!is_next || bit >= abi::kFeatureBits || at > end || size > end - at) return {};
    entries.push_back({static_cast<uint32_t>(bit), {at, size}});
  }
  return entries;
}

}  // namespace sonde
