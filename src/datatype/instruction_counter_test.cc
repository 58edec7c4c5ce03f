#include "datatype/instruction_counter.h"

#include <gtest/gtest.h>

namespace sonde::datatype {
namespace {

TEST(MnemonicOf, NamesWithTheirPrefixes) {
  EXPECT_EQ(mnemonic_of("mov    %rsp,%rbp"), "mov");
  EXPECT_EQ(mnemonic_of("ret"), "ret");
  EXPECT_EQ(mnemonic_of("lock cmpxchg %ecx,(%rdx)"), "lock cmpxchg");
  EXPECT_EQ(mnemonic_of("rep stos %al,%es:(%rdi)"), "rep stos");
  EXPECT_EQ(mnemonic_of("lock"), "lock");
  EXPECT_EQ(mnemonic_of(""), "");
}

TEST(InstructionCounter, CountsByName) {
  constexpr uint8_t kCode[] = {0x48, 0x8b, 0x07,   // mov (%rdi),%rax
                               0x8b, 0x00,         // mov (%rax),%eax
                               0xf0, 0xff, 0x07};  // lock incl (%rdi)
  PlacedCode code{.function = std::as_bytes(std::span(kCode)), .function_address = 0x1000};
  InstructionCounter counter;
  auto add = [&](uint64_t offset, std::string_view reason, uint64_t samples) {
    code.address = code.function_address + offset;
    counter.add(code, reason, samples);
  };
  add(0, "", 3);
  add(3, "no_var", 2);
  add(3, "no_typeinfo", 7);
  add(5, "", 1);
  add(99, "no_var", 5);  // outside of the code
  std::vector<view::InstructionCounts> counts = std::move(counter).counts();
  ASSERT_EQ(counts.size(), 2u);
  EXPECT_EQ(counts[0].name, "mov");
  EXPECT_EQ(counts[0].known, 3u);
  EXPECT_EQ(counts[0].unknown, 9u);
  ASSERT_EQ(counts[0].reasons.size(), 2u);
  EXPECT_EQ(counts[0].reasons[0].name, "no_typeinfo");
  EXPECT_EQ(counts[1].name, "lock incl");
  EXPECT_EQ(counts[1].unknown, 0u);
}

}  // namespace
}  // namespace sonde::datatype
