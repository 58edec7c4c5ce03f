#include "event/pmu/event_catalog.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>

#include "base/text.h"
#include "event/pmu/event_name.h"

namespace sonde {
namespace {

struct Description {
  std::string_view name;
  std::string_view text;
};

/// What the generic events count.
constexpr Description kDescriptions[] = {
    {"cpu-cycles", "Core clock cycles; their length changes with the frequency"},
    {"instructions", "Retired instructions"},
    {"cache-references", "Accesses to the last-level cache, as the CPU vendor defines them"},
    {"cache-misses", "Accesses that missed the last-level cache"},
    {"branch-instructions", "Retired branches"},
    {"branch-misses", "Mispredicted branches"},
    {"bus-cycles", "Bus cycles"},
    {"stalled-cycles-frontend", "Cycles in which no instruction could be fetched or decoded"},
    {"stalled-cycles-backend", "Cycles in which no instruction could be executed"},
    {"ref-cycles", "Cycles at a fixed frequency, whatever the core's frequency"},
    {"cpu-clock", "CPU time, by a high-resolution timer, in nanoseconds"},
    {"task-clock", "Time that the task ran, in nanoseconds"},
    {"page-faults", "Accesses to memory that was not mapped yet, minor and major"},
    {"context-switches", "Switches from one task to another"},
    {"cpu-migrations", "Moves of a task from one CPU to another"},
    {"minor-faults", "Page faults that needed no I/O"},
    {"major-faults", "Page faults that waited for I/O"},
    {"alignment-faults", "Unaligned accesses that the kernel had to fix up"},
    {"emulation-faults", "Instructions that the kernel had to emulate"},
    {"dummy", "Counts nothing; carries records of mappings, forks and names"},
    {"bpf-output", "What BPF programs send with bpf_perf_event_output()"},
    {"cgroup-switches", "Switches to a task of another cgroup"},
    {"duration_time", "Wall-clock time of the measurement, in nanoseconds"},
    {"user_time", "Time of the command and its children in user space, in nanoseconds"},
    {"system_time", "Time of the command and its children in the kernel, in nanoseconds"},
};

std::string_view description_of(std::string_view name) {
  const auto* found = std::ranges::find(kDescriptions, name, &Description::name);
  return found == std::end(kDescriptions) ? std::string_view() : found->text;
}

/// Whether the kernel counts it for this process. If refused for lack of privilege, retries without
/// kernel mode.
bool is_supported(Sys& sys, uint32_t type, uint64_t config) {
  for (bool user_only : {false, true}) {
    perf_event_attr attr{};
    attr.size = sizeof attr;
    attr.type = type;
    attr.config = config;
    attr.disabled = 1;
    attr.exclude_kernel = user_only ? 1 : 0;
    SysResult<int> fd = sys.perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd) {
      static_cast<void>(sys.close(*fd));
      return true;
    }
    if (fd.error() != EACCES && fd.error() != EPERM) return false;
  }
  return true;  // it exists, but not for us
}

void sort_by_name(std::vector<CatalogEvent>& events) {
  std::ranges::sort(events, {}, &CatalogEvent::name);
}

std::vector<CatalogEvent> generic(Sys& sys, std::span<const GenericEvent> table, EventClass kind,
                                  std::string_view pmu) {
  std::vector<CatalogEvent> found;
  for (const GenericEvent& event : table) {
    if (!is_supported(sys, event.type, event.config)) continue;
    found.push_back({.kind = kind,
                     .name = std::string(event.name),
                     .alias = std::string(event.alias),
                     .pmu = std::string(pmu),
                     .description = description_of(event.name)});
  }
  sort_by_name(found);
  return found;
}

CatalogEvent named(EventClass kind, std::string_view name, std::string_view pmu) {
  return {.kind = kind, .name = std::string(name), .pmu = std::string(pmu)};
}

/// ",domain=?" for each term whose value the user must supply.
std::string parameters_of(const PmuAlias& alias) {
  std::string parameters;
  for (std::string_view term : split(alias.terms, ','))
    if (trim(term).ends_with("=?")) parameters += fmt::format(",{}", trim(term));
  return parameters;
}

}  // namespace

