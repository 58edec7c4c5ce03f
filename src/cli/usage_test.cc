#include "cli/usage.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

FlagTable sample_table(bool& field, std::string& text) {
  FlagTable table;
  table.usage("[<options>]").usage("[<options>] -- <command>");
  table.boolean('f', "force", field, "don't complain, do it");
  table.text('F', "fields", text, "key[,keys...]", "output field(s)");
  table.boolean('n', "show-nr-samples", field, "Show a column");
  table.boolean(0, "stdio", field, "Use the stdio interface");
  table.text(0, "itrace", text, "opts", "Instruction Tracing options").when_bare("i");
  table.boolean(0, "secret", field, "not shown").hidden();
  return table;
}

std::string usage(const std::vector<std::string>& words) {
  bool field = false;
  std::string text;
  StringSink out;
  print_usage(out, "perf", "report", sample_table(field, text), words);
  return out.text();
}

TEST(Usage, SortsByLetterAndThenByName) {
  EXPECT_EQ(usage({}), R"(
 Usage: perf report [<options>]
    or: perf report [<options>] -- <command>

    -F, --fields <key[,keys...]>
                          output field(s)
    -f, --force           don't complain, do it
    -n, --show-nr-samples
                          Show a column
        --itrace[=<opts>]
                          Instruction Tracing options
        --stdio           Use the stdio interface

)");
}

TEST(Usage, HelpNamesTheToolAsItWasStarted) {
  FlagTable table;
  std::string event;
  table.text('e', "event", event, "event", "use 'perf list' to list events, as perf does");
  for (std::string_view tool : {"perf", "sonde"}) {
    StringSink out;
    print_usage(out, tool, "record", table);
    std::string help = fmt::format("use '{} list' to list events, as perf does", tool);
    EXPECT_NE(out.text().find(help), std::string::npos) << out.text();
  }
}

TEST(Usage, WordsChooseByNameLetterAndHelpText) {
  EXPECT_NE(usage({"interface"}).find("--stdio"), std::string::npos);
  EXPECT_EQ(usage({"interface"}).find("--force"), std::string::npos);
  EXPECT_NE(usage({"-f"}).find("--force"), std::string::npos);
  EXPECT_EQ(usage({"-f"}).find("--fields"), std::string::npos);
  EXPECT_NE(usage({"--itrace"}).find("--itrace"), std::string::npos);
  EXPECT_NE(usage({"TRACING"}).find("--itrace"), std::string::npos);
  EXPECT_EQ(usage({"shown"}).find("--secret"), std::string::npos);
}

}  // namespace
}  // namespace sonde
