#include "perfdata/text/dump_reader.h"

#include <algorithm>
#include <tuple>

#include "abi/perf_event.h"
#include "base/text.h"
#include "perfdata/text/fields.h"

namespace sonde {
namespace {

// More than could sensibly follow a record or an AUX buffer's header.
constexpr uint64_t kMaxGap = uint64_t{64} << 20;

}  // namespace

bool append_hex_line(std::string_view line, std::vector<std::byte>& bytes) {
  constexpr size_t kBytesPerLine = 16;
  constexpr std::string_view kStart = ".  ";
  if (!line.starts_with(kStart)) return false;
  line.remove_prefix(kStart.size());
  size_t colon = line.find(": ");
  if (colon == std::string_view::npos || colon < 4 || colon > 16) return false;
  if (!parse_hex(line.substr(0, colon))) return false;
  line.remove_prefix(colon + 2);
  for (size_t i = 0; i < kBytesPerLine && line.size() >= 3; ++i, line.remove_prefix(3)) {
    int high = hex_digit(line[1]), low = hex_digit(line[2]);
    if (line[0] != ' ' || high < 0 || low < 0) break;
    bytes.push_back(static_cast<std::byte>(high * 16 + low));
  }
  return true;
}

bool DumpReader::take_headline(std::string_view line) {
  constexpr std::string_view kEvent = "]: event: ";
  size_t at = line.find('@');
  size_t event = line.rfind(kEvent);
  if (at == std::string_view::npos || event == std::string_view::npos || at > event) return false;
  size_t bracket = line.rfind(" [0x", event);
  if (bracket == std::string_view::npos || bracket < at) return false;
  auto offset = parse_number(line.substr(0, at));
  auto size = parse_hex(line.substr(bracket + 2, event - bracket - 2));
  auto type = parse_number(trim(line.substr(event + kEvent.size())));
  if (!offset || !size || !type || *size > UINT32_MAX || *type > UINT32_MAX) return false;
  records_.push_back({std::string(line.substr(at + 1, bracket - at - 1)),
                      *offset,
                      static_cast<uint32_t>(*type),
                      static_cast<uint64_t>(*size),
                      records_.size(),
                      {}});
  return true;
}

void DumpReader::take_hex_line(std::string_view line) {
  Record& record = records_.back();
  // A record's hex comes first; perf's dump of the AUX data that follows looks alike.
  if (record.bytes.size() < record.size) append_hex_line(line, record.bytes);
}

ByteOrder DumpReader::order() const {
  constexpr size_t kSizeField = offsetof(abi::RecordHeader, size);
  const Record& first = records_.front();
  if (first.bytes.size() < sizeof(abi::RecordHeader)) return ByteOrder::kLittle;
  auto big = load<uint16_t>(first.bytes.data() + kSizeField, ByteOrder::kBig);
  auto little = load<uint16_t>(first.bytes.data() + kSizeField, ByteOrder::kLittle);
  return big == first.size && little != first.size ? ByteOrder::kBig : ByteOrder::kLittle;
}

void DumpReader::put_gap(const Record& record, uint64_t size, Bytes tracing_data,
                         ByteBuilder& out) const {
  if (size > kMaxGap) return;
  auto known = behind_.find(record.offset);
  Bytes bytes;
  if (known != behind_.end())
    bytes = known->second;
  else if (record.type == abi::kRecordHeaderTracingData)
    bytes = tracing_data;
  bytes = bytes.first(std::min<uint64_t>(bytes.size(), size));
  out.bytes(bytes);
  out.zeros(size - bytes.size());
}

void DumpReader::put_records(Bytes tracing_data, ByteBuilder& out) {
  // Records from the same compressed record share an offset and keep the order of the dump.
  std::ranges::sort(records_, [](const Record& a, const Record& b) {
    return std::tie(a.path, a.offset, a.arrival) < std::tie(b.path, b.offset, b.arrival);
  });
  bool expanded = std::ranges::adjacent_find(records_, [](const Record& a, const Record& b) {
                    return a.path == b.path && a.offset == b.offset;
                  }) != records_.end();
  for (size_t i = 0; i < records_.size(); ++i) {
    const Record& record = records_[i];
    out.bytes(record.bytes);
    uint64_t end = record.offset + record.bytes.size();
    bool last = i + 1 == records_.size();
    if (expanded) continue;
    if (!last && records_[i + 1].path == record.path && records_[i + 1].offset > end)
      put_gap(record, records_[i + 1].offset - end, tracing_data, out);
    auto known = behind_.find(record.offset);
    if (last && known != behind_.end()) put_gap(record, known->second.size(), {}, out);
  }
}

}  // namespace sonde