std::string_view class_name(EventClass kind) {
  switch (kind) {
    case EventClass::kHardware:
      return "Hardware event";
    case EventClass::kSoftware:
      return "Software event";
    case EventClass::kTool:
      return "Tool event";
    case EventClass::kCache:
      return "Hardware cache event";
    case EventClass::kPmu:
      return "Kernel PMU event";
    case EventClass::kVendor:
      return "Vendor event";
    case EventClass::kRaw:
      return "Raw hardware event descriptor";
    case EventClass::kBreakpoint:
      return "Hardware breakpoint";
    case EventClass::kTracepoint:
      return "Tracepoint event";
    case EventClass::kSdt:
      return "SDT event";
    case EventClass::kPfm:
      return "libpfm4 event";
  }
  return {};
}

std::vector<CatalogEvent> hardware_catalog(Sys& sys) {
  return generic(sys, hardware_events(), EventClass::kHardware, "cpu");
}

std::vector<CatalogEvent> software_catalog(Sys& sys) {
  return generic(sys, software_events(), EventClass::kSoftware, "software");
}

std::vector<CatalogEvent> tool_catalog() {
  std::vector<CatalogEvent> found;
  for (std::string_view name : {"duration_time", "user_time", "system_time"}) {
    found.push_back(named(EventClass::kTool, name, "tool"));
    found.back().description = description_of(name);
  }
  return found;
}

std::vector<CatalogEvent> cache_catalog(Sys& sys) {
  constexpr uint64_t kCaches = 7, kOperations = 3, kResults = 2;
  std::vector<CatalogEvent> found;
  for (uint64_t cache = 0; cache < kCaches; ++cache)
    for (uint64_t operation = 0; operation < kOperations; ++operation)
      for (uint64_t result = 0; result < kResults; ++result) {
        uint64_t config = cache | operation << 8 | result << 16;
        std::string name = cache_event_name(config);
        if (!name.empty() && is_supported(sys, abi::kTypeHwCache, config))
          found.push_back(named(EventClass::kCache, name, "cpu"));
      }
  sort_by_name(found);
  return found;
}

std::vector<CatalogEvent> pmu_catalog(PmuCatalog& pmus) {
  std::vector<const Pmu*> core = pmus.core();
  std::vector<CatalogEvent> found;
  for (const Pmu* pmu : pmus.all())
    for (const PmuAlias& alias : pmu->aliases()) {
      bool of_core = std::ranges::find(core, pmu) != core.end();
      std::string parameters = of_core ? "" : parameters_of(alias);
      CatalogEvent event =
          named(EventClass::kPmu, fmt::format("{}/{}{}/", pmu->name(), alias.name, parameters),
                pmu->name());
      // A core's events need no PMU prefix.
      if (of_core) {
        event.alias = event.name;
        event.name = alias.name;
      }
      event.encoding = fmt::format("{}/{}/", pmu->name(), alias.terms);
      if (!alias.unit.empty()) event.scale_unit = fmt::format("{}{}", alias.scale, alias.unit);
      found.push_back(std::move(event));
    }
#ifdef __x86_64__
  found.push_back(named(EventClass::kPmu, fmt::format("{}//", kSteppingPmu), kSteppingPmu));
#endif
  sort_by_name(found);
  return found;
}

std::vector<CatalogEvent> raw_catalog() {
  return {named(EventClass::kRaw, "rNNN", "cpu"),
          named(EventClass::kRaw, "cpu/t1=v1[,t2=v2,t3 ...]/modifier", "cpu")};
}

std::vector<CatalogEvent> breakpoint_catalog() {
  return {named(EventClass::kBreakpoint, "mem:<addr>[/len][:access]", "breakpoint")};
}

std::vector<CatalogEvent> tracepoint_catalog(Tracefs& tracefs) {
  std::vector<CatalogEvent> found;
  Result<std::vector<TracepointName>> all = tracefs.match("*", "*");
  if (!all) return found;
  for (const TracepointName& tracepoint : *all) {
    // Most of the tracers' own records cannot be opened: they have a format, but no id.
    if (tracepoint.system == "ftrace" && !tracefs.id(tracepoint)) continue;
    found.push_back(named(EventClass::kTracepoint,
                          fmt::format("{}:{}", tracepoint.system, tracepoint.name), "tracepoint"));
  }
  sort_by_name(found);
  return found;
}

}  // namespace sonde
