// SessionTypes: for the places in code of a recording, what type of data is touched there. What an
// instruction touches is found out once, whatever the number of samples on it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "annotate/function_code.h"
#include "datatype/object_data.h"
#include "profile/data_type_source.h"
#include "replay/session.h"

namespace sonde::datatype {

/// A place in code, and what is touched there. `object` is null unless the access is of a type.
struct FoundAccess {
  DataAccess access;
  ObjectData* object = nullptr;
};

/// An instruction in the code of its function, by the addresses that the object's debug information
/// uses.
struct PlacedCode {
  Bytes function;
  uint64_t function_address = 0;  // of its first byte
  uint64_t address = 0;           // of the instruction
  abi::Arch arch = abi::Arch::kX86_64;
  bool is_64_bit = true;
};

class SessionTypes final : public DataTypeSource {
 public:
  /// The session outlives this.
  explicit SessionTypes(const Session& session) : session_(session), code_(session) {}

  DataPlace place_of(const Frame& frame) override;
  /// The same before it is made text.
  FoundAccess access_of(const Frame& frame);
  /// Nothing where there is no symbol, or no code of it.
  std::optional<PlacedCode> code_of(const Frame& frame);
  /// A line for each object that was asked for and has no types: why, and what would help.
  [[nodiscard]] std::vector<std::string> notes() const;
  /// The line of one of them; empty where it has types, or was not asked for.
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
