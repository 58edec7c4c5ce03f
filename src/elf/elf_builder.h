// ElfBuilder: small ELF files for tests, in either word size and byte order.
//
//   ElfBuilder elf;
//   uint32_t text = elf.section(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000,
//                               std::string(64, '\x90'));
//   elf.symbols({{"main", 0x1000, 16, text, STT_FUNC, STB_GLOBAL}});
//   std::vector<std::byte> bytes = elf.build();
#pragma once

#include <elf.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace sonde {

class ElfBuilder {
 public:
  struct TestSymbol {
    std::string_view name;
    uint64_t value = 0;
    uint64_t size = 0;
    uint32_t section = 0;
    uint8_t type = STT_FUNC;
    uint8_t binding = STB_GLOBAL;
    uint8_t visibility = STV_DEFAULT;
  };

  explicit ElfBuilder(bool is_64bit = true, ByteOrder order = ByteOrder::kLittle,
                      uint16_t machine = EM_X86_64, uint16_t type = ET_DYN)
      : is_64bit_(is_64bit), order_(order), machine_(machine), type_(type) {
    section("", SHT_NULL, 0, 0, "");
  }

  /// Returns the section's index. `memory_size` is for SHT_NOBITS.
  uint32_t section(std::string_view name, uint32_t type, uint64_t flags, uint64_t addr,
                   std::string content, uint32_t link = 0, uint64_t entry_size = 0,
                   uint64_t memory_size = 0) {
    sections_.push_back({std::string(name), type, flags, addr, std::move(content), link, entry_size,
                         memory_size, 0});
    return static_cast<uint32_t>(sections_.size() - 1);
  }
  /// Adds a PT_LOAD that contains one section at its address.
  void load(uint32_t section_index, bool executable) {
    loads_.push_back({section_index, executable});
  }
  /// sh_info: the section that a relocation list applies to.
  void info(uint32_t section_index, uint32_t info) { sections_[section_index].info = info; }
  uint32_t symbols(const std::vector<TestSymbol>& symbols, bool dynamic = false) {
    ByteBuilder table(order_);
    std::string names(1, '\0');
    put_symbol(table, {}, 0);
    for (const TestSymbol& symbol : symbols) {
      put_symbol(table, symbol, static_cast<uint32_t>(names.size()));
      names.append(symbol.name).push_back('\0');
    }
    auto strings = section(dynamic ? ".dynstr" : ".strtab", SHT_STRTAB, 0, 0, std::move(names));
    return section(dynamic ? ".dynsym" : ".symtab", dynamic ? SHT_DYNSYM : SHT_SYMTAB, 0, 0,
                   std::string(as_text(table.view())), strings, is_64bit_ ? 24 : 16);
  }
  void build_id(std::string_view id) {
    ByteBuilder note(order_);
    note.u32(4);
    note.u32(static_cast<uint32_t>(id.size()));
    note.u32(NT_GNU_BUILD_ID);
    note.text(std::string_view("GNU\0", 4));
    note.text(id);
    note.zeros((4 - id.size() % 4) % 4);
    section(".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, 0, std::string(as_text(note.view())));
  }

  std::vector<std::byte> build() {
    std::string names(1, '\0');
    std::vector<uint32_t> name_offsets;
    section(".shstrtab", SHT_STRTAB, 0, 0, "");
    for (const Part& part : sections_) {
      name_offsets.push_back(static_cast<uint32_t>(names.size()));
      names.append(part.name).push_back('\0');
    }
    sections_.back().content = names;

    uint16_t header_size = is_64bit_ ? 64 : 52;
    uint16_t segment_size = is_64bit_ ? 56 : 32;
    uint16_t section_size = is_64bit_ ? 64 : 40;
    uint64_t at = header_size + uint64_t{segment_size} * loads_.size();
    for (Part& part : sections_) {
      at = (at + 15) & ~uint64_t{15};
      part.offset = at;
      at += part.content.size();
    }
    uint64_t sections_at = (at + 15) & ~uint64_t{15};

    ByteBuilder out(order_);
    out.text(ELFMAG);
    out.u8(is_64bit_ ? ELFCLASS64 : ELFCLASS32);
    out.u8(order_ == ByteOrder::kLittle ? ELFDATA2LSB : ELFDATA2MSB);
    out.u8(EV_CURRENT);
    out.zeros(9);
    out.u16(type_);
    out.u16(machine_);
    out.u32(EV_CURRENT);
    word(out, 0);
    word(out, loads_.empty() ? 0 : header_size);
    word(out, sections_at);
    out.u32(0);
    out.u16(header_size);
    out.u16(segment_size);
    out.u16(static_cast<uint16_t>(loads_.size()));
    out.u16(section_size);
    out.u16(static_cast<uint16_t>(sections_.size()));
    out.u16(static_cast<uint16_t>(sections_.size() - 1));
    for (const Load& load : loads_) put_segment(out, load);
    for (const Part& part : sections_) {
      out.zeros(part.offset - out.size());
      out.text(part.content);
    }
    out.zeros(sections_at - out.size());
    for (size_t i = 0; i < sections_.size(); ++i) put_section(out, sections_[i], name_offsets[i]);
    return {out.view().begin(), out.view().end()};
  }

 private:
  struct Part {
    std::string name;
    uint32_t type;
    uint64_t flags;
    uint64_t addr;
    std::string content;
    uint32_t link;
    uint64_t entry_size;
    uint64_t memory_size;
    uint64_t offset;
    uint32_t info = 0;
  };
  struct Load {
    uint32_t section;
    bool executable;
  };

  void word(ByteBuilder& out, uint64_t value) const {
    if (is_64bit_)
      out.u64(value);
    else
      out.u32(static_cast<uint32_t>(value));
  }
  void put_symbol(ByteBuilder& out, const TestSymbol& symbol, uint32_t name) const {
    auto info = static_cast<uint8_t>(symbol.binding << 4 | symbol.type);
    if (name == 0) info = 0;
    out.u32(name);
    if (!is_64bit_) {
      out.u32(static_cast<uint32_t>(symbol.value));
      out.u32(static_cast<uint32_t>(symbol.size));
    }
    out.u8(info);
    out.u8(symbol.visibility);
    out.u16(static_cast<uint16_t>(symbol.section));
    if (is_64bit_) {
      out.u64(symbol.value);
      out.u64(symbol.size);
    }
  }
  void put_segment(ByteBuilder& out, const Load& load) const {
    const Part& part = sections_[load.section];
    uint32_t flags = PF_R | (load.executable ? PF_X : 0U);
    uint64_t memory = part.content.size() + part.memory_size;
    out.u32(PT_LOAD);
    if (is_64bit_) out.u32(flags);
    word(out, part.offset);
    word(out, part.addr);
    word(out, part.addr);
    word(out, part.content.size());
    word(out, memory);
    if (!is_64bit_) out.u32(flags);
    word(out, 4096);
  }
  void put_section(ByteBuilder& out, const Part& part, uint32_t name) const {
    out.u32(name);
    out.u32(part.type);
    word(out, part.flags);
    word(out, part.addr);
    word(out, part.type == SHT_NULL ? 0 : part.offset);
    word(out, part.type == SHT_NOBITS ? part.memory_size : part.content.size());
    out.u32(part.link);
    out.u32(part.info);
    word(out, 16);
    word(out, part.entry_size);
  }

  bool is_64bit_;
  ByteOrder order_;
  uint16_t machine_;
  uint16_t type_;
  std::vector<Part> sections_;
  std::vector<Load> loads_;
};

}  // namespace sonde
