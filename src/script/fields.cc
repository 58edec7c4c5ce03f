#include "script/fields.h"

#include <algorithm>
#include <optional>
#include <span>

#include "base/text.h"

namespace sonde {
namespace {

struct FieldInfo {
  std::string_view word;
  uint64_t sample_bits;
  std::string_view attribute;
};

constexpr FieldInfo kFields[] = {
#define FIELD(name, word, bits, attribute) {word, bits, attribute},
#include "script/fields.def"
#undef FIELD
};

/// perf's fields that need decoded instruction traces or a disassembler.
constexpr std::string_view kNotHere[] = {
    "flags", "brstackinsn", "brstackinsnlen", "brstackdisasm", "callindent",
    "insn",  "insnlen",     "disasm",         "synth",         "metric",
    "ipc",   "srccode",     "machine_pid",    "vcpu",          "tod",
    "brcntr"};

struct KindInfo {
  std::string_view word;  // before the colon of -F
  std::string_view name;  // in messages
};
constexpr KindInfo kKinds[kOutputKinds] = {
    {"hw", "hardware"},     {"sw", "software"},      {"trace", "tracepoint"}, {"raw", "raw"},
    {"", "hardware-cache"}, {"break", "breakpoint"}, {"", "unknown"}};

constexpr FieldSet kCommon = {Field::kComm,  Field::kTid,   Field::kCpu, Field::kTime,
                              Field::kEvent, Field::kIp,    Field::kSym, Field::kSymOffset,
                              Field::kDso,   Field::kPeriod};

constexpr FieldSet defaults(OutputKind kind) {
  FieldSet fields = kCommon;
  switch (kind) {
    case OutputKind::kSoftware:
      fields.add(Field::kBpfOutput);
      break;
    case OutputKind::kTracepoint:
      return {Field::kComm, Field::kTid, Field::kCpu, Field::kTime, Field::kEvent, Field::kTrace};
    case OutputKind::kRaw:
      for (Field field : {Field::kAddr, Field::kDataSrc, Field::kWeight, Field::kPhysAddr,
                          Field::kDataPageSize, Field::kCodePageSize, Field::kInsLat})
        fields.add(field);
      break;
    default:
      break;
  }
  return fields;
}

bool makes_sense(OutputKind kind, Field field) {
  if (field == Field::kTrace) return kind == OutputKind::kTracepoint;
  if (field == Field::kBpfOutput) return kind == OutputKind::kSoftware;
  return true;
}

std::optional<Field> field_of(std::string_view word) {
  for (size_t i = 0; i < std::size(kFields); ++i)
    if (kFields[i].word == word) return static_cast<Field>(i);
  return std::nullopt;
}

std::unexpected<Error> unknown_field(std::string_view word) {
  if (std::ranges::find(kNotHere, word) != std::end(kNotHere))
    return fail(ErrorCode::kUsage,
                "field '{}' needs decoded instruction traces or a disassembler, which script does "
                "not have yet",
                word);
  std::string_view nearest;
  size_t best = 4;
  for (const FieldInfo& info : kFields)
    if (size_t distance = edit_distance(info.word, word); distance < best) {
      best = distance;
      nearest = info.word;
    }
  if (nearest.empty()) return fail(ErrorCode::kUsage, "Invalid field requested.");
  return fail(ErrorCode::kUsage, "Invalid field requested: '{}'. Did you mean '{}'?", word,
              nearest);
}

}  // namespace

OutputKind output_kind(const abi::EventAttr& attr) {
  switch (attr.type) {
    case abi::kTypeHardware:
      return OutputKind::kHardware;
    case abi::kTypeSoftware:
      return OutputKind::kSoftware;
    case abi::kTypeTracepoint:
      return OutputKind::kTracepoint;
    case abi::kTypeRaw:
      return OutputKind::kRaw;
    case abi::kTypeHwCache:
      return OutputKind::kHwCache;
    case abi::kTypeBreakpoint:
      return OutputKind::kBreakpoint;
    default:
      return OutputKind::kOther;
  }
}

FieldChoice::FieldChoice() {
  for (size_t i = 0; i < kOutputKinds; ++i) kinds_[i].fields = defaults(static_cast<OutputKind>(i));
}

Result<> FieldChoice::apply(std::string_view argument, std::vector<std::string>& warnings) {
  std::span<Kind> kinds = kinds_;
  bool all_kinds = true;
  if (size_t colon = argument.find(':'); colon != std::string_view::npos) {
    std::string_view word = argument.substr(0, colon);
    auto found = std::ranges::find(kKinds, word, &KindInfo::word);
    if (word.empty() || found == std::end(kKinds))
      return fail(ErrorCode::kUsage, "Invalid event type in field string.");
    kinds = kinds.subspan(static_cast<size_t>(found - std::begin(kKinds)), 1);
    all_kinds = false;
    argument.remove_prefix(colon + 1);
  }
  bool changes = argument.starts_with('+') || argument.starts_with('-');
  if (argument.empty() && all_kinds)
    return fail(ErrorCode::kUsage, "Cannot set fields to 'none' for all event types.");
  for (Kind& kind : kinds) {
    auto index = static_cast<size_t>(&kind - kinds_.data());
    if (!changes) {
      if (all_kinds && kind.user_set && &kind == &kinds.front())
        warnings.emplace_back("Overriding previous field request for all events.");
      kind.fields = kind.wanted = {};
    }
    kind.user_set = kind.user_set || !changes;
    if (argument.empty()) continue;
    for (std::string_view word : split(argument, ','))
      TRY(change(kind, kKinds[index].name, word, all_kinds, warnings));
  }
  return {};
}

Result<> FieldChoice::change(Kind& kind, std::string_view kind_name, std::string_view word,
                             bool all_kinds, std::vector<std::string>& warnings) {
  bool remove = word.starts_with('-');
  bool signed_word = remove || word.starts_with('+');
  if (signed_word) word.remove_prefix(1);
  if (kind.user_set && signed_word && kind.fields.empty() && !kind.user_changed && !all_kinds)
    return fail(ErrorCode::kUsage, "Cannot mix +-field with overridden fields");
  auto field = field_of(word);
  if (!field) return unknown_field(word);
  auto output = static_cast<OutputKind>(&kind - kinds_.data());
  if (!makes_sense(output, *field)) {
    if (!all_kinds)
      return fail(ErrorCode::kUsage, "'{}' not valid for {} events.", word, kind_name);
    if (!remove)
      warnings.push_back(fmt::format("'{}' not valid for {} events. Ignoring.", word, kind_name));
    return {};
  }
  kind.user_changed = true;
  if (remove) {
    kind.fields.remove(*field);
    kind.wanted.remove(*field);
  } else {
    kind.fields.add(*field);
    kind.wanted.add(*field);
  }
  return {};
}

Result<FieldSet> FieldChoice::fields_for(const EventDesc& event, bool call_chains) const {
  const Kind& kind = kinds_[static_cast<size_t>(output_kind(event.attr))];
  FieldSet fields = kind.fields;
  if (output_kind(event.attr) == OutputKind::kTracepoint && !kind.user_set && call_chains &&
      event.attr.samples(abi::kSampleCallchain))
    for (Field field : {Field::kIp, Field::kSym, Field::kSymOffset, Field::kDso}) fields.add(field);
  for (size_t i = 0; i < std::size(kFields); ++i) {
    auto field = static_cast<Field>(i);
    const FieldInfo& info = kFields[i];
    if (!fields.has(field) || info.sample_bits == 0 || event.attr.samples(info.sample_bits))
      continue;
    if (kind.wanted.has(field))
      return fail(ErrorCode::kFailed,
                  "Samples for '{}' event do not have {} attribute set. Cannot print '{}' field.",
                  event.name, info.attribute, info.word);
    fields.remove(field);
  }
  if (kind.wanted.has(Field::kSym) && !fields.has(Field::kIp) && !fields.has(Field::kAddr) &&
      !fields.has(Field::kBranchSymbols) && !event.attr.samples(abi::kSampleIp | abi::kSampleAddr))
    return fail(ErrorCode::kFailed,
                "Display of symbols requested but neither sample IP nor\nsample "
                "address\navailable. Hence, no "
                "addresses to convert to symbols.");
  if (kind.wanted.has(Field::kSymOffset) && !fields.has(Field::kSym))
    return fail(ErrorCode::kFailed, "Display of offsets requested but symbol is not\nselected.");
  return fields;
}

}  // namespace sonde
