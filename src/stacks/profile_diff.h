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
#pragma once

#include <string>
#include <vector>

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
};

/// Columns of the result: 0 "before", 1 "after", and so on for each pair. It has no samples. Frame
/// names are those of the profiles; kind, file and line are those of `after` if it has the frame.
[[nodiscard]] StackProfile diff_profiles(const StackProfile& before, const StackProfile& after,
                                         const ProfileDiffOptions& options);
/// Whether a profile is the result of comparing one pair, or was read from such a result.
[[nodiscard]] bool is_comparison(const StackProfile& profile);
/// "at 0x7f32a0" → "at 0x...".
[[nodiscard]] std::string without_addresses(std::string_view name);

}  // namespace sonde
