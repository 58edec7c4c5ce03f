#include "symbol/jit_image.h"

#include <elf.h>
#include <xxhash.h>

#include <algorithm>
#include <map>

namespace sonde {
namespace {

constexpr size_t kBuildIdSize = 20;

void put_uleb(ByteBuilder& out, uint64_t value) {
  do {
    auto byte = static_cast<uint8_t>(value & 0x7f);
    value >>= 7;
    out.u8(static_cast<uint8_t>(byte | (value != 0 ? 0x80 : 0)));
  } while (value != 0);
}

void put_sleb(ByteBuilder& out, int64_t value) {
  for (bool more = true; more;) {
    auto byte = static_cast<uint8_t>(value & 0x7f);
    value >>= 7;
    more = !((value == 0 && (byte & 0x40) == 0) || (value == -1 && (byte & 0x40) != 0));
    out.u8(static_cast<uint8_t>(byte | (more ? 0x80 : 0)));
  }
}

void put_text(ByteBuilder& out, std::string_view text) {
  out.text(text);
  out.u8(0);
}

/// DWARF 4, section 6.2: one sequence from the start of the code to its end.
class LineProgram {
 public:
  LineProgram(std::vector<JitDump::Line> lines, const JitDump::Code& code) : code_(code) {
    std::ranges::stable_sort(lines, {}, &JitDump::Line::address);
    for (const JitDump::Line& line : lines)
      if (line.address - code.address < code.size) lines_.push_back(line);
    for (const JitDump::Line& line : lines_)
      if (files_.emplace(line.file, files_.size() + 1).second) file_names_.push_back(line.file);
  }

  [[nodiscard]] bool empty() const { return lines_.empty(); }
  [[nodiscard]] std::string_view first_file() const { return file_names_.front(); }

  [[nodiscard]] ByteBuilder section() const {
    ByteBuilder out;
    out.u32(0);
    out.u16(4);
    size_t header_length_at = out.size();
    out.u32(0);
    put_header(out);
    out.patch(header_length_at, static_cast<uint32_t>(out.size() - header_length_at - 4));
    put_rows(out);
    out.patch(0, static_cast<uint32_t>(out.size() - 4));
    return out;
  }

 private:
  enum Opcode : uint8_t { kExtended, kCopy, kAdvancePc, kAdvanceLine, kSetFile };
  enum Extended : uint8_t { kEndSequence = 1, kSetAddress = 2, kSetDiscriminator = 4 };

  void put_header(ByteBuilder& out) const {
    constexpr uint8_t kOperands[] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
    out.u8(1);                         // minimum instruction length
    out.u8(1);                         // maximum operations per instruction
    out.u8(1);                         // default is_stmt
    out.u8(static_cast<uint8_t>(-5));  // line_base: special opcodes, which are not used
    out.u8(14);
    out.u8(static_cast<uint8_t>(std::size(kOperands) + 1));
    for (uint8_t count : kOperands) out.u8(count);
    out.u8(0);  // no directories
    for (std::string_view name : file_names_) {
      put_text(out, name);
      out.zeros(3);  // directory, time, size
    }
    out.u8(0);
  }

  void put_rows(ByteBuilder& out) const {
    out.u8(kExtended);
    put_uleb(out, 1 + 8);
    out.u8(kSetAddress);
    out.u64(kJitImageText);
    uint64_t at = code_.address;
    int64_t line = 1;
    size_t file = 1;
    for (const JitDump::Line& row : lines_) {
      if (row.address != at) {
        out.u8(kAdvancePc);
        put_uleb(out, row.address - at);
      }
      if (size_t number = files_.at(row.file); number != file) {
        out.u8(kSetFile);
        put_uleb(out, file = number);
      }
      if (row.line != line) {
        out.u8(kAdvanceLine);
        put_sleb(out, int64_t{row.line} - line);
      }
      if (row.discriminator != 0) put_discriminator(out, row.discriminator);
      out.u8(kCopy);
      at = row.address;
      line = row.line;
    }
    out.u8(kAdvancePc);
    put_uleb(out, code_.address + code_.size - at);
    out.u8(kExtended);
    put_uleb(out, 1);
    out.u8(kEndSequence);
  }

  static void put_discriminator(ByteBuilder& out, uint32_t value) {
    ByteBuilder number;
    put_uleb(number, value);
    out.u8(kExtended);
    put_uleb(out, 1 + number.size());
    out.u8(kSetDiscriminator);
    out.bytes(number.view());
  }

