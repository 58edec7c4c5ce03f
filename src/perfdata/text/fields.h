// The "name=value" fields of one line of the text format.
//
//   Fields fields = TRY(Fields::parse("pid=1 comm=\"bash\" exec"));
//   uint32_t pid = fields.u32("pid");
//   bool exec = fields.flag("exec");
//   TRY(fields.finish());   // an unknown field, or a value that is no number
//
// Like ByteCursor, it does not return errors per field: absent or malformed ones read as the
// default.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "perfdata/records/sample.h"

namespace sonde {

/// The value of a hexadecimal digit; -1 for any other character.
[[nodiscard]] int hex_digit(char c);

class Fields {
 public:
  static Result<Fields> parse(std::string_view line);

  [[nodiscard]] bool has(std::string_view name) const;
  uint64_t u64(std::string_view name, uint64_t fallback = 0);
  uint32_t u32(std::string_view name, uint32_t fallback = 0) {
    return static_cast<uint32_t>(u64(name, fallback));
  }
  uint16_t u16(std::string_view name, uint16_t fallback = 0) {
    return static_cast<uint16_t>(u64(name, fallback));
  }
  double real(std::string_view name, double fallback);
  bool flag(std::string_view name);
  /// Views live as long as the Fields.
  std::string_view text(std::string_view name);
  Bytes bytes(std::string_view name);
  /// Numbers, or names of call-chain contexts, separated by commas.
  WordView words(std::string_view name);
  std::vector<std::string_view> list(std::string_view name);

  /// The first error, or a field that nobody read.
  [[nodiscard]] Result<> finish() const;

 private:
  struct Field {
    std::string name, value;
    bool has_value = false;
    bool used = false;
  };
  Field* use(std::string_view name);
  uint64_t number(const Field& field, std::string_view text);
  void complain(const Field& field, std::string_view wanted);

  std::vector<Field> fields_;
  std::deque<ByteBuilder> store_;
  std::string wrong_;
};

/// Takes a quoted string off the front of `text` and unescapes it.
Result<std::string> take_quoted(std::string_view& text);
/// The inverse: adds quotes, and escapes where needed.
std::string in_quotes(std::string_view text);
/// "00 11ff" as bytes; blanks between bytes are ignored.
std::optional<std::vector<std::byte>> parse_hex_bytes(std::string_view text);
/// Decimal, 0x…, and negative numbers as their 64-bit two's complement.
std::optional<uint64_t> parse_signed_number(std::string_view text);

}  // namespace sonde
