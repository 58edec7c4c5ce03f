#include "python/script_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "base/foreign/code_text.h"
#include "base/text.h"
#include "base/utf8.h"
#include "python/handler_names.h"

namespace sonde::python {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using namespace std::string_literals;

TracepointFormat format_of(std::string_view fields, std::string_view print_fmt,
                           std::string_view system = "sys", std::string_view name = "demo") {
  std::string text = fmt::format(
      "name: {}\nID: 7\nformat:\n"
      "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n",
      name);
  text += fields;
  text += "\nprint fmt: ";
  text += print_fmt;
  text += "\n";
  return TracepointFormat::parse(text, system).value();
}

/// The lines that python3 prints for a program that reads `input`.
std::vector<std::string> python_lines(const std::string& program, const std::string& input) {
  std::string path = testing::TempDir() + "script_template_test." + std::to_string(::getpid());
  std::ofstream(path, std::ios::binary) << input;
  std::string out;
  FILE* python = ::popen(fmt::format("python3 -I -c '{}' <{} 2>&1", program, path).c_str(), "r");
  for (int c = 0; python != nullptr && (c = std::fgetc(python)) != EOF;)
    out += static_cast<char>(c);
  if (python == nullptr || ::pclose(python) != 0) out += "python3 failed\n";
  std::remove(path.c_str());
  std::vector<std::string> lines;
  for (std::string_view line : split(out, '\n')) lines.emplace_back(line);
  lines.pop_back();
  return lines;
}

/// A script's statements: functions by name, of which one that has what no handler has is
/// "foreign".
constexpr const char* kStatements = R"py(
import ast, sys
OWN = {"trace_begin", "trace_end", "trace_unhandled", "print_header", "print_callchain", "fields_text"}
CALLED = {"print_header", "print", "print_callchain", "flag_str", "symbol_str"}
for node in ast.parse(sys.stdin.buffer.read()).body:
    if not isinstance(node, ast.FunctionDef):
        print(ast.unparse(node))
    elif node.name not in OWN:
        parts = list(ast.walk(node))
        calls = {part.func.id for part in parts if isinstance(part, ast.Call)}
        kinds = {type(part).__name__ for part in parts}
        known = {"FunctionDef", "arguments", "arg", "Expr", "Call", "Name", "Load", "Constant", "BinOp", "Mod", "Tuple"}
        print("foreign" if calls - CALLED or kinds - known else "def", node.name)
)py";

