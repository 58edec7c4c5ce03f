// arm64 instructions by capstone.
#pragma once

#include <memory>

#include "disasm/disassembler.h"

namespace sonde::disasm {

class Arm64Text {
 public:
  static Result<Arm64Text> make();
  /// What is no instruction is a ".inst", four bytes long, or what is left of them.
  void decode(Bytes bytes, uint64_t address, Instruction& out) const;

 private:
  struct Close {
    void operator()(size_t* handle) const;
  };
  explicit Arm64Text(size_t handle) : handle_(new size_t(handle)) {}
  std::unique_ptr<size_t, Close> handle_;
};

}  // namespace sonde::disasm
