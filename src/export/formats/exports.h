// The formats of other tools that a profile can be exported to.
//
//   const ExportFormat* format = find_export_format("pprof");
//   format->write(out, profile);
//
// Writers accept any profile: with or without samples, without any optional data, or empty. They
// keep two laws. Totals are conserved: the file has the same weight for each stack and event as the
// profile. And names may be any bytes: the output is valid in its format, with U+FFFD for invalid
// UTF-8. Memory is proportional to the profile's stacks, not to its samples.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/sink.h"
#include "stacks/stack_profile.h"

namespace sonde {

/// What a format is made from, so that a profile can be loaded with what it needs.
enum class ExportShape : uint8_t {
  kOneEvent,  // sums per stack of one event; the outermost frame is the process
  kStacks,    // the same, for every event
  kThreads,   // samples with timestamps, by thread; threads have their own names
};

struct ExportFormat {
  std::string_view name;
  std::string_view summary;
  ExportShape shape;
  bool is_experimental;
  void (*write)(Sink& out, const StackProfile& profile);
};

#define EXPORT(name, shape, summary) void export_##name(Sink& out, const StackProfile& profile);
#define EXPERIMENTAL(name, shape, summary) EXPORT(name, shape, summary)
#include "export/formats/exports.def"
#undef EXPORT
#undef EXPERIMENTAL

/// In the order of exports.def.
[[nodiscard]] std::span<const ExportFormat> export_formats();
/// nullptr if there is no format of this name.
[[nodiscard]] const ExportFormat* find_export_format(std::string_view name);

}  // namespace sonde
