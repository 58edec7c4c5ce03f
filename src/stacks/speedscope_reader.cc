#include "stacks/speedscope_reader.h"

#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "stacks/folded_reader.h"
#include "stacks/frame_spelling.h"
#include "stacks/stack_tree_builder.h"

namespace sonde {
namespace {

/// The position of a value in the file.
enum class Place : uint8_t {
  kOther,
  kRoot,
  kShared,
  kFrames,
  kFrame,
  kProfiles,
  kProfile,
  kSamples,
  kSample,
  kWeights,
  kEvents,
  kEvent,
};

Place place_inside(Place around, std::string_view key) {
  switch (around) {
    case Place::kRoot:
      if (key == "shared") return Place::kShared;
      return key == "profiles" ? Place::kProfiles : Place::kOther;
    case Place::kShared:
      return key == "frames" ? Place::kFrames : Place::kOther;
    case Place::kFrames:
      return Place::kFrame;
    case Place::kProfiles:
      return Place::kProfile;
    case Place::kProfile:
      if (key == "samples") return Place::kSamples;
      if (key == "weights") return Place::kWeights;
      return key == "events" ? Place::kEvents : Place::kOther;
    case Place::kSamples:
      return Place::kSample;
    case Place::kEvents:
      return Place::kEvent;
    default:
      return Place::kOther;
  }
}

/// Receives the JSON reader's events and tracks the position; derived classes are told of values
/// and of the ends of the containers that hold them.
template <typename Derived>
class Walker {
 public:
  using Length = rapidjson::SizeType;

  bool Null() { return true; }
  bool Bool(bool /*value*/) { return true; }
  /// Numbers arrive as text: RapidJSON 1.1 reads past its own tables for some small ones.
  bool RawNumber(const char* text, Length length, bool /*copy*/) {
    double value = 0;
    auto [end, error] = std::from_chars(text, text + length, value);
    if (error != std::errc() || end != text + length) return false;
    self().number(place(), key_, value);
    return true;
  }
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(int64_t) { return false; }
  bool Uint64(uint64_t) { return false; }
  bool Double(double) { return false; }
  bool String(const char* text, Length length, bool /*copy*/) {
    self().text(place(), key_, std::string_view(text, length));
    return true;
  }
  bool Key(const char* text, Length length, bool /*copy*/) {
    key_.assign(text, length);
    return true;
  }
  bool StartObject() { return open(); }
  bool StartArray() { return open(); }
  bool EndObject(Length) { return close(); }
  bool EndArray(Length) { return close(); }

 private:
  static constexpr size_t kMaxNesting = 64;

  Derived& self() { return static_cast<Derived&>(*this); }
  [[nodiscard]] Place place() const { return places_.empty() ? Place::kOther : places_.back(); }
  bool open() {
    if (places_.size() == kMaxNesting) return false;
    places_.push_back(places_.empty() ? Place::kRoot : place_inside(places_.back(), key_));
    key_.clear();
    return true;
  }
  bool close() {
    Place closed = places_.back();
    places_.pop_back();
    self().end_of(closed);
    return true;
  }

  std::vector<Place> places_;
  std::string key_;
};

/// The frames may come after the profiles, so they are read first.
class FrameWalker final : public Walker<FrameWalker> {
 public:
  FrameWalker(StackTreeBuilder& builder, std::vector<StackFrameId>& frames)
      : builder_(builder), frames_(frames) {}

  [[nodiscard]] size_t profiles() const { return profiles_; }

  void number(Place place, std::string_view key, double value) {
    bool is_line = place == Place::kFrame && key == "line";
    if (is_line && value >= 1 && value <= UINT32_MAX) frame_.line = static_cast<uint32_t>(value);
  }
  void text(Place place, std::string_view key, std::string_view value) {
    if (place != Place::kFrame) return;
    if (key == "name") frame_.name = builder_.intern(clean_name(value));
    if (key == "file" && !value.empty()) frame_.file = builder_.intern(value);
  }
  void end_of(Place place) {
    if (place == Place::kProfile) ++profiles_;
    if (place != Place::kFrame) return;
    if (!frame_.name.valid()) frame_.name = builder_.intern(clean_name(""));
    frame_.kind = kind_of_marked(builder_.text(frame_.name));
    frames_.push_back(builder_.frame(frame_));
    frame_ = {};
  }