/// Texts that end a literal, a comment, a line or a list of parameters, if they are let.
const std::vector<std::string>& hostile_texts() {
  static const std::vector<std::string> texts = {
      "x(*a):0\rimport os;os.mkdir(chr(88))\rdef z",
      "\"",
      "'",
      "\"\"\"",
      "'''",
      "\\",
      "a\\\"+__import__(chr(111)+chr(115)).getpid()+\"",
      "a\", __import__(\"os\").getpid(), \"",
      "):\n    pass\nimport os\ndef y(",
      "#\rimport os",
      "\x0cimport os",
      "a\x0b\x1c\x1d\x85",
      "\xe2\x80\xa8import os\xe2\x80\xa9",
      "\xc2\x85import os",
      "nul\0import os"s,
      "%s%n%(x)s{}{0}",
      "class",
      "__builtins__",
      "None",
      "9",
      "\xc3\xa9t\xc3\xa9",
      "\xef\xbc\x90\xcf\x80",
      "\xff\xfe\xc0\xaf\xed\xa0\x80",
      "\xf0\x9f\x98\x80",
      "\x1b]0;title\x07",
  };
  return texts;
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

TEST(ScriptTemplate, IsOnlyWhatItShouldBeWhateverTheRecordingSays) {
  std::vector<TracepointFormat> formats;
  for (const std::string& text : hostile_texts()) {
    std::string line = text;  // the name of an event is what is in its line
    std::erase(line, '\n');
    // Names and values of a print format, and names of fields, in every place that they can get to.
    std::string print = fmt::format(R"("%s %s", __print_flags(REC->id, "{0}", {{1, "{0}"}}), )"
                                    R"(__print_symbolic(REC->class, {{1, "{0}"}}))",
                                    line);
    constexpr std::string_view kFields =
        "\tfield:int id;\toffset:8;\tsize:4;\tsigned:1;\n"
        "\tfield:int class;\toffset:12;\tsize:4;\tsigned:1;\n"
        "\tfield:int print;\toffset:16;\tsize:4;\tsigned:1;\n"
        "\tfield:int common_cpu;\toffset:20;\tsize:4;\tsigned:1;\n"
        "\tfield:int 9;\toffset:24;\tsize:4;\tsigned:1;\n"
        "\tfield:int id;\toffset:28;\tsize:4;\tsigned:1;\n"
        "\tfield:int __debug__;\toffset:32;\tsize:4;\tsigned:1;\n";
    formats.push_back(format_of(kFields, print, text, "demo"));
    formats.push_back(format_of(kFields, print, "sys", "a" + line));
    formats.push_back(format_of(kFields, print, "", line + "__"));
  }
  std::vector<const TracepointFormat*> all;
  for (const TracepointFormat& format : formats) all.push_back(&format);
  std::vector<std::string> lines = python_lines(kStatements, script_template(all, false));
  ASSERT_GT(lines.size(), 5u);
  EXPECT_THAT(std::vector(lines.begin(), lines.begin() + 5),
              ElementsAre("import os", "import sys", HasSubstr("sys.path.append("),
                          "from perf_trace_context import *", "from Core import *"));
  std::vector<std::string> handlers;
  for (const std::string& name : handler_names(all)) handlers.push_back("def " + name);
  lines.erase(lines.begin(), lines.begin() + 5);
  EXPECT_EQ(lines, handlers);
}

TEST(ScriptTemplate, ALiteralIsTheTextThatScriptsGet) {
  std::string literals;
  for (const std::string& text : hostile_texts()) literals += python_literal(text) + "\n";
  std::vector<std::string> shown = python_lines(
      "import ast, sys\n"
      "for line in sys.stdin.buffer.read().decode(\"ascii\").split(\"\\n\")[:-1]:\n"
      "    print(ast.literal_eval(line).encode().hex())",
      literals);
  ASSERT_EQ(shown.size(), hostile_texts().size());
  for (size_t i = 0; i < shown.size(); ++i) {
    // As text_object() has it: bytes that are not UTF-8 become the text of an escape.
    std::string value;
    for (std::string_view rest = hostile_texts()[i]; !rest.empty();) {
      size_t good = valid_utf8_prefix(rest);
      value += rest.substr(0, good);
      if (good < rest.size())
        value += fmt::format("\\x{:02x}", static_cast<unsigned char>(rest[good++]));
      rest.remove_prefix(good);
    }
    EXPECT_EQ(shown[i], to_hex(value)) << i;
  }
}

TEST(HandlerNames, AreTheNamesOfEventsWhereTheyCanBe) {
  TracepointFormat exact = format_of("", "", "a", "b_c"), other = format_of("", "", "a", "b-c"),
                   third = format_of("", "", "a", "b c"),
                   hidden = format_of("", "", "", "builtins__");
  EXPECT_THAT(handler_names({&other, nullptr, &exact, &third, &other, &hidden}),
              ElementsAre("a__b_c_2", "", "a__b_c", "a__b_c_3", "a__b_c_2", "__builtins___"));
  EXPECT_EQ(stat_handler_name("cycles:u"), "stat__cycles_u");
  EXPECT_EQ(stat_handler_name("cpu/x=1/"), "stat__cpu_x_1_");
}

TEST(ScriptTemplate, HandlesEventsWithoutFields) {
  TracepointFormat format = format_of("", R"("%s", "x")");
  EXPECT_THAT(script_template({&format}, true), HasSubstr("    print()\n    print_callchain("));
  EXPECT_THAT(script_template({}, true), HasSubstr("def process_event(event):"));
}

}  // namespace
}  // namespace sonde::python
