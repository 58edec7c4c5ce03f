#include "export/pictures/flame_drawing.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "analysis/sampling/chain_ends.h"
#include "base/files/regular_file.h"
#include "base/output_file.h"
#include "export/pictures/flame_files.h"
#include "export/pictures/flame_svg.h"
#include "stacks/profile_diff.h"
#include "stacks/reversed_stacks.h"

namespace sonde {
namespace {

constexpr const char* kColorFile = "palette.map";

std::string base_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

class FlameDrawing {
 public:
  explicit FlameDrawing(const FlameDrawingOptions& how)
      : how_(how), options_(how.flames), source_(how.source) {}
  Result<> draw(const std::vector<std::string>& inputs, const std::string& output, Env& env);

 private:
  [[nodiscard]] Result<> check() const;
  [[nodiscard]] double share_of_narrowest() const;
  Result<StackProfile> open(const std::string& input, Env& env);
  /// Puts a sentence in front of the line below the title.
  void say_first(const std::string& sentence);
  Result<StackProfile> compare(const std::vector<std::string>& inputs, Env& env);
  void describe_difference(const StackProfile& before, const StackProfile& after, double scale,
                           const std::string& matched_names);
  Result<> read_side_files();
  [[nodiscard]] std::string encoded(std::string_view text, std::string_view in_ascii) const;
  void name_counts(std::string_view unit);
  Result<> write(const StackProfile& profile, const std::string& output, Env& env);

