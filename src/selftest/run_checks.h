// Runs self-checks one after the other, with perf test's lines, and as JUnit's XML.
#pragma once

#include <string>
#include <vector>

#include "base/env.h"
#include "base/error.h"

namespace sonde::selftest {

struct CheckOptions {
  std::vector<std::string> wanted;   // numbers, or parts of names and summaries; empty: all
  std::vector<std::string> skipped;  // -s: numbers
  int verbose = 0;                   // 1: reasons; 2: the commands and what they print
  std::string junit;                 // a file; empty: none
};

/// " 1: Counts of software events", …
void list_checks(const CheckOptions& options, Sink& out);

/// The exit status: 1 if a check failed. kUsage if a wanted one is not there.
Result<int> run_checks(const CheckOptions& options, Env& env);

}  // namespace sonde::selftest