  const JitDump::Code& code_;
  std::vector<JitDump::Line> lines_;  // by address
  std::map<std::string_view, size_t> files_;
  std::vector<std::string_view> file_names_;
};

/// Writes the abbreviations and the single unit that refers to the lines.
void put_unit(std::string_view file, const JitDump::Code& code, ByteBuilder& info,
              ByteBuilder& abbreviations) {
  constexpr uint8_t kUnit = 0x11, kNoChildren = 0;
  constexpr uint8_t kName = 0x03, kStatements = 0x10, kLow = 0x11, kHigh = 0x12;
  constexpr uint8_t kString = 0x08, kSectionOffset = 0x17, kAddress = 0x01, kData8 = 0x07;
  for (uint8_t byte : {uint8_t{1}, kUnit, kNoChildren, kName, kString, kStatements, kSectionOffset,
                       kLow, kAddress, kHigh, kData8, uint8_t{0}, uint8_t{0}, uint8_t{0}})
    abbreviations.u8(byte);
  info.u32(0);
  info.u16(4);  // DWARF 4
  info.u32(0);  // offset of its abbreviations
  info.u8(8);   // address size
  info.u8(1);
  put_text(info, file);
  info.u32(0);  // offset of its lines
  info.u64(kJitImageText);
  info.u64(code.size);
  info.patch(0, static_cast<uint32_t>(info.size() - 4));
}

class ImageBuilder {
 public:
  explicit ImageBuilder(uint16_t machine) : machine_(machine) { sections_.emplace_back(); }

  struct Section {
    std::string_view name = {};
    uint32_t type = SHT_NULL;
    uint64_t flags = 0;
    uint64_t alignment = 0;
    std::vector<std::byte> content = {};
    uint32_t link = 0;
    uint32_t info = 0;
    uint64_t entry_size = 0;
    uint64_t offset = 0;
  };
  size_t add(Section section) {
    sections_.push_back(std::move(section));
    return sections_.size() - 1;
  }
  Section& section(size_t index) { return sections_[index]; }

  /// `loaded`: how many sections after the first are in the segment.
  std::vector<std::byte> build(size_t loaded) {
    ByteBuilder names;
    names.u8(0);
    std::vector<uint32_t> name_at(sections_.size());
    sections_.push_back({.name = ".shstrtab", .type = SHT_STRTAB, .alignment = 1});
    name_at.push_back(0);
    for (size_t i = 1; i < sections_.size(); ++i) {
      name_at[i] = static_cast<uint32_t>(names.size());
      put_text(names, sections_[i].name);
    }
    sections_.back().content.assign(names.view().begin(), names.view().end());
    uint64_t at = kJitImageText;
    for (size_t i = 1; i < sections_.size(); ++i) {
      at = (at + sections_[i].alignment - 1) / sections_[i].alignment * sections_[i].alignment;
      sections_[i].offset = at;
      at += sections_[i].content.size();
    }
    uint64_t table_at = (at + 7) & ~uint64_t{7};
    ByteBuilder out;
    put_header(out, table_at);
    const Section& last = sections_[loaded];
    put_segment(out, last.offset + last.content.size() - kJitImageText);
    for (size_t i = 1; i < sections_.size(); ++i) {
      out.zeros(static_cast<size_t>(sections_[i].offset) - out.size());
      out.bytes(sections_[i].content);
    }
    out.zeros(static_cast<size_t>(table_at) - out.size());
    for (size_t i = 0; i < sections_.size(); ++i) put_section(out, sections_[i], name_at[i]);
    return {out.view().begin(), out.view().end()};
  }

 private:
  void put_header(ByteBuilder& out, uint64_t table_at) const {
    out.text(ELFMAG);
    out.u8(ELFCLASS64);
    out.u8(kHostOrder == ByteOrder::kLittle ? ELFDATA2LSB : ELFDATA2MSB);
    out.u8(EV_CURRENT);
    out.zeros(9);
    out.u16(ET_DYN);
    out.u16(machine_);
    out.u32(EV_CURRENT);
    out.u64(kJitImageText);
    out.u64(sizeof(Elf64_Ehdr));
    out.u64(table_at);
    out.u32(0);
    out.u16(sizeof(Elf64_Ehdr));
    out.u16(sizeof(Elf64_Phdr));
    out.u16(1);
    out.u16(sizeof(Elf64_Shdr));
    out.u16(static_cast<uint16_t>(sections_.size()));
    out.u16(static_cast<uint16_t>(sections_.size() - 1));
  }
  static void put_segment(ByteBuilder& out, uint64_t size) {
    out.u32(PT_LOAD);
    out.u32(PF_R | PF_X);
    for (int i = 0; i < 3; ++i) out.u64(kJitImageText);  // offset, address, physical address
    out.u64(size);
    out.u64(size);
    out.u64(8);
  }
  static void put_section(ByteBuilder& out, const Section& section, uint32_t name) {
    out.u32(name);
    out.u32(section.type);
    out.u64(section.flags);
    out.u64((section.flags & SHF_ALLOC) != 0 ? section.offset : 0);
    out.u64(section.offset);
    out.u64(section.content.size());
    out.u32(section.link);
    out.u32(section.info);
    out.u64(section.alignment);
    out.u64(section.entry_size);
  }

