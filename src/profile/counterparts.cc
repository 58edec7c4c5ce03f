#include "profile/counterparts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"

namespace sonde {
namespace {

using Pair = Counterparts::Pair;
using WeightOfName = std::map<std::string_view, double>;

/// A name stands for its side's program if it has this part of what the other side lacks (a command
/// has another name until its exec) …
constexpr double kNearlyAll = 0.9;
/// … and this part of the recording: of a whole machine, any name may come and go.
constexpr double kWorthwhile = 0.1;
/// The kernel cuts tasks' names there (TASK_COMM_LEN, linux/sched.h).
constexpr size_t kTaskNameSize = 15;
/// So many pairs are named one by one.
constexpr size_t kNamedPairs = 3;

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

/// Empty if there is none.
std::string_view program_of(const WeightOfName& side, const WeightOfName& other) {
  double all = 0, lacking = 0, most = 0;
  std::string_view name;
  for (const auto& [each, weight] : side) {
    all += weight;
    if (other.contains(each)) continue;
    lacking += weight;
    if (weight <= most) continue;
    most = weight;
    name = each;
  }
  bool stands_out = most > 0 && most >= kNearlyAll * lacking && most >= kWorthwhile * all;
  return stands_out ? name : std::string_view();
}

/// Adds the pair of what stands for each side, if both have it.
void pair_programs(const WeightOfName& before, const WeightOfName& after, std::vector<Pair>& out) {
  std::string_view was = program_of(before, after), is = program_of(after, before);
  if (was.empty() || is.empty()) return;
  out.push_back({std::string(was), std::string(is), true, false});
}

WeightOfName weights_of(const std::vector<ComparedSide::Task>& tasks) {
  WeightOfName weights;
  for (const ComparedSide::Task& task : tasks)
    if (!task.name.empty()) weights[task.name] += task.weight;
  return weights;
}
WeightOfName run_by(const std::vector<ComparedSide::Object>& objects) {
  WeightOfName weights;
  for (const ComparedSide::Object& object : objects)
    if (object.run_by > 0) weights[object.name] += object.run_by;
  return weights;
}

/// Pairs what only one side has, rule by rule.
class ObjectPairs {
 public:
  ObjectPairs(const ComparedSide& before, const ComparedSide& after) {
    collect(before, before_);
    collect(after, after_);
    std::erase_if(before_, [this](const auto& entry) { return after_.contains(entry.first); });
    for (const ComparedSide::Object& object : before.objects) after_.erase(object.name);
  }

  void join_builds() {
    join([](std::string_view, const Builds& builds) { return std::string(only(builds)); });
  }
  void join_programs(const std::vector<Pair>& programs) {
    for (const Pair& program : programs) take(program.before, program.after, true);
  }
  /// Where nothing tells executables from libraries, they have the names of their tasks.
  void join_named_like(const std::vector<Pair>& tasks) {
    for (const Pair& task : tasks) {
      std::string_view was = named_like(before_, task.before);
      std::string_view is = named_like(after_, task.after);
      if (!was.empty() && !is.empty()) take(was, is, true);
    }
  }
  void join_files() {
    join([](std::string_view name, const Builds&) { return std::string(file_name(name)); });
  }
  void join_versions() {
    join([](std::string_view name, const Builds&) { return version_free_name(name); });
  }
  [[nodiscard]] std::vector<Pair> pairs() && { return std::move(pairs_); }

 private:
  using Builds = std::set<std::string_view>;
  using Objects = std::map<std::string_view, Builds>;

  static void collect(const ComparedSide& side, Objects& out) {
    for (const ComparedSide::Object& object : side.objects) {
      if (object.name.empty()) continue;
      Builds& builds = out[object.name];
      if (!object.build_id.empty()) builds.insert(object.build_id);
    }
  }

  static std::string_view named_like(const Objects& objects, std::string_view task) {
    std::string_view found;
    for (const auto& [name, builds] : objects) {
      if (file_name(name).substr(0, kTaskNameSize) != task.substr(0, kTaskNameSize)) continue;
      if (!found.empty()) return {};
      found = name;
    }
    return found;
  }

  /// Pairs those whose `key_of` is equal and belongs to one on each side only.
  template <typename KeyOf>
  void join(const KeyOf& key_of) {
    struct Found {
      std::string_view name;
      size_t count = 0;
    };
    std::map<std::string, Found> of_before, of_after;
    auto find = [&](const Objects& objects, std::map<std::string, Found>& found) {
      for (const auto& [name, builds] : objects)
        if (std::string key = key_of(name, builds); !key.empty()) {
          Found& entry = found[std::move(key)];
          entry.name = name;
          ++entry.count;
        }
    };
    find(before_, of_before);
    find(after_, of_after);
    for (const auto& [key, was] : of_before) {
      auto is = of_after.find(key);
      if (is != of_after.end() && was.count == 1 && is->second.count == 1)
        take(was.name, is->second.name, false);
    }
  }

  void take(std::string_view was, std::string_view is, bool is_program) {
    auto one = before_.find(was), other = after_.find(is);
    if (one == before_.end() || other == after_.end()) return;
    std::string_view build = only(one->second);
    bool same_build = !build.empty() && build == only(other->second);
    pairs_.push_back({std::string(was), std::string(is), is_program, same_build});
    before_.erase(one);
    after_.erase(other);
  }
  /// Empty if the build is not known, or there are several.
  static std::string_view only(const Builds& builds) {
    return builds.size() == 1 ? *builds.begin() : std::string_view();
  }

