// What `export` and `import` share: format names, and what to read for a format.
#pragma once

#include <string>
#include <vector>

#include "export/formats/exports.h"
#include "stacks/session_stacks.h"

namespace sonde {

[[nodiscard]] std::vector<std::string> export_format_list(bool with_experimental);
/// "chrome, firefox, …"
[[nodiscard]] std::string export_format_names(bool with_experimental);
/// Sets up `stacks` for what a format needs.
void set_shape(SessionStacksOptions& stacks, ExportShape shape);

}  // namespace sonde
