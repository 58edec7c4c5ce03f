// What `export` and `import` share: the names of formats, and what is to be read for one.
#pragma once

#include <string>
#include <vector>

#include "export/exports.h"
#include "stacks/session_stacks.h"

namespace sonde {

[[nodiscard]] std::vector<std::string> export_format_list(bool with_experimental);
/// "chrome, firefox, …"
[[nodiscard]] std::string export_format_names(bool with_experimental);
/// Makes `stacks` what a format is made of.
void set_shape(SessionStacksOptions& stacks, ExportShape shape);

}  // namespace sonde
