#include "export/pictures/flame_colors.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace sonde {
namespace {

/// Three numbers from 0 to 1 that choose a shade.
struct Shade {
  double first, second, third;
};

uint8_t channel(int base, int range, double share) {
  return static_cast<uint8_t>(base + static_cast<int>(range * share));
}

/// The first number that drand48 returns after srand48(sum of the bytes): POSIX, drand48(3).
double shade_of_sum(std::string_view name) {
  constexpr uint64_t kMask = (uint64_t{1} << 48) - 1;
  uint32_t sum = 0;
  for (char c : name) sum += static_cast<unsigned char>(c);
  uint64_t state = (uint64_t{sum} << 16) + 0x330e;
  state = (state * 0x5deece66d + 0xb) & kMask;
  return static_cast<double>(state) / static_cast<double>(kMask + 1);
}

/// From the first three characters, with decreasing weights.
template <typename Text>
double shade_of_beginning(const Text& name) {
  constexpr double kFading = 0.7;
  constexpr int kCharacters = 3;
  double sum = 0, weight = 1, most = 1;
  int range = 10;
  for (char c : name) {
    if (range == 10 + kCharacters) break;
    sum += static_cast<unsigned char>(c) % range / static_cast<double>(range - 1) * weight;
    ++range;
    most += weight;
    weight *= kFading;
  }
  return 1 - sum / most;
}

/// Some tools prefix a module, "module`function": only the function counts.
std::string without_module(std::string_view name) {
  size_t tick = name.find('`');
  return std::string(tick == std::string_view::npos || tick == 0 ? name : name.substr(tick + 1));
}

Shade shade_of_prefix(std::string_view name) {
  std::string backwards(name.rbegin(), name.rend());
  double end = shade_of_beginning(without_module(backwards));
  return {shade_of_beginning(without_module(name)), end, end};
}

bool contains(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

bool begins_with_any(std::string_view name, std::initializer_list<std::string_view> beginnings) {
  return std::ranges::any_of(beginnings, [&](auto each) { return name.starts_with(each); });
}

FlamePalette hue_of_java(std::string_view name, FrameKind kind) {
  if (kind == FrameKind::kJit) return FlamePalette::kGreen;
  if (kind == FrameKind::kInlined) return FlamePalette::kAqua;
  std::string_view bare = name.starts_with('L') ? name.substr(1) : name;
  auto is_package = [](std::string_view text) {
    return begins_with_any(text,
                           {"java/", "javax/", "jdk/", "net/", "org/", "com/", "io/", "sun/"});
  };
  if (is_package(name) || is_package(bare) || contains(name, ":::")) return FlamePalette::kGreen;
  if (contains(name, "::")) return FlamePalette::kYellow;
  return kind == FrameKind::kKernel ? FlamePalette::kOrange : FlamePalette::kRed;
}

FlamePalette hue_of_js(std::string_view name, FrameKind kind) {
  if (kind == FrameKind::kJit)
    return contains(name, "/") ? FlamePalette::kGreen : FlamePalette::kAqua;
  if (contains(name, "::")) return FlamePalette::kYellow;
  size_t slash = name.find('/');
  bool is_script = slash != std::string_view::npos && contains(name.substr(slash), ".js");
  if (is_script || name == " ") return FlamePalette::kGreen;
  if (contains(name, ":")) return FlamePalette::kAqua;
  return kind == FrameKind::kKernel ? FlamePalette::kOrange : FlamePalette::kRed;
}

FlamePalette hue_of_perl(std::string_view name, FrameKind kind) {
  if (contains(name, "::")) return FlamePalette::kYellow;
  if (contains(name, "Perl") || contains(name, ".pl")) return FlamePalette::kGreen;
  return kind == FrameKind::kKernel ? FlamePalette::kOrange : FlamePalette::kRed;
}

/// Rust's own libraries, other crates, code without paths (C), the kernel.
FlamePalette hue_of_rust(std::string_view name, FrameKind kind) {
  if (kind == FrameKind::kKernel) return FlamePalette::kOrange;
  std::string_view bare = name.substr(std::min(name.find_first_not_of("<&"), name.size()));
  if (begins_with_any(bare, {"core::", "alloc::", "std::", "__rust", "rust_begin", "rust_panic"}))
    return FlamePalette::kAqua;
  return contains(name, "::") ? FlamePalette::kRed : FlamePalette::kYellow;
}

/// The program's own files, those of the standard library and of packages, the interpreter, the
/// kernel.
FlamePalette hue_of_python(std::string_view name, FrameKind kind) {
  if (kind == FrameKind::kKernel) return FlamePalette::kOrange;
  bool is_library = contains(name, "/lib/python") || contains(name, "site-packages") ||
                    contains(name, "dist-packages") || contains(name, "<frozen");
  if (is_library) return FlamePalette::kAqua;
  if (contains(name, ".py") || begins_with_any(name, {"py::", "<module>"}))
    return FlamePalette::kGreen;
  if (begins_with_any(name, {"Py", "_Py"})) return FlamePalette::kYellow;
  return FlamePalette::kRed;
}

/// The single-hue palette that a frame gets from a mixed palette.
FlamePalette hue_of(FlamePalette palette, std::string_view name, FrameKind kind) {
  switch (palette) {
    case FlamePalette::kJava:
      return hue_of_java(name, kind);
    case FlamePalette::kJs:
      return hue_of_js(name, kind);
    case FlamePalette::kPerl:
      return hue_of_perl(name, kind);
    case FlamePalette::kRust:
      return hue_of_rust(name, kind);
    case FlamePalette::kPython:
      return hue_of_python(name, kind);
    case FlamePalette::kWakeup:
      return FlamePalette::kAqua;
    case FlamePalette::kChain:
      return kind == FrameKind::kWaker ? FlamePalette::kAqua : FlamePalette::kBlue;
    default:
      return palette;
  }
}

Rgb shaded(FlamePalette hue, const Shade& shade) {
  double v = shade.first;
  uint8_t other;
  switch (hue) {
    case FlamePalette::kMem:
      return {0, channel(190, 50, shade.second), channel(0, 210, v)};
    case FlamePalette::kIo:
      return {channel(80, 60, v), channel(80, 60, v), channel(190, 55, shade.second)};
    case FlamePalette::kRed:
      other = channel(50, 80, v);
      return {channel(200, 55, v), other, other};
    case FlamePalette::kGreen:
      other = channel(50, 60, v);
      return {other, channel(200, 55, v), other};
    case FlamePalette::kBlue:
      other = channel(80, 60, v);
      return {other, other, channel(205, 50, v)};
    case FlamePalette::kYellow:
      other = channel(175, 55, v);
      return {other, other, channel(50, 20, v)};
    case FlamePalette::kPurple:
      other = channel(190, 65, v);
      return {other, channel(80, 60, v), other};
    case FlamePalette::kAqua:
      other = channel(165, 55, v);
      return {channel(50, 60, v), other, other};
    case FlamePalette::kOrange:
      return {channel(190, 65, v), channel(90, 65, v), 0};
    default:
      return {channel(205, 50, shade.third), channel(0, 230, v), channel(0, 55, shade.second)};
  }
}

struct NamedPalette {
  std::string_view name;
  FlamePalette palette;
};
constexpr std::array kPalettes = std::to_array<NamedPalette>({
    {"hot", FlamePalette::kHot},
    {"mem", FlamePalette::kMem},
    {"io", FlamePalette::kIo},
    {"wakeup", FlamePalette::kWakeup},
    {"chain", FlamePalette::kChain},
    {"java", FlamePalette::kJava},
    {"js", FlamePalette::kJs},
    {"perl", FlamePalette::kPerl},
    {"rust", FlamePalette::kRust},
    {"python", FlamePalette::kPython},
    {"red", FlamePalette::kRed},
    {"green", FlamePalette::kGreen},
    {"blue", FlamePalette::kBlue},
    {"aqua", FlamePalette::kAqua},
    {"yellow", FlamePalette::kYellow},
    {"purple", FlamePalette::kPurple},
    {"orange", FlamePalette::kOrange},
});

constexpr SvgShades kYellowShades{"#eeeeee", "#eeeeb0"};
constexpr SvgShades kBlueShades{"#eeeeee", "#e0e0ff"};
constexpr SvgShades kGreenShades{"#eef2ee", "#e0ffe0"};
constexpr SvgShades kGreyShades{"#f8f8f8", "#e8e8e8"};

SvgShades shades_for(FlamePalette palette) {
  switch (palette) {
    case FlamePalette::kMem:
      return kGreenShades;
    case FlamePalette::kIo:
    case FlamePalette::kWakeup:
    case FlamePalette::kChain:
      return kBlueShades;
    case FlamePalette::kRed:
    case FlamePalette::kGreen:
    case FlamePalette::kBlue:
    case FlamePalette::kAqua:
    case FlamePalette::kYellow:
    case FlamePalette::kPurple:
    case FlamePalette::kOrange:
      return kGreyShades;
    default:
      return kYellowShades;
  }
}

}  // namespace

std::optional<FlamePalette> flame_palette_of(std::string_view name) {
  auto found = std::ranges::find(kPalettes, name, &NamedPalette::name);
  return found == kPalettes.end() ? std::nullopt : std::optional(found->palette);
}

std::vector<std::string_view> flame_palette_names() {
  std::vector<std::string_view> names;
  for (const NamedPalette& each : kPalettes) names.push_back(each.name);
  return names;
}

Rgb FlameColors::color_of(std::string_view name, FrameKind kind) {
  Shade shade{};
  if (shade_ == FlameShade::kRandom) {
    auto any = [&] { return static_cast<double>(random_() % 1000) / 1000; };
    shade.first = any();
    shade.second = any();
    shade.third = any();
  } else if (shade_ == FlameShade::kPrefix) {
    shade = shade_of_prefix(name);
  } else {
    double sum = shade_of_sum(name);
    shade = {sum, sum, sum};
  }
  return shaded(hue_of(palette_, name, kind), shade);
}

Rgb difference_color(double share) {
  auto rest = static_cast<uint8_t>(210 * (1 - std::min(std::abs(share), 1.0)));
  if (share > 0) return {255, rest, rest};
  if (share < 0) return {rest, rest, 255};
  return {255, 255, 255};
}

std::optional<Rgb> divider_color(std::string_view name) {
  if (name == "--") return Rgb{160, 160, 160};
  if (name == "-") return Rgb{200, 200, 200};
  return std::nullopt;
}

std::optional<SvgShades> flame_background(std::string_view name, FlamePalette palette) {
  if (name.empty()) return shades_for(palette);
  if (name == "yellow") return kYellowShades;
  if (name == "blue") return kBlueShades;
  if (name == "green") return kGreenShades;
  if (name == "grey" || name == "gray") return kGreyShades;
  constexpr size_t kColorSize = 7;  // "#rrggbb"
  bool is_color = name.size() == kColorSize && name.front() == '#' &&
                  name.find_first_not_of("0123456789abcdefABCDEF", 1) == std::string_view::npos;
  return is_color ? std::optional(SvgShades{name, name}) : std::nullopt;
}

}  // namespace sonde
