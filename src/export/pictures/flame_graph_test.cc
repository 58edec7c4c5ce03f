#include "export/pictures/flame_graph.h"

#include <gtest/gtest.h>

#include "export/pictures/flame_files.h"
#include "export/pictures/flame_layout.h"
#include "export/pictures/flame_svg.h"
#include "stacks/folded_reader.h"

namespace sonde {
namespace {

StackProfile folded(std::string_view text, bool keep_order = false) {
  LossLedger losses;
  return std::move(*read_folded(text, "test", losses, {.keep_order = keep_order}));
}

std::string spans_text(const StackProfile& profile, const std::vector<FlameSpan>& spans) {
  std::string text;
  for (const FlameSpan& span : spans)
    text +=
        fmt::format("{}{} {}+{}\n", std::string(span.depth, ' '),
                    span.node.valid() ? profile.name_of(span.node) : "all", span.start, span.total);
  return text;
}

std::string graph_text(std::string_view text, double least = 0) {
  StackProfile profile = folded(text);
  return spans_text(profile, lay_out_flame_graph(profile, totals_of(profile, 0),
                                                 total_of(profile.columns[0]), least));
}

TEST(FlameLayout, SiblingsByNameAfterWhatIsTheirParentsOwn) {
  EXPECT_EQ(graph_text("m 1\nm;b 5\nm;a;x 3\n"),
            "all 0+9\n"
            " m 0+9\n"
            "  a 1+3\n"
            "   x 1+3\n"
            "  b 4+5\n");
}

TEST(FlameLayout, NamesSortAsLinesOfFoldedStacks) {
  // "f.a" sorts before "f;…" and after "f 1".
  EXPECT_EQ(graph_text("f;x 1\nf.a 1\n"), "all 0+2\n f.a 0+1\n f 1+1\n  x 1+1\n");
  EXPECT_EQ(graph_text("f 1\nf.a 1\n"), "all 0+2\n f 0+1\n f.a 1+1\n");
}

TEST(FlameLayout, WhatIsNarrowLeavesItsPlaceEmpty) {
  EXPECT_EQ(graph_text("m;a 1\nm;b 9\nm;c 0\n", 2), "all 0+10\n m 0+10\n  b 1+9\n");
}

TEST(FlameLayout, DeepStacks) {
  std::string line = "r";
  for (int i = 0; i < 100'000; ++i) line += ";f";
  StackProfile profile = folded(line + " 1\n");
  auto spans = lay_out_flame_graph(profile, totals_of(profile, 0), 1, 0);
  EXPECT_EQ(spans.size(), 100002u);
  EXPECT_EQ(spans.back().depth, 100001u);
}

TEST(FlameLayout, ChartsFollowTheOrderOfTheSamples) {
  StackProfile profile = folded("m;b 1\nm;a 2\nm 3\nm;b 1\nn 1\nm;b 1\n", true);
  EXPECT_EQ(spans_text(profile, lay_out_flame_chart(profile, 0, 9, 0)),
            "all 0+9\n"
            " m 0+7\n"
            "  b 0+1\n"
            "  a 1+2\n"
            "  b 6+1\n"
            " n 7+1\n"
            " m 8+1\n"
            "  b 8+1\n");
  EXPECT_EQ(spans_text(profile, lay_out_flame_chart(profile, 0, 9, 2)),
            "all 0+9\n m 0+7\n  a 1+2\n");
}

TEST(FlameLayout, WakersStandBeyondADivider) {
  StackProfile profile = folded("m;wait;--;w 1\n");
  auto spans = lay_out_flame_graph(profile, totals_of(profile, 0), 1, 0);
  std::vector<bool> is_waker;
  for (const FlameSpan& span : spans) is_waker.push_back(span.is_waker);
  EXPECT_EQ(is_waker, (std::vector<bool>{false, false, false, true, true}));
}

TEST(FlameColors, PalettesTellKindsOfCodeApart) {
  auto color = [](FlamePalette palette, std::string_view name, FrameKind kind) {
    return FlameColors(palette).color_of(name, kind);
  };
  auto same_hue = [&](FlamePalette palette, std::string_view name, FrameKind kind,
                      FlamePalette hue) {
    return color(palette, name, kind) == color(hue, name, FrameKind::kUser);
  };
  using enum FlamePalette;
  EXPECT_TRUE(same_hue(kRust, "core::iter::next", FrameKind::kUser, kAqua));
  EXPECT_TRUE(
      same_hue(kRust, "<alloc::vec::Vec<T> as core::ops::Drop>::drop", FrameKind::kUser, kAqua));
  EXPECT_TRUE(same_hue(kRust, "app::main", FrameKind::kUser, kRed));
  EXPECT_TRUE(same_hue(kRust, "memcpy", FrameKind::kUser, kYellow));
  EXPECT_TRUE(same_hue(kRust, "read", FrameKind::kKernel, kOrange));
  EXPECT_TRUE(same_hue(kPython, "py::work:/srv/app.py", FrameKind::kJit, kGreen));
  EXPECT_TRUE(
      same_hue(kPython, "py::loads:/usr/lib/python3.11/json/__init__.py", FrameKind::kJit, kAqua));
  EXPECT_TRUE(same_hue(kPython, "_PyEval_EvalFrameDefault", FrameKind::kUser, kYellow));
  EXPECT_TRUE(same_hue(kJs, "LazyCompile:~f /srv/app.js:1", FrameKind::kJit, kGreen));
  EXPECT_TRUE(same_hue(kPerl, "Perl_runops", FrameKind::kUser, kGreen));
  EXPECT_TRUE(same_hue(kChain, "wake", FrameKind::kWaker, kAqua));
  EXPECT_TRUE(same_hue(kChain, "wait", FrameKind::kUser, kBlue));
}

TEST(FlameColors, EveryPaletteHasAName) {
  for (std::string_view name : flame_palette_names()) EXPECT_TRUE(flame_palette_of(name)) << name;
  EXPECT_EQ(flame_palette_names().size(), 17u);
  EXPECT_FALSE(flame_palette_of("hotter"));
}

TEST(FlameColors, BackgroundsAreColorsOnly) {
  EXPECT_TRUE(flame_background("#123abc", FlamePalette::kHot));
  EXPECT_FALSE(flame_background("#12", FlamePalette::kHot));
  EXPECT_FALSE(flame_background("#\"><a/>", FlamePalette::kHot));
  EXPECT_EQ(flame_background("", FlamePalette::kMem)->lower, "#e0ffe0");
}

TEST(FlameColors, DifferencesAreRedAndBlue) {
  EXPECT_EQ(difference_color(0), (Rgb{255, 255, 255}));
  EXPECT_EQ(difference_color(1), (Rgb{255, 0, 0}));
  EXPECT_EQ(difference_color(-1), (Rgb{0, 0, 255}));
  EXPECT_EQ(difference_color(0.5), (Rgb{255, 105, 105}));
}

FlameBox box_named(const FlameBlock& block, std::string_view name) {
  for (const FlameBox& box : block.boxes)
    if (box.name == name) return box;
  ADD_FAILURE() << "no box of " << name;
  return {};
}

constexpr std::string_view kChanged = "m;a 4 6\nm;gone;x 3 0\nm;new 0 2\nm;same 2 2\n";

TEST(FlameDifference, NewAndElidedStacksAreMarked) {
  StackProfile profile = folded(kChanged);
  FlameOptions options;
  options.difference = FlameDifference{.marks = true};
  FlameGraph graph = make_flame_graph(profile, 1, options);
  ASSERT_EQ(graph.blocks.size(), 2u);
  const FlameBlock& after = graph.blocks[0];
  EXPECT_EQ(box_named(after, "a").fill, css(difference_color(2.0 / 3)));
  EXPECT_EQ(box_named(after, "new").mark, FlameMark::kOnlyHere);
  EXPECT_EQ(box_named(after, "new").details,
            " (2 samples, 20.00%; +20.00% by itself, +20.00% in all; new)");
  EXPECT_EQ(box_named(after, "same").mark, FlameMark::kNone);
  const FlameBlock& elided = graph.blocks[1];
  EXPECT_EQ(elided.heading, "Elided: stacks that were there only before: 3 samples, 30.00%");
  EXPECT_EQ(box_named(elided, "x").mark, FlameMark::kRemainder);
  EXPECT_EQ(box_named(elided, "x").fill, css(difference_color(-1)));
  EXPECT_TRUE(box_named(elided, "x").is_dark) << "its text is white on blue";
  EXPECT_FALSE(box_named(elided, "m").is_dark);
  EXPECT_EQ(box_named(elided, "m").total, 3);
  EXPECT_GT(graph.height, elided.boxes[0].rect.y);
}

TEST(FlameDifference, TheReverseViewHasTheShapeOfBefore) {
  StackProfile profile = folded(kChanged);
  FlameOptions options;
  options.difference =
      FlameDifference{.shape = 0, .other = 1, .later_is_shape = false, .marks = true};
  FlameGraph graph = make_flame_graph(profile, 0, options);
  ASSERT_EQ(graph.blocks.size(), 2u);
  EXPECT_EQ(box_named(graph.blocks[0], "gone").total, 3);
  EXPECT_EQ(box_named(graph.blocks[0], "gone").details,
            " (3 samples, 33.33%; 0.00% by itself, -33.33% in all; gone)");
  EXPECT_EQ(box_named(graph.blocks[0], "a").fill, css(difference_color(2.0 / 3)))
      << "more is red in both views";
  EXPECT_TRUE(graph.blocks[1].heading.starts_with("New: "));
  EXPECT_EQ(box_named(graph.blocks[1], "new").total, 2);
}

std::string svg_of(std::string_view text, FlameOptions options = {}) {
  StackProfile profile = folded(text);
  FlameGraph graph = make_flame_graph(profile, 0, options);
  StringSink sink;
  write_flame_svg(sink, graph, options);
  return sink.text();
}

TEST(FlameSvg, HostileTextsStayTexts) {
  FlameOptions options;
  options.title = "</text><script>alert(1)</script>";
  options.subtitle = "\"><&'";
  options.notes = "--> <script>";
  options.font_family = "x\"; } * { display: none";
  options.name_type = "\" onload=\"alert(1)";
  std::string svg = svg_of("a<script>alert(1)</script>;]]><b>\x01\xff 3\n", options);
  EXPECT_EQ(svg.find("<script>"), std::string::npos);
  EXPECT_EQ(svg.find("<b>"), std::string::npos);
  EXPECT_EQ(svg.find(" onload=\""), std::string::npos);
  EXPECT_EQ(svg.find("--> &lt;"), std::string::npos) << "a comment does not end early";
  EXPECT_EQ(svg.find('\x01'), std::string::npos);
  EXPECT_EQ(svg.find("; } *"), std::string::npos);
  EXPECT_NE(svg.find("a&lt;script&gt;alert(1)&lt;/script&gt; (3 samples, 100.00%)"),
            std::string::npos);
}

TEST(FlameSvg, ThePictureNamesNoOtherPlace) {
  std::string svg = svg_of("m 1\n");
  for (size_t at = svg.find("://"); at != std::string::npos; at = svg.find("://", at + 1))
    EXPECT_TRUE(std::string_view(svg).substr(0, at + 10).ends_with("http://www.w3.")) << at;
}

TEST(FlameSvg, AttributesAndLinks) {
  auto attributes = parse_name_attributes(
      "m\thref=https://example.org/?a=1&b=2\tclass=c\tg_extra=data-a=\"1\" data-b='\"'\ttitle=The "
      "<m>\n",
      "attributes");
  ASSERT_TRUE(attributes);
  FlameOptions options;
  options.attributes = *attributes;
  std::string svg = svg_of("m_[k] 1\n", options);
  EXPECT_NE(svg.find("<a href=\"https://example.org/?a=1&amp;b=2\" target=\"_top\">"),
            std::string::npos);
  EXPECT_NE(svg.find(" class=\"c\" data-a=\"1\" data-b=\"&quot;\"><title>The &lt;m&gt;</title>"),
            std::string::npos);
  auto bad = parse_name_attributes("m\tclass=c\n\nn\tonload=x\n", "attributes");
  ASSERT_FALSE(bad);
  EXPECT_TRUE(bad.error().message.starts_with("attributes:3: 'onload=x'")) << bad.error().message;
  EXPECT_FALSE(parse_name_attributes("m\tg_extra=><script>\n", "attributes"));
}

TEST(FlameFiles, KeptColors) {
  FlameColorMap kept = *parse_color_map("a->b->rgb(1,2,3)\nm->#aabbcc\n", "map");
  EXPECT_EQ(kept.at("a->b"), "rgb(1,2,3)");
  EXPECT_EQ(color_map_text(kept), "a->b->rgb(1,2,3)\nm->#aabbcc\n");
  EXPECT_FALSE(parse_color_map("m->\"/><script>\n", "map"));
  EXPECT_FALSE(parse_color_map("m->rgb(1,2,300)\n", "map"));
  FlameOptions options;
  options.kept_colors = &kept;
  std::string svg = svg_of("m;n 1\n", options);
  EXPECT_NE(svg.find("fill=\"#aabbcc\""), std::string::npos);
  EXPECT_TRUE(kept.contains("n")) << "new names are added";
}

TEST(FlameSvg, Encodings) {
  for (const char* good : {"UTF-8", "utf-8", "ISO-8859-1", "windows-1252", "KOI8-R", "US-ASCII"})
    EXPECT_TRUE(is_flame_encoding(good)) << good;
  for (const char* bad : {"", "UTF-7", "UTF-16", "ISO-8859-1\"?>", "Shift_JIS"})
    EXPECT_FALSE(is_flame_encoding(bad)) << bad;
  FlameOptions options;
  options.encoding = "ISO-8859-1";
  EXPECT_NE(svg_of("gr\xf6\xdf"
                   "e 1\n",
                   options)
                .find("gr\xf6\xdf"
                      "e (1 samples"),
            std::string::npos);
}

}  // namespace
}  // namespace sonde
