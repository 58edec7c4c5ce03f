// ObjectData: the debug information and the code of one object of a recording, as far as data types
// need them. Types are propagated through a function on the first query for an address in it.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "datatype/relocatable_code.h"
#include "datatype/type_flow.h"
#include "dwarf/cfi_table.h"
#include "symbol/symbolizer.h"

namespace sonde::datatype {

class ObjectData {
 public:
  /// `image` is the file with the code, used only during this call; null if it is the same as the
  /// debug information's. Fails with kNotFound if there is no debug information.
  static Result<std::unique_ptr<ObjectData>> open(Result<DebugInfo> info, const ElfFile* image);

  /// The access of the instruction at `address`; this and `code_address` are in the object's own
  /// addresses. `code` is the whole function.
  DataAccess access_at(Bytes code, uint64_t code_address, abi::Arch arch, bool is_64_bit,
                       uint64_t address);
  /// The functions of an object that was not linked, with the addresses of its debug information;
  /// null for others.
  [[nodiscard]] const RelocatableCode* unlinked() const {
    return unlinked_ ? &*unlinked_ : nullptr;
  }
  [[nodiscard]] DataTypes& types() { return index_->types(); }

 private:
  ObjectData(std::unique_ptr<DataIndex> index, const ElfFile* image);
  const std::vector<TypedInstruction>& follow(Bytes code, uint64_t code_address, abi::Arch arch,
                                              bool is_64_bit);
  void read_links(const ElfFile& image);
  [[nodiscard]] std::optional<std::pair<uint8_t, int64_t>> frame_at(uint64_t address) const;

  std::unique_ptr<DataIndex> index_;
  CfiTable frames_;
  std::optional<RelocatableCode> unlinked_;
  uint64_t thread_block_ = 0;
  std::map<uint64_t, LinkedSlot> links_;  // slots of the global offset table
  std::optional<disasm::OperationDecoder> decoder_;
  std::map<uint64_t, std::vector<TypedInstruction>> functions_;  // by start address
};

}  // namespace sonde::datatype
