// AbbrevTable: the abbreviations of a unit: for each code the tag and the attributes with their
// forms (DWARF 5, section 7.5.3).
//
// It is read when the first entry is looked up: most commands look into few units, and in a large
// file reading all tables takes longer than all the rest. Any number of threads may look up.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"

namespace sonde {

/// What the size of some forms depends on.
struct DwarfFormat {
  uint16_t version = 0;
  uint8_t address_size = 8;
  uint8_t offset_size = 4;  // 8 in 64-bit DWARF
  bool operator==(const DwarfFormat&) const = default;
};

struct AttributeSpec {
  static constexpr uint32_t kVariable = UINT32_MAX;
  uint16_t name = 0;          // DW_AT_*
  uint16_t form = 0;          // DW_FORM_*
  uint32_t size = kVariable;  // of a value, as fixed_form_size() has it
  int64_t implicit = 0;
};

struct Abbrev {
  static constexpr uint32_t kVariable = AttributeSpec::kVariable;
  uint64_t code = 0;
  uint16_t tag = 0;
  bool has_children = false;
  uint32_t first_spec = 0;
  uint32_t spec_count = 0;
  uint32_t size = kVariable;  // of all values, if every form has a fixed size
};

/// An abbreviation outside of a table.
struct LoneAbbrev {
  Abbrev abbrev;
  std::vector<AttributeSpec> specs;
};

class AbbrevTable {
 public:
  /// How many bytes may be read for all tables of a file. Tables do not overlap in an intact file;
  /// in a damaged one, reading must end.
  class Budget {
   public:
    void set(uint64_t bytes) { left_ = static_cast<int64_t>(bytes); }
    [[nodiscard]] bool is_spent() const { return left_.load(std::memory_order_relaxed) < 0; }
    void spend(size_t bytes) {
      left_.fetch_sub(static_cast<int64_t>(bytes), std::memory_order_relaxed);
    }

   private:
    std::atomic<int64_t> left_ = 0;
  };

  /// `bytes` begin with the table. They and the budget outlive it. After the first invalid byte,
  /// and without a budget, nothing is found.
  AbbrevTable(Bytes bytes, ByteOrder order, DwarfFormat format, Budget& budget)
      : bytes_(bytes), order_(order), format_(format), budget_(budget) {}

  [[nodiscard]] const Abbrev* find(uint64_t code) const;
  [[nodiscard]] std::span<const Abbrev> all() const {
    settle();
    return abbrevs_;
  }
  /// Of an abbreviation of this table.
  [[nodiscard]] std::span<const AttributeSpec> specs(const Abbrev& abbrev) const {
    return {specs_.data() + abbrev.first_spec, abbrev.spec_count};
  }
  /// One abbreviation, without keeping what is read on the way to it.
  [[nodiscard]] std::optional<LoneAbbrev> find_alone(uint64_t code) const;

 private:
  void settle() const {
    if (!is_read_.load(std::memory_order_acquire)) [[unlikely]]
      read();
  }
  void read() const;

  Bytes bytes_;
  ByteOrder order_;
  DwarfFormat format_;
  Budget& budget_;
  mutable std::mutex mutex_;
  mutable std::atomic<bool> is_read_ = false;
  mutable std::vector<Abbrev> abbrevs_;  // by code
  mutable std::vector<AttributeSpec> specs_;
};

/// The size of a value of this form; kVariable if the value's own bytes determine it.
[[nodiscard]] uint32_t fixed_form_size(uint16_t form, DwarfFormat format);

}  // namespace sonde
