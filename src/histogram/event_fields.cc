#include "histogram/event_fields.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "probe/events/probe_events.h"
#include "probe/programs/fetched_value.h"

namespace sonde {
namespace {

#if defined(__aarch64__)
constexpr uint16_t kContextMachine = EM_AARCH64;
#else
constexpr uint16_t kContextMachine = EM_X86_64;
#endif
// The kernel replaces the common fields, which come first, by a pointer before a program runs.
constexpr uint32_t kFirstReadable = 8;

struct CommonValue {
  std::string_view name;
  histogram_origin origin;
};
constexpr CommonValue kCommonValues[] = {{"tid", HISTOGRAM_TID},  {"common_pid", HISTOGRAM_TID},
                                         {"pid", HISTOGRAM_PID},  {"cpu", HISTOGRAM_CPU},
                                         {"CPU", HISTOGRAM_CPU},  {"comm", HISTOGRAM_COMM},
                                         {"COMM", HISTOGRAM_COMM}};

histogram_fetch plain_fetch(histogram_origin origin) {
  histogram_fetch fetch{};
  fetch.origin = static_cast<uint8_t>(origin);
  fetch.bytes = 8;
  fetch.width = 64;
  return fetch;
}

std::string names_of_fields(const FieldEvent& event) {
  std::string names;
  if (event.format != nullptr)
    for (const TracepointField& field : event.format->fields())
      if (!field.is_array || field.is_string) names += field.name + ", ";
  if (event.place != nullptr)
    for (size_t i = 0; i < event.place->arguments.size(); ++i)
      names += argument_name(event.place->arguments[i], i) + ", ";
  return names + "tid, pid, cpu, comm";
}

Result<FieldRead> read_of_tracepoint(const FieldEvent& event, const TracepointField& field,
                                     bool may_be_text) {
  FieldRead read{plain_fetch(HISTOGRAM_CONTEXT), key_style(field)};
  histogram_fetch& fetch = read.fetch;
  fetch.number = field.offset;
  if (field.is_string && may_be_text && !field.is_flexible()) {
    fetch.origin = field.is_dynamic ? HISTOGRAM_TEXT_AT_OFFSET : HISTOGRAM_TEXT_IN_CONTEXT;
    fetch.bytes = static_cast<uint8_t>(std::min<uint32_t>(field.size, HISTOGRAM_TEXT));
    if (field.is_rel_dynamic) fetch.plus = field.offset + field.size;
    return read;
  }
  bool is_number = !field.is_array && !field.is_dynamic && std::has_single_bit(field.size) &&
                   field.size <= sizeof(uint64_t);
  if (!is_number)
    return fail(ErrorCode::kUnsupported, "{}: its field '{}' is not a number ({})", event.name,
                field.name, field.type);
  if (field.offset < kFirstReadable)
    return fail(ErrorCode::kUnsupported, "{}: programs in the kernel cannot read '{}'", event.name,
                field.name);
  fetch.bytes = static_cast<uint8_t>(field.size);
  fetch.width = static_cast<uint8_t>(field.size * 8);
  fetch.is_signed = field.is_signed;
  return read;
}

Result<FieldRead> read_of_argument(const ProbePlace& place, std::string_view argument) {
  FetchedValue value =
      TRY(parse_fetched_value(argument, place, {.machine = kContextMachine, .symbol_address = {}}));
  if (value.steps.size() > HISTOGRAM_STEPS)
    return fail(ErrorCode::kUnsupported, "'{}' is reached through more than {} pointers", argument,
                HISTOGRAM_STEPS);
  FieldRead read{plain_fetch(HISTOGRAM_CONTEXT),
                 value.is_signed ? KeyStyle::kSigned : KeyStyle::kUnsigned};
  histogram_fetch& fetch = read.fetch;
  fetch.number = value.number;
  fetch.bytes = static_cast<uint8_t>(value.steps.empty() ? 8 : value.bits / 8);
  fetch.shift = static_cast<uint8_t>(value.shift);
  fetch.width = static_cast<uint8_t>(value.width);
  fetch.is_signed = value.is_signed;
  fetch.steps = static_cast<uint8_t>(value.steps.size());
  for (size_t i = 0; i < value.steps.size(); ++i) {
    fetch.offsets[i] = value.steps[i].offset;
    if (value.steps[i].user) fetch.user_steps |= static_cast<uint8_t>(1u << i);
  }
  if (value.origin == FetchedValue::Origin::kFromOrigin) {
    // A place in the file, as far from the instruction in memory as in the file.
    fetch.number = instruction_pointer_offset(kContextMachine);
    (fetch.steps == 0 ? fetch.plus : fetch.offsets[0]) += value.number;
  }
  if (value.origin == FetchedValue::Origin::kConstant && fetch.steps == 0)
    fetch.origin = HISTOGRAM_CONSTANT;
  else if (value.origin == FetchedValue::Origin::kConstant)
    return fail(ErrorCode::kUnsupported, "'{}': addresses of the kernel are not read here",
                argument);
  return read;
}

std::optional<std::string> argument_of(const ProbePlace& place, std::string_view field) {
  for (size_t i = 0; i < place.arguments.size(); ++i)
    if (argument_name(place.arguments[i], i) == field) return place.arguments[i];
  // In the tracer's own words.
  if (std::string_view("%$+-\\").contains(field.empty() ? 'x' : field[0]))
    return std::string(field);
  return std::nullopt;
}

}  // namespace

KeyStyle key_style(const TracepointField& field) {
  if (field.is_string) return KeyStyle::kText;
  if (field.type == "dev_t") return KeyStyle::kDevice;
  if (field.is_pointer) return KeyStyle::kHex;
  return field.is_signed ? KeyStyle::kSigned : KeyStyle::kUnsigned;
}

std::optional<FieldRead> common_read(std::string_view name) {
  const auto* found = std::ranges::find(kCommonValues, name, &CommonValue::name);
  if (found == std::end(kCommonValues)) return std::nullopt;
  return FieldRead{plain_fetch(found->origin),
                   found->origin == HISTOGRAM_COMM ? KeyStyle::kText : KeyStyle::kUnsigned};
}

bool has_field(const FieldEvent& event, std::string_view field) {
  if (event.format != nullptr && event.format->field(field) != nullptr) return true;
  return event.place != nullptr && argument_of(*event.place, field).has_value();
}

Result<FieldRead> read_of_field(const FieldEvent& event, std::string_view field, bool may_be_text) {
  bool is_common = field == "common_pid";
  if (event.format != nullptr && !is_common)
    if (const TracepointField* found = event.format->field(field))
      return read_of_tracepoint(event, *found, may_be_text);
  if (event.place != nullptr)
    if (auto argument = argument_of(*event.place, field)) {
      auto read = read_of_argument(*event.place, *argument);
      if (read) return read;
      return fail(read.error().code, "{}: {}", event.name, read.error());
    }
  auto common = common_read(field);
  if (common && (may_be_text || common->style != KeyStyle::kText)) return *common;
  if (common) return fail(ErrorCode::kUnsupported, "{}: '{}' is not a number", event.name, field);
  return fail(ErrorCode::kBadEvent, "{} has no field '{}'; there are {}", event.name, field,
              names_of_fields(event));
}

Result<FieldRead> read_of_pair_key(const FieldEvent& event, std::string_view field) {
  bool is_fetch = field.starts_with('+');
  size_t sign = is_fetch ? std::string_view::npos : field.find('+');
  FieldRead read = TRY(read_of_field(event, field.substr(0, sign), false));
  if (sign == std::string_view::npos) return read;
  std::optional<uint64_t> plus = parse_number(field.substr(sign + 1));
  if (!plus) return fail(ErrorCode::kUsage, "--key {}: no number after '+'", field);
  read.fetch.plus += static_cast<int64_t>(*plus);
  return read;
}

Result<histogram_test> program_test(const FieldEvent& event, const FilterTest& test) {
  FieldRead read = TRY(read_of_field(event, test.field, true));
  if ((read.style == KeyStyle::kText) != test.is_text)
    return fail(ErrorCode::kUsage, "--filter: {} of {} is {}, and is compared with {}", test.field,
                event.name, test.is_text ? "a number" : "text",
                test.is_text ? fmt::format("'{}'", test.text) : "a number");
  histogram_test made{};
  made.what = read.fetch;
  made.operation = static_cast<uint8_t>(test.operation);
  made.if_true = test.if_true;
  made.if_false = test.if_false;
  if (test.is_text)
    std::memcpy(made.operand, test.text.data(),
                std::min(test.text.size(), sizeof made.operand - 1));
  else
    made.operand[0] = test.number;
  return made;
}

std::string key_value_text(const uint64_t* words, KeyStyle style) {
  constexpr unsigned kMinorBits = 20;  // of dev_t in the kernel
  switch (style) {
    case KeyStyle::kText: {
      char text[HISTOGRAM_TEXT];
      std::memcpy(text, words, sizeof text);
      return {text, ::strnlen(text, sizeof text)};
    }
    case KeyStyle::kSigned:
      return fmt::format("{}", static_cast<int64_t>(words[0]));
    case KeyStyle::kHex:
      return fmt::format("{:#x}", words[0]);
    case KeyStyle::kDevice:
      return fmt::format("{},{}", words[0] >> kMinorBits, words[0] & ((1u << kMinorBits) - 1));
    case KeyStyle::kUnsigned:
      break;
  }
  return fmt::format("{}", words[0]);
}

}  // namespace sonde
