#include "probe/usdt/fetch_argument.h"

#include <elf.h>
#include <fmt/format.h>

#include <charconv>

#include "base/text.h"

namespace sonde {
namespace {

struct Operand {
  std::string type;  // ":s32"; empty if the note gives no size
  std::string_view where;
};

/// "-4@%ebx"; a size followed by f is a floating-point number.
std::optional<Operand> parse_operand(std::string_view text) {
  size_t at = text.find('@');
  if (at == std::string_view::npos) return Operand{"", text};
  std::string_view size = text.substr(0, at);
  bool is_signed = size.starts_with('-');
  if (is_signed) size.remove_prefix(1);
  std::optional<uint64_t> bytes = parse_number(size);
  if (!bytes || (*bytes != 1 && *bytes != 2 && *bytes != 4 && *bytes != 8)) return std::nullopt;
  return Operand{fmt::format(":{}{}", is_signed ? 's' : 'u', *bytes * 8), text.substr(at + 1)};
}

/// A complete signed decimal or 0x number.
std::optional<int64_t> parse_signed(std::string_view text) {
  bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  std::optional<uint64_t> number = parse_number(text);
  if (!number || *number > uint64_t{1} << 62) return std::nullopt;
  auto value = static_cast<int64_t>(*number);
  return negative ? -value : value;
}

/// "%bx" for any of the names that AT&T syntax has for that register; the upper bytes (%ah) and
/// vector registers cannot be fetched.
std::optional<std::string> x86_register(std::string_view name) {
  if (!name.starts_with('%')) return std::nullopt;
  name.remove_prefix(1);
  if (name.size() >= 2 && name[0] == 'r' && name[1] >= '0' && name[1] <= '9') {
    std::string_view digits = name.substr(1);
    if (!digits.empty() && (digits.back() == 'd' || digits.back() == 'w' || digits.back() == 'b'))
      digits.remove_suffix(1);
    std::optional<uint64_t> number = parse_number(digits);
    if (!number || *number < 8 || *number > 15) return std::nullopt;
    return fmt::format("%r{}", *number);
  }
  if (name.size() == 3 && (name[0] == 'r' || name[0] == 'e')) name.remove_prefix(1);
  for (std::string_view letter : {"a", "b", "c", "d"})
    if (name == fmt::format("{}x", letter) || name == fmt::format("{}l", letter))
      return fmt::format("%{}x", letter);
  for (std::string_view pointer : {"si", "di", "bp", "sp"})
    if (name == pointer || name == fmt::format("{}l", pointer)) return fmt::format("%{}", pointer);
  return std::nullopt;
}

std::string in_memory(int64_t displacement, std::string_view base) {
  return fmt::format("{:+}({})", displacement, base);
}

/// %reg, $number, displacement(%reg)
std::optional<std::string> x86_place(std::string_view where) {
  if (where.starts_with('$')) {
    std::optional<int64_t> value = parse_signed(where.substr(1));
    return value ? std::optional(fmt::format("\\{}", *value)) : std::nullopt;
  }
  size_t open = where.find('(');
  if (open == std::string_view::npos) return x86_register(where);
  if (!where.ends_with(')')) return std::nullopt;
  std::optional<std::string> base = x86_register(where.substr(open + 1, where.size() - open - 2));
  std::optional<int64_t> displacement = open == 0 ? 0 : parse_signed(where.substr(0, open));
  if (!base || !displacement) return std::nullopt;
  return in_memory(*displacement, *base);
}

/// "x3", "w3" (its lower half) or "sp".
std::optional<std::string> arm64_register(std::string_view name) {
  if (name == "sp") return "%sp";
  if (!name.starts_with('x') && !name.starts_with('w')) return std::nullopt;
  std::optional<uint64_t> number = parse_number(name.substr(1));
  if (!number || *number > 30) return std::nullopt;
  return fmt::format("%x{}", *number);
}

/// xN, number, [base], [base, displacement]
std::optional<std::string> arm64_place(std::string_view where) {
  if (std::optional<int64_t> value = parse_signed(where)) return fmt::format("\\{}", *value);
  if (!where.starts_with('[')) return arm64_register(where);
  if (!where.ends_with(']')) return std::nullopt;
  where = where.substr(1, where.size() - 2);
  size_t comma = where.find(',');
  std::optional<std::string> base = arm64_register(trim(where.substr(0, comma)));
  std::optional<int64_t> displacement = 0;
  if (comma != std::string_view::npos) displacement = parse_signed(trim(where.substr(comma + 1)));
  if (!base || !displacement) return std::nullopt;
  return in_memory(*displacement, *base);
}

}  // namespace

std::optional<std::string> fetch_argument(std::string_view text, uint16_t machine) {
  std::optional<Operand> operand = parse_operand(text);
  if (!operand) return std::nullopt;
  std::optional<std::string> place;
  if (machine == EM_X86_64) place = x86_place(operand->where);
  if (machine == EM_AARCH64) place = arm64_place(operand->where);
  return place ? std::optional(*place + operand->type) : std::nullopt;
}

std::vector<std::string_view> split_operands(std::string_view arguments) {
  std::vector<std::string_view> operands;
  size_t start = 0;
  int depth = 0;
  for (size_t i = 0; i <= arguments.size(); ++i) {
    char c = i < arguments.size() ? arguments[i] : ' ';
    if (c == '[' || c == '(') ++depth;
    if (c == ']' || c == ')') --depth;
    bool ends = i == arguments.size() || (c == ' ' && depth <= 0);
    if (!ends) continue;
    if (i > start) operands.push_back(arguments.substr(start, i - start));
    start = i + 1;
  }
  return operands;
}

}  // namespace sonde
