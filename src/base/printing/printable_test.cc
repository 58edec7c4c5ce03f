#include "base/printing/printable.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/sink.h"

namespace sonde {
namespace {

// C0, DEL, C1 as a character and as a byte, reordering, and a line end.
constexpr std::string_view kNasty = "a\033[31mb\007\x7f\xc2\x9b\x9b\xe2\x80\xae\xe2\x81\xa9\r\nrow";
constexpr std::string_view kShown =
    "a\ufffd[31mb\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffdrow";

/// As if a terminal were behind it.
class ShownSink final : public Sink {
 public:
  ShownSink() : Sink(true) {}
  std::string take() {
    flush();
    return std::exchange(text_, {});
  }

 protected:
  void emit(std::string_view text) override { text_ += text; }

 private:
  std::string text_;
};

TEST(Printable, EachThingThatSteersIsOneReplacement) {
  EXPECT_EQ(printable(kNasty), kShown);
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a\ufffdb");
  EXPECT_EQ(printable("a\tb\n", "\t\n"), "a\tb\n");
  EXPECT_EQ(printable("cut \xe2\x82"), "cut \ufffd\ufffd");
}

TEST(Printable, OtherTextStays) {
  for (std::string_view text :
       {"", "plain and longer than eight", "é ü 漢字 → \U0001f600", "\ufffd"}) {
    EXPECT_EQ(printable(text), text);
    EXPECT_EQ(printable_prefix(text), text.size());
  }
}

TEST(Printable, EveryByteAtEveryPositionIsSeen) {
  for (int byte = 0; byte < 256; ++byte)
    for (size_t at = 0; at < 20; ++at) {
      std::string text(20, 'x');
      text[at] = static_cast<char>(byte);
      bool is_plain = byte >= 0x20 && byte < 0x7f;
      EXPECT_EQ(printable_prefix(text), is_plain ? text.size() : at) << byte;
    }
}

TEST(Printable, TheEndOfATextIsMadePrintable) {
  std::string text = "\n\tours ";
  size_t begin = text.size();
  text += "x\n\ty";
  make_printable(text, begin);
  EXPECT_EQ(text, "\n\tours x\ufffd\ty");
}

TEST(ShownSink, OnlyFormatsAndLiteralsHaveLineEnds) {
  ShownSink out;
  out.print("{}\n{:>4}\n{}", kNasty, "é", std::string("end\n"));
  EXPECT_EQ(out.take(), fmt::format("{}\n   é\nend\ufffd", kShown));
  out.print("{1:.2f} {0:c}{2}{3}", '\033', 1.5, '\n', 7);
  EXPECT_EQ(out.take(), "1.50 ?\n7");
  out.write("one\ntwo\n");
  EXPECT_EQ(out.take(), "one\ntwo\n");
}

TEST(ShownSink, JoinedTextIsOneLineOrLinesOfOurs) {
  ShownSink out;
  std::string text = "a\nb\033[1m\n";
  out.write(text);
  EXPECT_EQ(out.take(), "a\ufffdb\ufffd[1m\n");
  out.write_lines(text);
  EXPECT_EQ(out.take(), "a\nb\ufffd[1m\n");
}

TEST(ShownSink, OnlyOurEscapesPass) {
  ShownSink out;
  constexpr Escape kRed{"\033[31m"};
  out.write(kRed);
  out.print("{}{}", kRed, kRed.sequence);
  EXPECT_EQ(out.take(), "\033[31m\033[31m\ufffd[31m");
}

TEST(ShownSink, TextOfAnotherSinkIsSafeOnce) {
  ShownSink out;
  StringSink safe(out), unsafe;
  safe.print("{}{}\n", Escape{"\033[m"}, "x\033");
  unsafe.print("{}\n", "x\033");
  out.write(safe);
  out.write(unsafe);
  EXPECT_EQ(out.take(), "\033[mx\ufffd\nx\ufffd\n");
}

TEST(StringSink, WithoutATerminalBytesStay) {
  StringSink out;
  out.print("{}", kNasty);
  out.write(std::string(kNasty));
  out.write_lines(kNasty);
  EXPECT_EQ(out.text(), fmt::format("{0}{0}{0}", kNasty));
}

TEST(Error, AQuotedNameIsOneLine) {
  Error inner = fail(ErrorCode::kFailed, "ours\nof two lines: {}", "a\nb").error();
  EXPECT_EQ(inner.message, "ours\nof two lines: a\ufffdb");
  EXPECT_EQ(fail(ErrorCode::kFailed, "{}: {}", "x\r\n\033", inner).error().message,
            "x\ufffd\ufffd\033: " + inner.message);
}

}  // namespace
}  // namespace sonde
