// CfiSection: the entries of .eh_frame or .debug_frame: the code that each describes, and its
// programs.
//
// The two sections hold the same with small differences (Linux Standard Base, "Exception Frames";
// DWARF 5, section 6.4.1): .eh_frame encodes its pointers, .debug_frame has plain addresses.
// Entries that do not decode are skipped and counted.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"

namespace sonde {

/// What a common information entry (CIE) says for all entries that refer to it.
struct CfiCommon {
  uint64_t code_alignment = 1;
  int64_t data_alignment = 1;
  uint8_t return_register = 0;
  bool is_signal_frame = false;
  bool has_augmentation = false;  // entries that refer to it begin with a length to skip
  uint8_t pointer_encoding = 0;   // DW_EH_PE_*
  uint8_t address_size = 8;
  Bytes program;  // initial instructions
};

/// The entry (FDE) of a function or a part of one.
struct CfiEntry {
  uint64_t start = 0, end = 0;  // addresses in the object, end exclusive
  uint32_t common = 0;          // index into CfiSection::commons
  Bytes program;
};

struct CfiSection {
  enum class Kind : uint8_t { kEhFrame, kDebugFrame };
  struct Source {
    Bytes bytes;
    uint64_t addr = 0;  // where the section is loaded
    Kind kind = Kind::kEhFrame;
    ByteOrder order = kHostOrder;
    uint8_t address_size = 8;
    std::optional<uint64_t> only_at = {};   // only entries of code at this address are wanted
    std::optional<uint64_t> entry_at = {};  // only the entry at this offset is read
  };

  std::vector<CfiCommon> commons;
  std::vector<CfiEntry> entries;  // in section order
  uint64_t bad_entries = 0;

  /// Programs are views of `source`.
  static CfiSection read(const Source& source);
};

}  // namespace sonde
