// The fields of an event by name, as a program in the kernel reads them: of a tracepoint from its
// raw data, of a probe from registers and memory; and what every event has: tid, pid, cpu, comm.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "bpf/programs/histogram.h"
#include "event/print_fmt/tracepoint_format.h"
#include "histogram/event_filter.h"
#include "probe/probe_definition.h"

namespace sonde {

/// How the value of a key is shown.
enum class KeyStyle : uint8_t { kUnsigned, kSigned, kHex, kDevice, kText };

struct FieldRead {
  histogram_fetch fetch = {};
  KeyStyle style = KeyStyle::kUnsigned;
};

/// An event whose fields are wanted: a tracepoint, or one place of a probe.
struct FieldEvent {
  std::string_view name;  // for messages
  const TracepointFormat* format = nullptr;
  const ProbePlace* place = nullptr;
};

/// Errors: kBadEvent, with the fields that there are; kUnsupported for a field that is no number,
/// or text where `may_be_text`.
[[nodiscard]] Result<FieldRead> read_of_field(const FieldEvent& event, std::string_view field,
                                              bool may_be_text);
/// The same; the field may be followed by "+N", which is added to its value.
[[nodiscard]] Result<FieldRead> read_of_pair_key(const FieldEvent& event, std::string_view field);
[[nodiscard]] bool has_field(const FieldEvent& event, std::string_view field);

/// What every event has, not as a field of its own: tid, pid, cpu, comm.
[[nodiscard]] std::optional<FieldRead> common_read(std::string_view name);
[[nodiscard]] KeyStyle key_style(const TracepointField& field);

/// A test as a program does it. Errors: kUsage for text compared with a number, or the reverse.
[[nodiscard]] Result<histogram_test> program_test(const FieldEvent& event, const FilterTest& test);

/// The text of a key. `words`: HISTOGRAM_WORDS of them.
[[nodiscard]] std::string key_value_text(const uint64_t* words, KeyStyle style);

}  // namespace sonde
