#include "stacks/sample_selection.h"

#include "replay/fields/chosen_names.h"
#include "replay/fields/time_ranges.h"

namespace sonde {

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
  return [times = std::move(times), of_comm = ChosenNames(session.strings(), comms),
          objects = ChosenObjects(session.machine().dsos(), dsos), &session](size_t i) {
    const SampleColumns& samples = session.samples();
    FrameId leaf = samples.leaf[i];
    return (times.empty() || is_in(times, samples.time[i])) && of_comm.has(samples.comm[i]) &&
           objects.has(leaf.valid() ? session.frame(leaf).dso : DsoId());
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