  uint16_t machine_;
  std::vector<Section> sections_;
};

std::vector<std::byte> copy_of(Bytes bytes) {
  return {bytes.begin(), bytes.end()};
}

/// A hash that other content would not have.
std::string build_id_of(const JitDump& dump, const JitDump::Code& code) {
  ByteBuilder content;
  content.bytes(dump.bytes_of(code));
  put_text(content, code.name);
  content.bytes(code.unwinding);
  for (const JitDump::Line& line : dump.lines_of(code)) {
    content.u64(line.address);
    content.u32(line.line);
    put_text(content, line.file);
  }
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(content.view().data(), content.size()));
  std::string id(reinterpret_cast<const char*>(canonical.digest), sizeof canonical.digest);
  id.resize(kBuildIdSize, 'j');
  return id;
}

std::vector<std::byte> symbol_table(const JitDump::Code& code) {
  ByteBuilder symbols;
  symbols.zeros(sizeof(Elf64_Sym));
  symbols.u32(1);
  symbols.u8(ELF64_ST_INFO(STB_LOCAL, STT_FUNC));
  symbols.u8(STV_DEFAULT);
  symbols.u16(1);  // .text
  symbols.u64(kJitImageText);
  symbols.u64(code.size);
  return copy_of(symbols.view());
}

std::vector<std::byte> build_id_note(const std::string& id) {
  ByteBuilder note;
  note.u32(4);
  note.u32(static_cast<uint32_t>(id.size()));
  note.u32(NT_GNU_BUILD_ID);
  note.text(std::string_view("GNU\0", 4));
  note.text(id);
  return copy_of(note.view());
}

}  // namespace

JitImage make_jit_image(const JitDump& dump, const JitDump::Code& code) {
  ImageBuilder image(static_cast<uint16_t>(dump.header().elf_machine));
  image.add({.name = ".text",
             .type = SHT_PROGBITS,
             .flags = SHF_ALLOC | SHF_EXECINSTR,
             .alignment = 16,
             .content = copy_of(dump.bytes_of(code))});
  size_t loaded = 1;
  if (!code.unwinding.empty()) {
    auto table = code.unwinding.size() - static_cast<size_t>(code.unwinding_header_size);
    image.add({.name = ".eh_frame",
               .type = SHT_PROGBITS,
               .flags = SHF_ALLOC,
               .alignment = 8,
               .content = copy_of(code.unwinding.first(table))});
    loaded = image.add({.name = ".eh_frame_hdr",
                        .type = SHT_PROGBITS,
                        .flags = SHF_ALLOC,
                        .alignment = 4,
                        .content = copy_of(code.unwinding.subspan(table))});
  }
  ByteBuilder names;
  names.u8(0);
  put_text(names, code.name);
  size_t strings = image.add(
      {.name = ".strtab", .type = SHT_STRTAB, .alignment = 1, .content = copy_of(names.view())});
  image.add({.name = ".symtab",
             .type = SHT_SYMTAB,
             .alignment = 8,
             .content = symbol_table(code),
             .link = static_cast<uint32_t>(strings),
             .info = 2,  // both are local
             .entry_size = sizeof(Elf64_Sym)});
  JitImage made;
  made.build_id = build_id_of(dump, code);
  image.add({.name = ".note.gnu.build-id",
             .type = SHT_NOTE,
             .alignment = 4,
             .content = build_id_note(made.build_id)});
  auto lines = dump.lines_of(code);
  LineProgram program({lines.begin(), lines.end()}, code);
  if (!program.empty()) {
    ByteBuilder info, abbreviations;
    put_unit(program.first_file(), code, info, abbreviations);
    auto add_debug = [&](std::string_view name, const ByteBuilder& content) {
      image.add(
          {.name = name, .type = SHT_PROGBITS, .alignment = 1, .content = copy_of(content.view())});
    };
    add_debug(".debug_line", program.section());
    add_debug(".debug_info", info);
    add_debug(".debug_abbrev", abbreviations);
  }
  made.bytes = image.build(loaded);
  return made;
}

}  // namespace sonde
