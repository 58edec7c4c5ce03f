// The formats of other tools that a profile can be written in.
//
//   const ExportFormat* format = find_export_format("pprof");
//   format->write(out, profile);
//
// Writers take any profile: with samples or without, with none of what is optional, or empty. They
// keep two laws. Totals are conserved: what fell on a stack in an event is what the file says of
// it. And names may be any bytes: what is written is valid in its format, with U+FFFD for bytes
// that are no UTF-8. Memory is in proportion to the profile's stacks, not to its samples.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/sink.h"
#include "stacks/stack_profile.h"

namespace sonde {

/// What a format is made of, so that a profile can be opened with what it takes.
enum class ExportShape : uint8_t {
  kOneEvent,  // sums of stacks in one event; the outermost frame is the process
  kStacks,    // sums of stacks in every event; the same
  kThreads,   // samples with their times, by thread; threads have names of their own
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
#include "export/exports.def"
#undef EXPORT
#undef EXPERIMENTAL

/// In the order of exports.def.
[[nodiscard]] std::span<const ExportFormat> export_formats();
/// nullptr where there is none of this name.
[[nodiscard]] const ExportFormat* find_export_format(std::string_view name);

}  // namespace sonde
