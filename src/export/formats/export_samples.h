// The samples of a profile as exports need them: by thread and event, each in time order.
//
// A profile that only has sums (folded stacks, including those whose lines are ordered but have no
// threads) gets substitute samples: one per stack that has a weight, in tree order, all in one
// thread named after the file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stacks/stack_profile.h"

namespace sonde {

class ExportSamples {
 public:
  explicit ExportSamples(const StackProfile& profile);
  ExportSamples(const ExportSamples&) = delete;
  ExportSamples& operator=(const ExportSamples&) = delete;

  /// The samples of one thread and one column.
  struct Group {
    uint32_t thread;
    uint32_t column;
    std::span<const uint32_t> samples;  // sample indices
  };
  /// Groups that have samples, by thread, then by column.
  [[nodiscard]] const std::vector<Group>& groups() const { return groups_; }
  /// The groups, thread by thread.
  [[nodiscard]] std::vector<std::span<const Group>> by_thread() const;

  /// Whether the profile has times and threads, or only sums.
  [[nodiscard]] bool has_times() const { return has_times_; }
  [[nodiscard]] const StackSamples& samples() const { return *samples_; }
  [[nodiscard]] size_t thread_count() const { return has_times_ ? profile_.threads.size() : 1; }
  [[nodiscard]] const StackThread& thread(uint32_t index) const;
  /// Whether the name of the thread's process is known.
  [[nodiscard]] bool knows_process(uint32_t index) const;
  /// "cc1plus", or "12" for a thread without a name; the file name for a profile that only has
  /// sums.
  [[nodiscard]] std::string thread_name(uint32_t index) const;
  [[nodiscard]] std::string process_name(uint32_t index) const;
  /// The time of the first and of the last sample; 0 if there are none.
  [[nodiscard]] uint64_t start_ns() const;
  [[nodiscard]] uint64_t end_ns() const;

 private:
  void make_from_sums();
  void make_groups();
  template <typename Key>
  void order_by(const Key& key, size_t keys);

  const StackProfile& profile_;
  const StackSamples* samples_;
  StackSamples made_;
  StackThread sole_thread_;
  bool has_times_;
  LargeVector<uint32_t> order_;
  std::vector<Group> groups_;
};

}  // namespace sonde
