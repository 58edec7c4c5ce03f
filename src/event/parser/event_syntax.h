// The structure of an `-e` argument, before any name is looked up: items, braces, slashes, terms.
//
//   grp{cs:u,cpu/event=1,name=x/p}:S,sched:*
//
//   group "grp" ":S"      head "cs:u"
//                         head "cpu" terms event=1 name=x modifiers "p"
//   no group              head "sched:*"
//
// All text is views into the argument, so that errors can point at a position in it later.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "event/parser/event_error.h"

namespace sonde {

/// name=value inside slashes. Quotes around the value are removed.
struct TermSyntax {
  std::string_view name;
  std::optional<std::string_view> value;
};

struct EventSyntax {
  std::string_view text;  // the whole item, without surrounding blanks
  std::string_view head;  // what precedes the slashes; without slashes, includes the modifiers
  bool has_slashes = false;
  std::vector<TermSyntax> terms;
  std::string_view modifiers;  // after the closing slash
};

struct GroupSyntax {
  bool braces = false;         // otherwise: a single event
  std::string_view name;       // before the brace
  std::string_view modifiers;  // after the closing brace, without the colon
  std::vector<EventSyntax> events;
};

/// "./prog.c", "prog.o": a BPF program as source or object file.
[[nodiscard]] bool is_program_path(std::string_view text);
/// "sdt_python:line", "%sdt_python:line", "%python:line"
[[nodiscard]] bool is_usdt_name(std::string_view text);

Result<std::vector<GroupSyntax>> parse_event_syntax(const EventErrors& errors);

/// Splits the text between slashes, or of a sysfs alias: "event=0x3c,umask=1".
Result<std::vector<TermSyntax>> parse_term_list(std::string_view text, const EventErrors& errors);

}  // namespace sonde
