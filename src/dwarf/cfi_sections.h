// CfiSections: the call frame information of one object, and the functions that it delimits.
//
// Stripped objects keep it, because exceptions and profilers unwind by it: every function, and
// every part of one that the compiler moved away (".cold"), has an entry with its start and its
// size.
//
//   for (const FunctionRange& function : CfiSections(elf, nullptr).functions()) …
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dwarf/cfi_section.h"
#include "elf/elf_file.h"

namespace sonde {

/// ELF addresses, end exclusive.
struct FunctionRange {
  uint64_t start = 0, end = 0;
  bool operator==(const FunctionRange&) const = default;
};

class CfiSections {
 public:
  /// .eh_frame and .debug_frame of the object as it ran, then .debug_frame of its separate debug
  /// file, if there is one. Both must outlive this object.
  /// With `only_at`, only the entries of code at that address are kept.
  CfiSections(const ElfFile& object, const ElfFile* debug,
              std::optional<uint64_t> only_at = std::nullopt);

  [[nodiscard]] std::span<const CfiSection> sections() const { return sections_; }
  /// In address order, one per start. Damaged sections may give ranges that overlap.
  [[nodiscard]] std::vector<FunctionRange> functions() const;

 private:
  void read(const ElfFile& file, std::string_view name, CfiSection::Kind kind);

  std::optional<uint64_t> only_at_;
  std::vector<std::vector<std::byte>> expanded_;  // contents of compressed sections
  std::vector<CfiSection> sections_;
};

/// Call frame information for the PLT of an arm64 object, for which linkers write none. As if they
/// had: an entry jumps, so its caller's address is in x30; only the first, which calls the
/// resolver, pushes that. Empty for other machines.
[[nodiscard]] CfiSection arm64_plt_information(const ElfFile& object);

}  // namespace sonde