  Objects before_, after_;  // not yet paired
  std::vector<Pair> pairs_;
};

/// "libpython3" of "libpython3.11", "libfoo" of "libfoo-2.0"; "libz3" stays.
std::string_view without_version(std::string_view name) {
  size_t end = name.find_last_not_of("0123456789.") + 1;  // 0 if there are no other characters
  std::string_view version = name.substr(end);
  if (end == 0 || version.find_first_of("0123456789") == std::string_view::npos) return name;
  if (end > 1 && name[end - 1] == '-') return name.substr(0, end - 1);
  return version.find('.') == std::string_view::npos ? name : name.substr(0, end);
}

/// "perf-4152.map" is "perf-.map": what a process's compiler left, whichever process it was.
std::string without_process(std::string_view name, std::string_view prefix,
                            std::string_view suffix) {
  if (!name.starts_with(prefix) || !name.ends_with(suffix)) return {};
  std::string_view number = name.substr(prefix.size());
  if (number.size() <= suffix.size()) return {};
  number.remove_suffix(suffix.size());
  bool is_number = number.find_first_not_of("0123456789") == std::string_view::npos;
  return is_number ? std::string(prefix).append(suffix) : std::string();
}

std::string joined_pairs(const std::vector<const Pair*>& pairs) {
  std::string text;
  for (size_t i = 0; i < pairs.size() && i < kNamedPairs; ++i)
    text += fmt::format("{}{} with {}", i == 0 ? "" : ", ", pairs[i]->before, pairs[i]->after);
  if (pairs.size() > kNamedPairs)
    text += fmt::format(" and {} more pairs", pairs.size() - kNamedPairs);
  return text;
}

}  // namespace

std::string version_free_name(std::string_view object) {
  constexpr std::string_view kDeleted = " (deleted)", kJit = "[JIT] tid ", kLibrary = ".so";
  std::string_view name = file_name(object);
  if (name.ends_with(kDeleted)) name.remove_suffix(kDeleted.size());
  if (name.starts_with(kJit)) return "[JIT]";
  if (name.starts_with("[kernel.")) return "[kernel]";  // .kallsyms, .vmlinux
  if (name.starts_with('[')) return std::string(name);
  for (auto [prefix, suffix] : {std::pair("perf-", ".map"), std::pair("jit-", ".dump")})
    if (std::string known = without_process(name, prefix, suffix); !known.empty()) return known;
  size_t library = name.find(".so.");
  if (library == std::string_view::npos && name.ends_with(kLibrary))
    library = name.size() - kLibrary.size();
  if (library == std::string_view::npos) return std::string(without_version(name));
  return std::string(without_version(name.substr(0, library))).append(kLibrary);
}

Counterparts::Counterparts(const ComparedSide& before, const ComparedSide& after) {
  pair_programs(weights_of(before.tasks), weights_of(after.tasks), tasks_);
  std::vector<Pair> executables;
  pair_programs(run_by(before.objects), run_by(after.objects), executables);
  ObjectPairs objects(before, after);
  objects.join_programs(executables);
  objects.join_named_like(tasks_);
  objects.join_builds();
  objects.join_files();
  objects.join_versions();
  objects_ = std::move(objects).pairs();
  make_dictionaries();
}

void Counterparts::make_dictionaries() {
  for (const Pair& pair : tasks_) {
    to_before_.tasks.emplace(pair.after, pair.before);
    to_after_.tasks.emplace(pair.before, pair.after);
  }
  for (const Pair& pair : objects_) {
    to_before_.objects.emplace(pair.after, pair.before);
    to_after_.objects.emplace(pair.before, pair.after);
    // Not everything shows directories, even if most names have theirs.
    to_before_.objects.emplace(file_name(pair.after), file_name(pair.before));
    to_after_.objects.emplace(file_name(pair.before), file_name(pair.after));
    if (!pair.same_build) continue;
    to_before_.builds.emplace(file_name(pair.after), file_name(pair.before));
    to_after_.builds.emplace(file_name(pair.before), file_name(pair.after));
  }
}

std::string Counterparts::Dictionary::translated(NameKind kind, std::string name) const {
  auto whole = [&name](const Names& names) {
    auto found = names.find(name);
    return found == names.end() ? std::move(name) : found->second;
  };
  if (kind == NameKind::kTask) return whole(tasks);
  if (kind == NameKind::kObject) return whole(objects);
  if (kind != NameKind::kFunction || builds.empty()) return name;
  size_t plus = name.rfind("+0x");  // symbol/frame_function.h
  if (plus == std::string::npos) return name;
  auto found = builds.find(std::string_view(name).substr(0, plus));
  return found == builds.end() ? name : found->second + name.substr(plus);
}

std::string Counterparts::in_before(NameKind kind, std::string name) const {
  return to_before_.translated(kind, std::move(name));
}
std::string Counterparts::in_after(NameKind kind, std::string name) const {
  return to_after_.translated(kind, std::move(name));
}

std::string Counterparts::sentence(bool with_tasks, bool with_objects) const {
  std::vector<const Pair*> programs, objects;
  auto begins = [](std::string_view name, std::string_view task) {
    return file_name(name).starts_with(task);
  };
  for (const Pair& pair : objects_)
    if (with_objects) (pair.is_program ? programs : objects).push_back(&pair);
  for (const Pair& task : tasks_) {
    // Usually the executable of that name has been named.
    bool is_named = std::ranges::any_of(programs, [&](const Pair* object) {
      return begins(object->before, task.before) && begins(object->after, task.after);
    });
    if (with_tasks && !is_named) programs.insert(programs.begin(), &task);
  }
  std::vector<std::string> parts;
  if (!programs.empty()) parts.push_back(joined_pairs(programs) + " as one program");
  if (!objects.empty()) parts.push_back(joined_pairs(objects) + " as one object");
  return parts.empty() ? std::string() : "compares " + join(parts, ", ");
}

}  // namespace sonde
