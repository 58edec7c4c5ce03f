// WorkTable: pieces of work, and the state of each: raised, begun, ended. Pairs the phases and
// accumulates the times between them; unpaired events are counted, by phase.
//
// Phases nest: an end belongs to the latest beginning. Events must be in time order.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <tsl/robin_map.h>

#include "kwork/work_event.h"

namespace sonde {

/// A paired span of time.
struct WorkSpan {
  uint64_t start_ns = 0, end_ns = 0;
  uint64_t raised_ns = 0;  // 0: unknown
};

class Work {
 public:
  explicit Work(const WorkKey& of) : key(of) {}

  WorkKey key;
  std::string name;
  bool has_name = false;
  // Of the spans added.
  uint64_t count = 0, total_ns = 0, longest_ns = 0;
  uint64_t longest_start_ns = 0, longest_end_ns = 0;

  [[nodiscard]] uint64_t average_ns() const { return count == 0 ? 0 : total_ns / count; }
  void add(const WorkSpan& span);

  void raise(uint64_t time) { raised_.push_back(time); }
  /// Ends the latest raise: a span from it to now. False if there was none.
  bool end_raise(uint64_t time, WorkSpan& span);
  /// Work begins; the latest raise, if any, was for it.
  void begin(uint64_t time);
  /// Ends the latest beginning; false if there was none.
  bool end(uint64_t time, WorkSpan& span);
  /// Discards unfinished beginnings: for work that cannot nest.
  void drop_begun() { begun_.clear(); }
  /// Unpaired events, by phase.
  [[nodiscard]] std::array<uint64_t, kWorkPhases> without_partner() const;

 private:
  struct Begun {
    uint64_t time, raised_ns;
  };
  std::vector<uint64_t> raised_;
  std::vector<Begun> begun_;
  uint64_t lone_entries_ = 0, lone_exits_ = 0;
};

class WorkTable {
 public:
  Work& find_or_add(const WorkKey& key) {
    auto [found, is_new] = by_key_.try_emplace(key, static_cast<uint32_t>(works_.size()));
    if (is_new) works_.emplace_back(key);
    return works_[found->second];
  }
  [[nodiscard]] const std::vector<Work>& all() const { return works_; }
  /// Summed over all work.
  [[nodiscard]] std::array<uint64_t, kWorkPhases> without_partner() const;

 private:
  struct Hash {
    size_t operator()(const WorkKey& key) const {
      constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;
      uint64_t mixed = key.id ^ (uint64_t{key.cpu} << 48) ^ static_cast<uint64_t>(key.work_class);
      mixed *= kOdd;
      return mixed ^ (mixed >> 32);
    }
  };
  tsl::robin_map<WorkKey, uint32_t, Hash> by_key_;
  std::vector<Work> works_;
};

}  // namespace sonde
