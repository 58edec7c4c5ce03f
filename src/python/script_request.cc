#include "python/script_request.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "python/run_script.h"
#include "python/script_catalog.h"
#include "python/script_template.h"
#include "python/script_wrappers.h"
#include "script/exec_path.h"

namespace sonde {
namespace {

using namespace python;
using Words = std::vector<std::string>;

void list_scripts(const ScriptCatalog& catalog, Sink& out) {
  out.write("List of available trace scripts:\n");
  for (const ScriptCatalog::Entry& script : catalog.list())
    out.print("  {:<36} {}\n",
              script.name + (script.arguments.empty() ? "" : " ") + script.arguments,
              script.description);
}

/// -g: perf-script.py in the current directory, replacing an earlier one, as perf does.
Result<int> generate(const ScriptOptions& options, Env& env) {
  constexpr const char* kFile = "perf-script.py";
  if (options.generated_language != "python")
    return fail(ErrorCode::kUnsupported, "-g {}: scripts are generated in python only",
                options.generated_language);
  OpenOptions how{.force = options.force, .stdin_fd = env.in_fd};
  std::string text = script_template(TRY(FileScan::open(options.input, how, env.losses)));
  Fd fd(::open(kFile, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!fd.valid())
    return fail(ErrorCode::kIo, "failed to open {}: {}", kFile, std::strerror(errno));
  FdSink file(fd.get());
  file.write(text);
  file.flush();
  if (file.failed() != 0)
    return fail(ErrorCode::kIo, "failed to write {}: {}", kFile, std::strerror(file.failed()));
  env.out.print("generated Python script: {}\n", kFile);
  return 0;
}

}  // namespace

bool asks_for_scripts(const ScriptOptions& options, const Words& words) {
  return !options.script.empty() || options.list_scripts || !options.generated_language.empty() ||
         !words.empty();
}

Result<int> run_script_request(const ScriptOptions& options, const Words& words, bool input_given,
                               Env& env) {
  ScriptCatalog catalog(find_exec_path(env));
  if (options.list_scripts) {
    list_scripts(catalog, env.out);
    return 0;
  }
  if (!options.generated_language.empty()) return generate(options, env);
  auto run = [&](std::string_view name, Words arguments) -> Result<int> {
    PythonScript script{TRY(catalog.find(name)), std::move(arguments), catalog.exec_path()};
    return run_python_script(script, options, env);
  };
  if (!options.script.empty()) return run(options.script, words);
  Words rest(words.begin() + 1, words.end());
  if (words[0] == "record") return run_record_wrapper(catalog, rest, env);
  if (words[0] != "report") return run_live(catalog, words, env);
  // The shell scripts know nothing of a recording chosen before `report`.
  if (!input_given || rest.empty()) return run_report_wrapper(catalog, rest, env);
  return run(rest[0], {rest.begin() + 1, rest.end()});
}

}  // namespace sonde
