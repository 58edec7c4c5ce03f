#include "objects/injection.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/file.h"
#include "base/process/own_command_line.h"
#include "base/text.h"
#include "objects/converted_chains.h"
#include "objects/guest_files.h"
#include "objects/hidden_addresses.h"
#include "objects/injected_jit.h"
#include "objects/injected_mappings.h"
#include "objects/merged_sleeps.h"
#include "objects/trace_records.h"
#include "perfdata/records/user_records.h"
#include "perfdata/write/recording_place.h"
#include "perfdata/write/writer.h"
#include "replay/session.h"

namespace sonde {
namespace {

/// What the writer generates itself, or what the copy no longer has.
bool belongs_to_container(uint32_t type) {
  switch (type) {
    case abi::kRecordHeaderAttr:
    case abi::kRecordHeaderEventType:
    case abi::kRecordHeaderTracingData:
    case abi::kRecordHeaderBuildId:
    case abi::kRecordHeaderFeature:
    case abi::kRecordCompressed:
    case abi::kRecordCompressed2:
      return true;
    default:
      return false;
  }
}

/// The writer has these names from the features.
bool names_interpreted_code(const RecordView& record) {
  if (record.type != abi::kRecordEventUpdate) return false;
  auto update = decode_user<EventUpdateRecord>(record);
  return update && update->kind == EventUpdateKind::kInterpretedFiles;
}

class Injection {
 public:
  Injection(const InjectOptions& options, Env& env) : options_(options), env_(env) {}

  Result<> run() {
    TRY(check_output());
    SessionOptions how;
    how.open = {.force = options_.force, .stdin_fd = env_.in_fd};
    how.want_symbols = false;
    how.itrace = options_.itrace;
    if (!options_.build_ids && !options_.mappings) how.chains.reset();
    Session session = TRY(Session::open(options_.input, how, env_));
    TRY(check_input(session.recording()));
    TRY(plan(session));
    TRY(collect(session.recording(), env_));
    if (guest_) merge_guest(session.recording());
    if (options_.build_ids || options_.all_build_ids)
      build_ids_ =
          build_ids_to_inject(session, options_.all_build_ids || copies_traces(session.recording()),
                              options_.known, options_.guest_mount);
    return write(session.recording(), env_);
  }

 private:
  /// A record of the copy with its time, and the piece of an instruction trace that follows it.
  struct Item {
    uint64_t time;
    Bytes record;
    Bytes trace = {};
    bool is_guests = false;  // no stage changes it
  };

  /// The stages that records go through on their way into the copy.
  Result<> plan(const Session& session) {
    if (options_.itrace)
      rewriters_.push_back(std::make_unique<TraceRecords>(session.events(), options_.strip));
    if (options_.sched_stat) rewriters_.push_back(TRY(MergedSleeps::make(session.recording())));
    if (options_.mappings || options_.all_mappings)
      rewriters_.push_back(
          std::make_unique<InjectedMappings>(session, options_.all_mappings, options_.known));
    if (options_.convert_chains)
      chains_ = TRY(
          ConvertedChains::make(session, env_, [this](Bytes records) { return emit(records); }));
    if (options_.hide_addresses) hidden_ = std::make_unique<HiddenAddresses>(session.recording());
    recording_ = &session.recording();
    if (options_.guest)
      guest_.emplace(TRY(GuestRecording::open(*options_.guest, *recording_, options_.force, env_)));
    return {};
  }

