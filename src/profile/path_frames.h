// PathFrames: what the frames of call chains mean for grouping.
//
// Two frames of the same function are the same step of a call path (CallKey::kFunction). Frames
// without a symbol are distinguished by run-time address, which the columns don't hold
// (addressed_paths.h). A step's *path key* is the pair (call, place key): the call decides which
// nodes of a printed tree merge, the place key which row of the report the step belongs to.
//
// A path is a span of *steps*: the frames of a chain as stored in the chain table, with a separate
// step (`step_of`) for each frame whose address matters. keys_of_steps() has the path key of every
// step, so a path takes no memory if its chain needs no addresses.
#pragma once

#include <array>
#include <optional>
#include <unordered_set>
#include <vector>

#include "profile/keys/key_set.h"

namespace sonde {

/// What makes two frames the same step of a call path.
enum class CallKey : uint8_t { kFunction, kAddress, kSrcline };

/// A distinct step: what call trees print, and its order among steps of equal weight.
struct Call {
  FrameId frame;
  uint64_t ip;        // shown if there is no symbol
  StringId srcline;   // if the key is address or srcline
  uint32_t dso_rank;  // the later the object was first seen, the earlier its steps sort
  uint64_t order;     // and the higher the address, likewise
};

class PathFrames {
 public:
  PathFrames(const ProfileInput& input, KeySet& keys, CallKey kind);

  /// Makes keys for the frames of a path. False if it has frames whose run-time address matters:
  /// its steps are then what step_of() returns for each.
  bool learn(std::span<const FrameId> path) {
    bool known = true;
    for (FrameId frame : path)
      if (key_of_step_[frame.index()] >= kNeedsAddress) [[unlikely]]
        known = learn(frame) && known;
    return known;
  }
  /// Gives back the memory by which steps are found: no other path will be learned.
  void end_learning();
  FrameId step_of(const CodePlace& place, uint32_t owner = kNobody);
  /// The step of a frame whose address does not matter, or that step_of() had for this owner of
  /// addresses most recently.
  [[nodiscard]] std::optional<FrameId> known_step_of(FrameId frame, uint32_t owner) const {
    if (key_of_step_[frame.index()] < kNeedsAddress) return frame;
    if (last_step_.empty() || last_step_[frame.index()].owner != owner) return std::nullopt;
    return last_step_[frame.index()].id;
  }
  /// Whether such frames are distinguished by run-time address.
  [[nodiscard]] bool needs_address(const Frame& frame) const;
  /// By step.
  [[nodiscard]] std::span<const uint32_t> keys_of_steps() const { return key_of_step_; }
  /// The place key of a sample's own place.
  uint32_t own_place_key(FrameId leaf);
  /// For a sample that will be looked up soon.
  void prefetch_own(FrameId leaf) const { __builtin_prefetch(&own_key_of_frame_[leaf.index()]); }

  [[nodiscard]] uint32_t call_of(uint32_t path_key) const { return calls_of_keys_[path_key]; }
  [[nodiscard]] uint32_t place_key_of(uint32_t path_key) const { return places_of_keys_[path_key]; }
  [[nodiscard]] const Call& call(uint32_t call) const { return calls_[call]; }
  /// Negative if call `a` sorts before `b` when their weights are equal.
  [[nodiscard]] int compare_calls(uint32_t a, uint32_t b) const;
  /// Where a place key was first seen: what unresolved rows show.
  [[nodiscard]] size_t call_count() const { return calls_.size(); }

 private:
  static constexpr uint32_t kNobody = UINT32_MAX;  // RunTimeAddresses
  static constexpr uint32_t kUnknown = UINT32_MAX, kNeedsAddress = UINT32_MAX - 1;
  bool learn(FrameId frame);
  uint32_t add(const CodePlace& place);
  uint32_t intern(const CodePlace& place);
  uint32_t add_key(uint32_t call, uint32_t place_key);
  /// What makes calls the same: an object (or none), the kind of the last number, and that number.
  using Identity = std::array<uint64_t, 3>;
  [[nodiscard]] Identity identity_of(const Call& call) const;
  uint32_t call_for(const CodePlace& place);
  [[nodiscard]] bool is_only_call_at(const Frame& frame) const;
  StringId srcline_of(const CodePlace& place) const;

  const ProfileInput& input_;
  KeySet& keys_;
  CallKey kind_;
  std::vector<uint32_t> key_of_step_;       // by FrameId, then by place
  std::vector<uint32_t> own_key_of_frame_;  // by FrameId
  Interner places_{2};                      // (frame, ip) of frames with addresses
  struct Step {
    uint64_t ip = 0;
    FrameId id;
    uint32_t owner = kNobody;
  };
  std::vector<Step> last_step_;  // by FrameId: successive processes ask for the same one
  IdTable call_ids_;
  // Of frames without an object that are not user code.
  std::unordered_set<uint64_t> strays_elsewhere_;
  LargeVector<Call> calls_;
  LargeVector<uint32_t> key_of_call_;  // the first of each call: most calls have but one place key
  tsl::robin_map<uint32_t, uint32_t, NumberHash> key_of_symbol_;  // where symbols determine keys
  Interner more_keys_{2};                                         // (call, place key) of the others
  LargeVector<uint32_t> keys_of_more_;
  LargeVector<uint32_t> calls_of_keys_;
  LargeVector<uint32_t> places_of_keys_;
};

}  // namespace sonde
