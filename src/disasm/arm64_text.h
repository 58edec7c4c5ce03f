// Prints arm64 instructions, with capstone.
#pragma once

#include <memory>

#include "disasm/disassembler.h"

namespace sonde::disasm {

struct CapstoneLibrary;

/// An open capstone decoder, with details enabled.
struct CloseArm64 {
  const CapstoneLibrary* library;
  void operator()(size_t* handle) const;
};
using Arm64Handle = std::unique_ptr<size_t, CloseArm64>;
Result<Arm64Handle> open_arm64();

class Arm64Text {
 public:
  static Result<Arm64Text> make();
  /// Invalid instructions are printed as ".inst", four bytes long, or what is left of them.
  void decode(Bytes bytes, uint64_t address, Instruction& out) const;

 private:
  explicit Arm64Text(Arm64Handle handle) : handle_(std::move(handle)) {}
  Arm64Handle handle_;
};

}  // namespace sonde::disasm
