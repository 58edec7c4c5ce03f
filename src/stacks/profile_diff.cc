#include "stacks/profile_diff.h"

#include <algorithm>
#include <cmath>

#include "base/number_hash.h"
#include "stacks/stack_tree_builder.h"
#include "symbol/frame_function.h"

namespace sonde {
namespace {

class ProfileDiff {
 public:
  explicit ProfileDiff(const ProfileDiffOptions& options) : options_(options) {}

  StackProfile diff(const StackProfile& before, const StackProfile& after) && {
    std::vector<Part> of_before, of_after;
    for (const auto& [before_column, after_column] : options_.columns) {
      const StackColumn& was = before.columns[before_column];
      const StackColumn& is = after.columns[after_column];
      double scale = options_.normalize ? scale_between(total_of(was), total_of(is)) : 1;
      of_before.push_back({&was, builder_.add_column("before", was.unit), scale});
      of_after.push_back({&is, builder_.add_column("after", is.unit), 1});
    }
    // `after` goes first: if both have a frame, its description is kept.
    add(after, of_after);
    add(before, of_before);
    StackProfile profile = std::move(builder_).finish();
    for (const auto* parts : {&of_before, &of_after})
      for (const Part& part : *parts) profile.columns[part.to].samples = part.from->samples;
    profile.origin = after.origin;
    return profile;
  }

 private:
  /// A column and its destination.
  struct Part {
    const StackColumn* from;
    size_t to;
    double scale;
  };
  static double scale_between(double before, double after) {
    return before == 0 || after == 0 ? 1 : after / before;
  }

  void add(const StackProfile& profile, const std::vector<Part>& parts) {
    frame_here_.assign(profile.frames.size() * 2, StackFrameId());
    std::vector<StackNodeId> made(profile.nodes.size());
    for (size_t i = 0; i < made.size(); ++i) {
      const StackNode& node = profile.nodes[i];
      StackNodeId parent = node.parent.valid() ? made[node.parent.index()] : StackNodeId();
      made[i] = builder_.child(parent, frame_of(profile, node));
      for (const Part& part : parts)
        builder_.add(made[i], part.to, scaled(part.from->self[i], part.scale));
    }
    for (const Part& part : parts)
      builder_.add(StackNodeId(), part.to, scaled(part.from->without_stack, part.scale));
  }
  [[nodiscard]] double scaled(double value, double scale) const {
    if (scale == 1) return value;
    return options_.whole_numbers ? std::trunc(value * scale) : value * scale;
  }

  StackFrameId frame_of(const StackProfile& profile, const StackNode& node) {
    bool is_root = !node.parent.valid();
    StackFrameId& here = frame_here_[node.frame.index() * 2 + (is_root ? 1 : 0)];
    if (!here.valid()) here = find_or_make(profile, profile.frames[node.frame.index()], is_root);
    return here;
  }
  StackFrameId find_or_make(const StackProfile& profile, const StackFrame& frame, bool is_root) {
    std::string_view name = profile.text(frame.name);
    StringId id =
        builder_.intern(options_.strip_addresses ? without_addresses(name) : std::string(name));
    StringId build = build_if_another(profile, frame, id);
    auto& known = by_name_[is_root ? 1 : 0];
    uint64_t key = id.value | (build.valid() ? (uint64_t{build.value} + 1) << 32 : 0);
    auto [entry, is_new] = known.try_emplace(key, StackFrameId());
    if (!is_new) return entry->second;
    StackFrame made = frame;
    made.name = id;
    if (build.valid())
      made.name = builder_.intern(fmt::format("{} [{:.8}]", name, builder_.text(build)));
    auto carry = [&](StringId text) {
      return text.valid() ? builder_.intern(profile.text(text)) : StringId();
    };
    made.object = carry(frame.object);
    made.file = carry(frame.file);
    return entry.value() = builder_.frame(made);
  }

  /// The build of a function that is named by its address, if a function of that name is already
  /// known from another build: it is another function.
  StringId build_if_another(const StackProfile& profile, const StackFrame& frame, StringId name) {
    if (!frame.object.valid() || !frame_function_start(builder_.text(name))) return {};
    auto object = std::ranges::find(profile.objects, frame.object, &StackObject::path);
    if (object == profile.objects.end() || object->build_id.empty()) return {};
    StringId build = builder_.intern(object->build_id);
    auto [first, is_new] = build_of_name_.try_emplace(name.value, build);
    return first->second == build ? StringId() : build;
  }

  const ProfileDiffOptions& options_;
  StackTreeBuilder builder_;
  /// By name, and by build if it is another; for functions, for roots.
  tsl::robin_map<uint64_t, StackFrameId, NumberHash> by_name_[2];
  tsl::robin_map<uint32_t, StringId> build_of_name_;  // the first
  std::vector<StackFrameId> frame_here_;              // by frame number in the profile being added
};

}  // namespace

bool is_comparison(const StackProfile& profile) {
  return profile.columns.size() == 2 && profile.columns[0].name == "before" &&
         profile.columns[1].name == "after";
}

std::string without_addresses(std::string_view name) {
  constexpr std::string_view kHexDigits = "0123456789abcdefABCDEF";
  std::string text;
  for (size_t at = name.find("0x"); at != std::string_view::npos; at = name.find("0x")) {
    size_t end = std::min(name.find_first_not_of(kHexDigits, at + 2), name.size());
    text += name.substr(0, at + 2);
    if (end > at + 2) text += "...";
    name.remove_prefix(end);
  }
  text += name;
  return text;
}

StackProfile diff_profiles(const StackProfile& before, const StackProfile& after,
                           const ProfileDiffOptions& options) {
  return ProfileDiff(options).diff(before, after);
}

}  // namespace sonde
