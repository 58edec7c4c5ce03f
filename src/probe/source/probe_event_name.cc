#include "probe/source/probe_event_name.h"

#include <fmt/format.h>

#include "base/text.h"
#include "probe/source/function_path.h"

namespace sonde {
namespace {

/// The kernel takes at most 64 characters (MAX_EVENT_NAME_LEN); a suffix is to fit, too.
constexpr size_t kMaxName = 48;

bool is_word(char c) {
  return is_ascii_digit(c) || (to_ascii_lower(c) >= 'a' && to_ascii_lower(c) <= 'z') || c == '_';
}

std::string plain_name(std::string_view name_in_code) {
  std::string path = plain_function_path(name_in_code);
  std::string_view function = path;
  // ".part.0", "@GLIBC_2.2.5", template arguments; and the scope in front of a C++ name.
  function = function.substr(0, function.find_first_of("@<("));
  if (size_t scope = function.rfind("::"); scope != std::string_view::npos)
    function.remove_prefix(scope + 2);
  while (function.starts_with('.')) function.remove_prefix(1);
  function = function.substr(0, function.find('.'));
  std::string name;
  for (char c : function.substr(0, kMaxName)) name += is_word(c) ? c : '_';
  if (name.empty() || is_ascii_digit(name[0])) name.insert(0, "_");
  return name;
}

}  // namespace

std::string probe_event_name(const RequestedProbe& request, std::string_view function) {
  std::string name = request.event;
  if (name.empty() && request.address) {
    name = fmt::format("abs_{:x}", *request.address);
  } else if (name.empty()) {
    bool is_one = !request.function.empty() && !has_glob(request.function);
    name = plain_name(is_one ? request.function : function);
    if (!request.function.empty() && request.line && *request.line > 0)
      name += fmt::format("_L{}", *request.line);
  }
  if (request.at_return) name += "__return";
  return name;
}

}  // namespace sonde
