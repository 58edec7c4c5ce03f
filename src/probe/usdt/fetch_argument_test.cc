#include "probe/usdt/fetch_argument.h"

#include <elf.h>
#include <gmock/gmock.h>

namespace sonde {
namespace {

using testing::ElementsAre;
using testing::Eq;
using testing::IsEmpty;
using testing::Optional;

TEST(FetchArgument, OfX86RegistersGoesByTheirWholeNames) {
  auto fetch = [](std::string_view text) { return fetch_argument(text, EM_X86_64); };
  EXPECT_THAT(fetch("-4@%ebx"), Optional(Eq("%bx:s32")));
  EXPECT_THAT(fetch("8@%r14"), Optional(Eq("%r14:u64")));
  EXPECT_THAT(fetch("-1@%r9b"), Optional(Eq("%r9:s8")));
  EXPECT_THAT(fetch("2@%r10w"), Optional(Eq("%r10:u16")));
  EXPECT_THAT(fetch("4@%r11d"), Optional(Eq("%r11:u32")));
  EXPECT_THAT(fetch("1@%al"), Optional(Eq("%ax:u8")));
  EXPECT_THAT(fetch("1@%sil"), Optional(Eq("%si:u8")));
  EXPECT_THAT(fetch("8@%rdi"), Optional(Eq("%di:u64")));
  EXPECT_THAT(fetch("%rax"), Optional(Eq("%ax")));
}

TEST(FetchArgument, OfMemoryAndNumbers) {
  auto fetch = [](std::string_view text) { return fetch_argument(text, EM_X86_64); };
  EXPECT_THAT(fetch("-4@112(%rsp)"), Optional(Eq("+112(%sp):s32")));
  EXPECT_THAT(fetch("8@-16(%rbp)"), Optional(Eq("-16(%bp):u64")));
  EXPECT_THAT(fetch("8@(%rax)"), Optional(Eq("+0(%ax):u64")));
  EXPECT_THAT(fetch("-4@$-7"), Optional(Eq("\\-7:s32")));
}

TEST(FetchArgument, HasNoTextForWhatTheTracerCannotFetch) {
  for (std::string_view text :
       {"8f@%xmm0", "4@%xmm1", "8@8(%rax,%rbx,4)", "4@counter(%rip)", "1@%ah", "3@%rax", "8@", "@",
        "", "8@%r16", "8@%r7", "8@(%rax", "8@x(%rax)", "8@$", "-@%rax",
        "8@99999999999999999999(%rax)", "8@%"})
    EXPECT_EQ(fetch_argument(text, EM_X86_64), std::nullopt) << text;
  EXPECT_EQ(fetch_argument("8@%rax", EM_RISCV), std::nullopt);
}

TEST(FetchArgument, OfArm64) {
  auto fetch = [](std::string_view text) { return fetch_argument(text, EM_AARCH64); };
  EXPECT_THAT(fetch("8@x0"), Optional(Eq("%x0:u64")));
  EXPECT_THAT(fetch("-4@w19"), Optional(Eq("%x19:s32")));
  EXPECT_THAT(fetch("-4@[sp, 12]"), Optional(Eq("+12(%sp):s32")));
  EXPECT_THAT(fetch("4@[x19]"), Optional(Eq("+0(%x19):u32")));
  EXPECT_THAT(fetch("8@[x29, -8]"), Optional(Eq("-8(%x29):u64")));
  EXPECT_THAT(fetch("-4@5"), Optional(Eq("\\5:s32")));
  for (std::string_view text : {"8@[x1, x2]", "8@x31", "8f@d0", "8@[x1", "8@"})
    EXPECT_EQ(fetch(text), std::nullopt) << text;
}

TEST(SplitOperands, KeepsBlanksInsideBrackets) {
  EXPECT_THAT(split_operands("-4@%ebx 8@%r14"), ElementsAre("-4@%ebx", "8@%r14"));
  EXPECT_THAT(split_operands(" 8@x0  -4@[sp, 12] 8@1 "), ElementsAre("8@x0", "-4@[sp, 12]", "8@1"));
  EXPECT_THAT(split_operands(""), IsEmpty());
  EXPECT_THAT(split_operands("[a b"), ElementsAre("[a b"));
}

}  // namespace
}  // namespace sonde
