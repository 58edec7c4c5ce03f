#include "explorer/explorer_page.h"

#include <sys/stat.h>

#include <ctime>
#include <set>

#include "analysis/sampling/chain_ends.h"
#include "analysis/sampling/sampling_gaps.h"
#include "analysis/timelines/call_stacks.h"
#include "analysis/timelines/call_timeline.h"
#include "analysis/timelines/off_cpu.h"
#include "analysis/timelines/session_timeline.h"
#include "base/output_file.h"
#include "explorer/hot_code.h"
#include "export/page/page_writer.h"
#include "export/pictures/axis.h"
#include "export/pictures/svg.h"
#include "export/pictures/timeline_svg.h"
#include "stacks/profile_diff.h"

namespace sonde {
namespace {

// In a timeline. More would make the page slow.
constexpr size_t kMaxSlices = 400'000;

std::string shown_name(const std::string& path) {
  return path == "-" ? "standard input" : path;
}

std::string title_of(const ExplorerOptions& choice) {
  if (!choice.title.empty()) return choice.title;
  if (choice.before.empty()) return shown_name(choice.input);
  return fmt::format("{} → {}", shown_name(choice.before), shown_name(choice.input));
}

void add_facts(PageDescription& page, const std::string& file, const StackProfile& profile) {
  const RecordingFacts facts = profile.recording.value_or(RecordingFacts());
  page.facts.emplace_back("file", shown_name(file));
  auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) page.facts.emplace_back(name, value);
  };
  add("command line", facts.command_line);
  add("host", facts.host);
  add("system", facts.system);
  add("architecture", facts.architecture);
  add("processor", facts.cpu);
  add("recorded by", facts.recorder);
  for (const StackColumn& column : profile.columns)
    page.facts.emplace_back(
        "event", column.samples == 0 ? column.name
                                     : fmt::format("{}: {} samples", column.name,
                                                   grouped(static_cast<double>(column.samples))));
}

/// When it was recorded, as far as the file says: by its reference to the wall clock, else by its
/// own date.
void add_date(PageDescription& page, const Recording& recording) {
  constexpr int64_t kNsPerSecond = 1'000'000'000;
  const std::optional<ClockData>& clock = recording.features().clock_data;
  int64_t ns = clock ? static_cast<int64_t>(clock->wall_clock_ns) : recording.facts().modified_ns;
  auto when = static_cast<std::time_t>(ns / kNsPerSecond);
  std::tm local{};
  if (ns <= 0 || ::localtime_r(&when, &local) == nullptr) return;
  char text[32];
  size_t length = std::strftime(text, sizeof text, "%F %R", &local);
  page.facts.emplace_back("recorded", std::string(text, length));
}

/// Warns of what is missing from the picture, if anything.
void add_warnings(PageDescription& page, const std::string& file, const StackProfile& profile) {
  const RecordingFacts facts = profile.recording.value_or(RecordingFacts());
  auto count = [](uint64_t value) { return grouped(static_cast<double>(value)); };
  if (facts.lost_samples > 0)
    page.warnings.push_back(fmt::format("{}: {}{} samples were lost while recording.",
                                        shown_name(file), facts.is_lost_a_bound ? "up to " : "",
                                        count(facts.lost_samples)));
  if (facts.lost_others > 0)
    page.warnings.push_back(fmt::format(
        "{}: {} records of tasks and memory were lost while recording: names may be missing.",
        shown_name(file), count(facts.lost_others)));
  if (profile.samples.size() > kMaxPageSamples)
    page.warnings.push_back(
        fmt::format("{}: {} samples are too many to keep individually, so there is no timeline.",
                    shown_name(file), count(profile.samples.size())));
  else if (profile.samples.size() > 0 && !facts.has_times)
    page.warnings.push_back(fmt::format(
        "{}: its samples were recorded without times, so there is no timeline.", shown_name(file)));
}

/// The files whose lines the page contains, each once.
std::set<std::string> source_files(const PageCode& code) {
  std::set<std::string> files;
  for (const CodeListing& listing : code.listings)
    for (const SourcePart& part : listing.sources)
      if (!part.lines.empty()) files.insert(part.path);
  return files;
}

