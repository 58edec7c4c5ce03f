#include "cli/flag_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A table with one flag of each kind, and what the last parse wrote.
struct Sample {
  bool samples = false;
  bool stdio = false;
  bool no_buildid = false;
  bool no_buildid_cache = false;
  int verbose = 0;
  int frequency = 0;
  uint32_t pages = 0;
  std::string input = "perf.data";
  std::string graph;
  std::string level;
  std::vector<std::string> calls;
  FlagTable table;

  Sample() {
    table.boolean('n', "show-nr-samples", samples, "");
    table.boolean(0, "stdio", stdio, "");
    table.boolean('B', "no-buildid", no_buildid, "");
    table.boolean('N', "no-buildid-cache", no_buildid_cache, "");
    table.count('v', "verbose", verbose, "");
    table.number('F', "freq", frequency, "freq", "");
    table.number('m', "pages", pages, "pages", "");
    table.text('i', "input", input, "file", "");
    table.text('g', "call-graph", graph, "mode", "").when_last("graph");
    table.text('z', "compression-level", level, "n", "").when_bare("1");
    table.call('e', "event", "event", "", [this](std::string_view v) -> Result<> {
      if (v == "bad") return fail(ErrorCode::kBadEvent, "event syntax error: 'bad'");
      calls.push_back("-e " + std::string(v));
      return {};
    });
    table.call(0, "filter", "filter", "", [this](std::string_view v) -> Result<> {
      calls.push_back("--filter " + std::string(v));
      return {};
    });
  }

  ParseOutcome parse(std::vector<std::string> words) { return parse_flags(table, words); }
  std::vector<std::string> rest(std::vector<std::string> words) {
    ParseOutcome outcome = parse(std::move(words));
    if (auto* bad = std::get_if<BadFlags>(&outcome)) return {"BAD:" + bad->message};
    return std::get<Arguments>(outcome).words;
  }
  std::string refusal(std::vector<std::string> words) {
    ParseOutcome outcome = parse(std::move(words));
    auto* bad = std::get_if<BadFlags>(&outcome);
    return bad ? bad->message : "accepted";
  }
};

TEST(FlagParser, BundlesEndWithAValueFromTheRestOrTheNextWord) {
  Sample s;
  EXPECT_THAT(s.rest({"-nvvF99", "ls"}), ElementsAre("ls"));
  EXPECT_TRUE(s.samples);
  EXPECT_EQ(s.verbose, 2);
  EXPECT_EQ(s.frequency, 99);
  EXPECT_THAT(s.rest({"-ni", "other.data"}), IsEmpty());
  EXPECT_EQ(s.input, "other.data");
}

TEST(FlagParser, LongNamesTakeValuesBehindEqualsOrInTheNextWord) {
  Sample s;
  EXPECT_THAT(s.rest({"--freq=7", "--input", "-"}), IsEmpty());
  EXPECT_EQ(s.frequency, 7);
  EXPECT_EQ(s.input, "-");
}

TEST(FlagParser, AUniqueBeginningNamesAFlag) {
  Sample s;
  EXPECT_THAT(s.rest({"--fr", "8", "--std"}), IsEmpty());
  EXPECT_EQ(s.frequency, 8);
  EXPECT_TRUE(s.stdio);
  EXPECT_EQ(s.refusal({"--s"}),
            " Error: Ambiguous option: s (could be --show-nr-samples or --stdio)\n");
}

TEST(FlagParser, NegationOfPlainNames) {
  Sample s;
  EXPECT_THAT(s.rest({"-n", "-v", "--no-show-nr-samples", "--no-verbose", "--no-input"}),
              IsEmpty());
  EXPECT_FALSE(s.samples);
  EXPECT_EQ(s.verbose, 0);
  EXPECT_EQ(s.input, "");
}

TEST(FlagParser, NamesThatBeginWithNoAreNegatedBothWays) {
  Sample s;
  s.rest({"--no-buildid"});
  EXPECT_TRUE(s.no_buildid);
  EXPECT_FALSE(s.no_buildid_cache);
  s.rest({"--no-no-buildid"});
  EXPECT_FALSE(s.no_buildid);
  s.no_buildid = true;
  s.rest({"--buildid"});
  EXPECT_FALSE(s.no_buildid);
}

TEST(FlagParser, ValuesThatOnlyAttach) {
  Sample s;
  EXPECT_THAT(s.rest({"-z", "3"}), ElementsAre("3"));
  EXPECT_EQ(s.level, "1");
  s.rest({"-z4"});
  EXPECT_EQ(s.level, "4");
  s.rest({"--compression-level=5"});
  EXPECT_EQ(s.level, "5");
}

