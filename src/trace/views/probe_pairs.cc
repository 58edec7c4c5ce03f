#include "trace/views/probe_pairs.h"

#include <algorithm>

namespace sonde {

ProbePairs::ProbePairs(const std::vector<std::string>& names) : roles_(names.size()) {
  for (size_t i = 0; i < names.size(); ++i) {
    auto other = std::ranges::find(names, names[i] + "__return");
    if (other == names.end()) continue;
    roles_[i] = {.entry = i, .is_paired = true};
    roles_[static_cast<size_t>(other - names.begin())] = {
        .entry = i, .is_paired = true, .is_return = true};
    has_pairs_ = true;
  }
}

std::optional<uint64_t> ProbePairs::take(size_t event, int32_t tid, uint64_t time_ns) {
  const Role& role = roles_[event];
  if (!role.is_paired) return std::nullopt;
  std::vector<uint64_t>& calls = open_[{tid, role.entry}];
  if (!role.is_return) {
    if (calls.size() < kDeepest) calls.push_back(time_ns);
    return std::nullopt;
  }
  if (calls.empty()) return std::nullopt;
  uint64_t entry_ns = calls.back();
  calls.pop_back();
  return time_ns > entry_ns ? time_ns - entry_ns : 0;
}

void ProbePairs::forget(int32_t tid) {
  open_.erase(open_.lower_bound({tid, 0}), open_.upper_bound({tid, SIZE_MAX}));
}

}  // namespace sonde