/// Who sends a page should know what is in it.
std::string words_for(const std::set<std::string>& files) {
  if (files.empty()) return {};
  constexpr size_t kNamed = 3;
  std::string text = fmt::format("; it contains lines of {} source {}: ", files.size(),
                                 files.size() == 1 ? "file" : "files");
  size_t named = 0;
  for (const std::string& file : files) {
    if (named == kNamed) return text + ", …";
    text += (named++ == 0 ? "" : ", ") + file;
  }
  return text;
}

void add_losses(PageDescription& page, const LossLedger& losses) {
  if (std::string damage = losses.damage_summary(); !damage.empty())
    page.warnings.push_back("Damaged: " + damage);
  for (const LossLedger::Entry& loss : losses.entries())
    page.warnings.push_back(
        fmt::format("{} {}", grouped(static_cast<double>(loss.count)), LossLedger::what(loss)));
}

void describe(PageDescription& page, const std::string& file, const StackProfile& profile) {
  add_facts(page, file, profile);
  add_warnings(page, file, profile);
}

/// The events that both have, in the order of `after`. If they have none in common, the first of
/// each, provided their units agree; else the two cannot be compared.
Result<std::vector<ColumnPair>> events_of_both(const StackProfile& before,
                                               const StackProfile& after) {
  std::vector<ColumnPair> pairs;
  for (size_t i = 0; i < after.columns.size(); ++i)
    if (auto found = find_column(before, after.columns[i].name)) pairs.push_back({*found, i});
  if (!pairs.empty()) return pairs;
  const StackColumn& was = before.columns[0];
  const StackColumn& is = after.columns[0];
  if (was.unit == is.unit) return std::vector<ColumnPair>{{0, 0}};
  return fail(
      ErrorCode::kUsage,
      "the profiles cannot be compared: one is of {} ({}), the other of {} ({}); -e chooses "
      "an event that both have",
      was.name, was.unit, is.name, is.unit);
}

/// Names the pairs, and warns of each event that has no partner.
void describe_pairs(PageDescription& page, const std::vector<ColumnPair>& pairs,
                    const StackProfile& before, const StackProfile& after) {
  std::vector<bool> in_before(before.columns.size()), in_after(after.columns.size());
  for (const ColumnPair& pair : pairs) {
    in_before[pair.before] = in_after[pair.after] = true;
    const std::string& was = before.columns[pair.before].name;
    const std::string& is = after.columns[pair.after].name;
    page.compared_events.push_back(was == is ? is : fmt::format("{} → {}", was, is));
  }
  auto warn = [&](const StackProfile& profile, const std::vector<bool>& is_in, size_t side) {
    for (size_t i = 0; i < is_in.size(); ++i)
      if (!is_in[i])
        page.warnings.push_back(fmt::format("{} is not compared: only {} has it.",
                                            profile.columns[i].name, page.compared[side]));
  };
  warn(before, in_before, 0);
  warn(after, in_after, 1);
}

Result<> need_columns(const StackProfile& profile, const std::string& file) {
  for (const StackColumn& column : profile.columns)
    if (total_of(column) != 0) return {};
  return fail(ErrorCode::kFailed, "{} has no samples to show", shown_name(file));
}

bool has_event(const Session& session, std::string_view name) {
  const std::vector<EventDesc>& events = session.events().all();
  return std::ranges::find(events, name, &EventDesc::name) != events.end();
}

/// What threads did, if this is a scheduler recording that is shown whole.
void take_timeline(const Session& session, const ExplorerOptions& choice, PageDescription& page) {
  const ProfileSourceOptions& source = choice.source;
  bool is_whole =
      source.stacks.events.empty() && !source.make_filter && takes_all(source.session.filter);
  if (!is_whole || !has_event(session, "sched:sched_switch")) return;
  auto made = timeline_of(session, {});
  if (!made) {
    page.warnings.push_back(made.error().message);
    return;
  }
  for (const std::string& flaw : made->flaws())
    page.warnings.push_back(fmt::format("Timeline: {}.", flaw));
  page.timeline = std::move(made->timeline);
}

/// The calls of an instruction trace, and their time.
Result<StackProfile> take_calls(Session& session, PageDescription& page) {
  CallTimeline made = TRY(call_timeline_of(session));
  if (made.errors > 0)
    page.warnings.push_back(fmt::format(
        "The trace could not be followed at {} places, where calls are cut off.", made.errors));
  StackProfile profile = call_stacks(made.timeline, true);
  if (uint64_t below_ns = join_short_slices(made.timeline, kMaxSlices))
    page.warnings.push_back(fmt::format("The timeline leaves out calls shorter than {}.",
                                        time_text(static_cast<double>(below_ns))));
  page.timeline = std::move(made.timeline);
  return profile;
}

