// KernelHistograms: histograms of a value of events, or of the time between two events, added up by
// BPF programs in the kernel, in per-CPU maps of bounded size.
//
//   KernelHistograms sums = TRY(KernelHistograms::open({.sources = …, .tasks = …}));
//   sums.set_enabled(true);
//   … sums.cells(), at any time …
//
// Nothing is pinned: programs and probes disappear with the object, and with the process however it
// ends.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "bpf/followed_tasks.h"
#include "bpf/programs/histogram.h"

namespace sonde {

/// An event, and what is read from its context: the fields of a tracepoint, or the registers at a
/// probe.
struct HistogramSource {
  enum class Kind : uint8_t { kTracepoint, kFunction, kKernelFunction };
  Kind kind = Kind::kTracepoint;
  std::string system = {}, name = {};  // of a tracepoint
  std::string object = {};             // kFunction: the file
  std::string symbol = {};             // kKernelFunction
  uint64_t offset = 0;                 // in the file, or from the symbol
  uint64_t semaphore = 0;              // in the file: a counter to increment; 0: none
  bool at_return = false;

  histogram_role role = HISTOGRAM_VALUE;
  histogram_fetch value = {};  // HISTOGRAM_VALUE
  histogram_fetch by = {};     // the key; HISTOGRAM_NOTHING: there is one histogram
  bool by_of_begin = false;    // for pairs: `by` is the begin's
  std::array<histogram_fetch, HISTOGRAM_PAIR_KEYS> pair_keys = {};
  std::vector<histogram_test> tests = {};  // of values and begins; at most HISTOGRAM_TESTS

  /// For messages: "sched:sched_switch", "malloc in /usr/lib/libc.so.6".
  [[nodiscard]] std::string description() const;
};

class KernelHistograms {
 public:
  struct Options {
    std::vector<HistogramSource> sources = {};
    FollowedTasks tasks = {};         // whose values and begins count
    std::vector<uint32_t> cpus = {};  // on which they count; empty: all
    // Buckets of this size between these values; 0: powers of two.
    uint64_t bucket_size = 0;
    int64_t first_bucket_at = 0, last_bucket_end = 0;
    uint32_t most_cells = 8192;   // buckets of all keys together
    uint32_t most_begins = 8192;  // begins without an end, at one time
  };
  struct Cell {
    std::array<uint64_t, HISTOGRAM_WORDS> by = {};
    int32_t bucket = 0;
    uint64_t count = 0;
    uint64_t sum = 0;  // modulo 2^64
  };
  /// What is not in the histograms.
  struct Counts {
    uint64_t lost_values = 0;  // no room for their bucket
    uint64_t lost_begins = 0;  // no room
    uint64_t lost_tasks = 0;   // no room to follow them
    uint64_t unreadable = 0;   // a value could not be read
    uint64_t missed = 0;       // the kernel did not run the program: another was running
    uint64_t replaced = 0;     // begins followed by another begin of the same key
    uint64_t ends_alone = 0;   // ends without a begin; counted if every begin is looked at
    uint64_t backward = 0;     // ends before their begin
    uint64_t still_open = 0;   // begins without an end so far
  };

  /// Errors name the event, and say what the kernel refused.
  static Result<KernelHistograms> open(const Options& options);
  KernelHistograms(KernelHistograms&&) noexcept;
  KernelHistograms& operator=(KernelHistograms&&) noexcept;
  ~KernelHistograms();

  /// If the tasks are enabled by an exec, only `false` is needed.
  void set_enabled(bool enabled);
  /// In no order.
  [[nodiscard]] std::vector<Cell> cells() const;
  [[nodiscard]] Counts counts() const;

 private:
  struct State;
  explicit KernelHistograms(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sonde
