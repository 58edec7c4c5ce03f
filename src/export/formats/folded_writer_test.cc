#include "export/formats/folded_writer.h"

#include <gtest/gtest.h>

#include "stacks/folded_reader.h"
#include "stacks/stack_tree_builder.h"

namespace sonde {
namespace {

std::string rewritten(std::string_view text) {
  LossLedger losses;
  StackProfile profile = read_folded(text, "test", losses).value();
  StringSink out;
  std::vector<size_t> columns;
  for (size_t i = 0; i < profile.columns.size(); ++i) columns.push_back(i);
  write_folded(out, profile, columns);
  return out.text();
}

TEST(FoldedWriter, WritesWhatWasRead) {
  EXPECT_EQ(rewritten("main;read 2\nmain 1\nmain;read 3\nmain;write 0.5\n"),
            "main 1\nmain;read 5\nmain;write 0.5\n");
  EXPECT_EQ(rewritten("b 0 3\na;b 2 0\nc 0 0\n"), "a;b 2 0\nb 0 3\n");
}

TEST(FoldedWriter, SortsByBytes) {
  // The lines of "a" follow it, but a blank sorts before a semicolon, and a letter after it.
  EXPECT_EQ(rewritten("ab 1\na;x 1\na b;y 1\na b 1\na 1\na+;z 1\n"),
            "a 1\na b 1\na b;y 1\na+;z 1\na;x 1\nab 1\n");
}

TEST(FoldedWriter, NumbersAreExact) {
  EXPECT_EQ(rewritten("a 9007199254740991\nb 12345678.25\n"),
            "a 9007199254740991\nb 12345678.25\n");
}

TEST(FoldedWriter, FunctionsOfOneNameInTwoObjectsAreOneLine) {
  StackTreeBuilder builder;
  size_t column = builder.add_column("cycles", "events");
  StackFrameId task = builder.frame({.name = builder.intern("ls"), .kind = FrameKind::kTask});
  for (const char* object : {"/lib/ld.so", "/lib/libc.so"}) {
    StackFrameId frame =
        builder.frame({.name = builder.intern("strcmp"), .object = builder.intern(object)});
    builder.add_stack(std::vector{task, frame}, column, 2);
  }
  builder.add_stack(std::vector{task}, column, 1);
  StringSink out;
  write_folded(out, std::move(builder).finish(), column);
  EXPECT_EQ(out.text(), "ls 1\nls;strcmp 4\n");
}

}  // namespace
}  // namespace sonde
