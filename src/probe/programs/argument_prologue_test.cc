#include "probe/programs/argument_prologue.h"

#include <elf.h>
#include <gmock/gmock.h>

#include <cstring>
#include <map>

namespace sonde {
namespace {

using testing::HasSubstr;

/// What the prologue leaves in the registers of the program's parameters.
struct Passed {
  uint64_t context = 0, error = 0;
  std::vector<int64_t> arguments = {};
  bool operator==(const Passed&) const = default;
};

/// Executes the instructions that prologues consist of, as the kernel documents them ("BPF
/// Instruction Set"). Memory is what `memory` has, a byte for each address.
class Machine {
 public:
  std::map<int16_t, uint64_t> context;  // by offset
  std::map<uint64_t, uint8_t> memory, user_memory;

  void put(std::map<uint64_t, uint8_t>& where, uint64_t address, uint64_t value) {
    for (uint64_t i = 0; i < 8; ++i) where[address + i] = static_cast<uint8_t>(value >> (8 * i));
  }

  Passed run(const std::vector<bpf_insn>& code, size_t arguments) {
    registers_.fill(0xdead'beef'dead'beef);
    registers_[BPF_REG_1] = kContext;
    registers_[BPF_REG_10] = kFrame;
    for (size_t at = 0; at < code.size();) at = step(code, at);
    Passed passed{registers_[BPF_REG_1] == kContext ? 1U : 0U, registers_[BPF_REG_2]};
    for (size_t i = 0; i < arguments; ++i)
      passed.arguments.push_back(static_cast<int64_t>(registers_[BPF_REG_3 + i]));
    return passed;
  }

 private:
  static constexpr uint64_t kContext = 0x1000'0000'0000, kFrame = 0x2000'0000'0000;

  size_t step(const std::vector<bpf_insn>& code, size_t at) {
    const bpf_insn& insn = code[at];
    uint64_t& to = registers_[insn.dst_reg];
    uint64_t from = registers_[insn.src_reg];
    auto number = static_cast<uint64_t>(int64_t{insn.imm});
    switch (insn.code) {
      case BPF_ALU64 | BPF_MOV | BPF_X:
        to = from;
        break;
      case BPF_ALU64 | BPF_MOV | BPF_K:
        to = number;
        break;
      case BPF_ALU64 | BPF_ADD | BPF_X:
        to += from;
        break;
      case BPF_ALU64 | BPF_ADD | BPF_K:
        to += number;
        break;
      case BPF_ALU64 | BPF_LSH | BPF_K:
        to <<= number;
        break;
      case BPF_ALU64 | BPF_RSH | BPF_K:
        to >>= number;
        break;
      case BPF_ALU64 | BPF_ARSH | BPF_K:
        to = static_cast<uint64_t>(static_cast<int64_t>(to) >> number);
        break;
      case BPF_LD | BPF_IMM | BPF_DW:
        to = uint64_t{static_cast<uint32_t>(code[at + 1].imm)} << 32 |
             static_cast<uint32_t>(insn.imm);
        return at + 2;
      case BPF_STX | BPF_MEM | BPF_DW:
        EXPECT_EQ(to, kFrame);
        put(stack_, to + static_cast<uint64_t>(int64_t{insn.off}), from);
        break;
      case BPF_JMP | BPF_JNE | BPF_K:
        if (to == number) break;
        [[fallthrough]];
      case BPF_JMP | BPF_JA:
        EXPECT_GE(insn.off, 0);
        return at + 1 + static_cast<size_t>(insn.off);
      case BPF_JMP | BPF_CALL:
        call(insn.imm);
        break;
      default:
        load(insn, to, from);
    }
    return at + 1;
  }

  void load(const bpf_insn& insn, uint64_t& to, uint64_t from) {
    ASSERT_EQ(insn.code & 0xe7, BPF_LDX | BPF_MEM);
    int size_code = insn.code & 0x18;
    uint64_t size = size_code == BPF_B ? 1 : size_code == BPF_H ? 2 : size_code == BPF_W ? 4 : 8;
    if (from == kContext) {
      ASSERT_EQ(size, 8);
      ASSERT_TRUE(context.contains(insn.off)) << insn.off;
      to = context[insn.off];
      return;
    }
    ASSERT_EQ(from, kFrame);
    to = 0;
    for (uint64_t i = 0; i < size; ++i)
      to |= uint64_t{stack_.at(from + static_cast<uint64_t>(int64_t{insn.off}) + i)} << (8 * i);
  }

  void call(int helper) {
    const auto& read = helper == BPF_FUNC_probe_read_user ? user_memory : memory;
    ASSERT_TRUE(helper == BPF_FUNC_probe_read_user || helper == BPF_FUNC_probe_read_kernel);
    uint64_t to = registers_[BPF_REG_1], size = registers_[BPF_REG_2], from = registers_[BPF_REG_3];
    for (int scratch = BPF_REG_0; scratch <= BPF_REG_5; ++scratch)
      registers_[static_cast<size_t>(scratch)] = 0xbad0'bad0'bad0'bad0;
    registers_[BPF_REG_0] = 0;
    for (uint64_t i = 0; i < size; ++i) {
      bool is_there = read.contains(from + i);
      if (!is_there) registers_[BPF_REG_0] = static_cast<uint64_t>(-14);
      stack_[to + i] = is_there ? read.at(from + i) : 0;
    }
  }

  std::array<uint64_t, 16> registers_{};
  std::map<uint64_t, uint8_t> stack_;
};

constexpr int16_t kDi = 112, kSi = 104, kSp = 152, kIp = 128, kAx = 80;

std::vector<bpf_insn> prologue(ProbePlace place, uint16_t machine = EM_X86_64) {
  PrologueSetting setting{machine, [](std::string_view name) {
                            return name == "jiffies" ? 0xffff'ffff'8000'0000 : uint64_t{0};
                          }};
  auto made = argument_prologue(place, setting);
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  return made.value_or(std::vector<bpf_insn>());
}

ProbePlace in_program(std::vector<std::string> arguments) {
  return {.object = "/bin/x", .offset = FileOffset(0x1100), .arguments = std::move(arguments)};
}

TEST(ArgumentPrologue, PassesRegistersByTheirTypes) {
  Machine machine;
  machine.context = {{kDi, 0x1234'5678'ffff'fffe}, {kSi, 0x8182}};
  EXPECT_EQ(machine.run(prologue(in_program({"a=%di:s32", "b=%di", "c=%si:u8"})), 3),
            (Passed{1, 0, {-2, 0x1234'5678'ffff'fffe, 0x82}}));
  EXPECT_EQ(machine.run(prologue(in_program({"%si:s8", "%si:x16", "%si:b3@7/16"})), 3),
            (Passed{1, 0, {-126, 0x8182, 3}}));
  EXPECT_EQ(machine.run(prologue(in_program({"n=\\7", "\\-1:s64", "n=\\4886718345"})), 3),
            (Passed{1, 0, {7, -1, 4886718345}}));
  EXPECT_EQ(machine.run(prologue(in_program({"\\255:s8"})), 1), (Passed{1, 0, {-1}}));
}

TEST(ArgumentPrologue, FollowsPointersOfThePrograms) {
  Machine machine;
  machine.context = {{kDi, 0x7000}, {kSp, 0x9000}, {kIp, 0x55'5555'1100}};
  machine.put(machine.user_memory, 0x7010, 0x8008);
  machine.put(machine.user_memory, 0x8000, 0x1122'3344'fedc'ba98);
  machine.put(machine.user_memory, 0x9010, 99);
  machine.put(machine.user_memory, 0x55'5555'4010, 0x4444);
  EXPECT_EQ(
      machine
          .run(prologue(in_program({"a=-8(+16(%di)):s32", "$stack2", "+4(-8(+0x10(%di))):u8"})), 2)
          .error,
      1);  // nothing is at 0x1122…
  EXPECT_EQ(
      machine.run(prologue(in_program({"a=-8(+16(%di)):s32", "$stack2", "g=@+0x4010:u16"})), 3),
      (Passed{1, 0, {int32_t(0xfedcba98), 99, 0x4444}}));
  EXPECT_EQ(machine.run(prologue(in_program({"+4294967296(%di)", "$stack", "%di"})), 3),
            (Passed{1, 1, {0, 0, 0}}));
}

TEST(ArgumentPrologue, ReadsTheKernelsMemoryAndItsProcesss) {
  Machine machine;
  machine.context = {{kDi, 0x7000}, {kAx, static_cast<uint64_t>(-11)}};
  machine.put(machine.memory, 0x7008, 0x6000);
  machine.put(machine.user_memory, 0x6000, 42);
  machine.put(machine.memory, 0xffff'ffff'8000'0008, 1000);
  EXPECT_EQ(
      machine.run(
          prologue({.symbol = "f", .arguments = {"+u0(+8(%di)):u32", "@jiffies+8", "$arg1"}}), 3),
      (Passed{1, 0, {42, 1000, 0x7000}}));
  EXPECT_EQ(
      machine.run(prologue({.symbol = "f", .at_return = true, .arguments = {"$retval:s32"}}), 1),
      (Passed{1, 0, {-11}}));
}

TEST(ArgumentPrologue, KnowsTheRegistersOfArm64) {
  Machine machine;
  machine.context = {{8, 5}, {240, 6}, {248, 7}};
  EXPECT_EQ(machine.run(prologue(in_program({"%x1", "%x30", "%sp"}), EM_AARCH64), 3),
            (Passed{1, 0, {5, 6, 7}}));
}

TEST(ArgumentPrologue, IsEmptyWithoutArguments) {
  EXPECT_TRUE(prologue(in_program({})).empty());
}

TEST(ArgumentPrologue, SaysWhatNoProgramTakes) {
  auto message = [](const ProbePlace& place, uint16_t machine = EM_X86_64) {
    auto made = argument_prologue(place, {.machine = machine});
    EXPECT_FALSE(made);
    return made ? std::string() : made.error().message;
  };
  EXPECT_THAT(message(in_program({"%di", "%si", "%dx", "%cx"})), HasSubstr("takes 3 arguments"));
  EXPECT_THAT(message(in_program({"%di"}), EM_386), HasSubstr("x86-64 and arm64"));
  const std::pair<const char*, const char*> kWrong[] = {
      {"s=+0(%di):string", "is text"}, {"+0(%di):u8[4]", "an array"},
      {"%di:u7", "no type"},           {"%di:b9@0/8", "no bit field"},
      {"%xyz", "no register"},         {"+8(%di", "expected +OFFSET(WHAT)"},
      {"+(%di)", "+OFFSET(WHAT)"},     {"$comm", "helper function"},
      {"$retval", "%return"},          {"$arg1", "kernel only"},
      {"@jiffies", "in the kernel"},   {"\\\"text\"", "only numbers"},
      {"", "expected a register"},     {"a=", "expected a register"},
      {"a=%di:", "no type"},           {"$stackx", "$stackN"}};
  for (const auto& [argument, words] : kWrong)
    EXPECT_THAT(message(in_program({argument})), HasSubstr(words)) << argument;
  EXPECT_THAT(message({.symbol = "f", .arguments = {"@nosuch"}}), HasSubstr("no symbol 'nosuch'"));
}

}  // namespace
}  // namespace sonde
