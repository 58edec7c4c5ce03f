// The frames of a session as frames of a profile. Each distinct frame is spelled once, and frames
// of the same text are one: what is numbered are *spellings*, each of which stands for one frame of
// the profile, rarely for several (names of generated code that tell of functions compiled into
// others).
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include <tsl/robin_map.h>
#include <tsl/robin_set.h>

#include "base/hashing/number_hash.h"
#include "replay/session.h"
#include "stacks/frame_spelling.h"
#include "stacks/session_stacks.h"
#include "stacks/stack_profile.h"

namespace sonde {

class SessionSpellings {
 public:
  /// Adds frames and objects to `profile`. All three must outlive it.
  SessionSpellings(const Session& session, const SessionStacksOptions& options,
                   StackProfile& profile)
      : session_(session), options_(options), profile_(profile) {}

  /// The spelling of each FrameId; the session's frames are followed by `marks`, which are not
  /// code. Spellings are numbered alphabetically. To be called once.
  std::vector<uint32_t> spell_all(std::span<const StringId> marks);
  /// Outermost first.
  [[nodiscard]] std::span<const StackFrameId> frames_of(uint32_t spelling) const {
    return spellings_[spelling];
  }
  /// Whether every spelling stands for one frame.
  [[nodiscard]] bool one_frame_each() const { return one_frame_each_; }

 private:
  [[nodiscard]] FrameKind kind_of(const Frame& frame, std::string_view label) const;
  uint32_t spelling_of(const Frame& frame);
  uint32_t spell(const Frame& frame);
  StackFrameId intern(const Frame& frame, const RawFrame& raw, const SpelledFrame& part);
  StackFrameId add(const Frame& frame, StackFrame& made);
  StringId object_of(const Frame& frame, const RawFrame& raw);
  void add_source(const Frame& frame, StackFrame& made) const;
  std::vector<uint32_t> sort_by_name();

  const Session& session_;
  const SessionStacksOptions& options_;
  StackProfile& profile_;
  tsl::robin_map<uint64_t, uint32_t> known_;  // symbol, or DSO if there is none → spelling
  tsl::robin_map<uint64_t, uint32_t, NumberHash> interned_;  // name and object → StackFrameId
  tsl::robin_set<uint32_t> objects_;                         // of the profile, by path
  std::vector<double> run_by_;                               // by DsoId, once an object is added
  std::vector<std::vector<StackFrameId>> spellings_;
  std::vector<SpelledFrame> spelled_;
  bool one_frame_each_ = true;
};

}  // namespace sonde
