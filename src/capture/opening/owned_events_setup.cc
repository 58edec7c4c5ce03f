#include "capture/opening/owned_events_setup.h"

#include "base/text.h"
#include "store/build_id_cache.h"
#include "symbol/dso_symbols.h"

namespace sonde {

std::unique_ptr<OwnedEvents> make_owned_events(Env& env, const TargetOptions& target,
                                               const CompilerSettings& compiler, Tracefs& tracefs,
                                               int verbose) {
  OwnedEvents::Setup setup{.tracefs = tracefs.path(), .compiler = compiler};
  setup.usdt.buildid_dir = build_id_directory(env);
  setup.code = {.finder = finder_options({}, env), .path = env.variable("PATH").value_or("")};
  setup.usdt.path = env.variable("PATH").value_or("/usr/local/bin:/usr/bin:/bin");
  if (!target.command.empty()) setup.usdt.program = target.command.front();
  for (std::string_view pid : split(target.pids, ','))
    if (!pid.empty()) setup.usdt.pids.emplace_back(pid);
  if (verbose > 0)
    setup.note = [&env](std::string_view text) { env.err.write_lines(fmt::format("{}\n", text)); };
  return std::make_unique<OwnedEvents>(std::move(setup));
}

void configure_compiler(const Config& config, CompilerSettings& compiler) {
  auto take = [&](std::string_view name, std::string& value) {
    if (auto given = config.get(name)) value = std::string(*given);
  };
  take("llvm.clang-path", compiler.clang);
  take("llvm.clang-opt", compiler.options);
  take("llvm.clang-bpf-cmd-template", compiler.command);
  take("llvm.opts", compiler.llc_options);
  if (auto given = config.get("llvm.kbuild-dir")) compiler.kernel_directory = std::string(*given);
  compiler.keep_object = config.get_bool("llvm.dump-obj", false).value_or(false);
}

}  // namespace sonde
