#include <cstdlib>

#include "base/text.h"
#include "event/parser/event_branch.h"
#include "event/pmu/attr_text.h"
#include "perfdata/text/fields.h"
#include "perfdata/text/records.h"

namespace sonde {
namespace {

/// Parses "IP|TID", in the words that `text_of` gives for single bits, or a number.
template <typename TextOf>
std::optional<uint64_t> parse_bits(std::string_view text, TextOf text_of) {
  if (auto number = parse_signed_number(text)) return number;
  uint64_t bits = 0;
  for (std::string_view word : split(text, '|')) {
    uint64_t bit = 0;
    for (unsigned i = 0; i < 64 && bit == 0; ++i)
      if (text_of(uint64_t{1} << i) == word) bit = uint64_t{1} << i;
    if (bit == 0) return std::nullopt;
    bits |= bit;
  }
  return bits;
}

/// Sets a flag bit by name.
bool set_flag(abi::EventAttr& attr, std::string_view name, uint64_t value) {
#define ATTR_FLAG(flag)    \
  if (name == #flag) {     \
    attr.flag = value & 1; \
    return true;           \
  }
#define ATTR_FLAG_BITS(flag, bits)                     \
  if (name == #flag) {                                 \
    attr.flag = value & ((uint64_t{1} << (bits)) - 1); \
    return true;                                       \
  }
#include "abi/attr_flags.def"
#undef ATTR_FLAG
#undef ATTR_FLAG_BITS
  return false;
}

bool set_number(abi::EventAttr& a, std::string_view name, uint64_t value) {
  auto set = [&](auto& field) {
    field = static_cast<std::remove_reference_t<decltype(field)>>(value);
    return true;
  };
  if (name == "type") return set(a.type);
  if (name == "size") return set(a.size);
  if (name == "config") return set(a.config);
  if (name == "{ sample_period, sample_freq }" || name == "sample_period" || name == "sample_freq")
    return set(a.sample_period);
  if (name == "{ wakeup_events, wakeup_watermark }" || name == "wakeup_events")
    return set(a.wakeup_events);
  if (name == "bp_type") return set(a.bp_type);
  if (name == "{ bp_addr, config1 }" || name == "bp_addr" || name == "config1")
    return set(a.bp_addr);
  if (name == "{ bp_len, config2 }" || name == "bp_len" || name == "config2") return set(a.bp_len);
  if (name == "sample_regs_user") return set(a.sample_regs_user);
  if (name == "sample_stack_user") return set(a.sample_stack_user);
  if (name == "clockid") return set(a.clockid);
  if (name == "sample_regs_intr") return set(a.sample_regs_intr);
  if (name == "aux_watermark") return set(a.aux_watermark);
  if (name == "sample_max_stack") return set(a.sample_max_stack);
  if (name == "aux_sample_size") return set(a.aux_sample_size);
  if (name == "aux_action") return set(a.aux_action);
  if (name == "sig_data") return set(a.sig_data);
  if (name == "config3") return set(a.config3);
  return set_flag(a, name, value);
}

std::optional<uint64_t> parse_value(std::string_view name, std::string_view value) {
  if (name == "sample_type") return parse_bits(value, sample_type_text);
  if (name == "read_format") return parse_bits(value, read_format_text);
  if (name == "branch_sample_type") return parse_bits(value, branch_types_text);
  return parse_signed_number(value);
}

Result<> set_attr_field(abi::EventAttr& attr, std::string_view name, std::string_view value) {
  auto number = parse_value(name, value);
  if (!number) return fail(ErrorCode::kCorrupt, "event: {} = {}: not a value", name, value);
  if (name == "sample_type")
    attr.sample_type = *number;
  else if (name == "read_format")
    attr.read_format = *number;
  else if (name == "branch_sample_type")
    attr.branch_sample_type = *number;
  else if (!set_number(attr, name, *number))
    return fail(ErrorCode::kCorrupt, "event: no field {}", name);
  return {};
}

Result<> parse_ids(std::string_view text, std::vector<uint64_t>& ids) {
  if (text.starts_with('{')) text.remove_prefix(1);
  if (text.ends_with('}')) text.remove_suffix(1);
  for (std::string_view item : split(text, ',')) {
    if (trim(item).empty()) continue;
    auto id = parse_signed_number(trim(item));
    if (!id) return fail(ErrorCode::kCorrupt, "event: id {}: not a number", trim(item));
    ids.push_back(*id);
  }
  return {};
}

/// The next "name = value" or "name: value" of a comma-separated list; braces protect commas.
std::string_view take_item(std::string_view& line) {
  int depth = 0;
  size_t end = 0;
  for (; end < line.size(); ++end) {
    if (line[end] == '{') ++depth;
    if (line[end] == '}') --depth;
    if (line[end] == ',' && depth <= 0) break;
  }
  std::string_view item = trim(line.substr(0, end));
  line.remove_prefix(std::min(end + 1, line.size()));
  return item;
}

Result<> set_event_field(EventDesc& event, std::string_view name, std::string_view value) {
  if (name == "id") return parse_ids(value, event.ids);
  if (name == "unit") {
    event.unit = value;
    return {};
  }
  if (name == "scale") {
    event.scale = std::strtod(std::string(value).c_str(), nullptr);
    return {};
  }
  return set_attr_field(event.attr, name, value);
}

/// A name may contain commas and colons (PMU terms, tracepoints), so it ends where ids or type
/// begin.
Result<std::string> take_name(std::string_view& line) {
  constexpr std::string_view kStart = "name = ";
  if (!line.starts_with(kStart)) return std::string();
  line.remove_prefix(kStart.size());
  if (line.starts_with('"')) return take_quoted(line);
  size_t end = line.size();
  for (std::string_view next : {", , id = ", ", id = ", ", type"})
    end = std::min(end, line.find(next));
  std::string name(trim(line.substr(0, end)));
  line.remove_prefix(end);
  return name;
}

}  // namespace

Result<EventDesc> parse_event_line(std::string_view line) {
  EventDesc event;
  event.attr.size = 128;
  line = trim(line);
  event.name = TRY(take_name(line));
  while (!line.empty()) {
    std::string_view item = take_item(line);
    if (item.empty()) continue;
    size_t equals = item.find(" = ");
    size_t colon = item.find(": ");
    size_t at = std::min(equals, colon);
    if (at == std::string_view::npos)
      return fail(ErrorCode::kCorrupt, "event: '{}' is not 'field = value'", item);
    TRY(set_event_field(event, trim(item.substr(0, at)),
                        trim(item.substr(at + (at == equals ? 3 : 2)))));
  }
  event.layout = SampleLayout(event.attr);
  return event;
}

}  // namespace sonde
