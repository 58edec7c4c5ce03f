#include "capture/opening/parse_size.h"
#include "cmd/ftrace/ftrace.h"

namespace sonde {

void declare_target(FlagTable& flags, FtraceTarget& target) {
  flags.text('p', "pid", target.pids, "pid", "Trace on existing process id");
  flags.text(0, "tid", target.tids, "tid", "Trace on existing thread id (exclusive to --pid)");
  flags.boolean('a', "all-cpus", target.all_cpus, "System-wide collection from all CPUs");
  flags.text('C', "cpu", target.cpus, "cpu", "List of cpus to monitor");
  flags.count('v', "verbose", target.verbose, "Say where tracing happens, and what is set for it");
}

void declare_buffer_size(FlagTable& flags, TraceSettings& settings) {
  flags.call(
      'm', "buffer-size", "size", "Size of per cpu buffer, needs to use a B, K, M or G suffix.",
      [&settings](std::string_view word) -> Result<> {
        auto bytes = parse_size(word);
        constexpr uint64_t kMinSize = 1024;
        if (!bytes || *bytes < kMinSize)
          return fail(ErrorCode::kUsage, "expects a size of at least 1K, with one of B, K, M, G");
        settings.buffer_bytes = *bytes;
        return {};
      });
}

}  // namespace sonde
