// The shape of an `-e` argument, before anything in it is looked up: items, braces, slashes, terms.
//
//   grp{cs:u,cpu/event=1,name=x/p}:S,sched:*
//
//   group "grp" ":S"      head "cs:u"
//                         head "cpu" terms event=1 name=x modifiers "p"
//   no group              head "sched:*"
//
// All text is views into the argument, so that a place in it can be pointed at later.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "event/event_error.h"

namespace sonde {

/// name=value inside slashes. Quotes around the value are taken off.
struct TermSyntax {
  std::string_view name;
  std::optional<std::string_view> value;
};

struct EventSyntax {
  std::string_view text;  // the whole item, blanks around it taken off
  std::string_view head;  // what stands before the slashes, with modifiers where there are none
  bool has_slashes = false;
  std::vector<TermSyntax> terms;
  std::string_view modifiers;  // behind the closing slash
};

struct GroupSyntax {
  bool braces = false;         // else: one event that stands alone
  std::string_view name;       // before the brace
  std::string_view modifiers;  // behind the closing brace, without the colon
  std::vector<EventSyntax> events;
};

/// "./prog.c", "prog.o": a BPF program as source or object file.
[[nodiscard]] bool is_program_path(std::string_view text);
/// "sdt_python:line", "%sdt_python:line", "%python:line"
[[nodiscard]] bool is_usdt_name(std::string_view text);

Result<std::vector<GroupSyntax>> parse_event_syntax(const EventErrors& errors);

/// Splits what stands between slashes, or in a sysfs alias: "event=0x3c,umask=1".
Result<std::vector<TermSyntax>> parse_term_list(std::string_view text, const EventErrors& errors);

}  // namespace sonde
