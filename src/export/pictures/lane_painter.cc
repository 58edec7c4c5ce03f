#include "export/pictures/lane_painter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace sonde {

LanePainter::LanePainter(size_t pixels, uint64_t start_ns, uint64_t end_ns, size_t kinds)
    : pixels_(std::max<size_t>(pixels, 1)),
      start_ns_(start_ns),
      end_ns_(std::max(end_ns, start_ns + 1)),
      ns_per_pixel_(static_cast<double>(end_ns_ - start_ns_) / static_cast<double>(pixels_)),
      shares_(pixels_ * kinds),
      used_(kinds) {}

void LanePainter::add(size_t kind, uint64_t start_ns, uint64_t end_ns) {
  start_ns = std::max(start_ns, start_ns_);
  end_ns = std::min(end_ns, end_ns_);
  if (start_ns > end_ns) return;
  used_[kind] = 1;
  float* shares = &shares_[kind * pixels_];
  double from = static_cast<double>(start_ns - start_ns_) / ns_per_pixel_;
  // Spans of zero length must be visible, too.
  double to = std::max(static_cast<double>(end_ns - start_ns_) / ns_per_pixel_, from + 1e-6);
  auto first = std::min(static_cast<size_t>(from), pixels_ - 1);
  auto last = std::min(static_cast<size_t>(to), pixels_ - 1);
  if (first == last) {
    shares[first] += static_cast<float>(to - from);
    return;
  }
  shares[first] += static_cast<float>(static_cast<double>(first + 1) - from);
  for (size_t pixel = first + 1; pixel < last; ++pixel) shares[pixel] += 1;
  shares[last] += static_cast<float>(to - static_cast<double>(last));
}

int LanePainter::strength_at(size_t kind, size_t pixel) const {
  float share = shares_[kind * pixels_ + pixel];
  if (share <= 0) return 0;
  return std::clamp(static_cast<int>(std::lround(share * kStrengths)), 1, kStrengths);
}

void LanePainter::paint_kind(std::string& out, const LaneKind& how, size_t kind) const {
  std::array<std::string, kStrengths + 1> paths;
  for (size_t pixel = 0; pixel < pixels_;) {
    int strength = strength_at(kind, pixel);
    size_t end = pixel + 1;
    while (end < pixels_ && strength_at(kind, end) == strength) ++end;
    if (strength > 0)
      fmt::format_to(std::back_inserter(paths[static_cast<size_t>(strength)]),
                     "M{} {:g}h{}v{:g}h-{}z", pixel, how.top, end - pixel, how.height, end - pixel);
    pixel = end;
  }
  for (size_t strength = 1; strength < paths.size(); ++strength)
    if (!paths[strength].empty())
      fmt::format_to(std::back_inserter(out), "<path class=\"{} o{}\" d=\"{}\"/>", how.css_class,
                     strength, paths[strength]);
}

void LanePainter::paint(std::string& out, std::span<const LaneKind> kinds) {
  for (size_t kind = 0; kind < used_.size(); ++kind)
    if (used_[kind]) paint_kind(out, kinds[kind], kind);
  std::ranges::fill(shares_, 0.0f);
  std::ranges::fill(used_, 0);
}

}  // namespace sonde
