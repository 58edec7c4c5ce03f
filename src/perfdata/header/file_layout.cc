#include "perfdata/header/file_layout.h"

#include <algorithm>

#include "perfdata/header/early_sections.h"
#include "perfdata/header/feature_encoder.h"
#include "perfdata/records/attr_codec.h"
#include "perfdata/records/user_records.h"

namespace sonde {
namespace {

constexpr uint32_t kAttrSizeVer7 = 128;

WordView words_of(const ByteBuilder& words) {
  return {words.view(), words.order()};
}

/// perf ends the features of a pipe with an empty one that has the first number it doesn't know,
/// and rejects higher ones: this is the number of perf 6.1 and its neighbours.
constexpr uint64_t kEndOfFeatures = abi::kFeaturePmuCaps + 1;

void encode_pipe_features(const Features& features, std::span<const EventDesc> events,
                          ByteBuilder& out) {
  uint32_t attr_size = stored_attr_size(events);
  for (uint32_t bit : features.present) {
    if (!feature_goes_into_pipe(bit)) continue;
    ByteBuilder content(out.order());
    if (encode_feature(bit, features, events, attr_size, content))
      encode(HeaderFeatureRecord{bit, content.view()}, out);
  }
  encode(HeaderFeatureRecord{kEndOfFeatures, {}}, out);
}

void encode_pipe_tracing_data(Bytes data, ByteBuilder& out) {
  size_t padded = (data.size() + 7) / 8 * 8;
  encode(TracingDataRecord{static_cast<uint32_t>(padded)}, out);
  out.bytes(data);
  out.zeros(padded - data.size());
}

}  // namespace

void encode_file_header(const FileLayout& header, ByteBuilder& out) {
  out.u64(kFileMagic);
  out.u64(kFileHeaderSize);
  out.u64(header.attr_size + kSectionSize);
  out.u64(header.attrs_offset);
  out.u64(header.attrs_size);
  out.u64(header.data_offset);
  out.u64(header.data_size);
  out.zeros(kSectionSize);  // event types: not used since Linux 3.3
  uint64_t bits[abi::kFeatureBits / 64] = {};
  for (uint32_t bit : header.features)
    if (bit < abi::kFeatureBits) bits[bit / 64] |= uint64_t{1} << (bit % 64);
  for (uint64_t word : bits) out.u64(word);
}

void encode_pipe_header(ByteBuilder& out) {
  out.u64(kFileMagic);
  out.u64(kPipeHeaderSize);
}

uint32_t stored_attr_size(std::span<const EventDesc> events) {
  bool beyond = std::ranges::any_of(events, [](const EventDesc& e) { return e.attr.config3 != 0; });
  return beyond ? abi::kAttrSizeVer8 : kAttrSizeVer7;
}

FileLayout encode_prologue(std::span<const EventDesc> events, uint32_t attr_size, ByteBuilder& out,
                           std::span<EncodedSection> early) {
  FileLayout header;
  header.attr_size = attr_size;
  header.attrs_offset = kFileHeaderSize;
  for (const EventDesc& event : events) header.attrs_offset += event.ids.size() * 8;
  header.attrs_size = events.size() * (attr_size + kSectionSize);
  uint64_t attrs_end = header.attrs_offset + header.attrs_size;
  ByteBuilder sections(out.order());
  encode_early_sections(early, attrs_end, sections);
  header.data_offset = attrs_end + sections.size();

  encode_file_header(header, out);
  for (const EventDesc& event : events)
    for (uint64_t id : event.ids) out.u64(id);
  uint64_t ids_offset = kFileHeaderSize;
  for (const EventDesc& event : events) {
    encode_attr(event.attr, attr_size, out);
    out.u64(ids_offset);
    out.u64(event.ids.size() * 8);
    ids_offset += event.ids.size() * 8;
  }
  out.bytes(sections.view());
  return header;
}

std::vector<EncodedSection> encode_sections(const Features& features,
                                            std::span<const EventDesc> events, uint32_t attr_size,
                                            ByteOrder order) {
  std::vector<EncodedSection> sections;
  for (uint32_t bit : features.present) {
    EncodedSection section{bit, ByteBuilder(order)};
    if (encode_feature(bit, features, events, attr_size, section.content))
      sections.push_back(std::move(section));
  }
  return sections;
}

void encode_epilogue(std::span<const EncodedSection> sections, uint64_t offset, ByteBuilder& out) {
  uint64_t at = offset + sections.size() * kSectionSize;
  for (const EncodedSection& section : sections) {
    bool is_new = section.stored_at == 0;
    out.u64(is_new ? at : section.stored_at);
    out.u64(section.content.size());
    if (is_new) at += section.content.size();
  }
  for (const EncodedSection& section : sections)
    if (section.stored_at == 0) out.bytes(section.content.view());
}

bool encode_pipe_prologue(const Features& features, std::span<const EventDesc> events,
                          ByteBuilder& out) {
  encode_pipe_header(out);
  uint32_t attr_size = stored_attr_size(events);
  for (const EventDesc& event : events) {
    ByteBuilder ids(out.order());
    for (uint64_t id : event.ids) ids.u64(id);
    abi::EventAttr attr = event.attr;
    attr.size = attr_size;
    if (!encode(HeaderAttrRecord{attr, words_of(ids)}, out)) return false;
  }
  encode_pipe_features(features, events, out);
  if (!events.empty() && !events.front().ids.empty())
    encode_interpreted_updates(features.interpreted_files, events.front().ids.front(), out);
  if (!features.tracing_data.empty()) encode_pipe_tracing_data(features.tracing_data, out);
  return true;
}

void encode_event_updates(std::span<const EventDesc> events, bool with_names, ByteBuilder& out) {
  for (const EventDesc& event : events) {
    if (event.ids.empty()) continue;
    auto put = [&](EventUpdateKind kind) {
      EventUpdateRecord update{.kind = kind, .id = event.ids.front(), .text = {}, .cpus = {}};
      update.text = kind == EventUpdateKind::kUnit ? event.unit : event.name;
      update.scale = event.scale;
      update.cpus.cpus = event.own_cpus;
      encode(update, out);
    };
    if (!event.unit.empty()) put(EventUpdateKind::kUnit);
    if (event.scale != 1.0) put(EventUpdateKind::kScale);
    if (!event.own_cpus.empty()) put(EventUpdateKind::kCpus);
    if (with_names) put(EventUpdateKind::kName);
  }
}

}  // namespace sonde
