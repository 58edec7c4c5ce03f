#include "event/parser/owned_group.h"

#include <unistd.h>

#include <limits>

#include "base/text.h"

namespace sonde {
namespace {

constexpr std::string_view kPrefix = "sonde_";

/// The length of our prefix in `group`, "sonde_4711_"; 0 if it is not an own group.
size_t prefix_size(std::string_view group) {
  if (!group.starts_with(kPrefix)) return 0;
  size_t digits = group.find_first_not_of("0123456789", kPrefix.size());
  if (digits == std::string_view::npos || digits == kPrefix.size() || group[digits] != '_')
    return 0;
  return digits + 1;
}

}  // namespace

std::string own_group(std::string_view shown) {
  return fmt::format("{}{}_{}", kPrefix, ::getpid(), shown);
}

std::string_view shown_group(std::string_view group) {
  return group.substr(prefix_size(group));
}

pid_t maker_of_group(std::string_view group) {
  size_t size = prefix_size(group);
  if (size == 0) return 0;
  std::optional<uint64_t> number =
      parse_number(group.substr(kPrefix.size(), size - kPrefix.size() - 1));
  bool fits = number && *number <= static_cast<uint64_t>(std::numeric_limits<pid_t>::max());
  return fits ? static_cast<pid_t>(*number) : 0;
}

}  // namespace sonde
