#include "kwork/measured_work.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/clock.h"
#include "bpf/work_totals.h"
#include "capture/control/measured_command.h"
#include "symbol/kallsyms.h"

namespace sonde {
namespace {

/// include/linux/interrupt.h, in numerical order; as softirq_entry prints them.
constexpr auto kSoftirqs = std::to_array<std::string_view>(
    {"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"});

WorkTotals::Options wanted_sums(const WorkOptions& options) {
  auto has = [&](WorkClass work_class) {
    return std::ranges::find(options.classes, work_class) != options.classes.end();
  };
  return {.irq = has(WorkClass::kIrq),
          .softirq = has(WorkClass::kSoftirq),
          .workqueue = has(WorkClass::kWorkqueue),
          .sched = has(WorkClass::kSched),
          .delays = options.view == WorkView::kLatency,
          .by_task = options.view == WorkView::kShares};
}

class WorkOfRow {
 public:
  explicit WorkOfRow(WorkView view) : view_(view) {}

  Result<Work> make(const WorkTotals::Row& row) {
    Work work({static_cast<WorkClass>(row.work_class), row.cpu, row.id});
    work.count = row.count;
    work.total_ns = row.total_ns;
    work.longest_ns = row.longest_ns;
    work.longest_start_ns = row.longest_start_ns;
    work.longest_end_ns = row.longest_end_ns;
    if (row.work_class == WorkTotals::Class::kWorkqueue) {
      work.name = TRY(function_name(row.function));
    } else if (row.work_class != WorkTotals::Class::kSoftirq) {
      work.name = row.name;
    } else if (view_ != WorkView::kShares && row.id < kSoftirqs.size()) {
      work.name = kSoftirqs[row.id];
    }
    work.has_name = !work.name.empty();
    return work;
  }

 private:
  Result<std::string> function_name(uint64_t address) {
    if (!symbols_) symbols_.emplace(TRY(Kallsyms::read("/proc/kallsyms")));
    const Symbol* symbol = symbols_->table().find(address);
    return symbol == nullptr ? std::string() : std::string(symbol->name());
  }

  WorkView view_;
  std::optional<Kallsyms> symbols_;
};

}  // namespace

Result<int> measure_work(const WorkOptions& options, const std::vector<std::string>& command,
                         Env& env, const std::function<void(const WorkAnalysis&)>& write) {
  MeasuredCommand measured = TRY(MeasuredCommand::fork(command, env));
  WorkTotals sums = TRY(WorkTotals::open(wanted_sums(options)));
  uint64_t begin_ns = monotonic_ns();
  sums.set_enabled(true);
  int status = TRY(measured.run());
  sums.set_enabled(false);
  uint64_t end_ns = monotonic_ns();

  WorkAnalysis analysis(options);
  WorkOfRow maker(options.view);
  for (const WorkTotals::Row& row : sums.rows()) analysis.add_sum(TRY(maker.make(row)));
  analysis.set_span(begin_ns, end_ns);
  write(analysis);
  if (sums.lost() > 0)
    env.err.print("{} work intervals are missing from the table: there was no room for them\n",
                  sums.lost());
  return status;
}

}  // namespace sonde
