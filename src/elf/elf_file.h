// ElfFile: an object's headers, sections, segments, notes and symbols, as views of its bytes.
//
// It reads both word sizes and both byte orders. Every file offset is checked against the file size
// before use: a damaged file makes `open` fail, or later has fewer sections and symbols, but never
// causes a crash. Only headers are copied, so opening a file of any size takes the same few
// microseconds.
//
//   ElfFile file = TRY(ElfFile::open("/usr/lib/libfoo.so"));
//   file.for_each_symbol(SymbolSection::kSymtab,
//                        [](const ElfSymbol& s) { ... s.name, s.value ... });
//
// Views (names, contents, build id) live as long as the ElfFile or, after a move, as its successor.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"
#include "base/ids.h"
#include "elf/segment_map.h"

namespace sonde {

/// One section header, widened to 64 bits (gABI, "Sections").
struct ElfSection {
  std::string_view name;
  uint32_t index = 0;
  uint32_t type = 0;    // SHT_*
  uint64_t flags = 0;   // SHF_*
  uint64_t addr = 0;    // sh_addr
  uint64_t offset = 0;  // sh_offset
  uint64_t size = 0;
  uint64_t entry_size = 0;
  uint32_t link = 0;
  uint32_t info = 0;
};

/// One symbol, widened to 64 bits (gABI, "Symbol Table").
struct ElfSymbol {
  const char* name = "";  // NUL-terminated in the string table
  uint64_t value = 0;
  uint64_t size = 0;
  uint32_t section =
      0;  // index, extended numbering (SHT_SYMTAB_SHNDX) applied; or SHN_UNDEF, SHN_ABS, SHN_COMMON
  uint32_t index = 0;      // in its table
  uint8_t type = 0;        // STT_*
  uint8_t binding = 0;     // STB_*
  uint8_t visibility = 0;  // STV_*
};

/// One relocation of .rela.* or .rel.*.
struct ElfRelocation {
  uint64_t offset = 0;
  uint64_t addend = 0;  // 0 for .rel
  uint32_t symbol = 0;
  uint32_t type = 0;
};

/// .gnu_debuglink: the name of the file with the debug information, and that file's CRC.
struct DebugLink {
  std::string_view name;
  uint32_t crc = 0;
};

enum class SymbolSection : uint8_t { kSymtab, kDynsym };

class ElfFile {
 public:
  /// Maps the file, or unpacks it if it is a compressed kernel module. Errors: those of MappedFile;
  /// kCorrupt if it is not ELF.
  static Result<ElfFile> open(const std::string& path);
  /// Reads bytes that the caller keeps alive.
  static Result<ElfFile> view(Bytes bytes, std::string name);
  /// Takes ownership of the bytes (a decompressed file, a vdso read from memory).
  static Result<ElfFile> own(std::vector<std::byte> bytes, std::string name);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] Bytes bytes() const { return bytes_; }
  [[nodiscard]] bool is_64bit() const { return is_64bit_; }
  [[nodiscard]] ByteOrder order() const { return order_; }
  [[nodiscard]] uint16_t machine() const { return machine_; }  // EM_*
  [[nodiscard]] uint16_t type() const { return type_; }        // ET_*
  [[nodiscard]] uint64_t entry() const { return entry_; }

  /// The loadable segments: conversion between file offsets and the object's addresses.
  [[nodiscard]] const SegmentMap& segments() const { return segments_; }
  [[nodiscard]] std::span<const ElfSection> sections() const { return sections_; }
  [[nodiscard]] const ElfSection* section(std::string_view name) const;
  [[nodiscard]] const ElfSection* section_at(uint32_t index) const;
  /// The bytes of a section as stored in the file; empty for SHT_NOBITS and if the file ends before
  /// it.
  [[nodiscard]] Bytes content(const ElfSection& section) const;

  /// The raw bytes of the NT_GNU_BUILD_ID note, from segments or sections; empty if there is none.
  [[nodiscard]] std::string_view build_id() const { return build_id_; }
  [[nodiscard]] std::optional<DebugLink> debug_link() const;
  /// The ELF file inside .gnu_debugdata (xz). kNotFound if there is no such section.
  [[nodiscard]] Result<ElfFile> mini_debug_info() const;

  [[nodiscard]] bool has_symbols(SymbolSection which) const {
    return symbols_section(which) != nullptr;
  }
  [[nodiscard]] size_t symbol_count(SymbolSection which) const;
  /// Whether the names of a table may contain `part`.
  [[nodiscard]] bool may_name(SymbolSection which, std::string_view part) const;
  /// All symbols by index, including the null symbol; one without a valid name is empty.
  [[nodiscard]] std::vector<ElfSymbol> symbols(SymbolSection which) const;
  /// Calls `visit(const ElfSymbol&)` for every symbol except the null one.
  template <typename Visit>
  void for_each_symbol(SymbolSection which, const Visit& visit) const {
    SymbolReader reader = symbol_reader(which);
    for (uint64_t i = 1; i < reader.count; ++i) {
      ElfSymbol symbol;
      if (read_symbol(reader, i, symbol)) visit(symbol);
    }
  }
  [[nodiscard]] std::vector<ElfRelocation> relocations(const ElfSection& section) const;

 private:
  struct SymbolReader {
    const std::byte* entries = nullptr;
    uint64_t count = 0;
    std::string_view strings;  // up to and including its last NUL
    Bytes wide_sections;       // SHT_SYMTAB_SHNDX
  };

  struct Notes {
    uint64_t offset;
    uint64_t size;
    uint64_t alignment;
  };

  Result<> parse();
  void parse_sections(uint64_t offset, uint64_t count, uint64_t entry_size, uint64_t names_index);
  void parse_segments(uint64_t offset, uint64_t count, uint64_t entry_size);
  void find_build_id();
  [[nodiscard]] Bytes range(uint64_t offset, uint64_t size) const;
  [[nodiscard]] const ElfSection* symbols_section(SymbolSection which) const;
  [[nodiscard]] SymbolReader symbol_reader(SymbolSection which) const;
  [[nodiscard]] bool read_symbol(const SymbolReader& reader, uint64_t index,
                                 ElfSymbol& symbol) const;

  std::string name_;
  MappedFile file_;
  std::unique_ptr<std::vector<std::byte>> owned_;  // on the heap, so that views survive a move
  Bytes bytes_;
  bool is_64bit_ = true;
  ByteOrder order_ = kHostOrder;
  uint16_t machine_ = 0;
  uint16_t type_ = 0;
  uint64_t entry_ = 0;
  std::vector<ElfSection> sections_;
  SegmentMap segments_;
  std::vector<Notes> notes_;  // every PT_NOTE
  std::string_view build_id_;
};

}  // namespace sonde
