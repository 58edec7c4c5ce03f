#include "python/script_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::python {
namespace {

using testing::HasSubstr;
using testing::Not;

TracepointFormat format_of(std::string_view fields, std::string_view print_fmt) {
  std::string text =
      "name: demo\nID: 7\nformat:\n"
      "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n";
  text += fields;
  text += "\nprint fmt: ";
  text += print_fmt;
  text += "\n";
  return TracepointFormat::parse(text, "sys").value();
}

TEST(ScriptTemplate, HasAHandlerPerTracepoint) {
  TracepointFormat format = format_of(
      "\tfield:int id;\toffset:8;\tsize:4;\tsigned:1;\n"
      "\tfield:int from;\toffset:12;\tsize:4;\tsigned:1;\n",
      R"("%s", __print_flags(REC->id, "|", {1, "ONE"}))");
  std::string text = script_template({&format}, false);
  EXPECT_THAT(text, HasSubstr("def sys__demo(event_name, context, common_cpu,"));
  EXPECT_THAT(text, HasSubstr("flag_str(\"sys__demo\", \"id\", id)"));
  // `from` is a word of the language.
  EXPECT_THAT(text, HasSubstr("from=%s"));
  EXPECT_THAT(text, HasSubstr(" from_,))"));
  EXPECT_THAT(text, Not(HasSubstr("process_event")));
}

TEST(ScriptTemplate, HandlesEventsWithoutFields) {
  TracepointFormat format = format_of("", R"("%s", "x")");
  EXPECT_THAT(script_template({&format}, true), HasSubstr("    print()\n    print_callchain("));
  EXPECT_THAT(script_template({}, true), HasSubstr("def process_event(event):"));
}

}  // namespace
}  // namespace sonde::python
