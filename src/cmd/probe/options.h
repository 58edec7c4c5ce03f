// What `probe` is asked to do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/error.h"
#include "probe/source/plan_probes.h"

namespace sonde {

struct ProbeOptions {
  /// A definition, and what it is about: the -x, -m and -k before it.
  struct Definition {
    std::string text;
    ProbeTarget target;
  };

  std::vector<Definition> add;     // -a, and words that are no options
  std::vector<Definition> define;  // -D
  std::vector<std::string> remove;
  std::optional<std::string> list;       // the filter
  std::optional<std::string> lines;      // -L
  std::optional<std::string> variables;  // -V
  std::optional<std::string> functions;  // -F: the filter, or ""
  std::optional<std::string> latency;    // --latency: a function
  std::string filter;                    // --filter
  std::string pids;                      // -p, for --latency
  bool all_cpus = false;                 // --all-cpus, for --latency
  std::vector<std::string> command;      // for --latency
  ProbeTarget target;
  PlanOptions plan;
  DemangleOptions demangle;  // of names that -F lists
  bool force = false;
  bool dry_run = false;
  bool use_cache = false;
  bool bootconfig = false;
  int verbose = 0;
  bool quiet = false;
};

/// Each does one action and returns the exit status.
Result<int> add_probes(Env& env, const ProbeOptions& options);
Result<int> show_definitions(Env& env, const ProbeOptions& options);
Result<int> remove_probes(Env& env, const ProbeOptions& options);
Result<int> list_probes(Env& env, const ProbeOptions& options);
Result<int> show_source(Env& env, const ProbeOptions& options);
Result<int> show_variables(Env& env, const ProbeOptions& options);
Result<int> measure_latency(Env& env, const ProbeOptions& options);
Result<int> show_functions(Env& env, const ProbeOptions& options);

/// The code that a target means.
Result<ProbedCode> open_code(Env& env, const ProbeTarget& target);

}  // namespace sonde
