// VariableFetch: from variables and their members, at one place in the code, to fetch arguments.
//
//   leaf at 0x1200, "n->in.state"     "state=+8(%di):s32"
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "probe/requested_probe.h"
#include "probe/source/debug_code.h"
#include "probe/source/fetch_text.h"
#include "probe/source/probed_code.h"
#include "probe/source/value_place.h"

namespace sonde {

/// Where a probe goes: an address, the function that has it, and the function, perhaps an inlined
/// copy, whose variables are meant.
struct ProbeSite {
  SourceUnit* unit = nullptr;
  uint64_t address = 0;
  uint32_t function = CodeNode::kNone;
  uint32_t scope = CodeNode::kNone;
};

class VariableFetch {
 public:
  VariableFetch(const ProbedCode& code, const DebugCode& debug, const ProbeSite& place);

  /// Appends the text of the argument, or of those that "$params" and "$vars" stand for; what these
  /// leave out becomes a note. kNotFound: no such variable or member, or it is nowhere at this
  /// address; kUnsupported: it cannot be fetched.
  Result<> add(const RequestedArgument& argument, std::vector<std::string>& texts,
               std::vector<std::string>& notes);

  /// The nodes of all variables in scope at the address, outer ones first; those of functions
  /// inlined there are included.
  [[nodiscard]] std::vector<uint32_t> variables() const;
  /// The variables of the unit itself.
  [[nodiscard]] std::vector<uint32_t> globals() const;
  [[nodiscard]] ValuePlace place(uint32_t variable) const;

 private:
  Result<std::string> text_of_argument(const RequestedArgument& argument);
  Result<uint32_t> find(const std::string& name);
  Result<FetchText> fetch_of(uint32_t variable, const std::string& name);
  Result<FetchText> static_fetch(uint32_t variable, int64_t address);
  Result<> add_all(const RequestedArgument& argument, std::vector<std::string>& texts,
                   std::vector<std::string>& notes);
  [[nodiscard]] std::string here() const;

  const ProbedCode& code_;
  ProbeSite at_;
  PlaceContext context_;
};

}  // namespace sonde
