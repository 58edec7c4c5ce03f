// arm64 instructions by capstone.
#pragma once

#include <memory>

#include "disasm/disassembler.h"

namespace sonde::disasm {

struct CapstoneLibrary;

class Arm64Text {
 public:
  static Result<Arm64Text> make();
  /// What is no instruction is a ".inst", four bytes long, or what is left of them.
  void decode(Bytes bytes, uint64_t address, Instruction& out) const;

 private:
  struct Close {
    const CapstoneLibrary* library;
    void operator()(size_t* handle) const;
  };
  Arm64Text(const CapstoneLibrary* library, size_t handle)
      : handle_(new size_t(handle), Close{library}) {}
  std::unique_ptr<size_t, Close> handle_;
};

}  // namespace sonde::disasm
