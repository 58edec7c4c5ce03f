#include "export/pictures/lane_painter.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

constexpr LaneKind kKinds[] = {{"run", 0, 10}, {"wait", 3, 4}};

TEST(LanePainter, StretchesThatFillPixelsAreOneRectangle) {
  LanePainter painter(10, 1000, 2000, 2);
  painter.add(0, 1000, 1150);
  painter.add(0, 1150, 1300);
  std::string out;
  painter.paint(out, kKinds);
  EXPECT_EQ(out, "<path class=\"run o4\" d=\"M0 0h3v10h-3z\"/>");
  out.clear();
  painter.paint(out, kKinds);
  EXPECT_EQ(out, "");  // the painter was reset
}

TEST(LanePainter, StrengthIsTheShareOfAPixel) {
  LanePainter painter(10, 0, 1000, 2);
  painter.add(0, 500, 550);
  painter.add(1, 550, 551);
  std::string out;
  painter.paint(out, kKinds);
  EXPECT_EQ(out,
            "<path class=\"run o2\" d=\"M5 0h1v10h-1z\"/>"
            "<path class=\"wait o1\" d=\"M5 3h1v4h-1z\"/>");
}

TEST(LanePainter, WhatTakesNoTimeIsSeenAndWhatLiesOutsideIsCut) {
  LanePainter painter(10, 1000, 2000, 1);
  painter.add(0, 2000, 2000);
  painter.add(0, 0, 500);
  painter.add(0, 900, 1100);
  std::string out;
  painter.paint(out, kKinds);
  EXPECT_EQ(out,
            "<path class=\"run o1\" d=\"M9 0h1v10h-1z\"/>"
            "<path class=\"run o4\" d=\"M0 0h1v10h-1z\"/>");
}

}  // namespace
}  // namespace sonde
