// inject: copies a recording and adds what only user space knows: build ids, and objects for code
// compiled at run time.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/file.h"
#include "base/own_command_line.h"
#include "base/text.h"
#include "cli/command.h"
#include "objects/injected_build_ids.h"
#include "objects/injected_jit.h"
#include "perfdata/records/user_records.h"
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

class Inject final : public Command {
 public:
  void declare(FlagTable& flags) override {
    flags.usage("[<options>]");
    flags.description(
        R"(Copies a recording and adds what user space knows about it. Without -i and -o, it is a filter between two pipes.

With -j, each piece of code in the recording's jitdumps becomes an ELF file beside its dump, jitted-PID-N.so, and the recording shows when and where it was mapped, for tools that don't read dumps. report and script read dumps directly.)");
    flags.section("EXAMPLES", R"(  sonde record -k mono -g node --perf-prof app.js
  sonde inject -j -i perf.data -o perf.data.jitted
  sonde record -o - make | sonde inject -b | sonde report -i -)");
    flags.boolean('b', "build-ids", options_.build_ids, "Inject build-ids into the output stream");
    flags.boolean('f', "force", options_.force, "don't complain, do it");
    flags.text('i', "input", options_.input, "file", "input file name");
    flags.boolean('j', "jit", options_.jit, "merge jitdump files into perf.data file");
    flags.text('k', "vmlinux", options_.vmlinux, "file",
               "accepted for perf's sake: no symbols are read here");
    flags.text('o', "output", options_.output, "file", "output file name");
    flags.boolean('s', "sched-stat", options_.sched_stat,
                  "refused: sched-stat and sched-switch are not merged yet");
    flags.count('v', "verbose", options_.verbose, "be more verbose (show build ids, etc)");
    flags.boolean(0, "buildid-all", options_.all_build_ids,
                  "Inject build-ids of all DSOs into the output stream");
    refuse(flags, "guest-data", "opts", "guests' recordings are not merged yet").when_bare("");
    refuse(flags, "guestmount", "directory", "guests' recordings are not merged yet");
    flags.boolean(0, "ignore-vmlinux", options_.ignore_vmlinux,
                  "accepted for perf's sake: no symbols are read here");
    refuse(flags, "itrace", "opts", "instruction traces are not decoded yet").when_bare("");
    flags.text(0, "kallsyms", options_.kallsyms, "file",
               "accepted for perf's sake: no symbols are read here");
    flags.call(0, "known-build-ids", "buildid path [,buildid path...]",
               "build-ids to use for given paths", [this](std::string_view text) -> Result<> {
                 known_ = TRY(parse_known_build_ids(text));
                 return {};
               });
    flags.act(0, "strip", "refused: instruction traces are not decoded yet",
              [] { return refusal("strip", "instruction traces are not decoded yet"); });
    refuse(flags, "vm-time-correlation", "opts", "guests' clocks are not compared yet")
        .when_bare("");
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    if (!arguments.empty())
      return fail(ErrorCode::kUsage, "inject takes no arguments: {}", arguments[0]);
    if (options_.sched_stat)
      return refusal("sched-stat", "sched-stat and sched-switch are not merged yet");
    TRY(check_output());
    SessionOptions how;
    how.open = {.force = options_.force, .stdin_fd = env.in_fd};
    how.want_symbols = false;
    how.want_chains = options_.build_ids;
    Session session = TRY(Session::open(options_.input, how, env));
    TRY(check_input(session.recording()));
    TRY(collect(session.recording(), env));
    if (options_.build_ids || options_.all_build_ids)
      build_ids_ = build_ids_to_inject(session, options_.all_build_ids, known_);
    TRY(write(session.recording(), env));
    return 0;
  }

 private:
  /// A record of the copy with its time.
  struct Item {
    uint64_t time;
    Bytes record;
  };

  static std::unexpected<Error> refusal(std::string_view option, std::string_view why) {
    return fail(ErrorCode::kUnsupported, "inject --{}: {}", option, why);
  }
  static Flag& refuse(FlagTable& flags, std::string name, std::string argument, std::string why) {
    return flags.call(0, name, std::move(argument), "refused: " + why,
                      [name, why](std::string_view) -> Result<> { return refusal(name, why); });
  }

  /// Overwriting a file that is still being read would lose it.
  [[nodiscard]] Result<> check_output() const {
    struct stat in{}, out{};
    if (options_.output == "-" || options_.input == "-") return {};
    if (::stat(options_.input.c_str(), &in) != 0 || ::stat(options_.output.c_str(), &out) != 0)
      return {};
    if (in.st_dev == out.st_dev && in.st_ino == out.st_ino)
      return fail(ErrorCode::kFailed, "{} is the input, too: give another output file",
                  options_.output);
    return {};
  }

