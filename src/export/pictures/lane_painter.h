// One lane of a timeline as SVG: spans of time, each of some kind, on a row of pixels.
//
// A pixel may stand for many spans. It shows each kind in one of four strengths, by that kind's
// share of the pixel's time, so that a lane that is busy a tenth of the time does not look busy,
// and one that ran for a microsecond does not look idle.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sonde {

/// How a kind is drawn.
struct LaneKind {
  std::string_view css_class;
  double top = 0;  // in px from the lane's upper edge
  double height = 0;
};

class LanePainter {
 public:
  static constexpr int kStrengths = 4;

  LanePainter(size_t pixels, uint64_t start_ns, uint64_t end_ns, size_t kinds);

  void add(size_t kind, uint64_t start_ns, uint64_t end_ns);
  /// Appends a path for each kind and strength that occurs, and resets the painter.
  void paint(std::string& out, std::span<const LaneKind> kinds);

 private:
  [[nodiscard]] int strength_at(size_t kind, size_t pixel) const;
  void paint_kind(std::string& out, const LaneKind& how, size_t kind) const;

  size_t pixels_;
  uint64_t start_ns_, end_ns_;
  double ns_per_pixel_;
  std::vector<float> shares_;  // by kind and pixel
  std::vector<char> used_;     // by kind
};

}  // namespace sonde
