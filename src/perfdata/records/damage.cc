#include "perfdata/records/damage.h"

#include <fmt/format.h>

#include "abi/record_names.h"

namespace sonde {
namespace {

std::string reason_of(Bytes rest, uint32_t size) {
  if (size < sizeof(abi::RecordHeader))
    return fmt::format("size {} is less than that of its header", size);
  if (size > rest.size()) return fmt::format("claims {} bytes, {} remain", size, rest.size());
  return fmt::format("the data that follows it extends past the end, {} bytes on", rest.size());
}

}  // namespace

std::string damage_text(uint32_t type, uint64_t file_offset, std::string_view reason) {
  std::string_view name = abi::record_type_name(type);
  std::string record = name.empty() ? fmt::format("a record of the unknown type {}", type)
                                    : fmt::format("PERF_RECORD_{}", name);
  return fmt::format("{} at file offset {:#x}: {}", record, file_offset, reason);
}

void add_damaged(const RecordView& record, std::string_view reason, LossLedger& losses) {
  losses.add(LossKind::k_bad_record, 1, damage_text(record.type, record.file_offset, reason));
  losses.add_bytes({.damaged = record.size()});
}

std::string end_text(Bytes rest, uint64_t file_offset, ByteOrder order) {
  if (rest.size() < sizeof(abi::RecordHeader))
    return fmt::format("at file offset {:#x}", file_offset);
  auto type = load<uint32_t>(rest.data(), order);
  auto misc = load<uint16_t>(rest.data() + 4, order);
  uint32_t size = stated_record_size(type, misc, load<uint16_t>(rest.data() + 6, order));
  return damage_text(type, file_offset, reason_of(rest, size));
}

}  // namespace sonde
