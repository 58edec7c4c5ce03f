// Colours of frames: a palette says which hues, the frame's name which shade, so the same function
// has the same colour in every picture.
//
// Some palettes tell kinds of code apart: java, js, perl, rust and python paint generated,
// inlined, native and kernel code in hues of their own; chain paints the stacks of wakers.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "export/svg.h"
#include "stacks/stack_profile.h"

namespace sonde {

enum class FlamePalette : uint8_t {
  kHot,
  kMem,
  kIo,
  kWakeup,
  kChain,
  kJava,
  kJs,
  kPerl,
  kRust,
  kPython,
  kRed,
  kGreen,
  kBlue,
  kAqua,
  kYellow,
  kPurple,
  kOrange,
};

/// "hot", "java" …; nullopt for others.
[[nodiscard]] std::optional<FlamePalette> flame_palette_of(std::string_view name);
/// All names, as `--colors` takes them.
[[nodiscard]] std::vector<std::string_view> flame_palette_names();

enum class FlameShade : uint8_t {
  kName,    // any, by the name
  kPrefix,  // --hash: names that begin and end alike have shades alike
  kRandom,  // --random: another for each frame; the same in every run
};

class FlameColors {
 public:
  explicit FlameColors(FlamePalette palette = FlamePalette::kHot,
                       FlameShade shade = FlameShade::kName)
      : palette_(palette), shade_(shade) {}

  /// `name` with its mark, where it has one.
  [[nodiscard]] Rgb color_of(std::string_view name, FrameKind kind);
  [[nodiscard]] FlamePalette palette() const { return palette_; }

 private:
  FlamePalette palette_;
  FlameShade shade_;
  std::minstd_rand random_;
};

/// What grew is red, what shrank is blue, the more the darker; what stayed is white.
/// `share`: from -1 to 1.
[[nodiscard]] Rgb difference_color(double share);
/// Frames that only divide: "-" and "--".
[[nodiscard]] std::optional<Rgb> divider_color(std::string_view name);

/// Behind the picture. `name`: "yellow", "blue", "green", "grey", "#rrggbb"; empty: what goes with
/// the palette. nullopt for others.
[[nodiscard]] std::optional<SvgShades> flame_background(std::string_view name,
                                                        FlamePalette palette);

}  // namespace sonde
