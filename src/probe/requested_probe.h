// RequestedProbe: a probe as the user defines it, perf's grammar (perf-probe(1), "PROBE SYNTAX"):
//
//   [[GROUP:]EVENT=]FUNC[@SRC][+OFF|%return|:RLN|;PTN] [ARG …]
//   [[GROUP:]EVENT=]SRC:ALN [ARG …]       SRC;PTN       ADDRESS [ARG …]
//   [[GROUP:]EVENT=]%[sdt_]PROVIDER:NAME
//
// It says nothing of whether the place exists: plan_probes() does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace sonde {

/// One step from a variable to a part of it: "->next", ".name", "[3]".
struct RequestedMember {
  enum class Kind : uint8_t { kArrow, kDot, kIndex };
  Kind kind = Kind::kDot;
  std::string name = {};  // kArrow, kDot
  int64_t index = 0;      // kIndex
  bool operator==(const RequestedMember&) const = default;
};

/// What to record when the probe fires: "[NAME=]WHAT[:TYPE][@user]".
struct RequestedArgument {
  enum class Kind : uint8_t {
    kFetch,  // in the kernel's own syntax: "%di", "+0(%di)", "+u8($arg1)", "$retval", "@sym", "\7"
    kVariable,   // of the program: "req->headers[2].len"
    kAllParams,  // "$params"
    kAllVars,    // "$vars"
  };
  Kind kind = Kind::kFetch;
  std::string name = {};  // as given before "="; empty: derived
  std::string what = {};  // kFetch: the text; kVariable: the variable's name
  std::vector<RequestedMember> members = {};
  std::string type = {};     // "u32", "string", "x8[4]"; empty: derived
  bool user_memory = false;  // "@user"
  std::string text = {};     // as the user wrote it
  bool operator==(const RequestedArgument&) const = default;
};

struct RequestedProbe {
  std::string group = {};                // empty: derived from the object
  std::string event = {};                // empty: derived from the function
  std::string function = {};             // may be a glob
  std::string source = {};               // @SRC, SRC:ALN
  std::optional<uint64_t> offset = {};   // +OFF
  std::optional<uint32_t> line = {};     // of the function if there is one, else of the file
  std::string pattern = {};              // ;PTN, a glob that a source line matches
  std::optional<uint64_t> address = {};  // absolute
  std::string sdt_provider = {}, sdt_name = {};  // %PROVIDER:NAME, without the leading "sdt_"
  bool at_return = false;
  std::vector<RequestedArgument> arguments = {};
  std::string text = {};  // the whole definition
};

/// Errors: kBadEvent, with what is wrong, where, and the form that is expected.
[[nodiscard]] Result<RequestedProbe> parse_probe(std::string_view definition);

}  // namespace sonde
