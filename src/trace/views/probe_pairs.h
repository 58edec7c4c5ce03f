// ProbePairs: how long the calls of probed functions take, where both a function's entry and its
// return are traced: the events "probe_app:work" and "probe_app:work__return", which is what
// `probe` calls them.
//
//   ProbePairs pairs({"probe_app:work", "probe_app:work__return"});
//   pairs.take(0, 4711, 1000);                  // nullopt: an entry
//   pairs.take(1, 4711, 1250);                  // 250
//
// A return belongs to the innermost call of its thread. Calls that are left by longjmp have none:
// then the calls around them seem to begin later.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sonde {

class ProbePairs {
 public:
  /// The names of all events; those that have no other half are ignored.
  explicit ProbePairs(const std::vector<std::string>& names);

  [[nodiscard]] bool empty() const { return !has_pairs_; }

  /// An event by its place in the list, in order of time. The nanoseconds since the entry if it is
  /// the return of a call whose entry was seen.
  std::optional<uint64_t> take(size_t event, int32_t tid, uint64_t time_ns);

  /// The thread is gone.
  void forget(int32_t tid);

 private:
  struct Role {
    size_t entry = 0;  // the event of the entry
    bool is_paired = false, is_return = false;
  };
  /// The kernel follows at most this many nested returns of a program (MAX_URETPROBE_DEPTH in
  /// include/linux/uprobes.h); deeper calls have none.
  static constexpr size_t kDeepest = 64;

  std::vector<Role> roles_;
  std::map<std::pair<int32_t, size_t>, std::vector<uint64_t>> open_;  // by thread and entry
  bool has_pairs_ = false;
};

}  // namespace sonde
