// Losses: imperfect input, counted. Law 2: records read = records applied + records counted as
// losses, and every command ends by reporting its losses. A stage that encounters a bad record
// counts it here and goes on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

enum class LossKind : uint8_t {
#define LOSS(name, what, remedy) k_##name,
#include "base/losses.def"
#undef LOSS
};

/// Thread-safe; the first detail of each kind is kept as the example shown in the summary.
class LossLedger {
 public:
  struct Entry {
    LossKind kind;
    uint64_t count;
    std::string example;  // e.g. "at file offset 0x1f0: size 4"; may be empty
  };

  void add(LossKind kind, uint64_t count = 1, std::string_view example = {});
  [[nodiscard]] uint64_t count(LossKind kind) const;
  [[nodiscard]] uint64_t total() const;
  /// In the order of losses.def, only kinds that occurred.
  [[nodiscard]] std::vector<Entry> entries() const;
  void merge(const LossLedger& other);

  /// "12 records of an unknown type were skipped", and what would help; the sentences are in
  /// losses.def.
  static std::string_view what(LossKind kind);
  static std::string_view remedy(LossKind kind);

 private:
  struct Slot {
    uint64_t count = 0;
    std::string example;
  };
  mutable std::mutex mutex_;
  std::array<Slot, 64> slots_;
};

}  // namespace sonde
