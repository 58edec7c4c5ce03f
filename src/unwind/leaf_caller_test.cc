#include "unwind/leaf_caller.h"

#include <dwarf.h>
#include <gtest/gtest.h>

#include "elf/elf_builder.h"

namespace sonde {
namespace {

constexpr uint64_t kText = 0x1000;
constexpr uint64_t kFrames = 0x5000;
constexpr uint64_t kLink = 0x2314;

void entry(ByteBuilder& out, const ByteBuilder& content) {
  out.u32(static_cast<uint32_t>(content.size()));
  out.bytes(content.view());
}

void put(ByteBuilder& out, std::initializer_list<uint8_t> values) {
  for (uint8_t value : values) out.u8(value);
}

/// .eh_frame of a 32-byte arm64 function whose second instruction stores x29 and x30.
CfiTable function_with_frame() {
  ByteBuilder cie;
  cie.u32(0);
  cie.u8(1);  // version
  cie.text("zR");
  put(cie, {0, 4, 0x78, 30, 1, DW_EH_PE_pcrel | DW_EH_PE_sdata4});
  put(cie, {DW_CFA_def_cfa, 31, 0, DW_CFA_nop, DW_CFA_nop});
  ByteBuilder out;
  entry(out, cie);
  ByteBuilder fde;
  fde.u32(static_cast<uint32_t>(out.size() + 4));
  fde.u32(static_cast<uint32_t>(kText - (kFrames + out.size() + 8)));
  fde.u32(32);
  fde.u8(0);
  put(fde, {DW_CFA_advance_loc | 2, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 29, 2,
            DW_CFA_offset | 30, 1});
  entry(out, fde);
  out.u32(0);
  ElfBuilder elf(true, ByteOrder::kLittle, EM_AARCH64);
  elf.section(".eh_frame", SHT_PROGBITS, SHF_ALLOC, kFrames, std::string(as_text(out.view())));
  auto file = ElfFile::own(elf.build(), "test");
  EXPECT_TRUE(file.has_value());
  return CfiTable::build(*file, nullptr);
}

TEST(LeafCaller, IsInTheLinkRegisterUntilItIsStored) {
  CfiTable table = function_with_frame();
  auto caller_at = [&](uint64_t offset, uint64_t link = kLink) {
    return caller_in_link_register({true, &table, ElfAddr(kText + offset)}, link);
  };
  EXPECT_EQ(caller_at(0), kLink - 1);
  EXPECT_EQ(caller_at(4), kLink - 1);
  EXPECT_EQ(caller_at(8), std::nullopt);
  EXPECT_EQ(caller_at(28), std::nullopt);
  EXPECT_EQ(caller_at(32), std::nullopt);    // another function, about which nothing is known
  EXPECT_EQ(caller_at(0, 0), std::nullopt);  // the outermost
}

TEST(LeafCaller, NeedsCallFrameInformation) {
  EXPECT_EQ(caller_in_link_register({true, nullptr, ElfAddr(kText)}, kLink), std::nullopt);
}

}  // namespace
}  // namespace sonde
