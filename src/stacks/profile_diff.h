// Two profiles as one: each stack of either, with what fell on it before and after.
//
//   main;a 3         main;a 5            main;a  3 5
//   main;b 2    +    main;c 1     =      main;b  2 0
//                                        main;c  0 1
//
// Frames that bear the same name are one, whatever file they are of: what is compared is rarely the
// same build. Only a process at the root is another thing than a function of its name.
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
  std::vector<ColumnPair> columns = {{}};  // that are compared
  bool normalize = false;  // what was before is scaled, so that its total is that of after
  /// Cuts scaled values to whole numbers, as texts have them. Then totals may differ after all.
  bool whole_numbers = false;
  bool strip_addresses = false;  // "0x7f32a0" in names becomes "0x...": such stacks join
};

/// Columns of the result: 0 "before", 1 "after", and so on for each pair. It has no samples. Names
/// of frames are those of the profiles; kind, file and line are those of `after` where it has the
/// frame.
[[nodiscard]] StackProfile diff_profiles(const StackProfile& before, const StackProfile& after,
                                         const ProfileDiffOptions& options);
/// Whether a profile is such a result of one pair, or was read from one.
[[nodiscard]] bool is_comparison(const StackProfile& profile);
/// "at 0x7f32a0" → "at 0x...".
[[nodiscard]] std::string without_addresses(std::string_view name);

}  // namespace sonde
