#include "script/recording_lines.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/output/overwriting.h"
#include "perfdata/dump/header_text.h"
#include "replay/fields/time_ranges.h"
#include "replay/frames/stitching.h"
#include "script/dump_tail.h"

namespace sonde {
namespace {

/// `--per-event-dump`: one file per event, named after the input and the event.
Result<> dump_per_event(const Session& session, const SamplePrinter& printer,
                        const std::vector<ScriptItem>& items, const ScriptOptions& options,
                        Env& env) {
  for (size_t event = 0; event < session.events().size(); ++event) {
    // The recording chooses the event's name, but not the directory.
    std::string name = session.events()[EventId(event)].name;
    std::ranges::replace(name, '/', '_');
    std::string path = fmt::format("{}.{}.dump", options.input, name);
    auto dump = overwrite(path, 0644);
    if (!dump) return fail(ErrorCode::kIo, "failed to open {}: {}", path, dump.error());
    Fd fd = std::move(*dump);
    std::vector<ScriptItem> own;
    std::ranges::copy_if(items, std::back_inserter(own), [&](const ScriptItem& item) {
      return !item.is_record && session.samples().event[item.index] == event;
    });
    FdSink file(fd.get());
    LineClock clock{options.shown_time()};
    LineBuffers buffers;
    write_lines(session, printer, own, clock, buffers, file);
    file.flush();
    struct stat info{};
    if (file.failed() != 0 || ::fstat(fd.get(), &info) != 0)
      return fail(ErrorCode::kIo, "failed to write {}: {}", path, std::strerror(file.failed()));
    env.out.print("[ {} script: Wrote {:.3f} MB {} ({} samples) ]\n", env.tool,
                  static_cast<double>(info.st_size) / 1024 / 1024, path, own.size());
  }
  return {};
}

/// `-D`: the dump, with each sample's line after it.
void dump_with_lines(const Session& session, const SamplePrinter& printer,
                     const std::vector<ScriptItem>& items, const ScriptOptions& options,
                     const Env& env) {
  std::vector<char> shown(session.samples().size());
  for (const ScriptItem& item : items)
    if (!item.is_record) shown[item.index] = 1;
  SampleTails tails(session, options.items.cpus, [&](uint32_t sample, Sink& out) {
    if (shown[sample] == 0) return;
    std::string line;
    printer.print(sample, session.samples().time[sample], line);
    out.write_lines(line);
  });
  auto tail = [&](const TimedRecord& record, const Sample* sample, Sink& out) {
    tails.put(record, sample, out);
  };
  DumpOptions how{DumpFor::kScript, options.dump_in_file_order};
  dump_recording(session.recording(), how, tail, env.losses, env.out);
}

/// With -C, perf requires every kind of event to record its CPU.
Result<> check_cpus(const EventTable& events) {
  std::vector<uint32_t> seen;
  for (const EventDesc& event : events.all()) {
    if (std::ranges::find(seen, event.attr.type) != seen.end()) continue;
    seen.push_back(event.attr.type);
    if (!event.attr.samples(abi::kSampleCpu))
      return fail(ErrorCode::kFailed,
                  "-C: the recording does not say which CPU samples are of: record with -a or "
                  "--sample-cpu");
  }
  return {};
}

/// perf's --call-trace gives the names of objects this many columns.
constexpr uint32_t kObjectWidth = 50;

/// Fields that come from the sample and its thread.
constexpr FieldSet kWithoutFrames = {
    Field::kComm,   Field::kTid,      Field::kPid,          Field::kTime,         Field::kCpu,
    Field::kEvent,  Field::kPeriod,   Field::kIntrRegs,     Field::kUserRegs,     Field::kDataSrc,
    Field::kWeight, Field::kPhysAddr, Field::kDataPageSize, Field::kCodePageSize, Field::kInsLat,
    Field::kMisc,   Field::kCgroup,   Field::kFlags,        Field::kTimeOfDay};

}  // namespace

void narrow_to_lines(const ScriptOptions& options, const EventTable& events,
                     const Features& features, SessionOptions& session) {
  auto fields =
      options.fields.fields_for(events, !options.hide_call_graph, features.clock_data.has_value());
  if (!fields) return;  // SamplePrinter says why
  bool shows_lines =
      std::ranges::any_of(*fields, [](FieldSet shown) { return shown.has(Field::kSrcline); });
  if (!options.inlines && shows_lines) session.inlines = Inlines::kOfAll;
  // A filter may look at samples that are not shown; so may the dump's.
  if (options.dlfilter.empty() && !options.dump)
    session.filter.times = time_ranges_by_header(options.time, features);
  if (options.verbose > 0 || options.dump || options.items.records.any() ||
      !options.items.dsos.empty() || !options.items.symbols.empty())
    return;
  if (!options.dlfilter.empty()) return;  // which may ask for symbols, and for files of places
  if (!std::ranges::all_of(*fields, [](FieldSet shown) { return kWithoutFrames.contains(shown); }))
    return;
  session.want_symbols = false;
  session.chains.reset();
}

ScriptLines::ScriptLines(Session& session, const ScriptOptions& options, FilterRun* dlfilter,
                         Env& env)
    : session_(session),
      options_(options),
      dlfilter_(dlfilter),
      env_(env),
      filter_(options.items),
      functions_(options.graph_functions),
      clock_{options.shown_time()} {}

/// Done once, when the recording's header is known.
Result<> ScriptLines::begin() {
  if (options_.header || options_.header_only)
    write_header_text(env_.out, session_.recording(), options_.full_header);
  if (options_.header_only) return {};
  if (counts_) return {};
  filter_.records.trace_errors = session_.counts().records_by_type[abi::kRecordAuxtraceError] != 0;
  if (!filter_.cpus.empty()) TRY(check_cpus(session_.events()));
  if (options_.stitch_lbr) warn_about_stitching(session_.recording(), env_.err);
  gate_ = TRY(EventWindow::make(options_.gate, session_.events(), env_.tool));
  const auto& recorded = session_.recording().features().sample_time;
  filter_.times = TRY(parse_time_ranges(
      options_.time, recorded ? recorded->first_ns : session_.counts().first_time_ns,
      recorded ? recorded->last_ns : session_.counts().last_time_ns));
  if (dlfilter_ != nullptr) dlfilter_->attach(session_, options_, filter_, gate_);
  return {};
}

bool ScriptLines::has_new_events() const {
  return session_.events().size() != events_known_;
}

/// Makes a printer for the events known so far; a pipe may announce them one by one.
Result<> ScriptLines::prepare() {
  if (!printer_ || has_new_events()) {
    PrinterOptions printing{options_.fields,
                            options_.nanoseconds,
                            !options_.hide_call_graph,
                            options_.show_kernel_path,
                            options_.latency_format,
                            options_.max_stack,
                            options_.max_blocks,
                            options_.stop_backtrace_at,
                            options_.pads_objects ? kObjectWidth : 0,
                            options_.symbol_sources.full_source_path,
                            options_.verbose > 0,
                            env_.out.is_shown() && !options_.per_event_dump};
    printer_ = TRY(SamplePrinter::make(session_, printing));
    events_known_ = session_.events().size();
    if (!options_.per_event_dump)
      if (std::string legend = printer_->legend(); std::exchange(legend_, legend) != legend)
        env_.out.write_lines(legend);
  } else {
    printer_->grow();
  }
  size_t objects = session_.machine().dsos().size();
  if (printer_->needs_all_symbols() && std::exchange(objects_known_, objects) != objects)
    session_.load_all_symbols();
  return {};
}

/// The items that are still to be written. What the filter prints about a sample comes before its
/// line, and after those of earlier ones: from its first text on, lines are written here, one by
/// one.
Result<std::vector<ScriptItem>> ScriptLines::filtered_items() {
  std::vector<ScriptItem> kept;
  auto write_kept = [&](Sink& out) {
    write_lines(session_, *printer_, kept, clock_, buffers_, out);
    kept.clear();
  };
  bool shows_lines = !options_.dump && !options_.per_event_dump;
  for (const ScriptItem& item : all_items(session_, *printer_, filter_)) {
    bool keeps = item.is_record || TRY(dlfilter_->keeps(item.index));
    if (FilterRun::has_text() && line_by_line_ == nullptr) {
      if (shows_lines) write_kept(env_.out);
      dlfilter_->put_text();
      if (shows_lines) line_by_line_ = dlfilter_->line_sink();
    }
    if (output_failed()) break;
    if (!keeps || !(item.is_record ||
                    printer_->prints(EventId(size_t{session_.samples().event[item.index]}))))
      continue;
    kept.push_back(item);
    if (line_by_line_ == nullptr) continue;
    write_kept(*line_by_line_);
    line_by_line_->flush();
  }
  if (line_by_line_ != nullptr) dlfilter_->put_text();
  return kept;
}

bool ScriptLines::output_failed() const {
  return env_.out.failed() != 0 || (line_by_line_ != nullptr && line_by_line_->failed() != 0);
}

Result<bool> ScriptLines::write() {
  if (session_.events().size() == 0) return true;  // a pipe that has announced nothing yet
  if (!counts_ && is_stat_recording(session_)) counts_.emplace(session_, env_.out);
  if (!std::exchange(begun_, true)) TRY(begin());
  if (options_.header_only) return false;
  if (counts_) {
    counts_->write();
    return env_.out.failed() == 0;
  }
  // Counts may be yet to come, whose events cannot be printed as samples.
  bool may_be_counts = session_.recording().facts().is_pipe && !printer_;
  if (may_be_counts && session_.samples().size() == 0 && !options_.items.records.any() &&
      !options_.dump)
    return true;
  TRY(prepare());
  std::vector<ScriptItem> items = dlfilter_ != nullptr
                                      ? TRY(filtered_items())
                                      : choose_items(session_, *printer_, filter_, gate_);
  functions_.narrow(session_, items);
  if (options_.dump)
    dump_with_lines(session_, *printer_, items, options_, env_);
  else if (options_.per_event_dump)
    TRY(dump_per_event(session_, *printer_, items, options_, env_));
  else
    write_lines(session_, *printer_, items, clock_, buffers_, env_.out);
  return !output_failed();
}

}  // namespace sonde
