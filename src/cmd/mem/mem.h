// What `mem` and its subcommands are asked for: options before or after the subcommand.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/command.h"
#include "event/pmu/memory_events.h"

namespace sonde {

struct MemOptions {
  MemoryOperations operations;      // -t
  bool physical_addresses = false;  // -p
  bool page_sizes = false;          // --data-page-size
  bool dumps = false;               // -D
  bool hide_unresolved = false;     // -U
  bool force = false;               // -f
  std::string input;                // -i; empty: perf.data
  std::string separator;            // -x
  std::optional<std::string> cpus;  // -C

  /// Those that both subcommands accept.
  void declare_shared(FlagTable& flags);
  /// -D and -x, of reports.
  void declare_dump(FlagTable& flags);
};

std::unique_ptr<Command> make_mem_record(MemOptions options);
std::unique_ptr<Command> make_mem_report(MemOptions options);

}  // namespace sonde
