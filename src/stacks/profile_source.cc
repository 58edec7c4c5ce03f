#include "stacks/profile_source.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/files/regular_file.h"
#include "base/text.h"
#include "stacks/byte_chunks.h"
#include "stacks/folded_reader.h"
#include "stacks/pprof_reader.h"
#include "stacks/script_text.h"
#include "stacks/speedscope_reader.h"

namespace sonde {
namespace {

/// Enough to distinguish the formats.
constexpr size_t kFirstBytes = 16384;
constexpr size_t kMaxTextSize = size_t{4} << 30;

/// On its own, or in a bundle, which begins with a zstd frame.
bool is_recording(std::string_view first_bytes) {
  return first_bytes.starts_with("PERFILE") || first_bytes.starts_with("ELIFREP") ||
         first_bytes.starts_with("\x28\xb5\x2f\xfd");
}

/// Protobuf messages are full of these characters; text rarely has them, but the kernel accepts any
/// character in a thread name.
bool has_control_characters(std::string_view first_bytes) {
  return std::ranges::any_of(first_bytes, [](char c) { return c >= 0 && c < '\t'; });
}

bool is_json(std::string_view first_bytes) {
  std::string_view text = trim(first_bytes);
  return text.starts_with('{') && trim(text.substr(1)).starts_with('"');
}

/// Multi-threaded recordings are directories.
bool is_directory(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

RecordingFacts facts_of(const Session& session) {
  const Features& features = session.recording().features();
  const ReplayCounts& counts = session.counts();
  RecordingFacts facts{.host = features.hostname.value_or(""),
                       .system = features.os_release.value_or(""),
                       .architecture = features.arch.value_or(""),
                       .cpu = features.cpu_desc.value_or(""),
                       .recorder = features.version.value_or(""),
                       .command_line = join(features.command_line, " "),
                       .lost_samples = counts.lost.most_samples(),
                       .is_lost_a_bound = counts.lost.is_bound(),
                       .lost_others = counts.lost.others};
  for (const EventDesc& event : session.events().all())
    if ((event.attr.sample_type & abi::kSampleTime) == 0) facts.has_times = false;
  return facts;
}

class ProfileOpener {
 public:
  ProfileOpener(const ProfileSourceOptions& options, const Env& env)
      : options_(options), env_(env) {}

  Result<StackProfile> open(const std::string& path) {
    if (path == "-") return from(Pieces(pieces_of_descriptor(env_.in_fd, kStdin), kStdin));
    if (is_directory(path)) return from_recording(path, options_);
    if (!status_of_regular(path)) {
      Fd stream = TRY(open_stream(path));
      return from(Pieces(pieces_of_descriptor(stream.get(), path), path));
    }
    MappedFile file = TRY(MappedFile::open(path));
    std::string_view content(reinterpret_cast<const char*>(file.bytes().data()), file.size());
    if (is_recording(content)) return from_recording(path, options_);
    return from(Pieces(pieces_of_memory(content), path));
  }

 private:
  static constexpr const char* kStdin = "standard input";

  Result<StackProfile> from(Pieces pieces, bool is_unpacked = false) {
    std::string_view first_bytes = TRY(pieces.peek(kFirstBytes));
    switch (format_of(first_bytes)) {
      case ProfileFormat::kRecording:
        return from_copy(pieces);
      case ProfileFormat::kGzip:
        if (is_unpacked)
          return fail(ErrorCode::kUnsupported,
                      "{}: compressed twice; decompress it once with gunzip", pieces.name());
        return from(Pieces(gunzipped(pieces), pieces.name()), true);
      case ProfileFormat::kScriptText:
        return from_script_text(pieces);
      case ProfileFormat::kFolded:
        TRY(refuse_filter(pieces.name()));
        return read_folded(TRY(pieces.all(kMaxTextSize)), pieces.name(), env_.losses,
                           {.keep_order = options_.keep_order});
      case ProfileFormat::kPprof:
        TRY(refuse_filter(pieces.name()));
        // pprof has no threads, so if they were requested, task names stay in the stacks.
        return read_pprof(TRY(pieces.all(kMaxTextSize)), pieces.name(),
                          options_.stacks.task_root || options_.stacks.want_samples, env_.losses);
      case ProfileFormat::kSpeedscope:
        TRY(refuse_filter(pieces.name()));
        return read_speedscope(TRY(pieces.all(kMaxTextSize)), pieces.name(), options_.stacks,
                               env_.losses);
      default:
        return fail(ErrorCode::kCorrupt,
                    "{}: not a profile: neither a recording nor folded stacks, `script` text, "
                    "pprof or speedscope",
                    pieces.name());
    }
  }

  /// Sums don't say whose samples they are.
  [[nodiscard]] Result<> refuse_filter(const std::string& name) const {
    TRY(refuse_sample_options(name));
    if (takes_all(options_.session.filter)) return {};
    return fail(ErrorCode::kFailed,
                "{}: its samples are added up; times, CPUs and threads can be chosen of recordings "
                "and of the text of `script`",
                name);
  }

  [[nodiscard]] Result<> refuse_sample_options(const std::string& name) const {
    if (options_.stacks.wait_reasons)
      return fail(ErrorCode::kFailed, "{}: --waits needs a recording (record --off-cpu)", name);
    if (options_.make_profile)
      return fail(ErrorCode::kFailed, "{}: --itrace needs a recording of an instruction trace",
                  name);
    if (!options_.make_filter) return {};
    return fail(ErrorCode::kFailed, "{}: only samples of a recording can be chosen so", name);
  }

  Result<StackProfile> from_script_text(Pieces& pieces) {
    TRY(refuse_sample_options(pieces.name()));
    ScriptTextReader reader(pieces.name(), options_.stacks, options_.session.filter, env_.losses);
    for (;;) {
      std::string_view piece = TRY(pieces.next());
      if (piece.empty()) return std::move(reader).finish();
      reader.feed(piece);
    }
  }

  Result<StackProfile> from_recording(const std::string& path,
                                      const ProfileSourceOptions& options) {
    if (options.make_profile && options.make_filter)
      return fail(
          ErrorCode::kFailed,
          "{}: --itrace shows whole calls, of which no samples can be chosen by name or share "
          "of the time; --itrace=ig makes samples",
          path);
    SessionStacksOptions stacks = options.stacks;
    SessionOptions how = options.session;
    if (!how.itrace) how.itrace = TRY(parse_itrace("", ItraceDefaults::kProfile));
    if (how.chains) how.chains->check = options.check_chains;
    bool only_sums = !stacks.want_samples && !stacks.spelling.pid && !stacks.spelling.tid &&
                     !stacks.wait_reasons && !options.make_filter && !options.make_profile &&
                     !(options.on_recording && options.needs_samples);
    if (only_sums)
      how.rows = SumsByStack{!stacks.want_addresses && !stacks.spelling.addresses &&
                             !stacks.spelling.lines};
    Session session = TRY(Session::open(path, how, env_));
    if (options.make_filter) stacks.filter = TRY(options.make_filter(session));
    StackProfile profile = TRY(options.make_profile ? options.make_profile(session, stacks)
                                                    : stacks_of(session, stacks));
    profile.origin = path == "-" ? kStdin : path;
    profile.recording = facts_of(session);
    if (options.on_recording) options.on_recording(session, profile);
    return profile;
  }
  /// A pipe cannot be read twice, so it is copied.
  Result<StackProfile> from_copy(Pieces& pieces) {
    Fd copy(::memfd_create("recording", MFD_CLOEXEC));
    if (!copy.valid())
      return fail(ErrorCode::kIo, "not enough memory for the recording in {}: {}", pieces.name(),
                  std::strerror(errno));
    for (;;) {
      std::string_view piece = TRY(pieces.next());
      if (piece.empty()) break;
      TRY(write_all(copy.get(), pieces.name(), as_bytes(piece)));
    }
    ::lseek(copy.get(), 0, SEEK_SET);
    ProfileSourceOptions options = options_;
    options.session.open.stdin_fd = copy.get();
    return from_recording("-", options);
  }

  const ProfileSourceOptions& options_;
  const Env& env_;
};

}  // namespace

ProfileFormat format_of(std::string_view first_bytes) {
  if (is_recording(first_bytes)) return ProfileFormat::kRecording;
  if (is_gzip(first_bytes)) return ProfileFormat::kGzip;
  if (has_control_characters(first_bytes) && looks_like_pprof(first_bytes))
    return ProfileFormat::kPprof;
  if (first_bytes.find('\0') != std::string_view::npos) return ProfileFormat::kUnknown;
  if (is_json(first_bytes)) return ProfileFormat::kSpeedscope;
  if (looks_like_script_text(first_bytes)) return ProfileFormat::kScriptText;
  return ProfileFormat::kFolded;
}

bool takes_all(const SampleFilter& filter) {
  return filter.pids.empty() && filter.tids.empty() && filter.cpus.empty() && filter.times.empty();
}

Result<StackProfile> open_profile(const std::string& path, const ProfileSourceOptions& options,
                                  const Env& env) {
  return ProfileOpener(options, env).open(path);
}

Result<size_t> choose_column(const StackProfile& profile, std::string_view event) {
  if (auto found = find_column(profile, event)) return *found;
  std::vector<std::string> names;
  for (const StackColumn& column : profile.columns) names.push_back(column.name);
  if (names.empty()) return fail(ErrorCode::kFailed, "{}: no samples in it", profile.origin);
  return fail(ErrorCode::kUsage, "there is no event '{}' in {}; it has {}", event, profile.origin,
              join(names, ", "));
}

}  // namespace sonde
