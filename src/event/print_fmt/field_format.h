// Values of tracepoint fields from the raw data of a sample, and their plain text: what `perf
// report -s event.field` and the dump of events without a usable print format show.
//
// Raw data is untrusted: a field that is not inside it reads as absent, a dynamic array is
// truncated at its end.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "event/print_fmt/tracepoint_format.h"

namespace sonde {

/// An integer of 1, 2, 4 or 8 bytes, sign-extended if the field is signed (to be read as int64_t
/// then) and zero-extended otherwise. Absent for arrays, other sizes, and data that is too short.
std::optional<uint64_t> field_number(const TracepointField& field, Bytes raw, ByteOrder order);

/// The bytes of a field: those of the array that a dynamic field points to, or the field's own.
Bytes field_bytes(const TracepointField& field, Bytes raw, ByteOrder order);

/// The text in a character array, fixed or dynamic, up to its NUL. Absent for other fields.
std::optional<std::string_view> field_string(const TracepointField& field, Bytes raw,
                                             ByteOrder order);

/// Appends a value as `perf report -s event.field/raw` prints it: numbers according to their sign,
/// pointers and unsigned longs in hex, printable character arrays as text, every other array as
/// "ARRAY[0a, 1b]".
void append_field(const TracepointField& field, Bytes raw, ByteOrder order, std::string& out);

/// The word after "name=" in the text of an event, which `perf report -s event.field` prefers to
/// the raw value.
std::optional<std::string_view> field_in_text(std::string_view name, std::string_view text);

/// Appends " name=value" for each of the event's own fields.
void append_all_fields(const TracepointFormat& format, Bytes raw, ByteOrder order,
                       std::string& out);

}  // namespace sonde
