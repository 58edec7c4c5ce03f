#include "event/pmu/attr_text.h"
#include "perfdata/dump/dump.h"
#include "perfdata/header/feature_encoder.h"
#include "perfdata/header/file_layout.h"
#include "perfdata/text/features.h"
#include "perfdata/text/fields.h"
#include "perfdata/text/format.h"

namespace sonde {
namespace {

void put_event(const EventDesc& event, Sink& out) {
  out.print("event : name = {}, id = {{", in_quotes(event.name));
  for (size_t i = 0; i < event.ids.size(); ++i) out.print("{} {}", i > 0 ? "," : "", event.ids[i]);
  out.print(" }}, {}\n", attr_line(event.attr));
}

/// The stored size of the file's own attrs, if it is the same for all.
uint32_t attr_size_of(const std::vector<EventDesc>& events) {
  if (events.empty()) return stored_attr_size(events);
  uint32_t size = events.front().attr.size;
  for (const EventDesc& event : events)
    if (event.attr.size != size) return stored_attr_size(events);
  return size;
}

/// Sections that describe how the file was stored, which does not apply to the text.
bool is_about_storage(uint32_t bit) {
  return bit == abi::kFeatureCompressed || bit == abi::kFeatureDirFormat;
}

void put_section(uint32_t bit, const Recording& recording, uint32_t attr_size, Sink& out) {
  const Features& features = recording.features();
  std::string_view name = abi::feature_name(bit);
  std::string label = name.empty() ? fmt::format("{}", bit) : std::string(name);
  StringSink text(out);
  if (put_feature(bit, features, text)) {
    out.print("feature {}:", label);
    out.write(text);
    out.put('\n');
    return;
  }
  ByteBuilder content(recording.byte_order());
  if (!encode_feature(bit, features, recording.events().all(), attr_size, content)) return;
  out.print("feature {}:\n", label);
  dump::put_hex_lines(content.view(), out);
}

void put_data_behind_records(const Recording& recording, Sink& out) {
  for (const RecordBlock& block : recording.blocks()) {
    if (block.trailing.empty()) continue;
    RecordRange range(block, recording.byte_order());
    RecordView record;
    uint64_t last = block.file_offset;
    while (range.next(record)) last = record.file_offset;
    out.print("behind {:#x}:\n", last);
    dump::put_hex_lines(block.trailing, out);
  }
}

}  // namespace

void disassemble(const Recording& recording, LossLedger& losses, Sink& out) {
  const FileFacts& facts = recording.facts();
  const std::vector<EventDesc>& events = recording.events().all();
  uint32_t attr_size = attr_size_of(events);
  out.print("order: {}\nmode: {}\n", facts.order == ByteOrder::kBig ? "big" : "little",
            facts.is_pipe ? "pipe" : "file");
  if (facts.is_pipe) {
    // Its records contain the events and features; the tracing data is between records.
    if (!recording.features().tracing_data.empty())
      put_section(abi::kFeatureTracingData, recording, attr_size, out);
  } else {
    if (facts.recorder_crashed) out.write("data size: 0\n");
    if (attr_size != 128) out.print("attr size: {}\n", attr_size);
    for (const EventDesc& event : events) put_event(event, out);
    for (uint32_t bit : recording.features().present)
      if (!is_about_storage(bit)) put_section(bit, recording, attr_size, out);
  }
  put_data_behind_records(recording, out);
  dump_recording(recording, {}, {}, losses, out);
}

}  // namespace sonde
