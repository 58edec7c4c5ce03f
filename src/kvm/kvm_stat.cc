#include "kvm/kvm_stat.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace sonde {
namespace {

enum KvmKind : uint8_t { kEntry, kExitOfGuest, kMmio, kPio };

constexpr std::array kKvmEvents{
    TracepointRequest{"kvm:kvm_entry", kEntry, {"vcpu_id"}},
    TracepointRequest{"kvm:kvm_exit", kExitOfGuest, {"exit_reason"}},
    TracepointRequest{"kvm:kvm_mmio", kMmio, {"gpa", "type"}},
    TracepointRequest{"kvm:kvm_pio", kPio, {"port", "rw"}},
};
constexpr uint64_t kMmioRead = 1, kMmioWrite = 2;  // KVM_TRACE_MMIO_*

struct ExitName {
  uint64_t number;
  std::string_view name;
};
#define VMX_EXIT(number, name) ExitName{number, name},
#define SVM_EXIT(number, name)
constexpr ExitName kIntelExits[] = {
#include "kvm/kvm_exits.def"
};
#undef VMX_EXIT
#undef SVM_EXIT
#define VMX_EXIT(number, name)
#define SVM_EXIT(number, name) ExitName{number, name},
constexpr ExitName kAmdExits[] = {
#include "kvm/kvm_exits.def"
};
#undef VMX_EXIT
#undef SVM_EXIT

std::string_view exit_name(KvmMachine machine, uint64_t number) {
  auto in = [&](std::span<const ExitName> names) {
    auto found = std::ranges::find(names, number, &ExitName::number);
    return found == names.end() ? std::string_view() : found->name;
  };
  return machine == KvmMachine::kIntel ? in(kIntelExits) : in(kAmdExits);
}

double us(double ns) {
  constexpr double kMicrosecond = 1000;
  return ns / kMicrosecond;
}
double share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

Result<KvmView> parse_kvm_view(std::string_view word) {
  if (word == "vmexit") return KvmView::kExits;
  if (word == "mmio") return KvmView::kMmio;
  if (word == "ioport") return KvmView::kPorts;
  return fail(ErrorCode::kUsage, "Unknown report event:{}", word);
}

Result<KvmSortKey> parse_kvm_sort(std::string_view word) {
  if (word == "sample") return KvmSortKey::kSamples;
  if (word == "time") return KvmSortKey::kAverageTime;
  return fail(ErrorCode::kUsage, "Unknown compare key:{}", word);
}

Result<KvmMachine> kvm_machine_of(std::string_view cpuid) {
  if (cpuid.find("Intel") != std::string_view::npos) return KvmMachine::kIntel;
  if (cpuid.find("AMD") != std::string_view::npos || cpuid.find("Hygon") != std::string_view::npos)
    return KvmMachine::kAmd;
  return fail(ErrorCode::kFailed, "CPU {} is not supported: guest exits have names on x86 only",
              cpuid.empty() ? "(not recorded)" : cpuid);
}

std::span<const TracepointRequest> kvm_tracepoints() {
  return kKvmEvents;
}

bool KvmStat::is_begin(const TracepointItem& item) const {
  switch (options_.view) {
    case KvmView::kExits:
      return item.kind == kExitOfGuest;
    case KvmView::kMmio:
      return item.kind == kExitOfGuest || (item.kind == kMmio && item.values[1] == kMmioWrite);
    case KvmView::kPorts:
      return item.kind == kPio;
  }
  return false;
}

bool KvmStat::is_end(const TracepointItem& item) const {
  bool is_read = options_.view == KvmView::kMmio && item.kind == kMmio;
  return item.kind == kEntry || (is_read && item.values[1] == kMmioRead);
}

/// Only the end of an MMIO read tells the address.
std::optional<KvmStat::Key> KvmStat::key_of(const TracepointItem& item) const {
  if (item.kind == kEntry) return std::nullopt;
  if (item.kind == kExitOfGuest)
    return options_.view == KvmView::kExits ? std::optional(Key{item.values[0], 0}) : std::nullopt;
  return Key{item.values[0], item.values[1]};
}

void KvmStat::consume(const TracepointItem& item) {
  if (!options_.pids.empty() && std::ranges::find(options_.pids, item.pid) == options_.pids.end())
    return;
  auto found = vcpus_.find(item.tid);
  if (found == vcpus_.end()) {
    if (item.kind != kEntry) return;
    Vcpu added;
    added.number = static_cast<uint32_t>(item.values[0]);
    added.pid = item.pid;
    found = vcpus_.insert({item.tid, added}).first;
  }
  Vcpu& vcpu = found.value();
  if (options_.vcpu && *options_.vcpu != vcpu.number) return;
  if (is_begin(item)) {
    vcpu.key = key_of(item);
    vcpu.start_ns = item.time;
  } else if (is_end(item)) {
    finish(vcpu, key_of(item), item.time);
  }
}

void KvmStat::finish(Vcpu& vcpu, std::optional<Key> key, uint64_t time) {
  if (vcpu.key) key = vcpu.key;
  if (vcpu.start_ns == 0 || !key) return;
  uint64_t length = time - std::min(time, vcpu.start_ns);
  if (length > options_.slow_ns) look_at_length(vcpu, *key, length);
  vcpu.start_ns = 0;
  vcpu.key.reset();
  auto [place, is_new] = places_.try_emplace(*key, rows_.size());
  if (is_new) rows_.emplace_back().key = *key;
  Row& row = rows_[place->second];
  row.times.add(static_cast<double>(length));
  row.total_ns += length;
  row.shortest_ns = std::min(row.shortest_ns, length);
  row.longest_ns = std::max(row.longest_ns, length);
}

void KvmStat::look_at_length(const Vcpu& vcpu, const Key& key, uint64_t length_ns) const {
  std::string name = name_of(key);
  if (!options_.on_slow || name == "HLT" || name == "hlt") return;
  options_.on_slow({vcpu.pid, vcpu.number, std::move(name), length_ns});
}

void KvmStat::start_anew() {
  places_.clear();
  rows_.clear();
}

/// Equal rows are in the order of perf's hash table: by the low bits of their place, the newest
/// first.
std::vector<const KvmStat::Row*> KvmStat::sorted() const {
  constexpr uint64_t kSlots = 1 << 12;
  std::vector<const Row*> rows;
  for (auto row = rows_.rbegin(); row != rows_.rend(); ++row) rows.push_back(&*row);
  std::ranges::stable_sort(rows, {}, [](const Row* row) { return row->key.place % kSlots; });
  std::ranges::stable_sort(rows, std::ranges::greater(), [this](const Row* row) {
    return options_.sort == KvmSortKey::kSamples ? static_cast<double>(row->times.count())
                                                 : row->times.mean();
  });
  return rows;
}

std::string KvmStat::name_of(const Key& key) const {
  if (options_.view == KvmView::kMmio)
    return fmt::format("{:#x}:{}", key.place, key.info == kMmioWrite ? "W" : "R");
  if (options_.view == KvmView::kPorts)
    return fmt::format("{:#x}:{}", key.place, key.info != 0 ? "POUT" : "PIN");
  std::string_view name = exit_name(options_.machine, key.place);
  return std::string(name.empty() ? "UNKNOWN" : name);
}

std::vector<uint64_t> KvmStat::unknown_exits() const {
  std::vector<uint64_t> unknown;
  if (options_.view != KvmView::kExits) return unknown;
  for (const Row* row : sorted())
    if (exit_name(options_.machine, row->key.place).empty()) unknown.push_back(row->key.place);
  return unknown;
}

void KvmStat::write(Sink& out) const {
  static constexpr std::string_view kTitles[] = {"VM-EXIT", "MMIO Access", "IO Port Access"};
  uint64_t samples = 0, total_ns = 0;
  for (const Row& row : rows_) {
    samples += row.times.count();
    total_ns += row.total_ns;
  }
  out.write("\n\nAnalyze events for ");
  if (options_.pids.empty())
    out.write("all VMs, ");
  else
    out.print("pid(s) {}, ", fmt::join(options_.pids, ","));
  if (options_.vcpu)
    out.print("VCPU {}:\n\n", *options_.vcpu);
  else
    out.write("all VCPUs:\n\n");
  out.print("{:>20} {:>10} {:>9} {:>9} {:>11} {:>11} {:>16} \n\n",
            kTitles[static_cast<size_t>(options_.view)], "Samples", "Samples%", "Time%", "Min Time",
            "Max Time", "Avg time");
  for (const Row* row : sorted())
    out.print("{:>20} {:>10} {:8.2f}% {:8.2f}% {:9.2f}us {:9.2f}us {:9.2f}us ( +-{:7.2f}% )\n",
              name_of(row->key), row->times.count(), share(row->times.count(), samples),
              share(row->total_ns, total_ns), us(static_cast<double>(row->shortest_ns)),
              us(static_cast<double>(row->longest_ns)), us(row->times.mean()),
              row->times.error_percent());
  out.print("\nTotal Samples:{}, Total events handled time:{:.2f}us.\n\n", samples,
            us(static_cast<double>(total_ns)));
}

}  // namespace sonde
