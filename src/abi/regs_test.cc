#include "abi/regs.h"

#include <gtest/gtest.h>

namespace sonde::abi {
namespace {

constexpr Arch kAll[] = {Arch::kX86_64,  Arch::kX86,  Arch::kArm64, Arch::kArm,       Arch::kRiscv,
                         Arch::kPowerpc, Arch::kS390, Arch::kMips,  Arch::kLoongarch, Arch::kCsky};

TEST(Regs, NumbersAndNamesAgree) {
  for (Arch arch : kAll) {
    ASSERT_LE(register_names(arch).size(), 64u);
    for (unsigned bit = 0; bit < register_names(arch).size(); ++bit) {
      std::string_view name = register_names(arch)[bit];
      if (name.empty()) continue;
      unsigned number = *register_number(arch, name);
      EXPECT_EQ(register_name(arch, number), name);
      EXPECT_TRUE(number == bit || (name.starts_with("XMM") && number + 1 == bit)) << name;
    }
    EXPECT_FALSE(register_name(arch, *instruction_pointer(arch)).empty());
    EXPECT_NE(register_name(arch, *stack_pointer(arch)), "unknown");
    for (unsigned bit = 0; bit < 64; ++bit)
      if (default_register_mask(arch) >> bit & 1) {
        EXPECT_NE(register_name(arch, bit), "unknown") << bit;
      }
  }
}

TEST(Regs, WellKnownPlaces) {
  EXPECT_EQ(register_name(Arch::kX86_64, 8), "IP");
  EXPECT_EQ(register_name(Arch::kX86_64, 23), "R15");
  EXPECT_EQ(register_name(Arch::kX86_64, 33), "XMM0");
  EXPECT_EQ(register_name(Arch::kX86_64, 63), "XMM15");
  EXPECT_EQ(register_name(Arch::kX86_64, 24), "unknown");
  EXPECT_EQ(register_name(Arch::kArm64, 29), "x29");
  EXPECT_EQ(register_name(Arch::kArm64, 32), "pc");
  EXPECT_EQ(register_name(Arch::kArm64, 46), "vg");
  EXPECT_EQ(register_name(Arch::kPowerpc, 32), "nip");
  EXPECT_EQ(register_name(Arch::kPowerpc, 44), "mmcra");
  EXPECT_EQ(register_name(Arch::kPowerpc, 58), "siar");
  EXPECT_EQ(register_name(Arch::kS390, 33), "PC");
  EXPECT_EQ(register_name(Arch::kMips, 29), "$31");
  EXPECT_EQ(register_name(Arch::kUnknown, 0), "unknown");
  EXPECT_EQ(default_register_mask(Arch::kX86_64), 0xff0fffu);
}

TEST(Regs, Machines) {
  EXPECT_EQ(arch_from_machine("x86_64"), Arch::kX86_64);
  EXPECT_EQ(arch_from_machine("i686"), Arch::kX86);
  EXPECT_EQ(arch_from_machine("aarch64"), Arch::kArm64);
  EXPECT_EQ(arch_from_machine("armv7l"), Arch::kArm);
  EXPECT_EQ(arch_from_machine("ppc64le"), Arch::kPowerpc);
  EXPECT_EQ(arch_from_machine("riscv64"), Arch::kRiscv);
  EXPECT_EQ(arch_from_machine(""), Arch::kUnknown);
  EXPECT_NE(host_arch(), Arch::kUnknown);
}

TEST(Regs, Lists) {
  uint64_t allowed = default_register_mask(Arch::kX86_64);
  EXPECT_EQ(parse_registers(Arch::kX86_64, "AX,bx", allowed, "perf record -I"), 3u);
  EXPECT_EQ(parse_registers(Arch::kX86_64, "", allowed, "perf record -I"), allowed);
  EXPECT_EQ(parse_registers(Arch::kX86_64, "xmm1", ~uint64_t{0}, "perf record -I"), 0xc00000000u);
  EXPECT_EQ(
      parse_registers(Arch::kX86_64, "zz", allowed, "perf record --user-regs=").error().message,
      "Unknown register \"zz\", check man page or run \"perf record --user-regs=?\"");
  EXPECT_FALSE(parse_registers(Arch::kX86_64, "ds", allowed, "perf record -I"));
  EXPECT_FALSE(parse_registers(Arch::kX86_64, "ax,", allowed, "perf record -I"));
  EXPECT_EQ(available_registers(Arch::kX86_64, allowed),
            "available registers: AX BX CX DX SI DI BP SP IP FLAGS CS SS R8 R9 R10 R11 R12 R13 R14 "
            "R15 ");
  EXPECT_EQ(available_registers(Arch::kX86_64, 0xf00000000), "available registers: XMM0 XMM1 ");
}

}  // namespace
}  // namespace sonde::abi
