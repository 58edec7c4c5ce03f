#include <bit>
#include <cstring>

#include "capture/unwinding/interpreters/code_lines.h"

namespace sonde {
namespace {

constexpr size_t kWord = sizeof(uint64_t);

/// How many entries begin at or before each unit of code: what succ_index_table of iseq.c packs. Of
/// units beyond a table that was cut nothing is known.
class RubyIndex {
 public:
  explicit RubyIndex(Bytes bytes) : bytes_(bytes) {}

  [[nodiscard]] std::optional<uint32_t> entries_up_to(uint32_t unit) const {
    return unit < RUBY_FIRST_UNITS ? of_first(unit) : of_block(unit - RUBY_FIRST_UNITS);
  }

 private:
  [[nodiscard]] std::optional<uint32_t> of_first(uint32_t unit) const {
    constexpr uint32_t kBits = 7, kPerWord = 9;
    size_t at = unit / kPerWord * kWord;
    if (at + kWord > bytes_.size()) return std::nullopt;
    return static_cast<uint32_t>(word(at) >> unit % kPerWord * kBits) & ((1u << kBits) - 1);
  }

  /// A block: a count of 32 bits and padding; seven counts of nine bits, of the words after the
  /// first one; and 512 bits, of the units at which an entry begins.
  [[nodiscard]] std::optional<uint32_t> of_block(uint32_t unit) const {
    constexpr uint32_t kBits = 9, kUnitsPerWord = 64;
    size_t block = RUBY_FIRST_BYTES + size_t{unit} / RUBY_BLOCK_UNITS * RUBY_BLOCK_BYTES;
    if (block + RUBY_BLOCK_BYTES > bytes_.size()) return std::nullopt;
    uint32_t in_block = unit % RUBY_BLOCK_UNITS, number = in_block / kUnitsPerWord;
    auto count = static_cast<uint32_t>(word(block));
    if (number > 0)
      count +=
          static_cast<uint32_t>(word(block + kWord) >> (number - 1) * kBits) & ((1u << kBits) - 1);
    uint64_t bits = word(block + 2 * kWord + number * kWord);
    uint32_t last = in_block % kUnitsPerWord;
    return count + static_cast<uint32_t>(std::popcount(bits << (kUnitsPerWord - 1 - last)));
  }

  [[nodiscard]] uint64_t word(size_t at) const { return load<uint64_t>(bytes_.data() + at); }

  Bytes bytes_;
};

}  // namespace

void CodeLines::read_ruby(Bytes table) {
  ruby_lines header{};
  if (table.size() < sizeof header) return;
  std::memcpy(&header, table.data(), sizeof header);
  table = table.subspan(sizeof header);
  size_t entry_bytes = size_t{header.kept_entries} * RUBY_ENTRY_BYTES;
  if (entry_bytes > table.size()) return;
  Bytes entries = table.first(entry_bytes);
  auto line_of = [&](uint32_t entry) {
    return load<int32_t>(entries.data() + size_t{entry} * RUBY_ENTRY_BYTES);
  };
  Bytes index_bytes = table.subspan(entry_bytes);
  // Ruby keeps no index of a single entry.
  if (index_bytes.empty()) {
    if (header.kept_entries == 1) add(UINT32_MAX, line_of(0), true);
    return;
  }
  RubyIndex index(index_bytes);
  uint32_t current = 0;
  auto close = [&](uint32_t end) {
    if (current > 0 && current <= header.kept_entries) add(end, line_of(current - 1), true);
    if (current == 0 || current > header.kept_entries) add(end, 0, false);
  };
  for (uint32_t unit = 0; unit < header.units; ++unit) {
    std::optional<uint32_t> count = index.entries_up_to(unit);
    if (!count) return close(unit);
    if (*count == current) continue;
    if (unit > 0) close(unit);
    current = *count;
  }
  close(header.units);
}

}  // namespace sonde
