#include "elf/relocatable.h"

#include <gtest/gtest.h>

#include "elf/elf_builder.h"

namespace sonde {
namespace {

std::string rela64(uint64_t offset, uint64_t symbol, uint64_t type, int64_t addend) {
  ByteBuilder bytes(ByteOrder::kLittle);
  bytes.u64(offset);
  bytes.u64(symbol << 32 | type);
  bytes.u64(static_cast<uint64_t>(addend));
  return std::string(as_text(bytes.view()));
}

/// A file with `.text`, `.data`, `.debug_info` and relocations for one of them.
class Module {
 public:
  Module(std::string_view target, const std::string& relocations, uint16_t machine = EM_X86_64)
      : elf_(true, ByteOrder::kLittle, machine, ET_REL) {
    uint32_t text =
        elf_.section(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0, std::string(64, '\0'));
    uint32_t data = elf_.section(".data", SHT_PROGBITS, SHF_ALLOC, 0, std::string(32, '\0'));
    uint32_t info = elf_.section(".debug_info", SHT_PROGBITS, 0, 0, std::string(16, '\0'));
    uint32_t of = target == ".text" ? text : info;
    uint32_t list = elf_.section(".rela", SHT_RELA, 0, 0, relocations, 0, 24);
    elf_.info(list, of);
    elf_.symbols({{"function", 0x20, 8, text},
                  {"variable", 8, 8, data, STT_OBJECT},
                  {"elsewhere", 0, 0, SHN_UNDEF, STT_NOTYPE}});
    file_ = ElfFile::own(elf_.build(), "module.ko").value();
  }
  [[nodiscard]] uint64_t at(std::string_view section) const {
    return RelocatableFile(*file_).address_of(*file_->section(section));
  }
  std::vector<std::byte> applied(std::string_view section) {
    Bytes content = file_->content(*file_->section(section));
    std::vector<std::byte> bytes(content.begin(), content.end());
    RelocatableFile(*file_).apply(*file_->section(section), bytes);
    return bytes;
  }

 private:
  ElfBuilder elf_;
  std::optional<ElfFile> file_;
};

TEST(RelocatableFile, LoadedSectionsLieApart) {
  Module module(".text", "");
  EXPECT_GE(module.at(".text"), RelocatableFile::kUndefined + 0x1000);
  EXPECT_GE(module.at(".data"), module.at(".text") + 64);
  EXPECT_EQ(module.at(".debug_info"), 0u);
}

TEST(RelocatableFile, AddressesInDebugInformation) {
  Module module(".debug_info", rela64(0, 1, R_X86_64_64, 4) + rela64(8, 3, R_X86_64_32, 0));
  std::vector<std::byte> info = module.applied(".debug_info");
  EXPECT_EQ(load<uint64_t>(info.data(), ByteOrder::kLittle), module.at(".text") + 0x24);
  EXPECT_EQ(load<uint32_t>(info.data() + 8, ByteOrder::kLittle), RelocatableFile::kUndefined);
  EXPECT_EQ(module.applied(".data"), std::vector<std::byte>(32));
}

TEST(RelocatableFile, DistancesInCode) {
  Module module(".text", rela64(0x10, 2, R_X86_64_PC32, -4));
  auto distance = load<int32_t>(module.applied(".text").data() + 0x10, ByteOrder::kLittle);
  uint64_t next = module.at(".text") + 0x14;
  EXPECT_EQ(next + static_cast<uint64_t>(int64_t{distance}), module.at(".data") + 8);
}

TEST(RelocatableFile, InstructionsOfArm64) {
  Module module(".text",
                rela64(0, 1, R_AARCH64_CALL26, 0) + rela64(4, 2, R_AARCH64_ADR_PREL_PG_HI21, 0) +
                    rela64(8, 2, R_AARCH64_LDST64_ABS_LO12_NC, 0),
                EM_AARCH64);
  std::vector<std::byte> text = module.applied(".text");
  auto word = [&](size_t at) { return load<uint32_t>(text.data() + at, ByteOrder::kLittle); };
  EXPECT_EQ(word(0), 0x20u / 4);
  uint64_t pages = (module.at(".data") - module.at(".text")) / 0x1000;
  EXPECT_EQ(word(4), (pages & 3) << 29 | (pages >> 2) << 5);
  EXPECT_EQ(word(8), (8u >> 3) << 10);
}

/// A header has room for thousands of lists that share the same bytes: they are not all read.
TEST(RelocatableFile, ListsThatLieOverOneAnotherEndWithTheFile) {
  ElfBuilder elf(true, ByteOrder::kLittle, EM_X86_64, ET_REL);
  uint32_t first = elf.section(".one", SHT_PROGBITS, SHF_ALLOC, 0, std::string(8, '\0'));
  uint32_t second = elf.section(".two", SHT_PROGBITS, SHF_ALLOC, 0, std::string(8, '\0'));
  std::string relocations;
  for (int i = 0; i < 1000; ++i) relocations += rela64(0, 0, R_X86_64_64, 5);
  uint32_t list = elf.section(".rela", SHT_RELA, 0, 0, relocations, 0, 24);
  uint32_t same = elf.section(".rela", SHT_RELA, 0, 0, "", 0, 24);
  elf.info(list, first);
  elf.info(same, second);
  std::vector<std::byte> bytes = elf.build();
  constexpr size_t kHeadersAt = 40, kHeaderSize = 64, kOffsetAndSize = 24;
  std::byte* headers = bytes.data() + load<uint64_t>(bytes.data() + kHeadersAt);
  std::copy_n(headers + list * kHeaderSize + kOffsetAndSize, 2 * sizeof(uint64_t),
              headers + same * kHeaderSize + kOffsetAndSize);
  ElfFile file = ElfFile::own(std::move(bytes), "module.ko").value();
  RelocatableFile relocatable(file);
  std::vector<std::byte> one(8), two(8);
  relocatable.apply(file.sections()[first], one);
  relocatable.apply(file.sections()[second], two);
  EXPECT_EQ(load<uint64_t>(one.data()), RelocatableFile::kUndefined + 5);
  EXPECT_EQ(two, std::vector<std::byte>(8));
}

TEST(RelocatableFile, WhatLiesOutsideChangesNothing) {
  Module module(".debug_info", rela64(9, 1, R_X86_64_64, 0) + rela64(~uint64_t{0}, 1, 1, 0) +
                                   rela64(0, 99, 12345, 0));
  EXPECT_EQ(module.applied(".debug_info"), std::vector<std::byte>(16));
}

}  // namespace
}  // namespace sonde