  const FlameDrawingOptions& how_;
  FlameOptions options_;  // completed on the way
  ProfileSourceOptions source_;
  std::map<std::string, std::string, std::less<>> kept_colors_;
  struct ChainGap {
    std::string recording, text;
  };
  std::vector<ChainGap> chain_gaps_;
  size_t column_ = 0;
  double least_share_ = 0;
};

Result<> FlameDrawing::check() const {
  auto positive = [](double value, std::string_view name, double most) -> Result<> {
    if (std::isfinite(value) && value > 0 && value <= most) return {};
    return fail(ErrorCode::kFailed, "--{} {}: expected a number above 0, at most {}", name, value,
                most);
  };
  constexpr double kMaxPixels = 100000;
  TRY(positive(options_.width, "width", kMaxPixels));
  TRY(positive(options_.frame_height, "height", kMaxPixels));
  TRY(positive(options_.font_size, "fontsize", kMaxPixels));
  TRY(positive(options_.font_width, "fontwidth", kMaxPixels));
  TRY(positive(options_.factor, "factor", 1e300));
  if (options_.width < 4 * kFlamePadding)
    return fail(ErrorCode::kFailed, "--width {}: a picture needs at least {} pixels",
                options_.width, 4 * kFlamePadding);
  return {};
}

/// Anything narrower than this share of the picture need not be told apart. (Half the minimum
/// width: the drawing decides, by exact sums.)
double FlameDrawing::share_of_narrowest() const {
  const FlameMinWidth& narrowest = options_.min_width;
  double whole = narrowest.is_percent ? 100 : options_.width - 2 * kFlamePadding;
  return narrowest.value / whole / 2;
}

Result<StackProfile> FlameDrawing::open(const std::string& input, Env& env) {
  source_.session.open.stdin_fd = env.in_fd;
  source_.session.inlines = chosen_inlines(how_.inlines);
  source_.stacks.want_samples = options_.chart;
  source_.keep_order = options_.chart;
  source_.stacks.least_share = least_share_;
  source_.on_recording = [&](const Session& session, const StackProfile&) {
    std::string gap = chain_gap(session);
    if (!gap.empty()) chain_gaps_.push_back({std::string(base_name(input)), gap});
  };
  source_.needs_samples = false;
  TRY(how_.selection.apply(source_));
  return open_profile(input, source_, env);
}

void FlameDrawing::say_first(const std::string& sentence) {
  options_.subtitle = options_.subtitle.empty() ? sentence : sentence + "; " + options_.subtitle;
}

Result<StackProfile> FlameDrawing::compare(const std::vector<std::string>& inputs, Env& env) {
  source_.stacks.want_objects = true;  // with their builds
  StackProfile before = TRY(open(inputs[0], env));
  StackProfile after = TRY(open(inputs[1], env));
  ColumnPair columns{.before = TRY(how_.selection.column_of(before, env.err)),
                     .after = TRY(how_.selection.column_of(after, env.err))};
  double was = total_of(before.columns[columns.before]);
  double is = total_of(after.columns[columns.after]);
  if (was <= 0 || is <= 0)
    return fail(ErrorCode::kFailed, "{}: nothing to compare", (was <= 0 ? before : after).origin);
  Counterparts counterparts;
  if (!how_.by_name.value_or(false)) counterparts = counterparts_of(before, after, {columns});
  std::string matched_names = counterparts.sentence();
  if (!matched_names.empty())
    env.err.print("{}: {} (not with --by-name)\n", env.tool, matched_names);
  describe_difference(before, after, how_.normalize ? is / was : 1, matched_names);
  std::string arrow = encoded(" → ", " -> ");
  StackProfile merged = diff_profiles(before, after,
                                      {.columns = {columns},
                                       .normalize = how_.normalize,
                                       .counterparts = &counterparts,
                                       .arrow = arrow});
  merged.origin = fmt::format("{}, {}", before.origin, after.origin);
  return merged;
}

/// The text in the picture's encoding, as far as possible.
std::string FlameDrawing::encoded(std::string_view text, std::string_view in_ascii) const {
  bool is_utf8 = options_.encoding == "UTF-8" || options_.encoding == "utf-8";
  return std::string(is_utf8 ? text : in_ascii);
}

/// Sets the legend, unless the user gave one.
void FlameDrawing::describe_difference(const StackProfile& before, const StackProfile& after,
                                       double scale, const std::string& matched_names) {
  if (!options_.subtitle.empty()) return;
  std::string scaled =
      scale == 1 ? "" : fmt::format(" (before {} {:.3g})", encoded("×", "x"), scale);
  options_.subtitle = fmt::format(
      "{} {} {}{}; {}: more, {}: less, dashed: only {}", base_name(before.origin),
      encoded("→", "->"), base_name(after.origin), scaled, options_.negate ? "blue" : "red",
      options_.negate ? "red" : "blue", how_.before ? "before" : "after");
  if (!matched_names.empty()) options_.subtitle += "; " + matched_names;
}

Result<> FlameDrawing::read_side_files() {
  if (!how_.attributes_file.empty()) {
    std::string text = TRY(read_stream(how_.attributes_file));
    options_.attributes = TRY(parse_name_attributes(text, how_.attributes_file));
  }
  if (!how_.keep_colors) return {};
  auto text = read_file(kColorFile);  // created by the first picture
  if (text) kept_colors_ = TRY(parse_color_map(*text, kColorFile));
  options_.kept_colors = &kept_colors_;
  return {};
}

Result<> FlameDrawing::draw(const std::vector<std::string>& inputs, const std::string& output,
                            Env& env) {
  TRY(check());
  if (options_.chart && inputs.size() > 1)
    return fail(ErrorCode::kFailed,
                "--flamechart shows one profile in the order of time, not a difference");
  TRY(read_side_files());
  bool two = inputs.size() > 1;
  if (!two && !options_.chart && !options_.reversed) least_share_ = share_of_narrowest();
  StackProfile profile = TRY(two ? compare(inputs, env) : open(inputs[0], env));
  for (const auto& [recording, text] : chain_gaps_) say_first(two ? recording + ": " + text : text);
  if (std::string damage = env.losses.damage_summary(); !damage.empty()) say_first(damage);
  bool is_difference = profile.columns.size() == 2 && profile.columns[0].name == "before" &&
                       profile.columns[1].name == "after";
  if (is_difference && options_.chart)
    return fail(ErrorCode::kFailed,
                "{}: --flamechart shows one profile in the order of time, not a difference",
                profile.origin);
  if (is_difference) {
    options_.difference = FlameDifference{.shape = how_.before ? 0u : 1u,
                                          .other = how_.before ? 1u : 0u,
                                          .later_is_shape = !how_.before,
                                          .marks = how_.marks.value_or(two)};
    column_ = options_.difference->shape;
  } else {
    if (how_.before || how_.marks || how_.by_name)
      return fail(ErrorCode::kFailed,
                  "--{} is of differences: it needs two profiles, or stacks with two counts",
                  how_.before  ? "before"
                  : how_.marks ? "elided"
                               : "by-name");
    column_ = TRY(how_.selection.column_of(profile, env.err));
  }
  if (options_.chart && profile.samples.size() == 0)
    return fail(ErrorCode::kFailed,
                "{}: --flamechart needs the order of the samples, which it lacks", profile.origin);
  if (options_.reversed) profile = TRY(reversed_stacks(std::move(profile)));
  return write(profile, output, env);
}

/// Times are shown in microseconds, unless they were given a name or a factor.
void FlameDrawing::name_counts(std::string_view unit) {
  bool is_time = unit == "nanoseconds" && !how_.count_name && options_.factor == 1;
  if (is_time) options_.factor = 1e-3;
  options_.count_name = how_.count_name.value_or(is_time ? encoded("µs", "us") : std::string(unit));
}

Result<> FlameDrawing::write(const StackProfile& profile, const std::string& output, Env& env) {
  const StackColumn& column = profile.columns[column_];
  double there = total_of(column);
  if (there <= 0) return fail(ErrorCode::kFailed, "{}: no samples to draw", profile.origin);
  if (!std::isfinite(there))
    return fail(ErrorCode::kCorrupt, "{}: its counts are too large to be added up", profile.origin);
  if (options_.whole > 0 && options_.whole < there) {
    env.err.print("{}: --total {} is less than the {} that there are, and is not used\n", env.tool,
                  options_.whole, there);
    options_.whole = 0;
  }
  name_counts(column.unit);
  FlameGraph graph = make_flame_graph(profile, column_, options_);
  OutputFile file = TRY(OutputFile::open(output, env));
  write_flame_svg(file.sink(), graph, options_);
  TRY(file.finish());
  if (!how_.keep_colors) return {};
  OutputFile colors = TRY(OutputFile::open(kColorFile, env));
  colors.sink().write_lines(color_map_text(kept_colors_));
  return colors.finish();
}

}  // namespace

Result<> draw_flame_graph(const FlameDrawingOptions& options,
                          const std::vector<std::string>& inputs, const std::string& output,
                          Env& env) {
  return FlameDrawing(options).draw(inputs, output, env);
}

}  // namespace sonde
