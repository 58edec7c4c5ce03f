// ExpansionAllowance: how much memory the process may spend on bytes that expand.
//
// A few compressed bytes can become gigabytes: zstd records, sections of objects, archives, gzipped
// profiles. Whoever expands bytes asks here before it keeps what it makes:
//
//   Expansion expansion("libfoo.so: .debug_info");
//   TRY(expansion.grow(packed.size(), size));    // the sizes of this piece: before, after
//
// The rule: what becomes at most `usual_ratio` times as large is paid for by the input itself, so
// memory stays linear in it. Everything beyond comes from one allowance, `beyond_usual`, which all
// inputs of the process share: bombs use it up, real data hardly touches it. It is given back only
// by what says when its memory is free again (ExpansionShare). Nothing that lies in memory as one
// piece becomes larger than `at_once`. Commands that analyse have a large allowance, relative to
// the machine's memory; a process that opens events (a recorder, often root beside other people's
// programs) has a small one from then on. docs/decisions/0041-one-allowance-for-expansion.md says
// why the process has one object of this.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "base/error.h"

namespace sonde {

class ExpansionAllowance {
 public:
  struct Limits {
    uint64_t usual_ratio;
    uint64_t beyond_usual;  // bytes
    uint64_t at_once;       // bytes
  };
  /// A hundredfold and an eighth of the memory, but at least 256 MiB and at most 4 GiB; half of the
  /// memory at once.
  static Limits of_analysis(uint64_t memory_bytes);
  /// Twentyfold, 64 MiB, and 256 MiB at once.
  static Limits of_recorder();

  explicit ExpansionAllowance(const Limits& limits)
      : usual_ratio_(limits.usual_ratio),
        beyond_usual_(limits.beyond_usual),
        at_once_(limits.at_once) {}
  /// The process's own: that of a command that analyses, until it records.
  static ExpansionAllowance& of_process();

  /// From here on this process records. What was used before is not counted.
  void become_recorder();

  [[nodiscard]] uint64_t usual_ratio() const { return usual_ratio_; }
  [[nodiscard]] uint64_t at_once() const { return at_once_; }
  /// Takes some of what is beyond usual; false if that much is not left.
  [[nodiscard]] bool take(uint64_t bytes);
  void give_back(uint64_t bytes) { beyond_usual_ += bytes; }

 private:
  std::atomic<uint64_t> usual_ratio_, beyond_usual_, at_once_;
};

/// What one thing that comes and goes took of the allowance: memory that is freed with this object,
/// such as the mappings that a fork's few bytes stand for.
class ExpansionShare {
 public:
  ExpansionShare() : ExpansionShare(ExpansionAllowance::of_process()) {}
  explicit ExpansionShare(ExpansionAllowance& allowance) : allowance_(&allowance) {}
  ExpansionShare(ExpansionShare&& other) noexcept
      : allowance_(other.allowance_), taken_(std::exchange(other.taken_, 0)) {}
  ExpansionShare& operator=(ExpansionShare&& other) noexcept {
    std::swap(allowance_, other.allowance_);
    std::swap(taken_, other.taken_);
    return *this;
  }
  ~ExpansionShare() {
    if (taken_ > 0) allowance_->give_back(taken_);
  }
  /// `from` bytes of input become `to` in memory; false if that is too much.
  [[nodiscard]] bool take(uint64_t from, uint64_t to);

 private:
  ExpansionAllowance* allowance_;
  uint64_t taken_ = 0;
};

/// One thing that expands, at once or piece by piece.
class Expansion {
 public:
  /// `name`: of what expands, for messages.
  explicit Expansion(std::string name,
                     ExpansionAllowance& allowance = ExpansionAllowance::of_process())
      : name_(std::move(name)), allowance_(&allowance) {}

  /// To be called before memory is reserved: `from` further bytes become `to`. kUnsupported, with
  /// what is too large, if the allowance does not suffice. Nothing is counted then.
  Result<> grow(uint64_t from, uint64_t to);
  /// The same if the whole result lies in memory as one piece.
  Result<> grow_in_memory(uint64_t from, uint64_t to);
  [[nodiscard]] uint64_t made() const { return made_; }

 private:
  std::string name_;
  ExpansionAllowance* allowance_;
  uint64_t read_ = 0, made_ = 0;
  uint64_t taken_ = 0;  // of the allowance
};

}  // namespace sonde
