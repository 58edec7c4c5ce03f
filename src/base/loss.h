// Losses: imperfect input, counted. Law 2: records read = records applied + records counted as
// losses, and every command ends by reporting its losses. A stage that encounters a bad record
// counts it here and goes on. Where a recording is cut or damaged, the bytes that nobody could read
// are counted, too: outputs with a heading say so there (`damage`), and more than a tenth is a
// failure.
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

/// How many bytes of a recording's records could be read.
struct ReadBytes {
  uint64_t promised = 0;  // in the file, or said to be: what a cut file lacks counts as well
  uint64_t unread = 0;    // of those, in no record: cut off, or after a record that ends the scan
  uint64_t records = 0;   // of the records that were found, with the content of compressed ones
  uint64_t damaged = 0;   // of those, in records that could not be decoded

  void add(const ReadBytes& other);  // a sum too large for 64 bits becomes the largest number
  /// What could not be read, as a share of what was promised: from 0 to 1.
  [[nodiscard]] double lost_share() const;
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
  /// Adds the losses of another recording. Its bytes stay apart: the share that was lost is from
  /// then on that of the worse one.
  void merge(const LossLedger& other);

  void add_bytes(const ReadBytes& bytes);
  /// The share of the recording that could not be read, from 0 to 1.
  [[nodiscard]] double lost_share() const;
  /// Whether so much could not be read (more than a tenth) that the command's status is 1.
  [[nodiscard]] bool lost_too_much() const { return lost_share() > 0.1; }
  /// "12.3% of the recording could not be read"; empty if the recording is whole.
  [[nodiscard]] std::string damage_summary() const;
  /// Lines for the heading of an output: what is damaged and where, the summary first. None if the
  /// recording is whole.
  [[nodiscard]] std::vector<std::string> damage() const;

  /// "3 records were damaged and skipped (at file offset 0x1f0: …); record again", without the end
  /// of the line.
  static std::string text(const Entry& entry);
  /// "records of an unknown type were skipped", after a count, and what would help; the sentences
  /// are in losses.def.
  static std::string what(const Entry& entry);
  static std::string_view remedy(LossKind kind);

 private:
  struct Slot {
    uint64_t count = 0;
    std::string example;
  };
  mutable std::mutex mutex_;
  std::array<Slot, 64> slots_;
  ReadBytes bytes_;
  double merged_share_ = 0;  // the largest of the merged ledgers
};

}  // namespace sonde
