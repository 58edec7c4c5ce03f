#include "tui/models/listing_view.h"

#include <gtest/gtest.h>

#include "tui/pages/listing_page.h"

namespace sonde::tui {
namespace {

using view::ListingFlow;
using view::ListingKind;

/// A loop: its last instruction jumps to its second.
view::Listing listing() {
  view::Listing made;
  made.function = "spin";
  made.object = "program";
  made.events_name = "cycles";
  made.events = {{.name = "cycles", .function = {10, 100}, .recording = {20, 400}}};
  auto add = [&](ListingKind kind, uint64_t address, std::string text, uint64_t samples) {
    view::ListingLine line;
    line.kind = kind;
    line.address = address;
    line.text = std::move(text);
    made.lines.push_back(line);
    made.hits.push_back({samples, samples * 10});
  };
  add(ListingKind::kSource, 0, "for (;;)", 0);
  add(ListingKind::kInstruction, 0x10, "xor %eax,%eax", 1);
  add(ListingKind::kSource, 0, "++i;", 0);
  add(ListingKind::kInstruction, 0x12, "inc %eax", 7);
  add(ListingKind::kInstruction, 0x14, "jmp 12", 2);
  made.lines.back().flow = ListingFlow::kJump;
  made.lines.back().target = 0x12;
  return made;
}

TEST(ListingView, HottestInstructionsInTurn) {
  view::Listing code = listing();
  ListingView view(code, view::ListingPercent::kLocalPeriod);
  EXPECT_TRUE(view.to_hot(1));
  EXPECT_EQ(view.cursor(), 3u);
  EXPECT_DOUBLE_EQ(view.percent(3, 0), 70.0);
  view.to_hot(1);
  EXPECT_EQ(view.cursor(), 4u);
  view.to_hot(-1);
  EXPECT_EQ(view.cursor(), 3u);
}

TEST(ListingView, JumpsAreFollowedAndGoneBack) {
  view::Listing code = listing();
  ListingView view(code, view::ListingPercent::kLocalPeriod);
  EXPECT_FALSE(view.follow());
  view.to(SIZE_MAX);
  EXPECT_TRUE(view.follow());
  EXPECT_EQ(view.cursor(), 3u);
  EXPECT_TRUE(view.back());
  EXPECT_EQ(view.cursor(), 4u);
  EXPECT_FALSE(view.back());
}

TEST(ListingView, WithoutSourceTheCursorStaysAtItsInstruction) {
  view::Listing code = listing();
  ListingView view(code, view::ListingPercent::kLocalPeriod);
  view.to(3);
  view.show_source(false);
  EXPECT_EQ(view.lines().size(), 3u);
  EXPECT_EQ(view.lines()[view.cursor()], 3u);
}

TEST(ListingView, PercentagesOfAllWhereTheTypeSaysSo) {
  view::Listing code = listing();
  ListingView view(code, view::ListingPercent::kLocalPeriod);
  view.next_percent_type();
  view.next_percent_type();
  EXPECT_EQ(view.percent_type(), view::ListingPercent::kGlobalPeriod);
  EXPECT_DOUBLE_EQ(view.percent(3, 0), 17.5);
}

TEST(ListingView, NothingToShow) {
  view::Listing code;
  ListingView view(code, view::ListingPercent::kLocalPeriod);
  view.move(1);
  EXPECT_FALSE(view.to_hot(1));
  EXPECT_FALSE(view.follow());
  EXPECT_FALSE(view.search({}, 1));
}

TEST(ListingPage, AnArrowGoesFromTheJumpToItsTarget) {
  Theme theme = Theme::of(ColorDepth::kNone);
  ListingPage page(theme, listing(), view::ListingPercent::kLocalPeriod, true, nullptr);
  Pages pages;
  Grid grid(9, 40);
  page.draw(grid);
  EXPECT_EQ(page.view().cursor(), 3u);  // the hottest
  page.on_key({Key::Kind::kEnd}, pages);
  page.draw(grid);
  EXPECT_EQ(grid.row_text(5), "  70.00  ┌→ 12:   inc %eax");
  EXPECT_EQ(grid.row_text(6), "  20.00  └─ 14:   jmp 12");
}

/// Types that the test supplies to the page.
struct FoundByTest final : TypesOfListing {
  explicit FoundByTest(int& times_asked, std::optional<Found>& what)
      : asked(times_asked), found(what) {}
  void ask(const view::Listing& /*listing*/, const Wake& /*wake*/) override { ++asked; }
  std::optional<Found> take() override { return std::exchange(found, std::nullopt); }
  int& asked;
  std::optional<Found>& found;
};

TEST(ListingPage, TypesStandBehindInstructionsWhenTheyAreAskedFor) {
  Theme theme = Theme::of(ColorDepth::kNone);
  int asked = 0;
  std::optional<TypesOfListing::Found> found;
  ListingPage page(theme, listing(), view::ListingPercent::kLocalPeriod, true,
                   std::make_unique<FoundByTest>(asked, found));
  Pages pages;
  Grid grid(9, 70);
  page.draw(grid);
  EXPECT_EQ(grid.row_text(5), "  70.00     12:   inc %eax");
  page.on_key(Key::of('T'), pages);
  page.on_wake(pages);  // rung by something else
  page.on_key(Key::of('T'), pages);
  Grid waiting(9, 70);
  page.draw(waiting);
  EXPECT_EQ(waiting.row_text(5), "  70.00     12:   inc %eax");
  EXPECT_EQ(waiting.row_text(8).substr(0, 18), " looking for types");
  found.emplace();
  found->of_lines = {"", "", "", "struct node +0x8 (next)"};
  page.on_wake(pages);
  Grid typed(9, 70);
  page.draw(typed);
  EXPECT_EQ(typed.row_text(5), "  70.00     12:   inc %eax  # struct node +0x8 (next)");
  page.on_key(Key::of('T'), pages);
  Grid plain(9, 70);
  page.draw(plain);
  EXPECT_EQ(plain.row_text(5), "  70.00     12:   inc %eax");
  page.on_key(Key::of('T'), pages);
  EXPECT_EQ(asked, 1);
}

TEST(ListingPage, SaysWhyThereAreNoTypes) {
  Theme theme = Theme::of(ColorDepth::kNone);
  int asked = 0;
  std::optional<TypesOfListing::Found> found;
  Pages pages;
  auto made = std::make_unique<ListingPage>(theme, listing(), view::ListingPercent::kLocalPeriod,
                                            true, std::make_unique<FoundByTest>(asked, found));
  pages.push(std::move(made));
  pages.on_key(Key::of('T'));
  found.emplace();
  found->why_none = "stripped: there is no debug information";
  pages.on_wake();
  EXPECT_EQ(pages.draw(9, 70).row_text(8), " stripped: there is no debug information");
  pages.on_key(Key::of('T'));
  EXPECT_EQ(pages.draw(9, 70).row_text(8), " stripped: there is no debug information");
  EXPECT_EQ(asked, 1);
}

}  // namespace
}  // namespace sonde::tui
