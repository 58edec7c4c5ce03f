// From profiles to a flame graph file, and the flags that control it: for `flamegraph` and `record
// --flamegraph`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/error.h"
#include "cli/flags.h"
#include "cmd/options/sample_selection.h"
#include "export/pictures/flame_graph.h"
#include "stacks/profile_source.h"

namespace sonde {

class FlameDrawing {
 public:
  void declare(FlagTable& flags);
  /// One profile, or two to compare: before, after. `output`: a file; empty or "-": standard
  /// output.
  Result<> draw(const std::vector<std::string>& inputs, const std::string& output, Env& env);
  [[nodiscard]] const std::string& event() const { return choice_.event(); }

 private:
  void declare_texts(FlagTable& flags);
  void declare_sizes(FlagTable& flags);
  void declare_colors(FlagTable& flags);
  void declare_shapes(FlagTable& flags);
  Result<> check() const;
  [[nodiscard]] double share_of_narrowest() const;
  Result<StackProfile> open(const std::string& input, Env& env);
  Result<StackProfile> compare(const std::vector<std::string>& inputs, Env& env);
  void describe_difference(const StackProfile& before, const StackProfile& after, double scale);
  Result<> read_side_files();
  [[nodiscard]] std::string spelled(std::string_view text, std::string_view in_ascii) const;
  void name_counts(std::string_view unit);
  Result<> write(const StackProfile& profile, const std::string& output, Env& env);

  FlameOptions options_;
  ProfileSourceOptions source_;
  SampleSelection choice_;
  std::optional<std::string> count_name_;
  std::string attributes_file_;
  bool keep_colors_ = false;
  std::map<std::string, std::string, std::less<>> kept_colors_;
  bool before_ = false;
  std::optional<bool> marks_;  // --elided
  bool normalize_ = true;
  std::optional<bool> inlines_;
  size_t column_ = 0;
  double least_share_ = 0;
};

inline constexpr const char* kDefaultFlameFile = "flamegraph.svg";

}  // namespace sonde