  [[nodiscard]] Result<> check_input(const Recording& recording) const {
    const std::string& name = recording.facts().path;
    if (recording.byte_order() != kHostOrder)
      return fail(ErrorCode::kUnsupported,
                  "{}: recorded on a machine with the other byte order: run inject there", name);
    if (recording.record_counts().by_type[abi::kRecordAuxtrace] > 0)
      return fail(ErrorCode::kUnsupported, "{}: recordings with AUX area data are not copied yet",
                  name);
    if (recording.record_counts().simpleperf_private > 0)
      return fail(ErrorCode::kUnsupported, "{}: simpleperf's recordings are not copied", name);
    if (options_.jit && !has_jit_dump_clock(recording.events()))
      return fail(ErrorCode::kFailed, "error, jitted code must be sampled with {} record -k 1",
                  "perf");
    return {};
  }

  /// The records to copy, and what is injected for them.
  Result<> collect(const Recording& recording, Env& env) {
    const EventTable& events = recording.events();
    bool many_streams =
        std::ranges::any_of(recording.blocks(), [](const RecordBlock& b) { return b.stream > 0; });
    bool sorted = options_.jit || many_streams;
    uint64_t now = 0;
    SampleLayout none;
    for (const RecordBlock& block : recording.blocks()) {
      RecordRange range(block, recording.byte_order());
      for (RecordView record; range.next(record);) {
        if (belongs_to_container(record.type)) continue;
        if (sorted && record.type == abi::kRecordFinishedRound) continue;
        EventId event = record.type < abi::kRecordUserStart ? events.of(record) : EventId();
        const SampleLayout& layout = event.valid() ? events[event].layout : none;
        if (event.valid()) now = time_of(record, layout, now);
        if (options_.jit && is_mapping(record)) {
          if (auto mapped = decode_as<MmapRecord>(record, layout)) {
            TRY(code_.look_at(*mapped, recording, env));
            if (code_.replaces(*mapped)) continue;
          }
        }
        items_.push_back({now, record.raw()});
      }
    }
    for (const InjectedCode::Mapped& mapped : code_.mapped())
      items_.push_back({mapped.time_ns, code_.records().subspan(mapped.offset, mapped.size)});
    if (sorted) std::ranges::stable_sort(items_, {}, &Item::time);
    return {};
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
    features.compressed.reset();
    features.dir_format_version.reset();
    features.command_line = own_command_line();
    auto add = [&](const BuildIdEntry& entry) {
      auto same = [&](const BuildIdEntry& e) { return e.path == entry.path; };
      auto there = std::ranges::find_if(features.build_ids, same);
      if (there == features.build_ids.end())
        features.build_ids.push_back(entry);
      else
        there->build_id = entry.build_id;
    };
    for (const BuildIdEntry& entry : build_ids_) add(entry);
    features.build_ids.insert(features.build_ids.end(), code_.build_ids().begin(),
                              code_.build_ids().end());
    bool had_stat = features.has(abi::kFeatureStat);
    features.present.clear();
    mark_present(features);
    if (had_stat && !features.has(abi::kFeatureStat))
      features.present.insert(std::ranges::upper_bound(features.present, abi::kFeatureStat),
                              abi::kFeatureStat);
    return features;
  }

  Result<> write(const Recording& recording, Env& env) {
    bool to_pipe = options_.output == "-";
    Features features = features_of_copy(recording);
    PerfDataWriter writer = TRY(open(env, to_pipe));
    TRY(writer.begin(recording.events().all(), features));
    ByteBuilder ids;
    // A pipe has no section for them.
    for (const BuildIdEntry& entry : to_pipe ? features.build_ids : build_ids_) {
      if (options_.verbose > 0) env.err.print("{} {}\n", to_hex(entry.build_id), entry.path);
      encode(entry, abi::kRecordHeaderBuildId, ids);
    }
    TRY(writer.main().write(ids.view()));
    for (const Item& item : items_) TRY(writer.main().write(item.record));
    return writer.finish(features);
  }

  Result<PerfDataWriter> open(Env& env, bool to_pipe) const {
    WriterOptions how;
    how.sys = &env.sys;
    if (!to_pipe) return PerfDataWriter::create(options_.output, how);
    Fd copy(::dup(env.out_fd));
    if (!copy.valid())
      return fail(ErrorCode::kIo, "standard output cannot be written: {}", std::strerror(errno));
    return PerfDataWriter::pipe(std::move(copy), "standard output", how);
  }

  struct {
    std::string input = "-", output = "-";
    std::string vmlinux, kallsyms;
    bool build_ids = false, all_build_ids = false;
    bool jit = false;
    bool force = false;
    bool sched_stat = false;
    bool ignore_vmlinux = false;
    int verbose = 0;
  } options_;
  KnownBuildIds known_;
  InjectedCode code_;
  std::vector<BuildIdEntry> build_ids_;
  std::vector<Item> items_;
};

}  // namespace

std::unique_ptr<Command> make_inject() {
  return std::make_unique<Inject>();
}

}  // namespace sonde
