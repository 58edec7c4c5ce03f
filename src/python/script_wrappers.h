// Runs the shell scripts that come with perf's scripts: `script record NAME`, `script report NAME`
// and, with a pipe between them, `script NAME`. What they call `perf` is this program.
#pragma once

#include <string>
#include <vector>

#include "base/env.h"
#include "python/script_catalog.h"

namespace sonde::python {

/// `script record NAME [OPTION…] [COMMAND…]`; everything is recorded if there is no command.
Result<int> run_record_wrapper(const ScriptCatalog& catalog, const std::vector<std::string>& words,
                               Env& env);
/// `script report NAME [ARGUMENT…]`
Result<int> run_report_wrapper(const ScriptCatalog& catalog, const std::vector<std::string>& words,
                               Env& env);
/// `script NAME [ARGUMENT…] [OPTION…] [COMMAND…]`
Result<int> run_live(const ScriptCatalog& catalog, const std::vector<std::string>& words, Env& env);

}  // namespace sonde::python