/// Turns waits into an event of their own.
StackProfile take_waits(StackProfile profile, PageDescription& page) {
  auto [made, sample_before] = with_waits(std::move(profile), *page.timeline);
  LargeVector<uint32_t> place = std::exchange(page.code.place, {});
  if (!place.empty())
    for (uint32_t before : sample_before)
      page.code.place.push_back(before == UINT32_MAX ? 0 : place[before]);
  join_short_slices(*page.timeline, kMaxSlices);
  return std::move(made);
}

/// `page` receives what only a single profile has; null if two are compared, in which case samples
/// are not kept either.
Result<StackProfile> open_one(const std::string& path, const ExplorerOptions& choice,
                              PageDescription* page, const Env& env) {
  ProfileSourceOptions options = choice.source;
  options.session.open.stdin_fd = env.in_fd;
  options.stacks.want_objects = true;
  options.stacks.want_samples = page != nullptr;
  // Lines would make functions that moved in their file different ones.
  options.stacks.want_sources = page != nullptr;
  if (page != nullptr && options.make_profile)
    options.make_profile = [page](Session& session, const SessionStacksOptions&) {
      add_date(*page, session.recording());
      return take_calls(session, *page);
    };
  else if (page != nullptr)
    options.on_recording = [&choice, page](const Session& session, const StackProfile& profile) {
      add_date(*page, session.recording());
      page->code = hot_code(session, profile);
      take_timeline(session, choice, *page);
      for (std::string& gap : uncounted_times(session)) page->warnings.push_back(std::move(gap));
      if (std::string gap = chain_gap(session); !gap.empty())
        page->warnings.push_back(std::move(gap));
    };
  StackProfile profile = TRY(open_profile(path, options, env));
  if (page != nullptr && page->timeline && !options.make_profile)
    profile = take_waits(std::move(profile), *page);
  if (!profile.recording) TRY(keep_columns(profile, options.stacks.events));
  TRY(need_columns(profile, path));
  return profile;
}

Result<StackProfile> open_pair(const ExplorerOptions& choice, PageDescription& page, Env& env) {
  StackProfile before = TRY(open_one(choice.before, choice, nullptr, env));
  StackProfile after = TRY(open_one(choice.input, choice, nullptr, env));
  describe(page, choice.before, before);
  describe(page, choice.input, after);
  page.compared = {shown_name(choice.before), shown_name(choice.input)};
  std::vector<ColumnPair> pairs = TRY(events_of_both(before, after));
  describe_pairs(page, pairs, before, after);
  Counterparts counterparts;
  if (!choice.by_name) counterparts = counterparts_of(before, after, pairs);
  if (std::string said = counterparts.sentence(); !said.empty()) {
    env.err.print("{}: {} (not with --by-name)\n", env.tool, said);
    page.warnings.push_back(fmt::format("This page {} (not with --by-name).", said));
  }
  return diff_profiles(before, after, {.columns = std::move(pairs), .counterparts = &counterparts});
}

}  // namespace

Result<> write_explorer(const ExplorerOptions& choice, Env& env) {
  PageDescription page;
  page.title = title_of(choice);
  bool is_pair = !choice.before.empty();
  StackProfile profile =
      is_pair ? TRY(open_pair(choice, page, env)) : TRY(open_one(choice.input, choice, &page, env));
  if (!is_pair) describe(page, choice.input, profile);
  // A text that has two counts per stack (`fold A B`) is a comparison by itself.
  if (!is_pair && is_comparison(profile)) page.compared = {"before", "after"};
  add_losses(page, env.losses);
  std::set<std::string> sources = source_files(page.code);
  for (const std::string& file : sources) page.facts.emplace_back("lines of", file);
  OutputFile output = TRY(OutputFile::open(choice.output, env));
  TRY(write_page(output.sink(), profile, page));
  TRY(output.finish());
  struct stat status{};
  if (output.is_file() && ::stat(choice.output.c_str(), &status) == 0)
    env.err.print("[ {} {}: wrote {} ({:.1f} MB); open it in a browser{} ]\n", env.tool,
                  choice.command, choice.output, static_cast<double>(status.st_size) / 1e6,
                  words_for(sources));
  return {};
}

}  // namespace sonde
