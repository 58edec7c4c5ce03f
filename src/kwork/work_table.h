// WorkTable: pieces of work, and what each of them is at: raised, begun, ended. It pairs the phases
// and adds up the times between them; what finds no partner is counted, by phase.
//
// Phases nest: an end belongs to the latest beginning. Events come in order of time.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <tsl/robin_map.h>

#include "kwork/work_event.h"

namespace sonde {

/// A span of time that was paired.
struct WorkSpan {
  uint64_t start_ns = 0, end_ns = 0;
  uint64_t raised_ns = 0;  // 0: not known
};

class Work {
 public:
  explicit Work(const WorkKey& of) : key(of) {}

  WorkKey key;
  std::string name;
  bool has_name = false;
  // Of the spans that were added.
  uint64_t count = 0, total_ns = 0, longest_ns = 0;
  uint64_t longest_start_ns = 0, longest_end_ns = 0;

  [[nodiscard]] uint64_t average_ns() const { return count == 0 ? 0 : total_ns / count; }
  void add(const WorkSpan& span);

  void raise(uint64_t time) { raised_.push_back(time); }
  /// The latest raise ends: a span from it to now. False where there was none.
  bool end_raise(uint64_t time, WorkSpan& span);
  /// Work begins; the latest raise, if any, was for it.
  void begin(uint64_t time);
  /// The latest beginning ends; false where there was none.
  bool end(uint64_t time, WorkSpan& span);
  /// Forgets beginnings that did not end: of work that cannot nest.
  void drop_begun() { begun_.clear(); }
  /// Events that found no partner, by phase.
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
  /// Of all work.
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
