// The functions that print formats call: __print_flags, __get_str, jiffies_to_msecs … For each one,
// a function here parses the arguments and builds the nodes; the list of names is at the end of
// print_fmt_calls.cc.
#pragma once

#include <string_view>

#include "base/error.h"
#include "event/print_fmt/print_fmt_builder.h"
#include "event/print_fmt/print_fmt_lexer.h"

namespace sonde {
struct PrintTarget;
}

namespace sonde::print_fmt {

/// What parsing a call needs from the surrounding parser.
class CallParser {
 public:
  virtual Builder& builder() = 0;
  [[nodiscard]] virtual const PrintTarget& target() const = 0;
  virtual Result<NodeId> expression() = 0;
  [[nodiscard]] virtual const Token& peek(size_t ahead = 0) const = 0;
  virtual Token take() = 0;
  virtual bool accept(std::string_view punctuation) = 0;
  virtual Result<> expect(std::string_view punctuation) = 0;
  /// Takes a name and looks up the event's field of that name.
  virtual Result<const TracepointField*> field_name() = 0;

 protected:
  ~CallParser() = default;
};

/// Parses a call of `function`, starting at its opening parenthesis.
Result<NodeId> parse_call(CallParser& parser, std::string_view function);

}  // namespace sonde::print_fmt
