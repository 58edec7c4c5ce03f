// ObjectData: the debug information and the code of one object of a recording, as far as types of
// data need them. Functions are followed when an address in them is first asked for.
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
  /// `image` is the file with the code, which is looked at here only; null where it is the debug
  /// information's own. kNotFound where there is no debug information.
  static Result<std::unique_ptr<ObjectData>> open(Result<DebugInfo> info, const ElfFile* image);

  /// The access of the instruction at `address`, which is in the object's own addresses, as is that
  /// of the code. `code` is all of a function's.
  DataAccess access_at(Bytes code, uint64_t code_address, abi::Arch arch, bool is_64_bit,
                       uint64_t address);
  /// The functions of an object that was not linked, whose addresses are those of its debug
  /// information; null for others.
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
  std::map<uint64_t, std::vector<TypedInstruction>> functions_;  // by their first address
};

}  // namespace sonde::datatype
