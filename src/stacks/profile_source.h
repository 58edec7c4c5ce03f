// Where a StackProfile comes from: one way in for every command that draws or exports one, whatever
// the file is. What it is, its content says, not its name:
//
//   recordings (perf.data, files and pipes) · folded stacks · text of `script` · pprof · speedscope
//
// All but recordings of several threads, which are directories, may be packed by gzip and come from
// a pipe. Text of `script` is read as it comes; of the others the whole is held.
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
  kGzip,     // one of the others, packed
  kUnknown,  // binary, and none of these
};

struct ProfileSourceOptions {
  SessionOptions session;       // of recordings
  SessionStacksOptions stacks;  // spelling holds for the text of `script`, too
  /// Chooses among a recording's samples, in addition to session.filter. Of other files it is an
  /// error; session.filter holds for the text of `script`, too.
  std::function<Result<std::function<bool(size_t sample)>>(const Session&)> make_filter = {};
  /// Lines of folded stacks become samples, in the order of the text (FoldedOptions).
  bool keep_order = false;
  /// Sees a recording before it is closed again: what else to take from it.
  std::function<void(const Session&, const StackProfile&)> on_recording = {};
};

/// `path`: "-" is standard input. The first bytes decide; an error names what the file looks like.
Result<StackProfile> open_profile(const std::string& path, const ProfileSourceOptions& options,
                                  const Env& env);
/// Whether a filter chooses nothing.
[[nodiscard]] bool takes_all(const SampleFilter& filter);
/// What is read where no file is named: what is piped in, or perf.data.
[[nodiscard]] std::string default_input(const Env& env);
/// What the first bytes of a file are of. Pipes of recordings begin as files do; text that is
/// nothing else may be folded stacks.
[[nodiscard]] ProfileFormat format_of(std::string_view first_bytes);
/// The column of an event, by name; the first for an empty one. An error names those that are
/// there.
Result<size_t> choose_column(const StackProfile& profile, std::string_view event);

}  // namespace sonde
