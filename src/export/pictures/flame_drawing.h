// From profiles to a flame graph file: for `flamegraph` and `record --flamegraph`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/error.h"
#include "export/pictures/flame_graph.h"
#include "stacks/profile_source.h"
#include "stacks/sample_selection.h"

namespace sonde {

struct FlameDrawingOptions {
  FlameOptions flames;
  ProfileSourceOptions source;
  SampleSelection selection;
  std::optional<std::string> count_name;
  std::string attributes_file;  // --nameattr
  bool keep_colors = false;     // --cp
  bool before = false;          // of two profiles, draw the first one's stacks
  std::optional<bool> marks;    // --elided
  std::optional<bool> by_name;  // differences: programs are one only if they have the same name
  bool normalize = true;        // scale the first profile to the total of the second
  std::optional<bool> inlines;  // --inline, --no-inline
};

/// Draws one profile, or the difference of two: before, after. `output`: a file; empty or "-":
/// standard output.
Result<> draw_flame_graph(const FlameDrawingOptions& options,
                          const std::vector<std::string>& inputs, const std::string& output,
                          Env& env);

inline constexpr const char* kDefaultFlameFile = "flamegraph.svg";

}  // namespace sonde
