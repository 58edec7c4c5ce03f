// DebugFrameBuilder: .debug_frame for tests: functions of 256 bytes, each with its own unwind
// program.
//
//   DebugFrameBuilder frames(7, 16);   // registers: stack pointer, return address
//   frames.function(0x1000, {DW_CFA_def_cfa_offset, 24});
//   elf.section(".debug_frame", SHT_PROGBITS, 0, 0, frames.content());
#pragma once

#include <dwarf.h>

#include <initializer_list>
#include <string>

#include "base/bytes.h"

namespace sonde {

class DebugFrameBuilder {
 public:
  /// At a function's entry the return address is at the stack pointer.
  DebugFrameBuilder(int stack_register, int return_register) {
    entry([&] {
      out_.u32(UINT32_MAX);
      put({1, 0, 1, 0x78, return_register, DW_CFA_def_cfa, stack_register, 8,
           DW_CFA_offset | return_register, 1});
    });
  }
  /// On arm64 it is in x30, and nothing is on the stack.
  static DebugFrameBuilder for_arm64() {
    constexpr int kStackPointer = 31, kLinkRegister = 30;
    DebugFrameBuilder frames;
    frames.entry([&] {
      frames.out_.u32(UINT32_MAX);
      frames.put({1, 0, 1, 0x78, kLinkRegister, DW_CFA_def_cfa, kStackPointer, 0});
    });
    return frames;
  }
  void function(uint64_t start, std::initializer_list<int> program) {
    entry([&] {
      out_.u32(0);
      out_.u64(start);
      out_.u64(kFunctionBytes);
      put(program);
    });
  }
  [[nodiscard]] std::string content() const { return std::string(as_text(out_.view())); }

  static constexpr uint64_t kFunctionBytes = 0x100;

 private:
  DebugFrameBuilder() = default;
  template <typename Body>
  void entry(Body body) {
    size_t start = out_.size();
    out_.u32(0);
    body();
    while (out_.size() % 8 != 0) out_.u8(DW_CFA_nop);
    out_.patch(start, static_cast<uint32_t>(out_.size() - start - 4));
  }
  void put(std::initializer_list<int> list) {
    for (int byte : list) out_.u8(static_cast<uint8_t>(byte));
  }

  ByteBuilder out_{ByteOrder::kLittle};
};

}  // namespace sonde
