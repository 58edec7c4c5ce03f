// The grammar of `record --filter` for events that are not tracepoints, perf's (perf-record(1),
// "BPF filter"): TERM OPERATOR VALUE, alternatives joined by ||, which all hold where commas
// separate them:
//
//   period > 1000, ip < 0x7fffffff0000 || cpu == 1
//   mem_op == load || mem_op == store, mem_lvl > l1
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "bpf/programs/sample_filter.h"

namespace sonde {

struct SampleFilterTerms {
  std::vector<sample_test> tests;  // they lead to each other
  /// What the event must sample for them (abi::kSample…), and the term that needs it. For the
  /// weights and the size of pages, either of several bits may do.
  struct Need {
    uint64_t sample_types = 0;  // one of these bits
    std::string term;
    std::string_view remedy;  // the option of `record`
  };
  std::vector<Need> needs;
  std::string needs_data;  // a term that a kernel before 6.2 does not know; empty: none
};

/// `cgroup_id`: of a path, for `cgroup == /path`. Errors: kUsage, with what is wrong and where.
[[nodiscard]] Result<SampleFilterTerms> parse_sample_filter(
    std::string_view text,
    const std::function<std::optional<uint64_t>(const std::string&)>& cgroup_id);

}  // namespace sonde
