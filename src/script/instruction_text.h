// Instructions as text, in objdump's spelling, with the name of what they refer to: `-F disasm` and
// `-F brstackdisasm`.
//
//   call   401136 <work>
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "disasm/disassembler.h"
#include "perfdata/records/sample.h"
#include "replay/session.h"
#include "script/code_bytes.h"

namespace sonde {

class InstructionText {
 public:
  /// kUnsupported for machines without a disassembler.
  static Result<InstructionText> make(const Session& session, abi::Arch arch);

  /// Where the code was running.
  struct Place {
    uint32_t pid;
    uint64_t time;  // ns
    uint64_t address;
    uint16_t cpu_mode;
  };
  /// Appends the first instruction of `code`, which is not empty. Thread-safe.
  void append(const CodeBytes::Code& code, const Place& place, std::string& out) const;

 private:
  InstructionText(const Session& session, disasm::Disassembler wide, disasm::Disassembler narrow);

  const Session& session_;
  disasm::Disassembler wide_, narrow_;  // of 64-bit code, and of 32-bit code
  std::unique_ptr<std::mutex> mutex_;
};

}  // namespace sonde
