#include "event/print_fmt/tracepoint_format.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"

namespace sonde {
namespace {

/// Reads "key:value;" from a field line; the value may not contain ';'.
std::optional<std::string_view> attribute(std::string_view line, std::string_view key) {
  for (size_t at = line.find(key); at != std::string_view::npos; at = line.find(key, at + 1)) {
    if (at != 0 && line[at - 1] != ' ' && line[at - 1] != '\t' && line[at - 1] != ';') continue;
    std::string_view rest = line.substr(at + key.size());
    size_t end = rest.find(';');
    if (end == std::string_view::npos) return std::nullopt;
    return trim(rest.substr(0, end));
  }
  return std::nullopt;
}

std::optional<uint32_t> number_attribute(std::string_view line, std::string_view key) {
  auto text = attribute(line, key);
  if (!text) return std::nullopt;
  auto value = parse_number(*text);
  // The raw data of a sample has at most 64 KiB (its size is 16 bits in the kernel's ring buffer
  // records).
  if (!value || *value > UINT16_MAX) return std::nullopt;
  return static_cast<uint32_t>(*value);
}

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Splits "unsigned char name[16]" into type "unsigned char[16]" and name "name".
void split_declaration(std::string_view declaration, TracepointField& field) {
  std::string_view brackets;
  declaration = trim(declaration);
  // Brackets follow the name of fixed arrays, and are inside the type of __data_loc.
  if (declaration.ends_with(']')) {
    size_t open = declaration.rfind('[');
    if (open != std::string_view::npos) {
      brackets = declaration.substr(open);
      declaration = trim(declaration.substr(0, open));
    }
  }
  size_t start = declaration.size();
  while (start > 0 && is_name_char(declaration[start - 1])) --start;
  field.name = declaration.substr(start);
  field.type = trim(declaration.substr(0, start));
  field.type += brackets;
}

uint32_t size_of_element_type(std::string_view type) {
  struct Known {
    std::string_view name;
    uint32_t size;
  };
  static constexpr std::array kKnown{
      Known{"char", 1},   Known{"u8", 1},       Known{"s8", 1},       Known{"bool", 1},
      Known{"u16", 2},    Known{"s16", 2},      Known{"short", 2},    Known{"uint8_t", 1},
      Known{"int8_t", 1}, Known{"uint16_t", 2}, Known{"int16_t", 2},  Known{"u64", 8},
      Known{"s64", 8},    Known{"uint64_t", 8}, Known{"int64_t", 8},  Known{"long long", 8},
      Known{"long", 8},   Known{"size_t", 8},   Known{"cpumask_t", 1}};
  while (type.starts_with("unsigned ") || type.starts_with("signed ") || type.starts_with("const "))
    type = trim(type.substr(type.find(' ')));
  if (type.starts_with("__") && type.size() > 2 && (type[2] == 'u' || type[2] == 's'))
    type.remove_prefix(2);
  for (const Known& known : kKnown)
    if (type == known.name) return known.size;
  return 4;
}

void classify(TracepointField& field, bool is_signed) {
  std::string_view type = field.type;
  for (std::string_view prefix : {"__data_loc ", "__rel_loc "}) {
    if (!type.starts_with(prefix)) continue;
    field.is_dynamic = true;
    field.is_rel_dynamic = prefix == "__rel_loc ";
    type = trim(type.substr(prefix.size()));
  }
  size_t open = type.find('[');
  std::string_view element = trim(type.substr(0, open));
  field.is_array = open != std::string_view::npos || field.is_dynamic;
  field.is_pointer = element.find('*') != std::string_view::npos;
  field.is_long = element.find("long") != std::string_view::npos;
  field.is_signed = is_signed;
  // Arrays of u8 and unsigned char are bytes: addresses, UUIDs.
  field.is_string = field.is_array && (element == "char" || element == "const char");
  field.element_size = field.size;
  if (!field.is_array) return;
  field.element_size = field.is_pointer ? 8 : size_of_element_type(element);
  if (field.is_dynamic || field.size == 0) return;
  // The kernel prints lengths as numbers, but old kernels printed names of constants.
  auto count = parse_number(trim(type.substr(open + 1, type.find(']', open) - open - 1)));
  if (count && *count > 0 && field.size % *count == 0)
    field.element_size = field.size / static_cast<uint32_t>(*count);
}

std::optional<TracepointField> parse_field(std::string_view line) {
  auto declaration = attribute(line, "field:");
  if (!declaration) declaration = attribute(line, "field special:");
  auto offset = number_attribute(line, "offset:");
  auto size = number_attribute(line, "size:");
  if (!declaration || !offset || !size) return std::nullopt;
  TracepointField field;
  field.offset = *offset;
  field.size = *size;
  split_declaration(*declaration, field);
  if (field.name.empty()) return std::nullopt;
  // Kernels before 2.6.37 do not state the sign; their integers without "unsigned" are signed.
  auto sign = attribute(line, "signed:");
  classify(field, sign ? *sign == "1" : field.type.find("unsigned") == std::string::npos);
  return field;
}

}  // namespace

Result<TracepointFormat> TracepointFormat::parse(std::string_view text, std::string_view system) {
  TracepointFormat format;
  format.system_ = system;
  bool has_id = false;
  bool in_fields = false;
  while (!text.empty()) {
    size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.starts_with("print fmt:")) {
      // The last item; a print format may itself span several lines.
      format.print_fmt_ = trim(text.substr(10));
      break;
    }
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    std::string_view content = trim(line);
    if (content.starts_with("name:")) {
      format.name_ = trim(content.substr(5));
    } else if (content.starts_with("ID:")) {
      auto id = parse_number(trim(content.substr(3)));
      if (!id || *id > UINT32_MAX)
        return fail(ErrorCode::kCorrupt, "tracepoint format {}:{}: bad ID", system, format.name_);
      format.id_ = static_cast<uint32_t>(*id);
      has_id = true;
    } else if (content.starts_with("format:")) {
      in_fields = true;
    } else if (content.empty()) {
      // The blank line in the field list ends the common fields.
      if (in_fields && format.common_count_ == 0) format.common_count_ = format.fields_.size();
    } else if (in_fields && content.starts_with("field")) {
      auto field = parse_field(content);
      if (!field)
        return fail(ErrorCode::kCorrupt, "tracepoint format {}:{}: bad field line \"{}\"", system,
                    format.name_, content);
      format.fields_.push_back(std::move(*field));
    }
  }
  if (format.name_.empty() || !has_id)
    return fail(ErrorCode::kCorrupt, "tracepoint format of system {}: no name or no ID", system);
  return format;
}

const TracepointField* TracepointFormat::field(std::string_view name) const {
  auto named = [&](const TracepointField& f) { return f.name == name; };
  auto own = std::ranges::find_if(fields(), named);
  if (own != fields().end()) return &*own;
  auto common = std::ranges::find_if(common_fields(), named);
  return common != common_fields().end() ? &*common : nullptr;
}

}  // namespace sonde
