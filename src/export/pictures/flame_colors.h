// Colours of frames: the palette decides the hue, the frame's name the shade, so a function has the
// same colour in every picture.
//
// Some palettes distinguish kinds of code: java, js, perl, rust and python give generated, inlined,
// native and kernel code different hues; chain highlights the stacks of wakers.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "export/pictures/svg.h"
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

/// "hot", "java" …; nullopt for unknown names.
[[nodiscard]] std::optional<FlamePalette> flame_palette_of(std::string_view name);
/// All names that `--colors` accepts.
[[nodiscard]] std::vector<std::string_view> flame_palette_names();

enum class FlameShade : uint8_t {
  kName,    // any, chosen by the name
  kPrefix,  // --hash: names with similar beginnings and ends get similar shades
  kRandom,  // --random: different for each frame; the same in every run
};

class FlameColors {
 public:
  explicit FlameColors(FlamePalette palette = FlamePalette::kHot,
                       FlameShade shade = FlameShade::kName)
      : palette_(palette), shade_(shade) {}

  /// `name` with its mark, if it has one.
  [[nodiscard]] Rgb color_of(std::string_view name, FrameKind kind);
  [[nodiscard]] FlamePalette palette() const { return palette_; }

 private:
  FlamePalette palette_;
  FlameShade shade_;
  std::minstd_rand random_;
};

/// What grew is red, what shrank is blue, darker for larger changes; unchanged is white. `share`:
/// from -1 to 1.
[[nodiscard]] Rgb difference_color(double share);
/// Frames that only separate: "-" and "--".
[[nodiscard]] std::optional<Rgb> divider_color(std::string_view name);

/// The background. `name`: "yellow", "blue", "green", "grey", "#rrggbb"; empty: what suits the
/// palette. nullopt for unknown names.
[[nodiscard]] std::optional<SvgShades> flame_background(std::string_view name,
                                                        FlamePalette palette);

}  // namespace sonde
