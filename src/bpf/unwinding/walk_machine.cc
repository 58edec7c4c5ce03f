#include "bpf/unwinding/walk_machine.h"

#include <unistd.h>

#include <bit>

namespace sonde {

std::optional<walk_machine> walk_machine_of(abi::Arch arch) {
  auto page_bytes = static_cast<unsigned long>(::sysconf(_SC_PAGESIZE));
  auto page_shift = static_cast<uint8_t>(std::countr_zero(page_bytes));
  switch (arch) {
    case abi::Arch::kX86_64:  // psABI, figure 3.36: rsp is 7, rbp 6, the return address 16
      return walk_machine{.registers = 17,
                          .stack_pointer = 7,
                          .frame_pointer = 6,
                          .return_address = 16,
                          .has_link_register = 0,
                          .page_shift = page_shift};
    case abi::Arch::kArm64:  // DWARF for the Arm 64-bit Architecture, section 4.1
      return walk_machine{.registers = 32,
                          .stack_pointer = 31,
                          .frame_pointer = 29,
                          .return_address = 30,
                          .has_link_register = 1,
                          .page_shift = page_shift};
    default:
      return std::nullopt;
  }
}

}  // namespace sonde
