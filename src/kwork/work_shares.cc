#include "kwork/work_shares.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"

namespace sonde {
namespace {

constexpr uint64_t kWhole = 10'000;  // hundredths of percents

/// What interrupted a task on a CPU.
using Interruptions = std::map<std::pair<uint32_t, uint64_t>, uint64_t>;  // (cpu, tid) -> ns

uint64_t ratio(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : part * kWhole / whole;
}
double percent(uint64_t hundredths) {
  return static_cast<double>(hundredths) / 100;
}

class Adder {
 public:
  explicit Adder(const WorkAnalysis& analysis) : only_(analysis.options().name) {
    const std::vector<Work>& all = analysis.table().all();
    for (const Work& work : all) add_total(work);
    for (const Work& work : all)
      if (work.key.work_class == WorkClass::kSched && work.total_ns > 0) add_task(work);
  }
  WorkShares result() && {
    WorkShares shares;
    for (auto& [key, task] : tasks_) shares.tasks.push_back(std::move(task));
    for (auto& [number, cpu] : cpus_)
      if (cpu.total_ns > 0) shares.cpus.push_back(cpu);
    return shares;
  }

 private:
  void add_total(const Work& work) {
    CpuShare& cpu = cpus_[work.key.cpu];
    cpu.cpu = work.key.cpu;
    switch (work.key.work_class) {
      case WorkClass::kSched:
        cpu.total_ns += work.total_ns;
        return;
      case WorkClass::kIrq:
        cpu.irq_ns += work.total_ns;
        break;
      case WorkClass::kSoftirq:
        cpu.softirq_ns += work.total_ns;
        break;
      case WorkClass::kWorkqueue:
        return;
    }
    interruptions_[{work.key.cpu, work.key.id}] += work.total_ns;
  }
  void add_task(const Work& work) {
    CpuShare& cpu = cpus_[work.key.cpu];
    auto interrupted = interruptions_.find({work.key.cpu, work.key.id});
    uint64_t taken = interrupted == interruptions_.end() ? 0 : interrupted->second;
    uint64_t runtime = work.total_ns - std::min(taken, work.total_ns);
    bool is_idle = work.key.id == 0;
    if (is_idle) cpu.idle_ns += runtime;
    if (!only_.empty() && work.name != only_) return;
    if (!is_idle) cpu.load_ns += runtime;
    // Each CPU has its own idle task.
    TaskShare& task = tasks_[{work.key.id, is_idle ? work.key.cpu : 0}];
    if (task.name.empty()) {
      task.tid = work.key.id;
      task.cpu = work.key.cpu;
      task.name = work.name;
    }
    task.runtime_ns += runtime;
    task.hundredths += ratio(runtime, cpu.total_ns);
  }

  std::string_view only_;
  Interruptions interruptions_;
  std::map<uint32_t, CpuShare> cpus_;
  std::map<std::pair<uint64_t, uint32_t>, TaskShare> tasks_;
};

bool is_before(const TaskShare& a, const TaskShare& b, std::span<const ShareSortKey> sort) {
  for (ShareSortKey key : sort) {
    if (key == ShareSortKey::kRate && a.hundredths != b.hundredths)
      return a.hundredths > b.hundredths;
    if (key == ShareSortKey::kRuntime && a.runtime_ns != b.runtime_ns)
      return a.runtime_ns > b.runtime_ns;
    if (key == ShareSortKey::kTid && a.tid != b.tid) return a.tid < b.tid;
  }
  return false;
}

void write_cpus(Sink& out, const WorkShares& shares) {
  constexpr uint64_t kBarWidth = 30;
  CpuShare sum;
  for (const CpuShare& cpu : shares.cpus) {
    sum.total_ns += cpu.total_ns;
    sum.idle_ns += cpu.idle_ns;
    sum.irq_ns += cpu.irq_ns;
    sum.softirq_ns += cpu.softirq_ns;
  }
  out.print("\nTotal  : {:10.3f} ms, {} cpus\n", static_cast<double>(sum.total_ns) / 1e6,
            shares.cpus.size());
  out.print("%Cpu(s): {:6.2f}% id, {:6.2f}% hi, {:6.2f}% si\n",
            percent(ratio(sum.idle_ns, sum.total_ns)), percent(ratio(sum.irq_ns, sum.total_ns)),
            percent(ratio(sum.softirq_ns, sum.total_ns)));
  for (const CpuShare& cpu : shares.cpus) {
    uint64_t load = ratio(cpu.load_ns, cpu.total_ns);
    out.print("%Cpu{:<4}[{:<{}} {:6.2f}%]\n", cpu.cpu, std::string(load * kBarWidth / kWhole, '|'),
              kBarWidth, percent(load));
  }
}

}  // namespace

Result<std::vector<ShareSortKey>> parse_share_sort(std::string_view keys) {
  std::vector<ShareSortKey> sort;
  for (std::string_view raw : split(keys, ',')) {
    std::string_view word = trim(raw);
    if (word.empty()) continue;
    if (word == "rate")
      sort.push_back(ShareSortKey::kRate);
    else if (word == "runtime")
      sort.push_back(ShareSortKey::kRuntime);
    else if (word == "tid")
      sort.push_back(ShareSortKey::kTid);
    else
      return fail(ErrorCode::kUsage, "Error: Unknown --sort key: `{}'", word);
  }
  return sort;
}

WorkShares work_shares(const WorkAnalysis& analysis, std::span<const ShareSortKey> sort) {
  WorkShares shares = Adder(analysis).result();
  std::ranges::stable_sort(
      shares.tasks, [&](const TaskShare& a, const TaskShare& b) { return is_before(a, b, sort); });
  return shares;
}

void write_work_shares(Sink& out, const WorkShares& shares) {
  constexpr size_t kLine = 52;
  write_cpus(out, shares);
  out.print("\n {:>8}  {:>6}  {:>16}  {}\n  {}\n", "PID", "%CPU", "RUNTIME", "COMMAND",
            std::string(kLine, '-'));
  for (const TaskShare& task : shares.tasks)
    out.print(" {:>8}  {:>6.2f}  {:>13.3f} ms  {}\n", task.tid, percent(task.hundredths),
              static_cast<double>(task.runtime_ns) / 1e6, task.name);
  out.put('\n');
}

}  // namespace sonde