TEST(FlagParser, ReportsCallGraphTakesTheNextWordUnlessThatIsAFlag) {
  Sample s;
  EXPECT_THAT(s.rest({"-g", "fractal", "x"}), ElementsAre("x"));
  EXPECT_EQ(s.graph, "fractal");
  s.rest({"-g", "-n"});
  EXPECT_EQ(s.graph, "graph");
  s.rest({"--call-graph=none", "-g"});
  EXPECT_EQ(s.graph, "graph");
}

TEST(FlagParser, CallbacksRunInTheOrderOfTheCommandLine) {
  Sample s;
  s.rest({"-e", "a", "--filter", "x", "--event=b", "--filter=y"});
  EXPECT_THAT(s.calls, ElementsAre("-e a", "--filter x", "-e b", "--filter y"));
}

TEST(FlagParser, FlagsMayFollowWordsUnlessTheTableStops) {
  Sample s;
  EXPECT_THAT(s.rest({"one", "-n", "-", "two"}), ElementsAre("one", "-", "two"));
  EXPECT_TRUE(s.samples);
  Sample stops;
  stops.table.stop_at_first_word();
  EXPECT_THAT(stops.rest({"-v", "ls", "-n"}), ElementsAre("ls", "-n"));
  EXPECT_FALSE(stops.samples);
}

TEST(FlagParser, TwoDashesEndTheFlags) {
  Sample s;
  ParseOutcome outcome = s.parse({"-v", "--", "-n"});
  EXPECT_THAT(std::get<Arguments>(outcome).words, ElementsAre("-n"));
  EXPECT_TRUE(std::get<Arguments>(outcome).after_dashes);
  EXPECT_EQ(std::get<Arguments>(outcome).before_dashes, 0u);
}

TEST(FlagParser, WordsBeforeTwoDashesAreCounted) {
  Sample s;
  ParseOutcome outcome = s.parse({"a", "-v", "b", "--", "ls", "-n"});
  EXPECT_THAT(std::get<Arguments>(outcome).words, ElementsAre("a", "b", "ls", "-n"));
  EXPECT_EQ(std::get<Arguments>(outcome).before_dashes, 2u);
  outcome = s.parse({"a", "b"});
  EXPECT_EQ(std::get<Arguments>(outcome).before_dashes, 2u);
}

TEST(FlagParser, SaysWhatIsWrongAsPerfDoes) {
  Sample s;
  EXPECT_EQ(s.refusal({"-vQ"}), "  Error: unknown switch `Q'\n");
  EXPECT_EQ(s.refusal({"--nope=1"}), "  Error: unknown option `nope=1'\n");
  EXPECT_EQ(s.refusal({"-F"}), " Error: switch `F' requires a value");
  EXPECT_EQ(s.refusal({"--freq", "fast"}), " Error: option `freq' expects a numerical value");
  EXPECT_EQ(s.refusal({"-m", "-1"}), " Error: switch `m' expects an unsigned numerical value");
  EXPECT_EQ(s.refusal({"-F", "99999999999"}), " Error: switch `F' expects a numerical value");
  EXPECT_EQ(s.refusal({"--stdio=1"}), " Error: option `stdio' takes no value");
  EXPECT_EQ(s.refusal({"-verbose"}), " Error: did you mean `--verbose` (with two dashes ?)\n");
}

TEST(FlagParser, AValueThatACallbackRefusesEndsParsingWithItsError) {
  Sample s;
  ParseOutcome outcome = s.parse({"-e", "bad", "-n"});
  EXPECT_EQ(std::get<Error>(outcome).code, ErrorCode::kBadEvent);
  EXPECT_FALSE(s.samples);
}

TEST(FlagParser, FlagsWithoutNegationDontHaveIt) {
  Sample s;
  EXPECT_EQ(s.refusal({"--no-event"}), "  Error: unknown option `no-event'\n");
}

TEST(FlagParser, HelpAndListsAreAskedForFromAnyPlace) {
  Sample s;
  ParseOutcome outcome = s.parse({"-n", "-h", "sort", "-F"});
  EXPECT_THAT(std::get<HelpWanted>(outcome).words, ElementsAre("sort", "-F"));
  EXPECT_TRUE(std::holds_alternative<ManWanted>(s.parse({"--help"})));
  EXPECT_TRUE(std::holds_alternative<ListFlagsWanted>(s.parse({"--list-opts"})));
  EXPECT_TRUE(std::holds_alternative<ListCommandsWanted>(s.parse({"--list-cmds"})));
}

TEST(FlagParser, UnknownFlagsStayWhereTheTableKeepsThem) {
  Sample s;
  s.table.keep_unknown();
  EXPECT_THAT(s.rest({"-x", "-n", "--why=not"}), ElementsAre("-x", "--why=not"));
  EXPECT_TRUE(s.samples);
}

}  // namespace
}  // namespace sonde
