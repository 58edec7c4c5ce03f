#include "event/pmu/event_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace sonde {
namespace {

using abi::kTypeHardware;
using abi::kTypeSoftware;

// `name` is what `list` shows first; `kHardwareNames` below is for recordings without names.
constexpr GenericEvent kHardware[] = {
    {kTypeHardware, abi::kHwCpuCycles, "cpu-cycles", "cycles"},
    {kTypeHardware, abi::kHwInstructions, "instructions", ""},
    {kTypeHardware, abi::kHwCacheReferences, "cache-references", ""},
    {kTypeHardware, abi::kHwCacheMisses, "cache-misses", ""},
    {kTypeHardware, abi::kHwBranchInstructions, "branch-instructions", "branches"},
    {kTypeHardware, abi::kHwBranchMisses, "branch-misses", ""},
    {kTypeHardware, abi::kHwBusCycles, "bus-cycles", ""},
    {kTypeHardware, abi::kHwStalledCyclesFrontend, "stalled-cycles-frontend",
     "idle-cycles-frontend"},
    {kTypeHardware, abi::kHwStalledCyclesBackend, "stalled-cycles-backend", "idle-cycles-backend"},
    {kTypeHardware, abi::kHwRefCpuCycles, "ref-cycles", ""},
};

constexpr GenericEvent kSoftware[] = {
    {kTypeSoftware, abi::kSwCpuClock, "cpu-clock", ""},
    {kTypeSoftware, abi::kSwTaskClock, "task-clock", ""},
    {kTypeSoftware, abi::kSwPageFaults, "page-faults", "faults"},
    {kTypeSoftware, abi::kSwContextSwitches, "context-switches", "cs"},
    {kTypeSoftware, abi::kSwCpuMigrations, "cpu-migrations", "migrations"},
    {kTypeSoftware, abi::kSwPageFaultsMin, "minor-faults", ""},
    {kTypeSoftware, abi::kSwPageFaultsMaj, "major-faults", ""},
    {kTypeSoftware, abi::kSwAlignmentFaults, "alignment-faults", ""},
    {kTypeSoftware, abi::kSwEmulationFaults, "emulation-faults", ""},
    {kTypeSoftware, abi::kSwDummy, "dummy", ""},
    {kTypeSoftware, abi::kSwBpfOutput, "bpf-output", ""},
    {kTypeSoftware, abi::kSwCgroupSwitches, "cgroup-switches", ""},
};

constexpr std::string_view kHardwareNames[] = {
    "cycles",
    "instructions",
    "cache-references",
    "cache-misses",
    "branches",
    "branch-misses",
    "bus-cycles",
    "stalled-cycles-frontend",
    "stalled-cycles-backend",
    "ref-cycles",
};

// Spellings of the three parts of a cache event's name; the first of each list is canonical, except
// that operations use the second if no result follows ("loads", but "load-misses").
constexpr std::array<std::array<std::string_view, 5>, 7> kCaches = {{
    {"L1-dcache", "l1-d", "l1d", "L1-data"},
    {"L1-icache", "l1-i", "l1i", "L1-instruction"},
    {"LLC", "L2"},
    {"dTLB", "d-tlb", "Data-TLB"},
    {"iTLB", "i-tlb", "Instruction-TLB"},
    {"branch", "branches", "bpu", "btb", "bpc"},
    {"node"},
}};
constexpr std::array<std::array<std::string_view, 5>, 3> kOperations = {{
    {"load", "loads", "read"},
    {"store", "stores", "write"},
    {"prefetch", "prefetches", "speculative-read", "speculative-load"},
}};
constexpr std::array<std::array<std::string_view, 5>, 2> kResults = {{
    {"refs", "Reference", "ops", "access"},
    {"misses", "miss"},
}};
constexpr unsigned kLoad = 1u << 0;
constexpr unsigned kStore = 1u << 1;
constexpr unsigned kPrefetch = 1u << 2;
constexpr unsigned kAllowedOperations[] = {
    kLoad | kStore | kPrefetch,  // L1-dcache
    kLoad | kPrefetch,           // L1-icache
    kLoad | kStore | kPrefetch,  // LLC
    kLoad | kStore | kPrefetch,  // dTLB
    kLoad,                       // iTLB
    kLoad,                       // branch
    kLoad | kStore | kPrefetch,  // node
};

bool equal_without_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, to_ascii_lower, to_ascii_lower);
}

/// Removes the longest spelling from the front of `rest`; it must be followed by the end or by a
/// '-', which is removed too. Returns the spelling's row.
template <typename Table>
std::optional<unsigned> take_part(const Table& table, std::string_view& rest) {
  std::optional<unsigned> row;
  size_t taken = 0;
  for (unsigned i = 0; i < table.size(); ++i) {
    for (std::string_view spelling : table[i]) {
      size_t size = spelling.size();
      if (size <= taken || !equal_without_case(rest.substr(0, size), spelling)) continue;
      if (size < rest.size() && rest[size] != '-') continue;
      row = i;
      taken = size;
    }
  }
  if (row) rest.remove_prefix(std::min(taken + 1, rest.size()));
  return row;
}

