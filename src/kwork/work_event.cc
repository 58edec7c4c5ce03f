#include "kwork/work_event.h"

namespace sonde {
namespace {

using enum WorkClass;
using enum WorkPhase;

// In recording order.
constexpr std::array kTracepoints{
    WorkTracepoint{"irq:irq_handler_entry", kIrq, kEntry, "irq", "name"},
    WorkTracepoint{"irq:irq_handler_exit", kIrq, kExit, "irq", ""},
    WorkTracepoint{"irq:softirq_raise", kSoftirq, kRaise, "vec", "vec"},
    WorkTracepoint{"irq:softirq_entry", kSoftirq, kEntry, "vec", "vec"},
    WorkTracepoint{"irq:softirq_exit", kSoftirq, kExit, "vec", "vec"},
    WorkTracepoint{"workqueue:workqueue_activate_work", kWorkqueue, kRaise, "work", "function"},
    WorkTracepoint{"workqueue:workqueue_execute_start", kWorkqueue, kEntry, "work", "function"},
    WorkTracepoint{"workqueue:workqueue_execute_end", kWorkqueue, kExit, "work", "function"},
    WorkTracepoint{"sched:sched_switch", kSched, kExit, "prev_pid", "prev_comm"},
};
constexpr std::array<std::string_view, kWorkClasses> kNames{"irq", "softirq", "workqueue", "sched"};

}  // namespace

std::span<const WorkTracepoint> work_tracepoints() {
  return kTracepoints;
}

std::string_view work_class_name(WorkClass work_class) {
  return kNames[static_cast<size_t>(work_class)];
}

std::optional<WorkClass> work_class_of(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return static_cast<WorkClass>(i);
  return std::nullopt;
}

}  // namespace sonde
