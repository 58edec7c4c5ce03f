#include "script/fields.h"

#include <algorithm>
#include <optional>
#include <span>

#include "base/text.h"
#include "itrace/synthesizer.h"
#include "perfdata/records/trace_events.h"

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

/// perf's fields for which no supported recording has data.
struct EmptyField {
  std::string_view word, reason;
};
constexpr EmptyField kEmpty[] = {
    {"metric", "group metrics are not calculated"},
};

struct KindInfo {
  std::string_view word;  // before the colon of -F
  std::string_view name;  // in messages
};
constexpr KindInfo kKinds[kOutputKinds] = {
    {"hw", "hardware"}, {"sw", "software"},   {"trace", "tracepoint"}, {"", "hardware-cache"},
    {"raw", "unknown"}, {"break", "unknown"}, {"", "unknown"},         {"synth", "unknown"}};

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
    case OutputKind::kSynthesized:
      fields.remove(Field::kPeriod);
      fields.add(Field::kSynthesized);
      break;
    default:
      break;
  }
  return fields;
}

bool makes_sense(OutputKind kind, Field field) {
  if (field == Field::kTrace) return kind == OutputKind::kTracepoint;
  if (field == Field::kBpfOutput)
    return kind == OutputKind::kSoftware || kind == OutputKind::kTracepoint;
  return true;
}

std::optional<Field> field_of(std::string_view word) {
  for (size_t i = 0; i < std::size(kFields); ++i)
    if (kFields[i].word == word) return static_cast<Field>(i);
  return std::nullopt;
}

std::unexpected<Error> unknown_field(std::string_view word) {
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
    case kTypeTraceEvent:
      return OutputKind::kSynthesized;
    default:
      return OutputKind::kOther;
  }
}

FieldSelection::FieldSelection() {
  for (size_t i = 0; i < kOutputKinds; ++i) kinds_[i].fields = defaults(static_cast<OutputKind>(i));
}

Result<> FieldSelection::apply(std::string_view argument, std::vector<std::string>& warnings) {
  size_t first = 0;
  size_t count = kOutputKinds;
  size_t colon = argument.find(':');
  bool all_kinds = colon == std::string_view::npos;
  if (!all_kinds) {
    std::string_view word = argument.substr(0, colon);
    auto found = std::ranges::find(kKinds, word, &KindInfo::word);
    if (word.empty() || found == std::end(kKinds))
      return fail(
          ErrorCode::kUsage,
          "-F: what is before the colon is no kind of event: hw, sw, trace, raw, break, synth");
    first = static_cast<size_t>(found - std::begin(kKinds));
    count = 1;
    argument.remove_prefix(colon + 1);
  } else if (argument.empty()) {
    return fail(ErrorCode::kUsage, "-F: no field is left for any kind of event");
  }
  bool changes = argument.starts_with('+') || argument.starts_with('-');
  if (!changes) {
    std::span<Kind> kinds = std::span(kinds_).subspan(first, count);
    if (std::ranges::any_of(kinds, &Kind::user_set))
      warnings.push_back(fmt::format("Overriding previous field request for {} events.",
                                     all_kinds ? "all" : kKinds[first].name));
    for (Kind& kind : kinds) kind = {{}, {}, true, argument.empty()};
  }
  return apply_words(argument, first, count, all_kinds, warnings);
}

Result<> FieldSelection::apply_words(std::string_view words, size_t first_kind, size_t kinds,
                                     bool all_kinds, std::vector<std::string>& warnings) {
  bool changes = words.starts_with('+') || words.starts_with('-');
  for (std::string_view word : split(words, ',')) {
    if (word.empty()) continue;
    bool remove = word.starts_with('-');
    if ((remove || word.starts_with('+')) != changes)
      return fail(ErrorCode::kUsage,
                  "-F: fields are either added and removed (+ip,-dso), or named: not both");
    if (changes) word.remove_prefix(1);
    if (auto empty = std::ranges::find(kEmpty, word, &EmptyField::word);
        empty != std::end(kEmpty)) {
      if (!remove)
        warnings.push_back(fmt::format("Nothing to show for field '{}': {}.", word, empty->reason));
      for (size_t i = first_kind; i < first_kind + kinds; ++i) kinds_[i].user_set = true;
      continue;
    }
    auto field = field_of(word);
    if (!field) return unknown_field(word);
    for (size_t i = first_kind; i < first_kind + kinds; ++i) {
      if (!makes_sense(static_cast<OutputKind>(i), *field)) {
        if (!all_kinds)
          return fail(ErrorCode::kUsage, "'{}' not valid for {} events.", word, kKinds[i].name);
        warnings.push_back(
            fmt::format("'{}' not valid for {} events. Ignoring.", word, kKinds[i].name));
        continue;
      }
      Kind& kind = kinds_[i];
      // As in perf, to add the flags leaves the targets of branches where they were.
      if (!changes || remove || *field != Field::kFlags) kind.user_set = true;
      kind.asked_empty = false;
      if (remove) {
        kind.fields.remove(*field);
        kind.wanted.remove(*field);
      } else {
        kind.fields.add(*field);
        if (all_kinds) kind.wanted.add(*field);  // "sw:addr" accepts samples without it
      }
    }
  }
  return {};
}

