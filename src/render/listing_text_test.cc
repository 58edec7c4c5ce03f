#include "render/listing_text.h"

#include <gtest/gtest.h>

namespace sonde::render {
namespace {

view::Listing listing() {
  view::Listing made;
  made.object = "work";
  made.events_name = "cycles";
  made.events = {{"cycles", {4, 400}, {8, 1600}}};
  made.lines.resize(3);
  made.lines[0] = {.kind = view::ListingKind::kSource, .number = 7, .text = "x++;"};
  made.lines[1] = {.kind = view::ListingKind::kInstruction, .address = 0x1000, .text = "   nop"};
  made.lines[2] = {.kind = view::ListingKind::kInstruction, .address = 0x1001, .text = "   ret"};
  made.hits = {{0, 0}, {1, 300}, {3, 100}};
  return made;
}

std::string text_of(const ListingTextOptions& options) {
  StringSink out;
  write_listing(out, listing(), options);
  std::string text = out.text();
  return text.substr(text.find("--\n") + 3);
}

TEST(ListingText, LinesHaveThePartOfTheFunction) {
  EXPECT_EQ(text_of({}),
            "         : 7    x++;\n"
            "   75.00 :   1000:   nop\n"
            "   25.00 :   1001:   ret\n");
}

TEST(ListingText, OrOfTheRecordingInPeriodsOrSamples) {
  EXPECT_NE(text_of({.percent = view::ListingPercent::kLocalHits}).find("   25.00 :   1000:"),
            std::string::npos);
  EXPECT_NE(text_of({.percent = view::ListingPercent::kGlobalPeriod}).find("   18.75 :   1000:"),
            std::string::npos);
  EXPECT_NE(text_of({.percent = view::ListingPercent::kGlobalHits}).find("   37.50 :   1001:"),
            std::string::npos);
}

TEST(ListingText, CountsInsteadOfPercentages) {
  EXPECT_NE(text_of({.column = ListingColumn::kSamples}).find("       3 :   1001:"),
            std::string::npos);
  EXPECT_NE(text_of({.column = ListingColumn::kPeriod}).find("         300 :   1000:"),
            std::string::npos);
}

}  // namespace
}  // namespace sonde::render