  /// Overwriting a file that is still being read would lose it, and what is no recording stays.
  [[nodiscard]] Result<> check_output() const {
    struct stat in{}, out{};
    if (options_.output == "-") return {};
    bool are_files = options_.input != "-" && ::stat(options_.input.c_str(), &in) == 0 &&
                     ::stat(options_.output.c_str(), &out) == 0;
    if (are_files && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
      return fail(ErrorCode::kFailed, "{} is the input, too: give another output file",
                  options_.output);
    return check_recording_place(options_.output, false);
  }

  [[nodiscard]] Result<> check_input(const Recording& recording) const {
    const std::string& name = recording.facts().path;
    if (recording.byte_order() != kHostOrder)
      return fail(ErrorCode::kUnsupported,
                  "{}: recorded on a machine with the other byte order: run inject there", name);
    if (copies_traces(recording) && options_.hide_addresses)
      return fail(ErrorCode::kUnsupported,
                  "{}: AUX area data would tell the addresses that --aslr hides; --itrace puts its "
                  "samples in its place",
                  name);
    if (copies_traces(recording) && options_.mappings)
      return fail(
          ErrorCode::kUnsupported,
          "{}: -B would drop the mappings that AUX area data needs: use --mmap2-buildid-all", name);
    if (recording.record_counts().simpleperf_private > 0)
      return fail(ErrorCode::kUnsupported, "{}: simpleperf's recordings are not copied", name);
    return {};
  }

  /// Whether the copy has instruction traces.
  [[nodiscard]] bool copies_traces(const Recording& recording) const {
    return recording.record_counts().by_type[abi::kRecordAuxtrace] > 0 && !options_.itrace;
  }

  /// The records to copy, and what is injected for them.
  Result<> collect(const Recording& recording, Env& env) {
    const EventTable& events = recording.events();
    bool many_streams =
        std::ranges::any_of(recording.blocks(), [](const RecordBlock& b) { return b.stream > 0; });
    bool sorted =
        options_.jit || options_.sched_stat || options_.hide_addresses || guest_ || many_streams;
    uint64_t now = 0, latest = 0;
    SampleLayout none;
    for (const RecordBlock& block : recording.blocks()) {
      RecordRange range(block, recording.byte_order());
      RecordView last;
      for (RecordView record; range.next(record); last = record) {
        if (belongs_to_container(record.type) || names_interpreted_code(record)) continue;
        if (sorted && record.type == abi::kRecordFinishedRound) continue;
        EventId event = record.type < abi::kRecordUserStart ? events.of(record) : EventId();
        const SampleLayout& layout = event.valid() ? events[event].layout : none;
        if (event.valid()) now = time_of(record, layout, now);
        latest = std::max(latest, now);
        if (options_.jit && is_mapping(record)) {
          if (auto mapped = decode_as<MmapRecord>(record, layout)) {
            TRY(code_.look_at(*mapped, recording, env));
            if (code_.replaces(*mapped)) continue;
          }
        }
        // Traces stay in their order.
        items_.push_back({record.type == abi::kRecordAuxtrace ? latest : now, record.raw()});
      }
      if (last.type == abi::kRecordAuxtrace) take_trace(last, block.trailing);
    }
    for (const InjectedCode::Mapped& mapped : code_.mapped())
      items_.push_back({mapped.time_ns, code_.records().subspan(mapped.offset, mapped.size)});
    if (sorted) std::ranges::stable_sort(items_, {}, &Item::time);
    return {};
  }

  /// Puts the guest's records between the host's: before what it says about its beginning ends, and
  /// then by time.
  void merge_guest(const Recording& recording) {
    std::vector<Item> merged;
    merged.reserve(items_.size());
    auto put = [&](Bytes records, uint64_t time) {
      if (!records.empty()) merged.push_back({time, records, {}, true});
    };
    guest_->put_id_index(guest_setup_);
    bool has_begun = false;
    SampleId who;
    for (const Item& item : items_) {
      bool is_init = type_of(item.record) == abi::kRecordFinishedInit;
      if (!has_begun && (is_init || item.time > 0)) {
        put(guest_setup_.view(), 0);
        put(guest_->until(0), 0);
        has_begun = true;
      }
      if (has_begun && who_of(item.record, recording.events(), who)) guest_->watch(who);
      if (has_begun && !is_init) put(guest_->until(item.time), item.time);
      merged.push_back(item);
    }
    if (!has_begun) put(guest_setup_.view(), 0);
    put(guest_->until(UINT64_MAX), UINT64_MAX);
    items_ = std::move(merged);
  }

  static uint32_t type_of(Bytes record) { return load<uint32_t>(record.data(), kHostOrder); }

  static bool who_of(Bytes record, const EventTable& events, SampleId& who) {
    RecordBlock block;
    block.bytes = record;
    RecordRange range(block, kHostOrder);
    RecordView view;
    if (!range.next(view) || view.type >= abi::kRecordUserStart) return false;
    EventId event = events.of(view);
    if (!event.valid()) return false;
    if (view.type == abi::kRecordSample) return decode_sample_id(view, events[event].layout, who);
    who = decode_trailing_id(view, events[event].layout);
    return true;
  }

  /// What follows the latest item. Without all of it, a copy of the record would swallow others.
  void take_trace(const RecordView& record, Bytes trace) {
    auto told = decode_user<AuxtraceRecord>(record);
    if (told && told->size == trace.size()) {
      items_.back().trace = trace;
      return;
    }
    items_.pop_back();
    env_.losses.add(LossKind::k_lost_aux, 1, "cut off");
  }

  static bool is_mapping(const RecordView& record) {
    return record.type == abi::kRecordMmap || record.type == abi::kRecordMmap2;
  }

  static uint64_t time_of(const RecordView& record, const SampleLayout& layout, uint64_t before) {
    SampleId id;
    if (record.type != abi::kRecordSample)
      id = decode_trailing_id(record, layout);
    else if (!decode_sample_id(record, layout, id))
      return before;
    return id.has_time() ? id.time : before;
  }

  [[nodiscard]] Features features_of_copy(const Recording& recording) const {
    Features features = recording.features();
    std::erase_if(features.present, [](uint32_t bit) {
      return bit == abi::kFeatureCompressed || bit == abi::kFeatureDirFormat;
    });
    features.auxtrace_index.clear();
    features.compressed.reset();
    features.dir_format_version.reset();
    features.command_line = own_command_line();
    auto add = [&](const BuildIdEntry& entry) {
      auto same = [&](const BuildIdEntry& e) { return e.path == entry.path && e.pid == entry.pid; };
      auto there = std::ranges::find_if(features.build_ids, same);
      if (there == features.build_ids.end())
        features.build_ids.push_back(entry);
      else
        there->build_id = entry.build_id;
    };
    for (const BuildIdEntry& entry : build_ids_) add(entry);
    auto append = [&](const std::vector<BuildIdEntry>& more) {
      features.build_ids.insert(features.build_ids.end(), more.begin(), more.end());
    };
    append(code_.build_ids());
    if (guest_) append(guest_->build_ids());
    bool had_stat = features.has(abi::kFeatureStat);
    features.present.clear();
    mark_present(features);
    if (had_stat && !features.has(abi::kFeatureStat))
      features.present.insert(std::ranges::upper_bound(features.present, abi::kFeatureStat),
                              abi::kFeatureStat);
    return features;
  }

  [[nodiscard]] std::vector<EventDesc> events_of_copy(const Recording& recording) const {
    std::vector<EventDesc> events = hidden_ ? hidden_->events() : recording.events().all();
    if (guest_) events.insert(events.end(), guest_->events().begin(), guest_->events().end());
    return events;
  }

  Result<> write(const Recording& recording, Env& env) {
    bool to_pipe = options_.output == "-";
    Features features = features_of_copy(recording);
    writer_.emplace(TRY(open(env, to_pipe)));
    if (!to_pipe) TRY(take_files(recording));
    if (hidden_) hidden_->clean(features);
    TRY(writer_->begin(events_of_copy(recording), features));
    // A full disk keeps what fitted.
    Result<> written = write_records(features, to_pipe, env);
    if (!features.auxtrace_index.empty() && !to_pipe)
      features.present.insert(std::ranges::upper_bound(features.present, abi::kFeatureAuxtrace),
                              abi::kFeatureAuxtrace);
    Result<> finished = writer_->finish(features);
    return written ? finished : written;
  }

  Result<> write_records(Features& features, bool to_pipe, Env& env) {
    ByteBuilder ids;
    // A pipe has no section for them.
    for (const BuildIdEntry& entry : to_pipe ? features.build_ids : build_ids_) {
      if (options_.verbose > 0) env.err.print("{} {}\n", to_hex(entry.build_id), entry.path);
      encode(entry, abi::kRecordHeaderBuildId, ids);
    }
    TRY(writer_->main().write(ids.view()));
    for (const Item& item : items_) {
      if (item.is_guests)
        TRY(writer_->main().write(item.record));
      else
        TRY(item.trace.empty() || options_.itrace ? pass_on(item.record, item.time, 0)
                                                  : write_trace(item, features));
    }
    return chains_ ? chains_->finish(env) : Result<>{};
  }

  /// What lies beside the recordings, and what the guest's files are.
  Result<> take_files(const Recording& recording) {
    TRY(take_kernel_copy(recording, options_.output + "/kcore_dir"));
    if (!guest_) return {};
    uint32_t pid = options_.guest->machine_pid;
    TRY(take_kernel_copy(guest_->recording(),
                         fmt::format("{}/kcore_dir__{}", options_.output, pid)));
    if (!options_.guest_mount.empty())
      cache_guest_objects(guest_->build_ids(), fmt::format("{}/{}", options_.guest_mount, pid),
                          env_);
    return {};
  }

  /// Puts a piece of trace into the copy as it is, and into the index.
  Result<> write_trace(const Item& item, Features& features) {
    RecordStream& out = writer_->main();
    features.auxtrace_index.push_back({out.position(), item.record.size()});
    return out.write(item.record, item.trace);
  }

  /// Gives records, which are whole, to the stages from `stage` on.
  Result<> pass_on(Bytes records, uint64_t time, size_t stage) {
    if (stage == rewriters_.size()) return chains_ ? chains_->add(records) : emit(records);
    return rewrite(*rewriters_[stage], records, time,
                   [&](Bytes rewritten) { return pass_on(rewritten, time, stage + 1); });
  }

  /// The last stage, after which addresses mean nothing to the others.
  Result<> emit(Bytes records) {
    if (!hidden_) return writer_->main().write(records);
    return rewrite(*hidden_, records, 0,
                   [this](Bytes rewritten) { return writer_->main().write(rewritten); });
  }

  template <typename Next>
  Result<> rewrite(RecordRewriter& rewriter, Bytes records, uint64_t time, const Next& next) {
    const EventTable& events = recording_->events();
    RecordBlock block;
    block.bytes = records;
    RecordRange range(block, kHostOrder);
    SampleLayout none;
    for (RecordView view; range.next(view);) {
      EventId event = view.type < abi::kRecordUserStart ? events.of(view) : EventId();
      const SampleLayout& layout = event.valid() ? events[event].layout : none;
      ByteBuilder out;
      bool replaced = rewriter.rewrite({view, event, layout, time}, out);
      TRY(next(replaced ? out.view() : view.raw()));
    }
    return {};
  }

  Result<PerfDataWriter> open(Env& env, bool to_pipe) const {
    WriterOptions how;
    how.sys = &env.sys;
    how.directory =
        has_kernel_copy(*recording_) || (guest_ && has_kernel_copy(guest_->recording()));
    if (!to_pipe) return PerfDataWriter::create(options_.output, how);
    Fd copy(::dup(env.out_fd));
    if (!copy.valid())
      return fail(ErrorCode::kIo, "standard output cannot be written: {}", std::strerror(errno));
    return PerfDataWriter::pipe(std::move(copy), "standard output", how);
  }

  const InjectOptions& options_;
  Env& env_;
  InjectedCode code_;
  std::vector<BuildIdEntry> build_ids_;
  std::vector<Item> items_;
  std::vector<std::unique_ptr<RecordRewriter>> rewriters_;
  std::unique_ptr<ConvertedChains> chains_;  // after them
  std::unique_ptr<HiddenAddresses> hidden_;  // after those
  std::optional<GuestRecording> guest_;
  ByteBuilder guest_setup_;
  const Recording* recording_ = nullptr;
  std::optional<PerfDataWriter> writer_;
};

}  // namespace

Result<> inject(const InjectOptions& options, Env& env) {
  return Injection(options, env).run();
}

}  // namespace sonde
