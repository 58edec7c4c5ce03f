// SessionTypes: for the places in code of a recording, what type of data is touched there. What an
// instruction touches is found out once, whatever the number of samples on it.
#pragma once

#include <map>
#include <memory>
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

class SessionTypes final : public DataTypeSource {
 public:
  /// The session outlives this.
  explicit SessionTypes(const Session& session) : session_(session), code_(session) {}

  DataPlace place_of(const Frame& frame) override;
  /// The same before it is made text.
  FoundAccess access_of(const Frame& frame);
  /// A line for each object that was asked for and has no debug information.
  [[nodiscard]] std::vector<std::string> notes() const;

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
