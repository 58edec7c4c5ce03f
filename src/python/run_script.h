// Runs a Python script over a recording: `script -s FILE`.
#pragma once

#include <string>
#include <vector>

#include "script/options.h"

namespace sonde {

struct PythonScript {
  std::string path;
  std::vector<std::string> arguments;  // sys.argv[1:]
  std::string exec_path;               // PERF_EXEC_PATH: where perf's scripts are
};

/// The exit status: the script's own if it called sys.exit(), 1 if it raised an exception, which
/// standard error then shows.
Result<int> run_python_script(const PythonScript& script, const ScriptOptions& options, Env& env);

}  // namespace sonde
