#include "cmd/options/sample_selection.h"

#include <algorithm>

#include "cmd/options/profile_flags.h"
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

void SampleSelection::declare(FlagTable& flags, std::string event_help) {
  flags.text('e', "event", event_, "event", std::move(event_help));
  flags.call(0, "comm", "comm[,comm...]", "only samples of these commands", words_into(comms_));
  flags.call(0, "dso", "dso[,dso...]", "only samples that fell into these objects",
             words_into(dsos_));
  flags.call(0, "pid", "pid[,pid...]", "only samples of these processes", numbers_into(pids_));
  flags.call(0, "tid", "tid[,tid...]", "only samples of these threads", numbers_into(tids_));
  flags.call('C', "cpu", "cpu", "only samples of these CPUs", numbers_into(cpus_));
  flags.text(0, "time", time_, "start,stop",
             "only samples of this span: seconds, or shares such as 10%-20%");
}

Result<> SampleSelection::apply(ProfileSourceOptions& options) const {
  if (!event_.empty()) options.stacks.events = {event_};
  options.session.filter.pids = pids_;
  options.session.filter.tids = tids_;
  options.session.filter.cpus = cpus_;
  // Percentages are relative to a recording's time span, which is not known yet.
  bool by_share = time_.find('%') != std::string::npos;
  if (!by_share) options.session.filter.times = TRY(parse_time_ranges(time_, 0, 0));
  if (by_share || !comms_.empty() || !dsos_.empty())
    options.make_filter = [this](const Session& session) { return filter_of(session); };
  return {};
}

Result<std::function<bool(size_t)>> SampleSelection::filter_of(const Session& session) const {
  auto times =
      TRY(parse_time_ranges(time_, session.counts().first_time_ns, session.counts().last_time_ns));
  std::vector<bool> comms = chosen_names(session.strings(), comms_);
  std::vector<bool> frames = chosen_frames(session, dsos_);
  const SampleColumns& samples = session.samples();
  return [this, times = std::move(times), comms = std::move(comms), frames = std::move(frames),
          &samples](size_t i) {
    auto contains = [&](const SampleFilter::TimeRange& range) {
      return range.from_ns <= samples.time[i] && samples.time[i] <= range.to_ns;
    };
    if (!times.empty() && std::ranges::none_of(times, contains)) return false;
    StringId comm = samples.comm[i];
    if (!comms_.empty() && (!comm.valid() || !comms[comm.index()])) return false;
    FrameId leaf = samples.leaf[i];
    return dsos_.empty() || (leaf.valid() && frames[leaf.index()]);
  };
}

Result<size_t> SampleSelection::column_of(const StackProfile& profile, Sink& err) const {
  std::string names;
  for (const StackColumn& column : profile.columns)
    names += (names.empty() ? "" : ", ") + column.name;
  if (profile.columns.empty())
    return fail(ErrorCode::kFailed, "{}: no samples in it", profile.origin);
  auto column = find_column(profile, event_);
  if (!column)
    return fail(ErrorCode::kFailed, "{}: there is no event '{}'; it has {}", profile.origin, event_,
                names);
  if (event_.empty() && profile.columns.size() > 1)
    err.print("{}: drawn is {}, the first of {}; -e chooses another\n", profile.origin,
              profile.columns[*column].name, names);
  return *column;
}

}  // namespace sonde
