// The CPUs' counters of an event, as maps that BPF programs read, and the table in which tools that
// count at the same time find each other's (`stat --bpf-counters --bpf-attr-map PATH`).
//
// A counter map is a PERF_EVENT_ARRAY indexed by CPU. It holds its events itself, whoever put them
// there, until no program and no descriptor refers to it. The table is a hash map pinned at PATH:
// from perf_event_attr to the id of such a map. Ids keep nothing alive, so that the counters are
// closed when the last tool that reads them ends; a stale id is replaced.
//
//   SharedCounters table = TRY(SharedCounters::open(SharedCounters::kDefaultPath));
//   Fd map = table.find(attr, cpus);
//   if (!map.valid()) {
//     map = TRY(make_counter_map(counters, cpus));     // opened by the caller
//     table.add(attr, map);
//   }
//
// While the object exists, other tools wait for the table. Its keys and values have the sizes of
// perf's table, which by default lies at the same place: a value there is the id of a link, then
// that of a map. Ours have no link, so that perf sets up its own; entries with a live link are
// perf's, and are left alone.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "abi/perf_event.h"
#include "base/error.h"
#include "base/file.h"
#include "bpf/cpu_counters.h"

namespace sonde {

/// A map of an event's counters; `cpus` are those that it should be counted on, whether the machine
/// has the event or not. Errors are the kernel's refusals.
Result<Fd> make_counter_map(std::span<const CpuCounter> counters, std::span<const int> cpus);

class SharedCounters {
 public:
  static constexpr const char* kDefaultPath = "/sys/fs/bpf/perf_attr_map";

  /// Makes the table if nothing is there. Errors name the path: not below a mounted bpffs, no
  /// privilege, or something else is pinned there.
  static Result<SharedCounters> open(const std::string& path);

  /// The counters that another tool has opened for the event on these CPUs; invalid if none has.
  [[nodiscard]] Fd find(const abi::EventAttr& attr, std::span<const int> cpus) const;
  /// Lets others find these, unless the table is full or the event is being counted by perf.
  void add(const abi::EventAttr& attr, const Fd& map);

 private:
  explicit SharedCounters(Fd table) : table_(std::move(table)) {}
  void remove_stale();
  Fd table_;
};

}  // namespace sonde
