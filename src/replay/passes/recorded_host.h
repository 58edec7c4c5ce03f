// The machine of a recording, from its header sections, for the rules of symbol/path_trust.h.
#pragma once

#include "perfdata/header/features.h"
#include "symbol/path_trust.h"

namespace sonde {

/// Views into `features`.
[[nodiscard]] inline RecordedHost host_of(const Features& features) {
  auto text = [](const std::optional<std::string>& value) {
    return value ? std::string_view(*value) : std::string_view();
  };
  return {text(features.hostname), text(features.os_release)};
}

}  // namespace sonde
