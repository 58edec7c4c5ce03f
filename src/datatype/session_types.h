// SessionTypes: which data type is touched at a code location of a recording. Each instruction is
// analysed once, whatever the number of its samples.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "annotate/function_code.h"
#include "datatype/object_data.h"
#include "profile/keys/data_type_source.h"
#include "replay/session.h"

namespace sonde::datatype {

/// A code location, and what is touched there. `object` is null unless the access has a type.
struct FoundAccess {
  DataAccess access;
  ObjectData* object = nullptr;
};

/// An instruction in the code of its function, with the addresses of the object's debug
/// information.
struct PlacedCode {
  Bytes function;
  uint64_t function_address = 0;  // of its first byte
  uint64_t address = 0;           // of the instruction
  abi::Arch arch = abi::Arch::kX86_64;
  bool is_64_bit = true;
};

class SessionTypes final : public DataTypeSource {
 public:
  /// The session must outlive this.
  explicit SessionTypes(const Session& session) : session_(session), code_(session) {}

  DataPlace place_of(const Frame& frame) override;
  /// The same, before conversion to text.
  FoundAccess access_of(const Frame& frame);
  /// Nullopt if there is no symbol, or no code for it.
  std::optional<PlacedCode> code_of(const Frame& frame);
  /// A line for each queried object without types: why, and what would help.
  [[nodiscard]] std::vector<std::string> notes() const;
  /// The line for one of them; empty if it has types, or was not queried.
  [[nodiscard]] std::string note_on(DsoId dso) const;

 private:
  struct Object {
    std::unique_ptr<ObjectData> data;
  };
  Object& object_of(DsoId dso);
  DataPlace text_of(const FoundAccess& found);
  [[nodiscard]] std::string_view kept(std::string_view text) const {
    return session_.strings().view(session_.strings().intern(text));
  }

  const Session& session_;
  annotate::CodeStore code_;
  std::map<DsoId, Object> objects_;
  std::map<uint32_t, Result<annotate::FunctionCode>> functions_;  // by symbol
};

}  // namespace sonde::datatype