 private:
  StackTreeBuilder& builder_;
  std::vector<StackFrameId>& frames_;
  StackFrame frame_;
  size_t profiles_ = 0;
};

/// Maps a unit of the file to a profile's column and unit.
struct Unit {
  std::string_view column, unit;
  double scale = 1;
};
Unit unit_of(std::string_view name) {
  constexpr std::string_view kTime = "time";
  constexpr std::string_view kNanoseconds = "nanoseconds";
  if (name == "nanoseconds") return {kTime, kNanoseconds, 1};
  if (name == "microseconds") return {kTime, kNanoseconds, 1e3};
  if (name == "milliseconds") return {kTime, kNanoseconds, 1e6};
  if (name == "seconds") return {kTime, kNanoseconds, 1e9};
  if (name == "bytes") return {"bytes", "bytes", 1};
  return {"samples", "samples", 1};
}

class ProfileWalker final : public Walker<ProfileWalker> {
 public:
  ProfileWalker(StackTreeBuilder& builder, const std::vector<StackFrameId>& frames,
                const SessionStacksOptions& options, bool name_roots, const std::string& name,
                LossLedger& losses)
      : builder_(builder),
        frames_(frames),
        options_(options),
        name_roots_(name_roots),
        name_(name),
        losses_(losses) {}

  void number(Place place, std::string_view key, double value) {
    switch (place) {
      case Place::kSample:
        step_into(value);
        break;
      case Place::kWeights:
        profile_.weights.push_back(value);
        break;
      case Place::kEvent:
        if (key == "at") event_.at = value;
        if (key == "frame") event_.frame = value;
        break;
      case Place::kProfile:
        if (key == "startValue") profile_.start = value;
        break;
      default:
        break;
    }
  }
  void text(Place place, std::string_view key, std::string_view value) {
    if (place == Place::kEvent && key == "type") event_.opens = value == "O";
    if (place != Place::kProfile) return;
    if (key == "name") profile_.name = value;
    if (key == "unit") profile_.unit = value;
  }
  void end_of(Place place) {
    if (place == Place::kSample) {
      profile_.stacks.push_back(at_);
      at_ = {};
    } else if (place == Place::kEvent) {
      take_event();
    } else if (place == Place::kProfile) {
      finish_profile();
    }
  }

 private:
  /// A stack, in steps_, with its start and duration in the profile's unit.
  struct Interval {
    StackNodeId stack;
    double since = 0;
    double weight = 0;
  };
  struct Profile {
    std::string name, unit;
    std::optional<double> start;
    // For sampled profiles: two parallel lists.
    std::vector<StackNodeId> stacks;
    std::vector<double> weights;
    // For evented profiles: what is known so far, the open frames, and the time since which they
    // are open.
    std::vector<Interval> intervals;
    std::vector<std::pair<StackFrameId, StackNodeId>> open;
    std::optional<double> since;
  };
  struct Event {
    bool opens = false;
    double at = 0;
    double frame = -1;
  };

  std::optional<StackFrameId> frame_of(double index) {
    bool is_known = index >= 0 && index < static_cast<double>(frames_.size());
    if (is_known) return frames_[static_cast<size_t>(index)];
    lose();
    return std::nullopt;
  }
  void lose() { losses_.add(LossKind::k_bad_record, 1, name_); }

  void step_into(double index) {
    if (auto frame = frame_of(index)) at_ = child(at_, *frame);
  }
  /// Stacks are built before the name of their profile is known, so the root is prepended at its
  /// end.
  StackNodeId child(StackNodeId parent, StackFrameId frame) {
    uint64_t key = (uint64_t{parent.valid() ? parent.value + 1 : 0} << 32) | frame.value;
    auto [entry, is_new] = known_.try_emplace(key, static_cast<uint32_t>(steps_.size()));
    if (is_new) steps_.push_back({parent, frame});
    return StackNodeId(entry->second);
  }

  void take_event() {
    Event event = std::exchange(event_, {});
    auto frame = frame_of(event.frame);
    if (!frame) return;
    if (profile_.since && event.at < *profile_.since) return lose();
    double since = profile_.since.value_or(event.at);
    if (event.at > since && !profile_.open.empty())
      profile_.intervals.push_back({profile_.open.back().second, since, event.at - since});
    profile_.since = event.at;
    if (event.opens)
      open_frame(*frame);
    else
      close_frame(*frame);
  }
  void open_frame(StackFrameId frame) {
    StackNodeId parent = profile_.open.empty() ? StackNodeId() : profile_.open.back().second;
    profile_.open.emplace_back(frame, child(parent, frame));
  }
  /// The innermost frame closes first; closing any other one is damage.
  void close_frame(StackFrameId frame) {
    if (profile_.open.empty() || profile_.open.back().first != frame) return lose();
    profile_.open.pop_back();
  }

