#include "elf/elf_file.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "elf/build_id.h"
#include "elf/packed_file.h"
#include "elf/relocations.h"
#include "elf/xz.h"

namespace sonde {
namespace {

/// A field that is 4 bytes wide in 32-bit files and 8 in 64-bit ones.
uint64_t word(ByteCursor& cursor, bool is_64bit) {
  return is_64bit ? cursor.u64() : cursor.u32();
}

std::string_view string_at(std::string_view strings, uint64_t offset) {
  if (offset >= strings.size()) return {};
  return strings.data() + offset;
}

/// Cut after the last NUL, so that every offset in it starts a string that ends in it.
std::string_view whole_strings(Bytes content) {
  std::string_view text = as_text(content);
  return text.substr(0, text.rfind('\0') + 1);
}

}  // namespace

Result<ElfFile> ElfFile::open(const std::string& path) {
  ElfFile file;
  file.name_ = path;
  file.file_ = TRY(MappedFile::open(path));
  file.bytes_ = file.file_.bytes();
  if (is_packed(file.bytes_)) return own(TRY(unpack_file(path, file.bytes_)), path);
  TRY(file.parse());
  return file;
}

Result<ElfFile> ElfFile::view(Bytes bytes, std::string name) {
  ElfFile file;
  file.name_ = std::move(name);
  file.bytes_ = bytes;
  TRY(file.parse());
  return file;
}

Result<ElfFile> ElfFile::own(std::vector<std::byte> bytes, std::string name) {
  ElfFile file;
  file.name_ = std::move(name);
  file.owned_ = std::make_unique<std::vector<std::byte>>(std::move(bytes));
  file.bytes_ = *file.owned_;
  TRY(file.parse());
  return file;
}

Bytes ElfFile::range(uint64_t offset, uint64_t size) const {
  if (offset > bytes_.size() || size > bytes_.size() - offset) return {};
  return bytes_.subspan(static_cast<size_t>(offset), static_cast<size_t>(size));
}

Result<> ElfFile::parse() {
  Bytes ident = range(0, EI_NIDENT);
  if (ident.empty() || std::memcmp(ident.data(), ELFMAG, SELFMAG) != 0)
    return fail(ErrorCode::kCorrupt, "{} is not an ELF file", name_);
  auto elf_class = static_cast<uint8_t>(ident[EI_CLASS]);
  auto data = static_cast<uint8_t>(ident[EI_DATA]);
  if ((elf_class != ELFCLASS32 && elf_class != ELFCLASS64) ||
      (data != ELFDATA2LSB && data != ELFDATA2MSB))
    return fail(ErrorCode::kCorrupt, "{}: unknown ELF class or byte order", name_);
  is_64bit_ = elf_class == ELFCLASS64;
  order_ = data == ELFDATA2LSB ? ByteOrder::kLittle : ByteOrder::kBig;

  ByteCursor header(bytes_.subspan(EI_NIDENT), order_);
  type_ = header.u16();
  machine_ = header.u16();
  header.u32();  // e_version
  entry_ = word(header, is_64bit_);
  uint64_t segments_at = word(header, is_64bit_);
  uint64_t sections_at = word(header, is_64bit_);
  header.u32();  // e_flags
  header.u16();  // e_ehsize
  uint64_t segment_size = header.u16();
  uint64_t segment_count = header.u16();
  uint64_t section_size = header.u16();
  uint64_t section_count = header.u16();
  uint64_t names_index = header.u16();
  if (!header.ok()) return fail(ErrorCode::kCorrupt, "{}: the ELF header is cut off", name_);

  parse_sections(sections_at, section_count, section_size, names_index);
  if (segment_count == PN_XNUM && !sections_.empty()) segment_count = sections_[0].info;
  parse_segments(segments_at, segment_count, segment_size);
  find_build_id();
  return {};
}

void ElfFile::parse_sections(uint64_t offset, uint64_t count, uint64_t entry_size,
                             uint64_t names_index) {
  size_t least = is_64bit_ ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
  if (offset == 0 || offset >= bytes_.size() || entry_size < least) return;
  Bytes table = bytes_.subspan(static_cast<size_t>(offset));
  uint64_t room = table.size() / entry_size;
  std::vector<uint32_t> name_offsets;
  auto read_one = [&](uint64_t index) {
    ByteCursor cursor(table.subspan(static_cast<size_t>(index * entry_size), least), order_);
    ElfSection section;
    section.index = static_cast<uint32_t>(index);
    name_offsets.push_back(cursor.u32());
    section.type = cursor.u32();
    section.flags = word(cursor, is_64bit_);
    section.addr = word(cursor, is_64bit_);
    section.offset = word(cursor, is_64bit_);
    section.size = word(cursor, is_64bit_);
    section.link = cursor.u32();
    section.info = cursor.u32();
    word(cursor, is_64bit_);  // sh_addralign
    section.entry_size = word(cursor, is_64bit_);
    sections_.push_back(section);
  };
  if (room == 0) return;
  read_one(0);
  // Files with more sections than 16 bits can count store the true numbers in section 0.
  if (count == 0) count = sections_[0].size;
  if (names_index == SHN_XINDEX) names_index = sections_[0].link;
  count = std::min(count, room);
  sections_.reserve(static_cast<size_t>(count));
  for (uint64_t i = 1; i < count; ++i) read_one(i);

  if (names_index >= sections_.size()) return;
  std::string_view names = whole_strings(content(sections_[static_cast<size_t>(names_index)]));
  for (size_t i = 0; i < sections_.size(); ++i)
    sections_[i].name = string_at(names, name_offsets[i]);
}

void ElfFile::parse_segments(uint64_t offset, uint64_t count, uint64_t entry_size) {
  size_t least = is_64bit_ ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
  if (offset == 0 || offset >= bytes_.size() || entry_size < least) return;
  Bytes table = bytes_.subspan(static_cast<size_t>(offset));
  count = std::min<uint64_t>(count, table.size() / entry_size);
  for (uint64_t i = 0; i < count; ++i) {
    ByteCursor cursor(table.subspan(static_cast<size_t>(i * entry_size), least), order_);
    ElfSegment segment;
    uint32_t type = cursor.u32();
    uint32_t flags = is_64bit_ ? cursor.u32() : 0;
    segment.offset = FileOffset(word(cursor, is_64bit_));
    segment.addr = ElfAddr(word(cursor, is_64bit_));
    word(cursor, is_64bit_);  // p_paddr
    segment.file_size = word(cursor, is_64bit_);
    segment.memory_size = word(cursor, is_64bit_);
    if (!is_64bit_) flags = cursor.u32();
    uint64_t alignment = word(cursor, is_64bit_);
    segment.executable = (flags & PF_X) != 0;
    if (type == PT_LOAD) segments_.add(segment);
    if (type == PT_NOTE) notes_.push_back({segment.offset.value, segment.file_size, alignment});
  }
}

void ElfFile::find_build_id() {
  // Sections first: in a separate debug file the segments' offsets are those of the stripped file.
  for (const ElfSection& section : sections_) {
    if (section.type != SHT_NOTE) continue;
    build_id_ = build_id_in_notes(content(section), order_);
    if (!build_id_.empty()) return;
  }
  for (const Notes& notes : notes_) {
    build_id_ = build_id_in_notes(range(notes.offset, notes.size), order_,
                                  static_cast<size_t>(notes.alignment));
    if (!build_id_.empty()) return;
  }
}

const ElfSection* ElfFile::section(std::string_view name) const {
  auto found = std::ranges::find(sections_, name, &ElfSection::name);
  return found == sections_.end() ? nullptr : &*found;
}

const ElfSection* ElfFile::section_at(uint32_t index) const {
  return index < sections_.size() ? &sections_[index] : nullptr;
}

Bytes ElfFile::content(const ElfSection& section) const {
  return section.type == SHT_NOBITS ? Bytes{} : range(section.offset, section.size);
}

std::optional<DebugLink> ElfFile::debug_link() const {
  const ElfSection* link = section(".gnu_debuglink");
  if (link == nullptr) return std::nullopt;
  ByteCursor cursor(content(*link), order_);
  std::string_view text = as_text(cursor.rest());
  size_t end = text.find('\0');
  if (end == 0 || end == std::string_view::npos) return std::nullopt;
  size_t crc_at = (end + 4) & ~size_t{3};  // past the NUL, rounded up to a multiple of four
  if (crc_at + 4 > text.size()) return std::nullopt;
  return DebugLink{text.substr(0, end), load<uint32_t>(as_bytes(text).data() + crc_at, order_)};
}

Result<ElfFile> ElfFile::mini_debug_info() const {
  const ElfSection* packed = section(".gnu_debugdata");
  if (packed == nullptr)
    return fail(ErrorCode::kNotFound, "{} has no .gnu_debugdata section", name_);
  std::string inner_name = name_ + " (.gnu_debugdata)";
  return own(TRY(decompress_xz(content(*packed), inner_name)), inner_name);
}

std::vector<ElfRelocation> ElfFile::relocations(const ElfSection& section) const {
  std::vector<ElfRelocation> relocations;
  for_each_relocation(*this, section, 0,
                      [&](const ElfRelocation& relocation) { relocations.push_back(relocation); });
  return relocations;
}

const ElfSection* ElfFile::symbols_section(SymbolSection which) const {
  uint32_t type = which == SymbolSection::kSymtab ? SHT_SYMTAB : SHT_DYNSYM;
  for (const ElfSection& section : sections_)
    if (section.type == type && !content(section).empty()) return &section;
  return nullptr;
}

ElfFile::SymbolReader ElfFile::symbol_reader(SymbolSection which) const {
  SymbolReader reader;
  const ElfSection* table = symbols_section(which);
  if (table == nullptr || table->link >= sections_.size()) return reader;
  Bytes entries = content(*table);
  reader.entries = entries.data();
  reader.count = entries.size() / (is_64bit_ ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym));
  reader.strings = whole_strings(content(sections_[table->link]));
  for (const ElfSection& section : sections_)
    if (section.type == SHT_SYMTAB_SHNDX && section.link == table->index)
      reader.wide_sections = content(section);
  return reader;
}

