#include "script/trace_event_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>

#include "perfdata/records/trace_events.h"
#include "perfdata/records/trace_flags.h"

namespace sonde::script {
namespace {

/// The characters of a number that consists of nothing else, the lowest byte first.
std::string characters_of(uint64_t value) {
  std::string text;
  for (; value != 0; value >>= 8) {
    auto byte = static_cast<unsigned char>(value);
    if (std::isprint(byte) == 0 || byte >= 0x80) return {};
    text += static_cast<char>(byte);
  }
  return text;
}

std::string_view control_flow_name(uint32_t type) {
  static constexpr std::array<std::string_view, 11> kNames = {
      "",     "INTR",    "IRET",   "SMI",         "RSM",     "SIPI",
      "INIT", "VMENTRY", "VMEXIT", "VMEXIT_INTR", "SHUTDOWN"};
  return type < kNames.size() ? kNames[type] : std::string_view();
}

std::string control_flow_text(uint32_t flags, Bytes raw, ByteOrder order) {
  static constexpr std::array<std::string_view, 3> kData = {"PFA", "VMXQ", "VMXR"};
  std::string name(control_flow_name(flags & 0x1f));
  if (name.empty()) name = fmt::format("{}", flags & 0x1f);
  std::string text =
      fmt::format(" cfe: {} IP: {} vector: {}", name, flags >> 7 & 1, flags >> 8 & 0xff);
  for (size_t i = 0; i < flags >> 16; ++i) {
    auto datum = trace_event_datum_of(raw, i, order);
    if (!datum) break;
    unsigned type = datum->type & 0x3f;
    std::string title =
        type < kData.size() ? std::string(kData[type]) : fmt::format("EVD_{}", type);
    text += fmt::format(" {}: {}", title,
                        datum->payload == 0 ? "0" : fmt::format("{:#x}", datum->payload));
  }
  return text;
}

std::string text_of(TraceEventKind kind, const TraceEventData& data) {
  auto bits = [&](unsigned from, unsigned count) {
    return data.value >> from & ((uint64_t{1} << count) - 1);
  };
  // printf has no prefix for 0.
  auto hex = [](uint64_t value) { return value == 0 ? "0" : fmt::format("{:#x}", value); };
  switch (kind) {
    case TraceEventKind::kPtWrite:
      return fmt::format(" IP: {} payload: {} {} ", data.flags & 1, hex(data.value),
                         characters_of(data.value));
    case TraceEventKind::kMwait:
      return fmt::format(" hints: {} extensions: {} ", hex(bits(0, 8)), hex(bits(32, 2)));
    case TraceEventKind::kPwre:
      return fmt::format(" hw: {} cstate: {} sub-cstate: {} ", bits(7, 1), bits(12, 4), bits(8, 4));
    case TraceEventKind::kExStop:
      return fmt::format(" IP: {} ", data.flags & 1);
    case TraceEventKind::kPwrx:
      return fmt::format(" deepest cstate: {} last cstate: {} wake reason: {} ", bits(0, 4),
                         bits(4, 4), hex(bits(8, 4)));
    case TraceEventKind::kCbr: {
      uint32_t ratio = data.flags & 0xff, base = data.flags >> 16 & 0xff;
      uint64_t megahertz = (bits(0, 32) + 500) / 1000;
      uint32_t percent = base == 0 ? 0 : (5 + 1000 * ratio / base) / 10;
      return fmt::format(" cbr: {:2} freq: {:4} MHz ({:3}%) ", ratio, megahertz, percent);
    }
    case TraceEventKind::kPsb:
      return fmt::format(" psb offs: {} ", hex(data.value));
    case TraceEventKind::kInterruptFlag:
      return fmt::format(" IFLAG: {}->{} {} branch ", ~data.flags & 1, data.flags & 1,
                         (data.flags & 2) != 0 ? "via" : "non");
    case TraceEventKind::kEvt:
      break;
  }
  return {};
}

}  // namespace

void append_trace_event_text(uint64_t kind, Bytes raw, ByteOrder order, std::string& out) {
  constexpr size_t kWidth = 34;
  if (kind >= kTraceEventKinds) return;
  auto known = static_cast<TraceEventKind>(kind);
  if (auto data = trace_event_of(known, raw, order))
    fmt::format_to(std::back_inserter(out), "{:<{}}",
                   known == TraceEventKind::kEvt ? control_flow_text(data->flags, raw, order)
                                                 : text_of(known, *data),
                   kWidth);
}

void append_ipc(const RecordView& record, std::string& out) {
  auto details = trace_details_of(record);
  if (!details || details->cycles == 0) return;
  uint64_t hundredths = uint64_t{details->instructions} * 100 / details->cycles;
  fmt::format_to(std::back_inserter(out), " \t IPC: {}.{:02} ({}/{}) ", hundredths / 100,
                 hundredths % 100, details->instructions, details->cycles);
}

}  // namespace sonde::script
