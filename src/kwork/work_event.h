// Kernel work: what the kernel does besides running tasks, as reported by its tracepoints (irq,
// softirq and workqueue of include/trace/events). A piece of work is raised, begins on a CPU, and
// ends:
//
//   raise ───── latency ───── entry ───── runtime ───── exit
//
// Interrupts have no raise. Tasks on CPUs (class sched) are the same kind of work: a switch ends
// one and begins the next.
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

/// A tracepoint of a class. `kind` is its name in a pipeline.
struct WorkTracepoint {
  std::string_view name;  // "irq:softirq_entry"
  WorkClass work_class;
  WorkPhase phase;      // of `id`; a switch is the exit of its `id` and the entry of its `next`
  std::string_view id;  // the field that identifies the work
  std::string_view subject;  // the field for its name; empty if there is none
};

[[nodiscard]] std::span<const WorkTracepoint> work_tracepoints();
/// "irq", "softirq", …
[[nodiscard]] std::string_view work_class_name(WorkClass work_class);
[[nodiscard]] std::optional<WorkClass> work_class_of(std::string_view name);

/// Identifies a piece of work on a CPU: by its interrupt or softirq number, the address of its
/// work_struct, or its tid.
struct WorkKey {
  WorkClass work_class = WorkClass::kIrq;
  uint32_t cpu = 0;
  uint64_t id = 0;
  bool operator==(const WorkKey&) const = default;
};

}  // namespace sonde