bool FieldSelection::show_instructions_as_text() {
  bool any = false;
  for (Kind& kind : kinds_)
    for (auto [bytes, text] : {std::pair(Field::kInsn, Field::kDisasm),
                               std::pair(Field::kBranchCode, Field::kBranchDisasm),
                               std::pair(Field::kBranchCodeLength, Field::kBranchDisasm)}) {
      if (!kind.fields.has(bytes)) continue;
      if (bytes == Field::kInsn) kind.fields.remove(bytes);
      kind.fields.add(text);
      any = true;
    }
  return any;
}

Result<> FieldSelection::check(FieldSet fields, const abi::EventAttr& attr,
                               uint64_t branch_filters) {
  bool has_addresses = attr.samples(abi::kSampleIp | abi::kSampleAddr);
  if (fields.has(Field::kSym) && !has_addresses)
    return fail(
        ErrorCode::kFailed,
        "Display of symbols requested but neither sample IP nor\nsample address\navailable. "
        "Hence, no addresses to convert to symbols.");
  if (fields.has(Field::kSymOffset) && !fields.has(Field::kSym))
    return fail(ErrorCode::kFailed, "Display of offsets requested but symbol is not selected.");
  if (fields.has(Field::kDso) && !has_addresses)
    return fail(ErrorCode::kFailed,
                "-F dso is the object of an address: the samples have no ip, addr or branches");
  if (fields.has(Field::kSrcline) && !fields.has(Field::kIp))
    return fail(ErrorCode::kFailed, "-F srcline is of an address: add ip");
  if (fields.has(Field::kBranchCounters) && !fields.intersects(kBranchCodeFields))
    return fail(ErrorCode::kFailed,
                "Display of branch counters requested but no instructions to show them at: add "
                "brstackinsn");
  if (fields.has(Field::kBranchCounters) && (branch_filters & abi::kBranchCounters) == 0)
    return fail(ErrorCode::kFailed,
                "-F brcntr: no counters of branches were recorded: record with -j any,counter");
  if (fields.intersects(kBranchCodeFields) && (branch_filters & abi::kBranchAny) == 0)
    return fail(
        ErrorCode::kFailed,
        "-F brstackinsn, brstackinsnlen, brstackdisasm: the code between branches is known if "
        "all were recorded: record with -b");
  return {};
}

/// `fields` without those that the event's samples lack; an error if one was requested.
Result<FieldSet> FieldSelection::recorded(const Kind& kind, FieldSet fields,
                                          const EventDesc& event) {
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
  return fields;
}

Result<std::vector<FieldSet>> FieldSelection::fields_for(const EventTable& events, bool call_chains,
                                                         bool has_clock) const {
  uint64_t branch_filters = 0;
  for (const EventDesc& event : events.all()) branch_filters |= event.attr.branch_sample_type;
  std::array<FieldSet, kOutputKinds> fields;
  // The event of a trace lacks what the samples made of it have.
  bool has_traces = std::ranges::any_of(events.all(), itrace::is_of_trace);
  for (size_t i = 0; i < kOutputKinds; ++i) {
    Kind kind = kinds_[i];
    if (has_traces) kind.wanted = {};
    auto of_kind = [i](const EventDesc& event) {
      return output_kind(event.attr) == static_cast<OutputKind>(i);
    };
    // A dummy has no samples: what it lacks is not missed.
    auto has_samples = [&](const EventDesc& event) {
      return of_kind(event) &&
             !(event.attr.type == abi::kTypeSoftware && event.attr.config == abi::kSwDummy);
    };
    auto first = std::ranges::find_if(events.all(), has_samples);
    bool exists = first != events.all().end();
    if (!exists && kind.asked_empty && i != static_cast<size_t>(OutputKind::kSynthesized))
      return fail(ErrorCode::kFailed,
                  "{} events do not exist. Remove corresponding -F option to proceed.",
                  kKinds[i].name);
    if (!exists || kind.fields.empty()) continue;
    fields[i] = TRY(recorded(kind, kind.fields, *first));
    TRY(check(fields[i], first->attr, branch_filters));
    if (fields[i].has(Field::kTimeOfDay) && !has_clock)
      return fail(
          ErrorCode::kFailed,
          "-F tod: the recording does not say what the time of day was: record with -k CLOCK");
    if (static_cast<OutputKind>(i) != OutputKind::kTracepoint || kind.user_set || !call_chains)
      continue;
    auto has_chain = [&](const EventDesc& event) {
      return of_kind(event) && event.attr.samples(abi::kSampleCallchain);
    };
    if (std::ranges::any_of(events.all(), has_chain))
      for (Field field : {Field::kIp, Field::kSym, Field::kSymOffset, Field::kDso})
        fields[i].add(field);
  }
  std::vector<FieldSet> by_event;
  for (const EventDesc& event : events.all())
    by_event.push_back(fields[static_cast<size_t>(output_kind(event.attr))]);
  return by_event;
}

}  // namespace sonde
