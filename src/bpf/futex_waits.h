// FutexWaits: how long threads sleep in futex(2) and related calls, where a program's locks and
// condition variables wait, added up by BPF programs per thread, futex and call chain.
//
//   FutexWaits waits = TRY(FutexWaits::open({.tasks = {.all = true}}));
//   waits.set(FollowPhase::kOn);   …   waits.set(FollowPhase::kOver);
//   for (const FutexWaits::Row& row : TRY(waits.rows())) …
//
// Calls that do not sleep are left out. The programs stay attached for the lifetime of the object.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/error.h"
#include "bpf/followed_tasks.h"
#include "bpf/measured_waits.h"

namespace sonde {

class FutexWaits {
 public:
  struct Options {
    FollowedTasks tasks = {};
    uint32_t most_rows = 10240;
  };
  enum class Outcome : uint8_t { kWoken, kTimedOut, kInterrupted, kLasts };
  struct Row {
    uint32_t pid = 0, tid = 0;
    uint64_t word = 0;       // the futex's address in its process; 0: one of several
    uint32_t operation = 0;  // FUTEX_WAIT … without flags
    uint32_t owner = 0;      // who may hold the lock, according to glibc's mutexes and PI futexes
    Outcome outcome = Outcome::kWoken;
    uint64_t count = 0, total_ns = 0, longest_ns = 0, shortest_ns = 0;
    std::vector<uint64_t> user_stack;  // innermost first
  };

  /// Errors say what the kernel refused, including its verifier's last words.
  static Result<FutexWaits> open(const Options& options);
  FutexWaits(FutexWaits&&) noexcept;
  FutexWaits& operator=(FutexWaits&&) noexcept;
  ~FutexWaits();

  void set(FollowPhase phase);
  /// To be called once, at the end: includes waits still in progress (unless it was off).
  Result<std::vector<Row>> rows();
  [[nodiscard]] LostWaits lost() const;

 private:
  struct Programs;
  explicit FutexWaits(std::unique_ptr<Programs> programs);
  std::unique_ptr<Programs> programs_;
};

}  // namespace sonde
