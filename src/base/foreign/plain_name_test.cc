#include "base/foreign/plain_name.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(PlainName, HasNoByteThatAShellOrTheKernelReads) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:-";
  for (int byte = 0; byte < 256; ++byte) {
    char c = static_cast<char>(byte);
    std::string name = std::string("sdt_a:") + c + "b";
    EXPECT_EQ(is_plain_name(name), kPlain.contains(c)) << byte;
    bool of_pmus = c == '/' || c == ',' || c == '=';
    EXPECT_EQ(is_completion_word(name), kPlain.contains(c) || of_pmus) << byte;
  }
  EXPECT_FALSE(is_plain_name(""));
  EXPECT_FALSE(is_completion_word(""));
}

TEST(PlainName, ListsForCompletionLeaveOutTheRest) {
  std::string list;
  for (std::string_view name : {"cycles", "pro$(touch X)", "a*", "msr/tsc/", "b\nc", "`x`",
                                "sched:*", "x\\", "sdt_python:line", "", "h\xc3\xa4"})
    append_completion_word(list, name);
  EXPECT_EQ(list, "cycles msr/tsc/ sdt_python:line ");
}

TEST(PlainName, OthersAreShownAsOnePrintableWord) {
  using namespace std::string_literals;
  EXPECT_EQ(printable_name("a$(b)\n\x1b]0;\x7f\xff\0"s), R"(a$(b)\x0a\x1b]0;\x7f\xff\x00)");
}

}  // namespace
}  // namespace sonde
