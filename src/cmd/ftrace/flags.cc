#include "capture/opening/parse_size.h"
#include "cmd/ftrace/ftrace.h"

namespace sonde {

void declare_target(FlagTable& flags, FtraceTarget& target) {
  flags.text('p', "pid", target.pids, "pid",
             "trace the threads of these processes, separated by commas");
  flags.text(0, "tid", target.tids, "tid", "trace these threads, separated by commas; not with -p");
  flags.boolean('a', "all-cpus", target.all_cpus, "trace everything, though there is a command");
  flags.text('C', "cpu", target.cpus, "cpu", "trace only what runs on these CPUs, such as 0,2-4");
  flags.count('v', "verbose", target.verbose, "say where tracing happens, and what is set for it");
}

void declare_buffer_size(FlagTable& flags, TraceSettings& settings) {
  flags.call(
      'm', "buffer-size", "size",
      "size of the kernel's buffer for each CPU, with unit B, K, M or G (default: unchanged)",
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
