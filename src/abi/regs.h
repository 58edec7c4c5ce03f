// Registers as perf_event numbers them: bit N of perf_event_attr.sample_regs_user and
// sample_regs_intr is register N of the recording machine's architecture, and a sample has the
// values of the set bits, lowest first. The numbers are those of each architecture's
// include/uapi/asm/perf_regs.h; the names are those that perf prints in `script -F iregs` and
// accepts in `record --user-regs=`.
//
//   Arch arch = arch_from_machine("aarch64");
//   register_name(arch, 29)  ->  "x29"
//   parse_registers(arch, "ax,sp", default_register_mask(arch))
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace sonde::abi {

enum class Arch : uint8_t {
  kUnknown,
  kX86_64,
  kX86,
  kArm64,
  kArm,
  kRiscv,
  kPowerpc,
  kS390,
  kMips,
  kLoongarch,
  kCsky,
};

/// The architecture for a `uname -m` text ("x86_64", "i686", "aarch64", "armv7l", "ppc64le" …), as
/// in the header feature ARCH.
[[nodiscard]] Arch arch_from_machine(std::string_view machine);
/// The architecture that this program was built for.
[[nodiscard]] Arch host_arch();

/// Names by number; an empty name is a number that the architecture does not use.
[[nodiscard]] std::span<const std::string_view> register_names(Arch arch);
/// The name of register `bit`, "unknown" if the architecture has none.
[[nodiscard]] std::string_view register_name(Arch arch, unsigned bit);
/// The number of a register; case-insensitive.
[[nodiscard]] std::optional<unsigned> register_number(Arch arch, std::string_view name);

/// The numbers of the instruction and stack pointers in user registers; nullopt for kUnknown.
[[nodiscard]] std::optional<unsigned> instruction_pointer(Arch arch);
[[nodiscard]] std::optional<unsigned> stack_pointer(Arch arch);

/// Everything that software events can sample: what perf records for `--call-graph dwarf` and `-I`.
/// On x86-64 without the segment registers ds, es, fs, gs, which the kernel refuses.
[[nodiscard]] uint64_t default_register_mask(Arch arch);

/// A list in option syntax ("ax,bx"); `allowed` is what it may contain. An empty list means all
/// allowed ones. Fails with kUsage and perf's sentence; `option`, followed by a '?', is what lists
/// the names ("perf record --user-regs=").
[[nodiscard]] Result<uint64_t> parse_registers(Arch arch, std::string_view list, uint64_t allowed,
                                               std::string_view option);

/// The line that `-I?` prints: "available registers: AX BX …" without newline.
[[nodiscard]] std::string available_registers(Arch arch, uint64_t allowed);

}  // namespace sonde::abi
