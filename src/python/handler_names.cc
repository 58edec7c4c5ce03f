#include "python/handler_names.h"

#include <map>

#include "base/foreign/code_text.h"

namespace sonde::python {
namespace {

/// What Python itself keeps in a module's scope, such as __builtins__.
bool is_of_python(std::string_view name) {
  return name.starts_with("__") && name.ends_with("__");
}

}  // namespace

std::vector<std::string> handler_names(const std::vector<const TracepointFormat*>& formats) {
  std::vector<std::string> names;
  std::map<std::string, std::string, std::less<>> handlers;  // by name
  Identifiers identifiers;
  auto name = [&](bool exact) {
    for (const std::string& each : names) {
      bool is_exact = identifier_of(each) == each && !is_of_python(each);
      if (each.empty() || is_exact != exact || handlers.contains(each)) continue;
      std::string wanted = identifier_of(each);
      if (is_of_python(wanted)) wanted += '_';
      handlers.emplace(each, identifiers.add(wanted));
    }
  };
  for (const TracepointFormat* format : formats)
    names.push_back(format == nullptr ? std::string() : format->system() + "__" + format->name());
  name(true);
  name(false);
  for (std::string& each : names)
    if (!each.empty()) each = handlers.at(each);
  return names;
}

std::string stat_handler_name(std::string_view event) {
  return identifier_of("stat__" + std::string(event));
}

}  // namespace sonde::python
