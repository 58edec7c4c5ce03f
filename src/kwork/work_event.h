// Work of the kernel: what it does beside running tasks, as its tracepoints tell it (irq, softirq
// and workqueue of include/trace/events). A piece of work is raised, begins on a CPU, and ends:
//
//   raise ───── latency ───── entry ───── runtime ───── exit
//
// Interrupts have no raise. Tasks on CPUs (class sched) are work of the same kind: a switch ends
// the one and begins the other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace sonde {

enum class WorkClass : uint8_t { kIrq, kSoftirq, kWorkqueue, kSched };
inline constexpr size_t kWorkClasses = 4;

enum class WorkPhase : uint8_t { kRaise, kEntry, kExit };
inline constexpr size_t kWorkPhases = 3;

/// A tracepoint of a class. `kind` is what a feed calls it.
struct WorkTracepoint {
  std::string_view name;  // "irq:softirq_entry"
  WorkClass work_class;
  WorkPhase phase;      // of `id`; a switch is the exit of its `id` and the entry of its `next`
  std::string_view id;  // the field that says which work it is
  std::string_view subject;  // the field that its name comes from; empty where there is none
};

[[nodiscard]] std::span<const WorkTracepoint> work_tracepoints();
/// "irq", "softirq", …
[[nodiscard]] std::string_view work_class_name(WorkClass work_class);
[[nodiscard]] std::optional<WorkClass> work_class_of(std::string_view name);

/// Which piece of work: of a CPU, by the number of its interrupt or softirq, the address of its
/// work_struct, or its tid.
struct WorkKey {
  WorkClass work_class = WorkClass::kIrq;
  uint32_t cpu = 0;
  uint64_t id = 0;
  bool operator==(const WorkKey&) const = default;
};

}  // namespace sonde
