// Who is whom in two recordings: what both have under one name is the same, and what only one has
// may be the other's under another name.
//
//   ./old, libfoo.so.1.2, libc.so.6         old = new                       one program
//   ./new, libfoo.so.1.3, libc.so.6         libfoo.so.1.2 = libfoo.so.1.3   one object
//
// Everything that compares recordings asks here, so that a table and a picture agree:
//
// - A task's name stands for the program of its side if the other side lacks it and it makes up
//   nearly all of what the other side lacks. If each side has such a name, they are one program.
// - Objects are one if they are the executables of one program, have the same build id, the same
//   name in another directory, or names that differ in their version only (version_free_name).
//   Where several would fit, none does.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

/// What a name is of.
enum class NameKind : uint8_t {
  kOther,
  kTask,      // "old"
  kObject,    // "libfoo.so.1.2"
  kFunction,  // "parse"; "old+0x1200" if it has no name
};

/// What one recording has. A name may occur several times.
struct ComparedSide {
  struct Task {
    std::string name;
    double weight = 0;  // of its samples
  };
  struct Object {
    std::string name;           // as it is shown, with or without its directory
    std::string build_id = {};  // in the same form on both sides; empty if not known
    double run_by = 0;          // samples of the tasks whose executable it is
  };
  std::vector<Task> tasks;
  std::vector<Object> objects;
};

class Counterparts {
 public:
  /// Names are compared as they are.
  Counterparts() = default;
  Counterparts(const ComparedSide& before, const ComparedSide& after);

  struct Pair {
    std::string before, after;
    bool is_program = false;
    bool same_build = false;  // functions named by address are the same, too
  };
  /// What was matched under two names; at most one pair of tasks.
  [[nodiscard]] const std::vector<Pair>& tasks() const { return tasks_; }
  [[nodiscard]] const std::vector<Pair>& objects() const { return objects_; }

  /// What a name of `after` is called in `before`; the name itself if that is the same.
  [[nodiscard]] std::string in_before(NameKind kind, std::string name) const;
  /// The other way round.
  [[nodiscard]] std::string in_after(NameKind kind, std::string name) const;

  /// "compares old with new as one program"; empty if everything is compared by its name.
  [[nodiscard]] std::string sentence(bool with_tasks = true, bool with_objects = true) const;

 private:
  using Names = std::map<std::string, std::string, std::less<>>;
  /// From one side to the other.
  struct Dictionary {
    Names tasks, objects;
    Names builds;  // of objects with the same build, by name without directory
    [[nodiscard]] std::string translated(NameKind kind, std::string name) const;
  };
  void make_dictionaries();

  std::vector<Pair> tasks_, objects_;
  Dictionary to_before_, to_after_;
};

/// An object's name without directory and version, by which versions of one object are found:
/// "/usr/lib/libfoo.so.1.2" and "libfoo-2.0.so" are "libfoo.so", "python3.11" is "python",
/// "[JIT] tid 42" "[JIT]". "libssl3.so" keeps its number, which is part of the name.
[[nodiscard]] std::string version_free_name(std::string_view object);

}  // namespace sonde
