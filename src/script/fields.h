// Which fields `script` prints for which kind of event: perf's defaults, changed by -F.
//
//   -F comm,tid,time,ip,sym      these, for all kinds
//   -F trace:time,trace          these, for tracepoints
//   -F +srcline,-cpu             the defaults with changes
//   -F sw:                       nothing for software events
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "perfdata/header/event_table.h"

namespace sonde {

enum class Field : uint8_t {
#define FIELD(name, word, bits, attribute) k##name,
#include "script/fields.def"
#undef FIELD
};

/// A set of fields.
class FieldSet {
 public:
  constexpr FieldSet() = default;
  constexpr FieldSet(std::initializer_list<Field> fields) {
    for (Field field : fields) add(field);
  }
  [[nodiscard]] constexpr bool has(Field field) const { return (bits_ & bit(field)) != 0; }
  [[nodiscard]] constexpr bool intersects(FieldSet other) const {
    return (bits_ & other.bits_) != 0;
  }
  [[nodiscard]] constexpr bool contains(FieldSet other) const {
    return (other.bits_ & ~bits_) == 0;
  }
  constexpr void add(Field field) { bits_ |= bit(field); }
  constexpr void remove(Field field) { bits_ &= ~bit(field); }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  constexpr bool operator==(const FieldSet&) const = default;

 private:
  static constexpr uint64_t bit(Field field) { return uint64_t{1} << static_cast<unsigned>(field); }
  uint64_t bits_ = 0;
};

/// The code between the branches of a sample.
constexpr FieldSet kBranchCodeFields = {Field::kBranchCode, Field::kBranchCodeLength,
                                        Field::kBranchDisasm};

/// Kinds of events that -F distinguishes, in the order of their warnings. The last are what
/// decoders of instruction traces tell of besides branches and instructions.
enum class OutputKind : uint8_t {
  kHardware,
  kSoftware,
  kTracepoint,
  kHwCache,
  kRaw,
  kBreakpoint,
  kOther,
  kSynthesized
};
inline constexpr size_t kOutputKinds = 8;

OutputKind output_kind(const abi::EventAttr& attr);

/// The selected fields for every kind of event.
class FieldSelection {
 public:
  FieldSelection();
  /// Applies one -F argument; later ones override or modify earlier ones. Appends to `warnings` the
  /// lines that perf prints on stderr for fields that make no sense for some kind.
  Result<> apply(std::string_view argument, std::vector<std::string>& warnings);
  /// The fields of every event, by EventId. Events of a kind share them; fields that the kind's
  /// first event does not record are left out, or an error if they were requested by name. With
  /// `call_chains`, tracepoints that have chains also print their addresses. `has_clock`: the
  /// recording relates its timestamps to the wall clock.
  [[nodiscard]] Result<std::vector<FieldSet>> fields_for(const EventTable& events, bool call_chains,
                                                         bool has_clock) const;

  /// --xed: where instructions are shown as bytes, they become text; false if they are not shown.
  bool show_instructions_as_text();
  /// Whether any event prints the field.
  [[nodiscard]] bool has(Field field) const {
    return std::ranges::any_of(kinds_, [&](const Kind& kind) { return kind.fields.has(field); });
  }
  /// Whether -F changed what such events print.
  [[nodiscard]] bool changed(OutputKind kind) const {
    return kinds_[static_cast<size_t>(kind)].user_set;
  }

 private:
  struct Kind {
    FieldSet fields;
    FieldSet wanted;           // requested by name: must be recorded
    bool user_set = false;     // -F changed the list
    bool asked_empty = false;  // "sw:": such events must exist
  };
  Result<> apply_words(std::string_view words, size_t first_kind, size_t kinds, bool all_kinds,
                       std::vector<std::string>& warnings);
  static Result<> check(FieldSet fields, const abi::EventAttr& attr, uint64_t branch_filters);
  static Result<FieldSet> recorded(const Kind& kind, FieldSet fields, const EventDesc& event);

  std::array<Kind, kOutputKinds> kinds_;
};

}  // namespace sonde
