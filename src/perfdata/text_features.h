// "feature NAME: …" lines of the text format.
#pragma once

#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/sink.h"
#include "perfdata/features.h"

namespace sonde {

/// The bit of a section by its name or its number.
std::optional<uint32_t> feature_named(std::string_view name);

/// Sections made of strings and numbers: sets them from the text behind the colon. False for
/// sections that are given as hex.
Result<bool> set_feature(uint32_t bit, std::string_view text, Features& features);

/// The text of such a section; false where it has no readable form, or is not there.
bool put_feature(uint32_t bit, const Features& features, Sink& out);

/// "# hostname : vm": lines that `report --header` prints. False for others.
bool set_from_header_line(std::string_view line, Features& features);

}  // namespace sonde
