// How long hosts took to answer their guests: from kvm:kvm_exit, kvm_entry, kvm_mmio and kvm_pio
// (arch/x86/kvm/trace.h). What `perf kvm stat report` shows.
//
//   exit ──── the host works ──── entry      a sample, by the reason of the exit
//   exit ──── a read of MMIO                 a sample, by address
//   a write of MMIO, or a port ── entry      a sample, by address or port
//
// A virtual CPU is a thread of the host, known from its first entry on.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tsl/robin_map.h>

#include "base/error.h"
#include "base/running_stats.h"
#include "base/sink.h"
#include "replay/passes/tracepoint_pipeline.h"

namespace sonde {

enum class KvmView : uint8_t { kExits, kMmio, kPorts };
enum class KvmSortKey : uint8_t { kSamples, kAverageTime };
enum class KvmMachine : uint8_t { kIntel, kAmd };

/// An event that took longer than it should.
struct KvmSlowEvent {
  uint32_t pid = 0, vcpu = 0;
  std::string name;
  uint64_t length_ns = 0;
};

struct KvmOptions {
  KvmView view = KvmView::kExits;
  KvmSortKey sort = KvmSortKey::kSamples;
  KvmMachine machine = KvmMachine::kIntel;
  std::vector<uint32_t> pids;    // of virtual machines; empty: all
  std::optional<uint32_t> vcpu;  // of each of them
  /// Called for events longer than `slow_ns`, except those of an idle guest (HLT).
  uint64_t slow_ns = UINT64_MAX;
  std::function<void(const KvmSlowEvent&)> on_slow;
};

/// "vmexit", "mmio", "ioport"; kUsage for others.
Result<KvmView> parse_kvm_view(std::string_view word);
/// "sample", "time"; kUsage for others.
Result<KvmSortKey> parse_kvm_sort(std::string_view word);
/// By the CPUID section of a recording, or by its kind of exits; kFailed if it is neither vendor's.
Result<KvmMachine> kvm_machine_of(std::string_view cpuid);

/// The events to read, by kind.
[[nodiscard]] std::span<const TracepointRequest> kvm_tracepoints();

class KvmStat {
 public:
  explicit KvmStat(KvmOptions options) : options_(std::move(options)) {}

  void consume(const TracepointItem& item);
  void write(Sink& out) const;
  /// Forgets the rows, but not the virtual CPUs and what has begun on them.
  void start_anew();
  /// Exits whose number has no name, each listed once.
  [[nodiscard]] std::vector<uint64_t> unknown_exits() const;

 private:
  struct Key {
    uint64_t place = 0;  // reason, address or port
    uint64_t info = 0;   // MMIO: read or write; ports: in or out
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const {
      constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;
      return (key.place * 2 + key.info) * kOdd;
    }
  };
  struct Row {
    Key key;
    RunningStats times;
    uint64_t total_ns = 0, shortest_ns = UINT64_MAX, longest_ns = 0;
  };
  struct Vcpu {
    uint32_t number = 0, pid = 0;
    uint64_t start_ns = 0;  // 0: nothing has begun
    std::optional<Key> key;
  };

  [[nodiscard]] bool is_begin(const TracepointItem& item) const;
  [[nodiscard]] bool is_end(const TracepointItem& item) const;
  [[nodiscard]] std::optional<Key> key_of(const TracepointItem& item) const;
  void finish(Vcpu& vcpu, std::optional<Key> key, uint64_t time);
  void look_at_length(const Vcpu& vcpu, const Key& key, uint64_t length_ns) const;
  [[nodiscard]] std::vector<const Row*> sorted() const;
  [[nodiscard]] std::string name_of(const Key& key) const;

  KvmOptions options_;
  tsl::robin_map<uint32_t, Vcpu> vcpus_;  // by tid
  tsl::robin_map<Key, size_t, KeyHash> places_;
  std::vector<Row> rows_;
};

}  // namespace sonde
