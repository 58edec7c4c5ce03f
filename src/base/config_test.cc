#include "base/config.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

Config parsed(std::string_view text) {
  Config config;
  Result<> result = config.parse(text, "perfconfig");
  EXPECT_TRUE(result) << result.error().message;
  return config;
}

std::string error_of(std::string_view text) {
  Config config;
  Result<> result = config.parse(text, "perfconfig");
  return result ? "" : result.error().message;
}

TEST(Config, ReadsSectionsKeysAndComments) {
  Config config = parsed(
      "# a comment\n[call-graph]\n\trecord-mode = dwarf ; here too\n  Threshold=0.5\n\n[Report] "
      "percent-limit = 3\n");
  EXPECT_EQ(config.get("call-graph.record-mode"), "dwarf");
  EXPECT_EQ(config.get("call-graph.threshold"), "0.5");
  EXPECT_EQ(config.get("report.percent-limit"), "3");
  EXPECT_EQ(config.get("report.children"), std::nullopt);
}

TEST(Config, ReadsQuotesEscapesAndContinuedLines) {
  Config config =
      parsed("[a]\nquoted = \" x # y \"  \nescaped = a\\\\b\\tc\nlong = one \\\n  two\nbare\n");
  EXPECT_EQ(config.get("a.quoted"), " x # y ");
  EXPECT_EQ(config.get("a.escaped"), "a\\b\tc");
  EXPECT_EQ(config.get("a.long"), "one   two");
  EXPECT_EQ(config.get("a.bare"), "true");
}

TEST(Config, WhatIsReadIsWrittenSoThatItReadsTheSame) {
  for (std::string_view value :
       {"a\rb", "a\vb", " a ", "a  b", "a\tb", "", "a\"b\\c", "#x", "\b"}) {
    Config config;
    config.set("a.x", value);
    EXPECT_EQ(parsed(config.to_text()).get("a.x"), value);
  }
  for (std::string_view section :
       {"[ \"x\"]", "[.a]", "[a b]", "[a=b]", "[a \"\x1b[2J\"]", "[a\t.b]"})
    EXPECT_NE(error_of(fmt::format("{}\nx = 1\n", section)), "") << section;
}

TEST(Config, AFileOfEndlessSettingsIsRefused) {
  std::string text = "[a]\n";
  for (int i = 0; i < 5000; ++i) text += fmt::format("x{}=1\n", i);
  EXPECT_EQ(error_of(text), "perfconfig:4098: more than 4096 settings: leave some out");
}

TEST(Config, SubsectionsKeepTheirCase) {
  Config config = parsed("[Session \"Big One\"]\nrun = -a\n");
  EXPECT_EQ(config.get("session.Big One.run"), "-a");
}

TEST(Config, LaterSettingsWinInPlace) {
  Config config = parsed("[a]\nx = 1\ny = 2\nx = 3\n");
  ASSERT_EQ(config.entries().size(), 2u);
  EXPECT_EQ(config.entries()[0].name, "a.x");
  EXPECT_EQ(config.entries()[0].value, "3");
}

TEST(Config, ErrorsNameFileAndLine) {
  EXPECT_EQ(error_of("[a]\nx = 1\n= 2\n"),
            "perfconfig:3: neither a [section] nor a `key = value` line");
  EXPECT_NE(error_of("x = 1\n"), "");
  EXPECT_NE(error_of("[a\nx = 1\n"), "");
  EXPECT_NE(error_of("[a]\nx = \"open\n"), "");
  EXPECT_NE(error_of("[a]\nx y\n"), "");
}

TEST(Config, BooleansInGitsWords) {
  Config config = parsed("[a]\nyes = on\nno = off\nbad = maybe\n");
  EXPECT_TRUE(config.get_bool("a.yes", false).value());
  EXPECT_FALSE(config.get_bool("a.no", true).value());
  EXPECT_TRUE(config.get_bool("a.absent", true).value());
  EXPECT_FALSE(config.get_bool("a.bad", true).has_value());
}

TEST(Config, WhatIsWrittenReadsTheSame) {
  Config config;
  config.set("report.sort", "comm,dso");
  config.set("session.Big One.run", " -a # all \"x\" \\ \n");
  config.set("report.children", "false");
  Config again = parsed(config.to_text());
  ASSERT_EQ(again.entries().size(), 3u);
  for (const Config::Entry& entry : config.entries())
    EXPECT_EQ(again.get(entry.name), entry.value) << entry.name;
}

}  // namespace
}  // namespace sonde
