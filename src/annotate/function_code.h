// The bytes of a function: from its object's file, the kernel's image or memory, a compiler's
// jitdump, or the BPF programs in the recording.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "abi/regs.h"
#include "replay/session.h"

namespace sonde::annotate {

/// The files with an object's code and names.
struct CodeObject {
  FoundObject files;
  std::string path;  // as in the recording
  /// The file with the code; null if only a debug file, or nothing, was found.
  [[nodiscard]] const ElfFile* image() const {
    if (files.runtime_path.empty()) return nullptr;
    if (files.runtime) return &*files.runtime;
    return files.symbols ? &*files.symbols : nullptr;
  }
};

struct FunctionCode {
  Bytes bytes;
  uint64_t address = 0;  // of the first byte, in the object's own addresses
  bool is_64_bit = true;
  abi::Arch arch = abi::Arch::kX86_64;
  std::string section;                 // ".text"; empty if the code is not in an ELF file
  const CodeObject* object = nullptr;  // null in that case, too
};

class CodeStore {
 public:
  explicit CodeStore(const Session& session) : session_(session) {}

  /// `symbol` must be of a loaded object. Errors say why there is no code, and what would help.
  Result<FunctionCode> find(const SymbolInfo& symbol);

 private:
  CodeObject& object_of(DsoId dso);
  Result<FunctionCode> in_object(const SymbolInfo& symbol);
  Result<FunctionCode> in_image(const ElfFile& image, ElfAddr start, uint64_t size,
                                const CodeObject& object, std::string_view function) const;
  Result<FunctionCode> in_kernel(const SymbolInfo& symbol);
  Result<FunctionCode> in_kernel_memory(const SymbolInfo& symbol, bool of_module);
  Result<FunctionCode> generated(const SymbolInfo& symbol) const;
  Result<FunctionCode> in_bpf_program(const SymbolInfo& symbol) const;
  [[nodiscard]] abi::Arch arch() const;

  const Session& session_;
  std::map<DsoId, std::unique_ptr<CodeObject>> objects_;
  std::optional<Result<KernelCore>> kernel_memory_;
  std::map<uint64_t, std::vector<std::byte>> kernel_code_;  // the parts read, by address
};

}  // namespace sonde::annotate
