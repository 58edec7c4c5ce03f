#include "report/browser/sample_context.h"

#include <algorithm>

#include "report/data.h"

namespace sonde::report {
namespace {

/// perf's default of samples.context.
constexpr uint64_t kAroundNs = 10'000'000;

void add_members(const Profile& profile, uint32_t end, std::vector<uint32_t>& samples) {
  for (const EndSample& member : profile.members(end)) samples.push_back(member.sample);
}

/// All samples of a row, in any order, some perhaps twice.
std::vector<uint32_t> all_samples(const Profile& profile, uint32_t row) {
  std::vector<uint32_t> samples;
  for (uint32_t end : profile.own_ends(row)) add_members(profile, end, samples);
  if (!profile.options().children || !profile.options().call_graph) return samples;
  for (uint32_t node : profile.occurrences(row)) {
    auto first = std::ranges::lower_bound(profile.ends(), node, {}, &PathEnd::node);
    uint32_t last = profile.trie().end_of(node);
    for (; first != profile.ends().end() && first->node < last; ++first)
      add_members(profile, static_cast<uint32_t>(first - profile.ends().begin()), samples);
  }
  return samples;
}

std::string seconds_text(uint64_t ns) {
  return fmt::format("{}.{:06}", ns / 1'000'000'000, ns / 1000 % 1'000'000);
}

/// "copy_page [kernel.kallsyms]", or an address.
std::string place_text(const ProfileInput& input, uint32_t sample) {
  const Frame& frame = input.frame(input.samples.leaf[sample]);
  std::string name = frame.symbol.valid() ? std::string(input.symbols.name(frame.symbol))
                                          : fmt::format("{:#x}", frame.address);
  return fmt::format("{} ({})", name, input.dso_name(frame.dso));
}

}  // namespace

std::vector<uint32_t> samples_of_row(const EventReport& report, uint32_t row, size_t most) {
  const TableRows& rows = *report.data->rows;
  const SampleColumns& columns = report.data->input.samples;
  std::vector<uint32_t> samples;
  for (size_t member = 0; member < rows.members(); ++member)
    if (uint32_t id = rows.row_in(row, member); id != TableRows::kAbsent)
      for (uint32_t sample : all_samples(rows.profile(member), id)) samples.push_back(sample);
  std::ranges::sort(samples, [&](uint32_t a, uint32_t b) {
    return std::pair(columns.time[a], a) < std::pair(columns.time[b], b);
  });
  samples.erase(std::ranges::unique(samples).begin(), samples.end());
  if (samples.size() <= most) return samples;
  std::vector<uint32_t> spread;
  for (size_t i = 0; i < most; ++i) spread.push_back(samples[i * samples.size() / most]);
  return spread;
}

std::string sample_text(const EventReport& report, uint32_t sample) {
  const ProfileInput& input = report.data->input;
  const SampleColumns& columns = input.samples;
  return fmt::format("{}  {} {}  [{:03}]", seconds_text(columns.time[sample]),
                     input.strings.view(columns.comm[sample]), recorded_task(columns.tid[sample]),
                     columns.cpu[sample]);
}

std::vector<std::string> sample_context(const EventReport& report, const Session& session,
                                        uint32_t sample) {
  const SampleColumns& columns = report.data->input.samples;
  uint64_t at = columns.time[sample];
  std::vector<uint32_t> near;
  for (uint32_t i = 0; i < columns.size(); ++i)
    if (columns.tid[i] == columns.tid[sample] &&
        (columns.time[i] < at ? at - columns.time[i] : columns.time[i] - at) <= kAroundNs)
      near.push_back(i);
  std::ranges::sort(near, [&](uint32_t a, uint32_t b) {
    return std::pair(columns.time[a], a) < std::pair(columns.time[b], b);
  });
  std::vector<std::string> lines;
  for (uint32_t i : near)
    lines.push_back(fmt::format("{} {}  {:>8} {}:  {}", i == sample ? '>' : ' ',
                                sample_text(report, i), columns.period[i],
                                session.events()[EventId(size_t{columns.event[i]})].name,
                                place_text(report.data->input, i)));
  return lines;
}

}  // namespace sonde::report
