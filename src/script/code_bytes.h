// The code bytes of a recorded program, read from its object files and jitdumps, and the boundaries
// of its instructions. The kernel's, on request, come from where traces are followed with them
// (itrace/kernel_code.h).
//
// Thread-safe; an object's file is mapped on first use.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include <tsl/robin_map.h>

#include "abi/regs.h"
#include "base/file.h"
#include "itrace/kernel_code.h"
#include "replay/session.h"

namespace sonde {

class CodeBytes {
 public:
  CodeBytes(const Session& session, abi::Arch arch, bool with_kernel = false);

  struct Code {
    Bytes bytes;  // empty if not known
    bool is_64_bit = true;
    std::unique_ptr<std::byte[]> own = nullptr;  // what `bytes` shows, if no file holds it
  };
  /// At most `size` bytes starting at a place.
  [[nodiscard]] Code at(const Frame& frame, size_t size) const;

  struct Instruction {
    size_t length = 0;  // 0: none
    bool is_branch = false;
  };
  [[nodiscard]] Instruction decode(const Code& code) const;
  /// The maximum length of an instruction.
  static constexpr size_t kMaxLength = 15;

 private:
  [[nodiscard]] const MappedFile& file_of(DsoId dso) const;
  [[nodiscard]] Code in_file(const Frame& frame, size_t size) const;
  [[nodiscard]] Code in_kernel(uint64_t address, size_t size) const;

  const Session& session_;
  abi::Arch arch_;
  mutable std::mutex mutex_;
  mutable tsl::robin_map<uint32_t, std::unique_ptr<MappedFile>> files_;  // empty: none
  mutable std::optional<itrace::KernelCode> kernel_;
};

/// "insn: 48 89 e7 ", or "<bad>".
void append_instruction(Bytes instruction, std::string& out);

}  // namespace sonde
