// The samples of a profile as exports want them: by thread and event, each in the order of time.
//
// A profile that only has sums (folded stacks, also those whose lines have an order but no threads)
// gets samples that stand for them: one per stack that has a weight, of one thread that is called
// as the file, in the order of the tree.
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

  /// Samples of one thread and one column.
  struct Group {
    uint32_t thread;
    uint32_t column;
    std::span<const uint32_t> samples;  // their numbers
  };
  /// Those that have samples, by thread, then by column.
  [[nodiscard]] const std::vector<Group>& groups() const { return groups_; }
  /// The groups of one thread after the other.
  [[nodiscard]] std::vector<std::span<const Group>> by_thread() const;

  /// Whether there are times and threads, or only sums.
  [[nodiscard]] bool has_times() const { return has_times_; }
  [[nodiscard]] const StackSamples& samples() const { return *samples_; }
  [[nodiscard]] const StackThread& thread(uint32_t index) const;
  /// "cc1plus", or "12" for a thread without a name; the file of a profile that only has sums.
  [[nodiscard]] std::string thread_name(uint32_t index) const;
  [[nodiscard]] std::string process_name(uint32_t index) const;
  /// Of the first and the last sample; 0 where there is none.
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
