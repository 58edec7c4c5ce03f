#include "stacks/stack_profile.h"

#include <algorithm>
#include <numeric>

#include "base/text.h"

namespace sonde {

std::vector<double> totals_of(const StackProfile& profile, size_t column) {
  std::vector<double> totals = profile.columns[column].self;
  for (size_t node = totals.size(); node-- > 0;)
    if (StackNodeId parent = profile.nodes[node].parent; parent.valid())
      totals[parent.index()] += totals[node];
  return totals;
}

double total_of(const StackColumn& column) {
  return std::accumulate(column.self.begin(), column.self.end(), column.without_stack);
}

std::optional<size_t> find_column(const StackProfile& profile, std::string_view name) {
  for (size_t i = 0; i < profile.columns.size(); ++i)
    if (name.empty() || profile.columns[i].name == name) return i;
  return std::nullopt;
}

namespace {

constexpr uint32_t kDropped = UINT32_MAX;

/// Renumbers the columns of samples; samples of dropped columns are removed.
void renumber_columns(StackSamples& samples, const std::vector<uint32_t>& new_column) {
  size_t kept = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    uint32_t column = new_column[samples.column[i]];
    if (column == kDropped) continue;
    samples.node[kept] = samples.node[i];
    samples.column[kept] = column;
    samples.thread[kept] = samples.thread[i];
    samples.cpu[kept] = samples.cpu[i];
    samples.time_ns[kept] = samples.time_ns[i];
    samples.value[kept] = samples.value[i];
    if (!samples.place.empty()) samples.place[kept] = samples.place[i];
    ++kept;
  }
  samples.node.resize(kept);
  samples.column.resize(kept);
  samples.thread.resize(kept);
  samples.cpu.resize(kept);
  samples.time_ns.resize(kept);
  samples.value.resize(kept);
  if (!samples.place.empty()) samples.place.resize(kept);
}

}  // namespace

Result<> keep_columns(StackProfile& profile, const std::vector<std::string>& names) {
  if (names.empty()) return {};
  std::vector<std::string> have;
  for (const StackColumn& column : profile.columns) have.push_back(column.name);
  for (const std::string& name : names)
    if (std::ranges::find(have, name) == have.end())
      return fail(ErrorCode::kUsage, "there is no event '{}' in {}; it has {}", name,
                  profile.origin, join(have, ", "));
  std::vector<uint32_t> new_column;
  std::vector<StackColumn> kept;
  for (StackColumn& column : profile.columns) {
    bool is_wanted = std::ranges::find(names, column.name) != names.end();
    new_column.push_back(is_wanted ? static_cast<uint32_t>(kept.size()) : kDropped);
    if (is_wanted) kept.push_back(std::move(column));
  }
  profile.columns = std::move(kept);
  if (new_column.size() != profile.columns.size()) renumber_columns(profile.samples, new_column);
  return {};
}

}  // namespace sonde
