// Call traces: the function that a branch of an instruction trace enters or leaves, indented by the
// calls that it is made in.
//
//   app 7  1951.702760123: (/bin/app      )\t    work
#pragma once

#include <string>
#include <string_view>

#include "perfdata/records/trace_flags.h"
#include "replay/session.h"

namespace sonde {

/// What a branch enters, or leaves. Both are empty for a branch within a function.
struct CallName {
  std::string_view name;
  uint64_t address = 0;  // where no symbol is known
};
CallName call_name(const Session& session, uint32_t index, const Sample& sample,
                   const TraceDetails& details);

/// -F callindent. Names are padded to a width that rarely changes from line to line.
class CallIndent {
 public:
  void print(const CallName& call, const TraceDetails& details, std::string& out);

 private:
  size_t width_ = 0;
};

}  // namespace sonde
