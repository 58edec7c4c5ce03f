#include "stacks/profile_diff.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/hashing/number_hash.h"
#include "stacks/folded_reader.h"
#include "stacks/stack_tree_builder.h"
#include "symbol/frame_function.h"

namespace sonde {
namespace {

/// The name of a root without the reason of a wait: "app" of "app [lock]".
std::string_view task_in(std::string_view root) {
  size_t reason = root.ends_with(']') ? root.rfind(" [") : std::string_view::npos;
  return root.substr(0, reason);
}

/// The object that code without a symbol is named after: "app" of "[app]_[k]", "app+0x1200".
std::string_view object_in(std::string_view frame) {
  std::string_view name = without_mark(frame);
  if (name.ends_with(">]")) return {};  // of one address: "[app <1200>]"
  if (name.size() > 2 && name.starts_with('[') && name.ends_with(']'))
    return name.substr(1, name.size() - 2);
  return frame_function_start(name) ? name.substr(0, name.rfind("+0x")) : std::string_view();
}

std::string_view file_in(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

/// What a profile has to be compared by.
class SideOfProfile {
 public:
  SideOfProfile(const StackProfile& profile, const std::vector<size_t>& columns)
      : profile_(profile), columns_(columns) {}

  ComparedSide make() && {
    add_tasks();
    add_objects();
    return std::move(side_);
  }

 private:
  void add_tasks() {
    const auto& nodes = profile_.nodes;
    std::vector<double> weight(nodes.size());  // as a share of each column
    for (size_t column : columns_) {
      double total = total_of(profile_.columns[column]);
      if (total <= 0) continue;
      std::vector<double> totals = totals_of(profile_, column);
      for (size_t i = 0; i < nodes.size(); i = nodes[i].end) weight[i] += totals[i] / total;
    }
    bool knows_tasks = false;
    for (size_t i = 0; i < nodes.size(); i = nodes[i].end)
      knows_tasks = knows_tasks || is_named_task(i);
    for (size_t i = 0; i < nodes.size(); i = nodes[i].end)
      if (knows_tasks ? is_named_task(i) : is_empty(i))
        side_.tasks.push_back({std::string(task_in(profile_.name_of(StackNodeId(i)))), weight[i]});
  }
  [[nodiscard]] bool is_named_task(size_t root) const {
    return profile_.frame_of(StackNodeId(root)).kind == FrameKind::kTask;
  }
  [[nodiscard]] bool is_empty(size_t root) const {
    return std::ranges::all_of(
        columns_, [&](size_t column) { return profile_.columns[column].self[root] == 0; });
  }

  /// Only those that frames are named after: other functions are found by their own names.
  void add_objects() {
    std::set<std::string_view> named;
    for (const StackFrame& frame : profile_.frames)
      if (std::string_view object = object_in(profile_.text(frame.name)); !object.empty())
        named.insert(object);
    std::set<std::string_view> known;
    for (const StackObject& object : profile_.objects) {
      std::string_view name = file_in(profile_.text(object.path));
      known.insert(name);
      if (named.contains(name) || object.run_by > 0)
        side_.objects.push_back({std::string(name), object.build_id, object.run_by});
    }
    for (std::string_view name : named)
      if (name != "unknown" && !known.contains(name)) side_.objects.push_back({std::string(name)});
  }

  const StackProfile& profile_;
  const std::vector<size_t>& columns_;
  ComparedSide side_;
};

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
    is_before_ = true;
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
    std::string name = common_name(profile.text(frame.name), is_root);
    StringId id = builder_.intern(options_.strip_addresses ? without_addresses(name) : name);
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

  /// A frame's name as both sides have it.
  [[nodiscard]] std::string common_name(std::string_view name, bool is_root) const {
    if (options_.counterparts == nullptr) return std::string(name);
    return is_root ? common_root(name) : common_object(name);
  }
  [[nodiscard]] std::string common_root(std::string_view name) const {
    std::string_view task = task_in(name);
    for (const Counterparts::Pair& pair : options_.counterparts->tasks())
      if (task == (is_before_ ? pair.before : pair.after))
        return fmt::format("{}{}{}{}", pair.before, options_.arrow, pair.after,
                           name.substr(task.size()));
    return std::string(name);
  }
  [[nodiscard]] std::string common_object(std::string_view name) const {
    if (!is_before_) return std::string(name);
    const Counterparts& others = *options_.counterparts;
    std::string_view object = object_in(name);
    if (object.empty() || !name.starts_with('['))
      return others.in_after(NameKind::kFunction, std::string(name));
    return fmt::format("[{}{}", others.in_after(NameKind::kObject, std::string(object)),
                       name.substr(1 + object.size()));
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
  bool is_before_ = false;  // whose stacks are being added
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

Counterparts counterparts_of(const StackProfile& before, const StackProfile& after,
                             const std::vector<ColumnPair>& columns) {
  std::vector<size_t> of_before, of_after;
  for (const ColumnPair& pair : columns) {
    of_before.push_back(pair.before);
    of_after.push_back(pair.after);
  }
  return {SideOfProfile(before, of_before).make(), SideOfProfile(after, of_after).make()};
}

StackProfile diff_profiles(const StackProfile& before, const StackProfile& after,
                           const ProfileDiffOptions& options) {
  return ProfileDiff(options).diff(before, after);
}

}  // namespace sonde
