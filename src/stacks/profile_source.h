// Where a StackProfile comes from: one entry point for every command that draws or exports one,
// whatever the file format. The format is detected from the content, not from the name:
//
//   recordings (perf.data, files and pipes) · folded stacks · text of `script` · pprof · speedscope
//
// All but multi-threaded recordings, which are directories, may be compressed with gzip and may
// come from a pipe. The text of `script` is streamed; all other inputs are held in memory.
#pragma once

#include <functional>
#include <string>

#include "replay/session.h"
#include "stacks/session_stacks.h"
#include "stacks/stack_profile.h"

namespace sonde {

enum class ProfileFormat : uint8_t {
  kRecording,
  kFolded,
  kScriptText,
  kPprof,
  kSpeedscope,
  kGzip,     // one of the others, compressed
  kUnknown,  // binary, and none of the above
};

struct ProfileSourceOptions {
  SessionOptions session;       // for recordings
  SessionStacksOptions stacks;  // the spelling also applies to the text of `script`
  /// Selects among a recording's samples, in addition to session.filter. An error for other files;
  /// session.filter also applies to the text of `script`.
  std::function<Result<std::function<bool(size_t sample)>>(const Session&)> make_filter = {};
  /// Lines of folded stacks become samples, in the order of the text (FoldedOptions).
  bool keep_order = false;
  /// Makes the profile of a recording, instead of stacks_of. Not together with make_filter; an
  /// error for other files.
  std::function<Result<StackProfile>(Session&, const SessionStacksOptions&)> make_profile = {};
  /// Whether chains of recordings are cut where they cannot be true (ChainOptions::check).
  bool check_chains = true;
  /// Called with a recording before it is closed, to extract more from it.
  std::function<void(const Session&, const StackProfile&)> on_recording = {};
  /// Whether that looks at samples one by one; otherwise the session may have only what their sums
  /// need (SampleColumns).
  bool needs_samples = true;
};

/// `path`: "-" is standard input. The first bytes decide the format; an error says what the file
/// looks like.
Result<StackProfile> open_profile(const std::string& path, const ProfileSourceOptions& options,
                                  const Env& env);
/// Whether a filter excludes nothing.
[[nodiscard]] bool takes_all(const SampleFilter& filter);
/// The format that the first bytes indicate. Piped recordings begin like recording files; text of
/// no other format may be folded stacks.
[[nodiscard]] ProfileFormat format_of(std::string_view first_bytes);
/// The column of an event, by name; the first if the name is empty. An error lists the existing
/// ones.
Result<size_t> choose_column(const StackProfile& profile, std::string_view event);

}  // namespace sonde
