#include "base/bytes.h"
#include "capture/unwinding/interpreters/code_lines.h"

namespace sonde {
namespace {

constexpr uint32_t kUnitBytes = 2;  // an instruction and its argument

/// Six bits per byte, least significant first; bit 6 says that more follow.
uint64_t read_varint(ByteCursor& in) {
  constexpr uint32_t kPayloadBits = 6;
  uint64_t value = 0;
  for (uint32_t shift = 0; shift < 64 && in.ok(); shift += kPayloadBits) {
    uint8_t byte = in.u8();
    value |= uint64_t{byte & 0x3fu} << shift;
    if ((byte & 0x40) == 0) break;
  }
  return value;
}

/// The sign is the lowest bit.
int64_t read_signed_varint(ByteCursor& in) {
  uint64_t value = read_varint(in);
  auto magnitude = static_cast<int64_t>(value >> 1);
  return (value & 1) != 0 ? -magnitude : magnitude;
}

/// Bits 3 to 6 of an entry's first byte. Numbers below kOneLine: the same line, one more byte.
enum EntryKind : uint8_t { kOneLine = 10, kNoColumns = 13, kLong = 14, kNoLocation = 15 };

/// Reads what follows an entry's first byte; returns by how much the line differs.
int64_t read_entry(uint8_t kind, ByteCursor& in) {
  if (kind < kOneLine) {
    in.skip(1);
    return 0;
  }
  if (kind < kNoColumns) {
    in.skip(2);
    return kind - kOneLine;
  }
  if (kind == kNoLocation) return 0;
  int64_t difference = read_signed_varint(in);
  if (kind == kLong)
    for (int i = 0; i < 3; ++i) (void)read_varint(in);  // end line, columns
  return difference;
}

}  // namespace

void CodeLines::read_locations(Bytes table) {
  ByteCursor in(table);
  uint32_t end = 0;
  int64_t line = lowest_;
  while (in.left() > 0) {
    uint8_t first = in.u8();
    if ((first & 0x80) == 0) break;
    auto kind = static_cast<uint8_t>(first >> 3 & 15);
    int64_t difference = read_entry(kind, in);
    if (!in.ok() || difference < -INT32_MAX || difference > INT32_MAX) break;
    line += difference;
    if (line < 0 || line > INT32_MAX) break;
    end += (first & 7u) + 1;
    add(end, line, kind != kNoLocation);
  }
}

void CodeLines::read_ranges(Bytes table) {
  constexpr int8_t kNoLine = -128;
  ByteCursor in(table);
  uint32_t end_bytes = 0;
  int64_t line = lowest_;
  while (in.left() >= 2) {
    uint8_t bytes = in.u8();
    auto difference = static_cast<int8_t>(in.u8());
    if (difference != kNoLine) line += difference;
    if (line < 0 || line > INT32_MAX) break;
    end_bytes += bytes;
    if (bytes > 0) add(end_bytes / kUnitBytes, line, difference != kNoLine);
  }
}

/// The last line goes on to the end of the code, which is not in the table.
void CodeLines::read_line_starts(Bytes table, bool is_cut) {
  ByteCursor in(table);
  uint32_t end_bytes = 0;
  int64_t line = lowest_;
  while (in.left() >= 2) {
    uint8_t bytes = in.u8();
    end_bytes += bytes;
    if (bytes > 0) add(end_bytes / kUnitBytes, line, true);
    line += static_cast<int8_t>(in.u8());
    if (line < 0 || line > INT32_MAX) return;
  }
  if (!is_cut) add(UINT32_MAX, line, true);
}

}  // namespace sonde
