// Two profiles as one: each stack of either, with its weight before and after.
//
//   main;a 3         main;a 5            main;a  3 5
//   main;b 2    +    main;c 1     =      main;b  2 0
//                                        main;c  0 1
//
// Frames with the same name are one frame, whatever file they come from: the two builds are rarely
// the same. Only a process at the root is distinct from a function of the same name, and functions
// that are named by their address are the same only in the same build, if the builds are known:
// then the name of the one in `before` gets the beginning of its build id.
//
// Two versions of one program usually differ in the names of their process and objects, so
// everything below the root would differ, too. What Counterparts matches is one:
//
//   old;main;a 3                new;main;a 5               old → new;main;a  3 5
//   old;main;[old] 2       +    new;main;[new] 2     =     old → new;main;[new]  2 2
#pragma once

#include <string>
#include <vector>

#include "profile/counterparts.h"
#include "stacks/stack_profile.h"

namespace sonde {

/// A column of each of two profiles.
struct ColumnPair {
  size_t before = 0;
  size_t after = 0;
};

struct ProfileDiffOptions {
  std::vector<ColumnPair> columns = {{}};  // to compare
  bool normalize = false;  // scales `before` so that its total equals that of `after`
  /// Truncates scaled values to integers, as in text formats. Totals may then differ.
  bool whole_numbers = false;
  bool strip_addresses = false;  // "0x7f32a0" in names becomes "0x...", which merges such stacks
  /// Of these two profiles; null: names are compared as they are.
  const Counterparts* counterparts = nullptr;
  std::string_view arrow = " → ";  // between the names of one program
};

/// Which roots, and which objects that frames are named after, are one under two names. Roots of
/// profiles that don't say what a task is count as tasks if they have no weight of their own.
[[nodiscard]] Counterparts counterparts_of(const StackProfile& before, const StackProfile& after,
                                           const std::vector<ColumnPair>& columns);
/// Columns of the result: 0 "before", 1 "after", and so on for each pair. It has no samples. Frame
/// names are those of the profiles; kind, file and line are those of `after` if it has the frame.
[[nodiscard]] StackProfile diff_profiles(const StackProfile& before, const StackProfile& after,
                                         const ProfileDiffOptions& options);
/// Whether a profile is the result of comparing one pair, or was read from such a result.
[[nodiscard]] bool is_comparison(const StackProfile& profile);
/// "at 0x7f32a0" → "at 0x...".
[[nodiscard]] std::string without_addresses(std::string_view name);

}  // namespace sonde
