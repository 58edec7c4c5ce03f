// "feature NAME: …" lines of the text format.
#pragma once

#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/sink.h"
#include "perfdata/header/features.h"

namespace sonde {

/// The bit of a section by its name or its number.
std::optional<uint32_t> feature_named(std::string_view name);

/// Sets sections made of strings and numbers from the text after the colon. Returns false for
/// sections that are given as hex.
Result<bool> set_feature(uint32_t bit, std::string_view text, Features& features);

/// Writes the text of such a section; false if it has no readable form or is absent.
bool put_feature(uint32_t bit, const Features& features, Sink& out);

/// Parses a line that `report --header` prints, such as "# hostname : vm". False for others.
bool set_from_header_line(std::string_view line, Features& features);

}  // namespace sonde
