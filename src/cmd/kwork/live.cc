#include "cmd/kwork/live.h"

#include "kwork/measured_work.h"

namespace sonde {

void KworkLive::declare(FlagTable& flags) {
  flags.usage("-b [<options>] [<command>]");
  flags.stop_at_first_word();
  flags.boolean('b', "use-bpf", use_bpf,
                "measure now, by BPF programs, instead of reading a recording");
}

Result<> KworkLive::check(const Arguments& arguments) const {
  if (use_bpf || arguments.empty()) return {};
  return fail(ErrorCode::kUsage, "Error: only -b measures a command ('{}'); a recording takes none",
              arguments[0]);
}

Result<int> KworkLive::measure(const KworkRequest& request, const KworkFilter& choice,
                               const WorkOptions& options, const std::vector<std::string>& command,
                               Env& env,
                               const std::function<void(const WorkAnalysis&)>& write) const {
  if (!request.input.path.empty() || !choice.time.empty())
    return fail(ErrorCode::kUsage, "Error: -i and --time are about recordings; -b measures now");
  return measure_work(options, command, env, write);
}

}  // namespace sonde
