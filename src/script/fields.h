// Which fields `script` prints for which kind of event: perf's defaults, changed by -F.
//
//   -F comm,tid,time,ip,sym      these, for all kinds          -F trace:time,trace     these, for
//   tracepoints -F +srcline,-cpu             the defaults with changes     -F sw: nothing for
//   software events
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "perfdata/event_table.h"

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
  constexpr void add(Field field) { bits_ |= bit(field); }
  constexpr void remove(Field field) { bits_ &= ~bit(field); }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  constexpr bool operator==(const FieldSet&) const = default;

 private:
  static constexpr uint64_t bit(Field field) { return uint64_t{1} << static_cast<unsigned>(field); }
  uint64_t bits_ = 0;
};

/// Kinds of events that -F tells apart.
enum class OutputKind : uint8_t {
  kHardware,
  kSoftware,
  kTracepoint,
  kRaw,
  kHwCache,
  kBreakpoint,
  kOther
};
inline constexpr size_t kOutputKinds = 7;

OutputKind output_kind(const abi::EventAttr& attr);

/// The choice of fields for every kind of event.
class FieldChoice {
 public:
  FieldChoice();
  /// Applies one -F argument; later ones override or change earlier ones. `warnings` gets the lines
  /// that perf prints on stderr for fields that make no sense for some kind.
  Result<> apply(std::string_view argument, std::vector<std::string>& warnings);
  /// The fields for an event: defaults that its samples lack are left out; a field that the user
  /// asked for and that they lack is an error. With `call_chains`, tracepoints that have them print
  /// their addresses too.
  [[nodiscard]] Result<FieldSet> fields_for(const EventDesc& event, bool call_chains) const;

 private:
  struct Kind {
    FieldSet fields;
    FieldSet wanted;        // asked for by name: must be there
    bool user_set = false;  // -F named the list
    bool user_changed = false;
  };
  Result<> change(Kind& kind, std::string_view kind_name, std::string_view word, bool all_kinds,
                  std::vector<std::string>& warnings);

  std::array<Kind, kOutputKinds> kinds_;
};

}  // namespace sonde