std::string breakpoint_name(const abi::EventAttr& attr) {
  std::string name = fmt::format("mem:{:#x}:", attr.bp_addr);
  if (attr.bp_type & 1) name += 'r';
  if (attr.bp_type & 2) name += 'w';
  if (attr.bp_type & 4) name += 'x';
  return name;
}

/// A cache event's name, or perf's text for what is wrong with the config.
std::string cache_name(uint64_t config) {
  std::string name = cache_event_name(config);
  if (!name.empty()) return name;
  if ((config & 0xff) >= kCaches.size()) return "unknown-ext-hardware-cache-type";
  if ((config >> 8 & 0xff) >= kOperations.size()) return "unknown-ext-hardware-cache-op";
  if ((config >> 16 & 0xff) >= kResults.size()) return "unknown-ext-hardware-cache-result";
  return "invalid-cache";
}

std::string base_name(const abi::EventAttr& attr) {
  switch (attr.type) {
    case abi::kTypeHardware: {
      // On hybrid processors the upper half is the PMU's type.
      uint64_t config = attr.config & 0xffffffff;
      return std::string(config < std::size(kHardwareNames) ? kHardwareNames[config]
                                                            : "unknown-hardware");
    }
    case abi::kTypeSoftware:
      return std::string(attr.config < std::size(kSoftware) ? kSoftware[attr.config].name
                                                            : "unknown-software");
    case abi::kTypeHwCache:
      return cache_name(attr.config & 0xffffffff);
    case abi::kTypeRaw:
      return fmt::format("raw {:#x}", attr.config);
    case abi::kTypeBreakpoint:
      return breakpoint_name(attr);
    default:
      return {};
  }
}

}  // namespace

std::string modifier_text(const abi::EventAttr& attr) {
  std::string text;
  // Guests are excluded by default if a privilege level or precision was requested, and G and H
  // only express a difference from the default.
  bool guests_left_out_by_default = false;
  if (attr.exclude_user || attr.exclude_kernel || attr.exclude_hv) {
    if (!attr.exclude_kernel) text += 'k';
    if (!attr.exclude_user) text += 'u';
    if (!attr.exclude_hv) text += 'h';
    guests_left_out_by_default = true;
  }
  if (attr.precise_ip != 0) {
    text.append(attr.precise_ip, 'p');
    guests_left_out_by_default = true;
  }
  if (attr.exclude_host || (attr.exclude_guest != 0) == guests_left_out_by_default) {
    if (!attr.exclude_host) text += 'H';
    if (!attr.exclude_guest) text += 'G';
  }
  return text;
}

std::string event_name(const abi::EventAttr& attr) {
  if (attr.type == abi::kTypeTracepoint) return "unknown tracepoint";
  std::string name = base_name(attr);
  if (name.empty()) return fmt::format("unknown attr type: {}", attr.type);
  std::string modifiers = modifier_text(attr);
  return modifiers.empty() ? name : name + ':' + modifiers;
}

std::span<const GenericEvent> hardware_events() {
  return kHardware;
}

std::span<const GenericEvent> software_events() {
  return kSoftware;
}

std::optional<GenericEvent> find_generic_event(std::string_view name) {
  for (const GenericEvent& event : kHardware)
    if (name == event.name || (!event.alias.empty() && name == event.alias)) return event;
  for (const GenericEvent& event : kSoftware)
    if (equal_without_case(name, event.name) ||
        (!event.alias.empty() && equal_without_case(name, event.alias)))
      return event;
  return std::nullopt;
}

bool cache_event_is_valid(unsigned cache, unsigned operation) {
  return cache < std::size(kAllowedOperations) && operation < kOperations.size() &&
         (kAllowedOperations[cache] & (1u << operation)) != 0;
}

std::optional<uint64_t> parse_cache_event(std::string_view name) {
  std::string_view rest = name;
  std::optional<unsigned> cache = take_part(kCaches, rest);
  if (!cache) return std::nullopt;
  // Operation and result may come in either order, and either may be missing.
  std::optional<unsigned> operation = take_part(kOperations, rest);
  std::optional<unsigned> result = take_part(kResults, rest);
  if (!operation) operation = take_part(kOperations, rest);
  if (!rest.empty() || name.back() == '-') return std::nullopt;
  if (!cache_event_is_valid(*cache, operation.value_or(0))) return std::nullopt;
  return *cache | operation.value_or(0) << 8 | result.value_or(0) << 16;
}

std::string cache_event_name(uint64_t config) {
  uint64_t cache = config & 0xff;
  uint64_t operation = (config >> 8) & 0xff;
  uint64_t result = (config >> 16) & 0xff;
  if ((config >> 24) != 0 || result >= kResults.size() || cache >= kCaches.size() ||
      !cache_event_is_valid(static_cast<unsigned>(cache), static_cast<unsigned>(operation)))
    return {};
  if (result == 0) return fmt::format("{}-{}", kCaches[cache][0], kOperations[operation][1]);
  return fmt::format("{}-{}-{}", kCaches[cache][0], kOperations[operation][0], kResults[result][0]);
}

}  // namespace sonde