  void finish_profile() {
    Profile profile = std::exchange(profile_, {});
    add_sampled(profile);
    std::vector<StackNodeId> nodes = nodes_below_root(profile.name);
    Unit unit = unit_of(profile.unit);
    size_t column = column_of(unit);
    uint32_t thread = thread_of(profile.name);
    for (const Interval& interval : profile.intervals) {
      if (!(interval.weight >= 0) || !std::isfinite(interval.weight)) {
        lose();
        continue;
      }
      StackNodeId node = interval.stack.valid() ? nodes[interval.stack.index()] : root_;
      double value = interval.weight * unit.scale;
      if (options_.want_samples)
        builder_.add_sample(node, column, value,
                            {.time_ns = time_in_ns(interval.since, unit), .thread = thread});
      else
        builder_.add(node, column, value);
    }
    known_.clear();
    steps_.clear();
  }
  /// Samples are contiguous, beginning at the profile's start.
  void add_sampled(Profile& profile) {
    if (profile.stacks.size() != profile.weights.size()) lose();
    double since = profile.start.value_or(0);
    size_t count = std::min(profile.stacks.size(), profile.weights.size());
    for (size_t i = 0; i < count; ++i) {
      double weight = profile.weights[i];
      profile.intervals.push_back({profile.stacks[i], since, weight});
      if (weight > 0) since += weight;
    }
  }
  /// Adds the stacks of this profile to the common tree.
  std::vector<StackNodeId> nodes_below_root(std::string_view profile_name) {
    root_ = {};
    if (name_roots_ && !profile_name.empty())
      root_ =
          builder_.child(root_, builder_.frame({.name = builder_.intern(clean_name(profile_name)),
                                                .kind = FrameKind::kTask}));
    std::vector<StackNodeId> nodes(steps_.size());
    for (size_t i = 0; i < steps_.size(); ++i) {
      auto [parent, frame] = steps_[i];
      nodes[i] = builder_.child(parent.valid() ? nodes[parent.index()] : root_, frame);
    }
    return nodes;
  }
  static uint64_t time_in_ns(double time, const Unit& unit) {
    constexpr double kLatest = 9e18;
    double ns = time * unit.scale;
    bool is_time = unit.unit == "nanoseconds" && ns >= 0 && ns < kLatest;
    return is_time ? static_cast<uint64_t>(ns) : 0;
  }
  size_t column_of(const Unit& unit) {
    auto known = std::ranges::find(columns_, unit.column);
    if (known != columns_.end()) return static_cast<size_t>(known - columns_.begin());
    columns_.push_back(unit.column);
    return builder_.add_column(unit.column, unit.unit);
  }
  uint32_t thread_of(std::string_view thread) {
    if (!options_.want_samples) return 0;
    ++threads_;
    return static_cast<uint32_t>(builder_.add_thread({.pid = 0,
                                                      .tid = threads_,
                                                      .name = builder_.intern(thread),
                                                      .process_name = builder_.intern("")}));
  }

  StackTreeBuilder& builder_;
  const std::vector<StackFrameId>& frames_;
  const SessionStacksOptions& options_;
  bool name_roots_;
  const std::string& name_;
  LossLedger& losses_;
  std::vector<std::string_view> columns_;
  uint32_t threads_ = 0;

  // The profile being read.
  Profile profile_;
  Event event_;
  StackNodeId at_;  // of the stack being read, in steps_
  StackNodeId root_;
  tsl::robin_map<uint64_t, uint32_t, NumberHash> known_;  // (parent + 1, frame) → index in steps_
  std::vector<std::pair<StackNodeId, StackFrameId>> steps_;
};

template <typename Handler>
Result<> walk(std::string_view text, const std::string& name, Handler& handler) {
  constexpr unsigned kFlags =
      rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag;
  rapidjson::MemoryStream stream(text.data(), text.size());
  rapidjson::Reader reader;
  rapidjson::ParseResult result = reader.Parse<kFlags>(stream, handler);
  if (!result.IsError()) return {};
  return fail(ErrorCode::kCorrupt, "{}: no JSON at byte {}: {}", name, result.Offset(),
              rapidjson::GetParseError_En(result.Code()));
}

}  // namespace

Result<StackProfile> read_speedscope(std::string_view text, const std::string& name,
                                     const SessionStacksOptions& options, LossLedger& losses) {
  StackTreeBuilder builder;
  std::vector<StackFrameId> frames;
  FrameWalker shared(builder, frames);
  TRY(walk(text, name, shared));
  if (shared.profiles() == 0)
    return fail(ErrorCode::kCorrupt, "{}: JSON, but not a speedscope file: it has no profiles",
                name);
  bool name_roots = options.task_root && shared.profiles() > 1;
  ProfileWalker profiles(builder, frames, options, name_roots, name, losses);
  TRY(walk(text, name, profiles));
  StackProfile profile = std::move(builder).finish();
  profile.origin = name;
  return profile;
}

}  // namespace sonde
