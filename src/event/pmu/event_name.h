// Names of events: from an attr to the name that perf gives it, and the name tables of the kernel's
// generic events. The reader of a recording uses the former if the file has no names (no
// EVENT_DESC); `-e` and `list` use the latter.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "abi/perf_event.h"

namespace sonde {

/// "cpu-clock:uhpppH", "L1-dcache-load-misses:u", "raw 0x3c", "mem:0x1000:rw". The name of a
/// tracepoint cannot be derived from its attr: "unknown tracepoint"; nor can that of a PMU from
/// sysfs: "unknown attr type: 10".
[[nodiscard]] std::string event_name(const abi::EventAttr& attr);

/// What follows the colon: "u", "uhpppH"; empty if nothing is excluded that isn't by default.
[[nodiscard]] std::string modifier_text(const abi::EventAttr& attr);

/// One generic event of the kernel; `alias` may be empty.
struct GenericEvent {
  uint32_t type;
  uint64_t config;
  std::string_view name;
  std::string_view alias;
};
/// Indexed by config.
[[nodiscard]] std::span<const GenericEvent> hardware_events();
[[nodiscard]] std::span<const GenericEvent> software_events();
/// From either table, by name or alias (software names are also case-insensitive).
[[nodiscard]] std::optional<GenericEvent> find_generic_event(std::string_view name);

/// Hardware cache events: config is cache | operation << 8 | result << 16.
[[nodiscard]] std::optional<uint64_t> parse_cache_event(std::string_view name);
/// "LLC-load-misses"; empty if the kernel has no such combination.
[[nodiscard]] std::string cache_event_name(uint64_t config);
/// Whether the operation makes sense for the cache (no stores of instructions …).
[[nodiscard]] bool cache_event_is_valid(unsigned cache, unsigned operation);

}  // namespace sonde
