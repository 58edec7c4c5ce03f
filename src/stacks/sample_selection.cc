#include "stacks/sample_selection.h"

#include <algorithm>

#include "replay/fields/time_ranges.h"

namespace sonde {
namespace {

bool listed(const std::vector<std::string>& list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

/// By StringId: whether the name is listed.
std::vector<bool> chosen_names(const StringPool& strings, const std::vector<std::string>& list) {
  std::vector<bool> chosen(strings.size());
  for (size_t i = 0; i < chosen.size(); ++i) chosen[i] = listed(list, strings.view(StringId(i)));
  return chosen;
}

/// By FrameId: whether the frame is in a listed object.
std::vector<bool> chosen_frames(const Session& session, const std::vector<std::string>& list) {
  std::vector<bool> chosen;
  for (const Frame& frame : session.frames()) {
    const Dso* dso = frame.dso.valid() ? &session.machine().dsos()[frame.dso] : nullptr;
    chosen.push_back(dso != nullptr && (listed(list, dso->short_name) || listed(list, dso->path)));
  }
  return chosen;
}

}  // namespace

Result<> SampleSelection::apply(ProfileSourceOptions& options) const {
  if (!event.empty()) options.stacks.events = {event};
  options.session.filter.pids = pids;
  options.session.filter.tids = tids;
  options.session.filter.cpus = cpus;
  // Percentages are relative to a recording's time span, which is not known yet.
  bool by_share = time.find('%') != std::string::npos;
  if (!by_share) options.session.filter.times = TRY(parse_time_ranges(time, 0, 0));
  if (by_share || !comms.empty() || !dsos.empty())
    options.make_filter = [this](const Session& session) { return filter_of(session); };
  return {};
}

Result<std::function<bool(size_t)>> SampleSelection::filter_of(const Session& session) const {
  auto times =
      TRY(parse_time_ranges(time, session.counts().first_time_ns, session.counts().last_time_ns));
  std::vector<bool> of_comm = chosen_names(session.strings(), comms);
  std::vector<bool> frames = chosen_frames(session, dsos);
  const SampleColumns& samples = session.samples();
  return [this, times = std::move(times), of_comm = std::move(of_comm), frames = std::move(frames),
          &samples](size_t i) {
    auto contains = [&](const SampleFilter::TimeRange& range) {
      return range.from_ns <= samples.time[i] && samples.time[i] <= range.to_ns;
    };
    if (!times.empty() && std::ranges::none_of(times, contains)) return false;
    StringId comm = samples.comm[i];
    if (!comms.empty() && (!comm.valid() || !of_comm[comm.index()])) return false;
    FrameId leaf = samples.leaf[i];
    return dsos.empty() || (leaf.valid() && frames[leaf.index()]);
  };
}

Result<size_t> SampleSelection::column_of(const StackProfile& profile, Sink& err) const {
  std::string names;
  for (const StackColumn& column : profile.columns)
    names += (names.empty() ? "" : ", ") + column.name;
  if (profile.columns.empty())
    return fail(ErrorCode::kFailed, "{}: it has no samples", profile.origin);
  auto column = find_column(profile, event);
  if (!column)
    return fail(ErrorCode::kFailed, "{}: there is no event '{}'; it has {}", profile.origin, event,
                names);
  if (event.empty() && profile.columns.size() > 1)
    err.print("{}: drawing {}, the first of {}; -e chooses another\n", profile.origin,
              profile.columns[*column].name, names);
  return *column;
}

}  // namespace sonde
