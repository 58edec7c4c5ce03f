// Which way an x86-64 instruction passes control on: what a trace has to say about it.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace sonde {

enum class StepKind : uint8_t {
  kPlain,        // the next instruction follows
  kConditional,  // or it is at `target`
  kDirect,       // it is at `target`
  kIndirect,     // only running the instruction shows where: indirect jumps and calls, returns
  kFar,          // leaves user code: system calls, software interrupts
  kRepeat,       // string instructions that repeat: a step is one repetition
  kPushFlags,    // stores the flags, with the one that makes the processor stop after each step
};

struct StepInstruction {
  uint8_t length = 0;  // 0: not a valid instruction
  StepKind kind = StepKind::kPlain;
  uint64_t target = 0;  // of kConditional and kDirect
};

/// The first instruction of `bytes`, which is at `ip`.
StepInstruction classify_step(Bytes bytes, uint64_t ip);

}  // namespace sonde