bool ElfFile::read_symbol(const SymbolReader& reader, uint64_t index, ElfSymbol& symbol) const {
  uint64_t name = 0;
  uint8_t info = 0;
  uint8_t other = 0;
  uint16_t section = 0;
  if (is_64bit_) {
    const std::byte* at = reader.entries + index * sizeof(Elf64_Sym);
    name = load<uint32_t>(at, order_);
    info = load<uint8_t>(at + 4);
    other = load<uint8_t>(at + 5);
    section = load<uint16_t>(at + 6, order_);
    symbol.value = load<uint64_t>(at + 8, order_);
    symbol.size = load<uint64_t>(at + 16, order_);
  } else {
    const std::byte* at = reader.entries + index * sizeof(Elf32_Sym);
    name = load<uint32_t>(at, order_);
    symbol.value = load<uint32_t>(at + 4, order_);
    symbol.size = load<uint32_t>(at + 8, order_);
    info = load<uint8_t>(at + 12);
    other = load<uint8_t>(at + 13);
    section = load<uint16_t>(at + 14, order_);
  }
  if (name >= reader.strings.size()) return false;
  symbol.name = reader.strings.data() + name;
  symbol.section = section;
  if (section == SHN_XINDEX && (index + 1) * 4 <= reader.wide_sections.size())
    symbol.section = load<uint32_t>(reader.wide_sections.data() + index * 4, order_);
  symbol.index = static_cast<uint32_t>(index);
  symbol.type = ELF64_ST_TYPE(info);
  symbol.binding = ELF64_ST_BIND(info);
  symbol.visibility = ELF64_ST_VISIBILITY(other);
  return true;
}

size_t ElfFile::symbol_count(SymbolSection which) const {
  return static_cast<size_t>(symbol_reader(which).count);
}

bool ElfFile::may_name(SymbolSection which, std::string_view part) const {
  std::string_view strings = symbol_reader(which).strings;
  return ::memmem(strings.data(), strings.size(), part.data(), part.size()) != nullptr;
}

std::vector<ElfSymbol> ElfFile::symbols(SymbolSection which) const {
  std::vector<ElfSymbol> symbols;
  SymbolReader reader = symbol_reader(which);
  symbols.resize(static_cast<size_t>(reader.count));
  for (uint64_t i = 0; i < reader.count; ++i)
    if (!read_symbol(reader, i, symbols[static_cast<size_t>(i)]))
      symbols[static_cast<size_t>(i)] = {};
  return symbols;
}

}  // namespace sonde
