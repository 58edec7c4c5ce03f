#include "symbol/jit_dump.h"

#include <gtest/gtest.h>

#include "symbol/jit_dump_builder.h"
#include "symbol/jit_objects.h"

namespace sonde {
namespace {

class JitDumpInBothOrders : public testing::TestWithParam<ByteOrder> {};

TEST_P(JitDumpInBothOrders, CodeHasItsNameBytesAndLines) {
  JitDumpBuilder builder(GetParam());
  builder.lines(0x1000, {{0x1000, 7, "a.js"}, {0x1004, 9, "\xff"}});
  builder.code(50, 0x1000, 3, "render", "\x90\x90\x90\x90\x90\xc3");
  builder.code(60, 0x2000, 4, "bare", "\xc3");
  builder.close();
  auto dump = JitDump::parse(builder.bytes());
  ASSERT_TRUE(dump) << dump.error().message;
  EXPECT_EQ(dump->header().order, GetParam());
  EXPECT_EQ(dump->header().pid, 4711u);
  EXPECT_EQ(dump->header().elf_machine, 62u);
  ASSERT_EQ(dump->codes().size(), 2u);
  const JitDump::Code& render = dump->codes()[0];
  EXPECT_EQ(render.name, "render");
  EXPECT_EQ(render.time_ns, 50u);
  EXPECT_EQ(render.address, 0x1000u);
  EXPECT_EQ(as_text(dump->bytes_of(render)), "\x90\x90\x90\x90\x90\xc3");
  ASSERT_EQ(dump->lines_of(render).size(), 2u);
  EXPECT_EQ(dump->lines_of(render)[0].file, "a.js");
  EXPECT_EQ(dump->lines_of(render)[1].file, "a.js");
  EXPECT_EQ(dump->lines_of(render)[1].line, 9u);
  EXPECT_TRUE(dump->lines_of(dump->codes()[1]).empty());
  EXPECT_TRUE(dump->closed());
  EXPECT_EQ(dump->end(), builder.bytes().size());
  EXPECT_EQ(dump->bad_records(), 0u);
}

TEST_P(JitDumpInBothOrders, UnwindingInformationIsOfTheCodeThatFollows) {
  JitDumpBuilder builder(GetParam());
  builder.unwinding("table", "header");
  builder.code(1, 0x1000, 1, "with", "\xc3");
  builder.code(2, 0x2000, 2, "without", "\xc3");
  auto dump = JitDump::parse(builder.bytes());
  ASSERT_TRUE(dump);
  EXPECT_EQ(as_text(dump->codes()[0].unwinding), "tableheader");
  EXPECT_EQ(dump->codes()[0].unwinding_header_size, 6u);
  EXPECT_TRUE(dump->codes()[1].unwinding.empty());
}

INSTANTIATE_TEST_SUITE_P(Orders, JitDumpInBothOrders,
                         testing::Values(ByteOrder::kLittle, ByteOrder::kBig));

TEST(JitDump, MovedCodeIsTheSameCodeElsewhere) {
  JitDumpBuilder builder;
  builder.code(10, 0x1000, 1, "walks", "\x90\xc3");
  builder.move(20, 0x1000, 0x5000, 2, 1);
  builder.move(30, 0x9000, 0x5000, 2, 1);  // nothing is there
  auto dump = JitDump::parse(builder.bytes());
  ASSERT_TRUE(dump);
  ASSERT_EQ(dump->placed().size(), 2u);
  EXPECT_EQ(dump->placed()[1].time_ns, 20u);
  EXPECT_EQ(dump->placed()[1].address, 0x5000u);
  EXPECT_EQ(dump->placed()[1].code, 0u);
  EXPECT_EQ(dump->bad_records(), 1u);
}

TEST(JitDump, TheLatestCodeOfItsNumberMoves) {
  JitDumpBuilder builder;
  builder.code(10, 0x1000, 1, "old", "\x90\xc3");
  builder.code(20, 0x1000, 1, "new", "\x90\xc3");
  builder.code(30, 0x1000, 1, "longer", "\x90\x90\xc3");
  builder.move(40, 0x1000, 0x5000, 2, 1);
  builder.code(50, 0x5000, 1, "there", "\x90\xc3");
  builder.move(60, 0x5000, 0x6000, 2, 1);
  auto dump = JitDump::parse(builder.bytes());
  ASSERT_TRUE(dump);
  ASSERT_EQ(dump->placed().size(), 6u);
  EXPECT_EQ(dump->codes()[dump->placed()[3].code].name, "new");
  EXPECT_EQ(dump->codes()[dump->placed()[5].code].name, "there");
}

TEST(JitDump, ManyMovesOfManyCodes) {
  JitDumpBuilder builder;
  constexpr uint64_t kCodes = 40'000;
  for (uint64_t i = 0; i < kCodes; ++i) builder.code(i, 0x1000 + i, i, "code", "\xc3");
  for (uint64_t i = 0; i < kCodes; ++i) builder.move(kCodes + i, 0x1000, 0x1000, 1, 0);
  auto dump = JitDump::parse(builder.bytes());
  ASSERT_TRUE(dump);
  EXPECT_EQ(dump->placed().size(), 2 * kCodes);
  EXPECT_EQ(dump->placed().back().code, 0u);
}

TEST(JitDump, WhatIsStillBeingWrittenIsReadNextTime) {
  JitDumpBuilder builder;
  builder.code(10, 0x1000, 1, "first", "\xc3");
  size_t first_end = builder.bytes().size();
  builder.code(20, 0x2000, 2, "second", "\x90\xc3");
  std::string whole = builder.bytes();
  auto before = JitDump::parse(whole.substr(0, whole.size() - 1));
  ASSERT_TRUE(before);
  ASSERT_EQ(before->codes().size(), 1u);
  EXPECT_EQ(before->end(), first_end);
  EXPECT_EQ(before->bad_records(), 0u);
  JitDump more = JitDump::parse_more(*before, whole.substr(before->end()));
  ASSERT_EQ(more.codes().size(), 1u);
  EXPECT_EQ(more.codes()[0].name, "second");
  EXPECT_EQ(more.codes()[0].offset, whole.size() - 2);
  EXPECT_EQ(as_text(more.bytes_of(more.codes()[0])), "\x90\xc3");
  EXPECT_EQ(more.end(), whole.size());
}

TEST(JitDump, RecordsThatMakeNoSenseAreCounted) {
  JitDumpBuilder builder;
  builder.other(0, "short");
  builder.other(99, "of a newer writer");
  builder.lines(0x1000, {{0x1000, 1, "a"}});
  std::string cut = builder.bytes();
  cut[cut.size() - 1 - 25 + 8] = '\x7f';  // more lines than there are bytes left
  JitDumpBuilder rest;
  rest.code(1, 0x1000, 1, "good", "\xc3");
  auto dump = JitDump::parse(cut + rest.bytes().substr(40));
  ASSERT_TRUE(dump);
  ASSERT_EQ(dump->codes().size(), 1u);
  EXPECT_GE(dump->bad_records(), 1u);
}

TEST(JitDump, NotADump) {
  EXPECT_FALSE(JitDump::parse(""));
  EXPECT_FALSE(JitDump::parse(std::string(100, 'x')));
  std::string later = JitDumpBuilder().bytes();
  later[4] = 9;
  EXPECT_FALSE(JitDump::parse(later));
}

// V8 in Node 20: addresses are too large by 0x40, and instead of the file's name there is something
// else of the same length.
TEST(JitDump, LinesOfV8) {
  JitDumpBuilder builder;
  builder.lines(0x1000, {{0x1040, 2, std::string_view("\x84\x96\x01\0\0\0\0\0", 8)},
                         {0x1044, 3, std::string_view("\x84\x96\x01\0\0\0\0\0", 8)}});
  builder.code(1, 0x1000, 1, "JS:*inner /srv/app.js:2:15", "\x90\x90\x90\x90\xc3");
  auto broken_length = JitDump::parse(builder.bytes());
  ASSERT_TRUE(broken_length);
  EXPECT_EQ(broken_length->bad_records(), 1u);
  EXPECT_TRUE(broken_length->lines_of(broken_length->codes()[0]).empty());

  JitDumpBuilder right;
  right.lines(0x1000, {{0x1040, 2, std::string_view("\x84\x96\x01\0\0\0\0\0\0\0\0", 11)},
                       {0x1044, 3, std::string_view("\x84\x96\x01\0\0\0\0\0\0\0\0", 11)}});
  right.code(1, 0x1000, 1, "JS:*inner /srv/app.js:2:15", "\x90\x90\x90\x90\xc3");
  auto dump = JitDump::parse(right.bytes());
  ASSERT_TRUE(dump);
  auto lines = dump->lines_of(dump->codes()[0]);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].address, 0x1000u);
  EXPECT_EQ(lines[1].line, 3u);
  EXPECT_EQ(lines[1].file, "/srv/app.js");

  JitDumpBuilder node18;
  node18.lines(0x1000, {{0x1040, 2, std::string_view("\x84\0\x96\x01\0\0\0\0\0\0\0", 11)},
                        {0x1044, 3, "\xff"}});
  node18.code(1, 0x1000, 1, "LazyCompile:*inner /srv/app.js:2", "\x90\x90\x90\x90\xc3");
  dump = JitDump::parse(node18.bytes());
  ASSERT_TRUE(dump);
  lines = dump->lines_of(dump->codes()[0]);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[1].line, 3u);
  EXPECT_EQ(lines[1].file, "/srv/app.js");

  JitDumpBuilder named;  // other versions write the name
  named.lines(0x1000, {{0x1040, 2, "/srv/app.js"}});
  named.code(1, 0x1000, 1, "JS:*inner /srv/app.js:2:15", "\xc3");
  dump = JitDump::parse(named.bytes());
  ASSERT_EQ(dump->lines_of(dump->codes()[0]).size(), 1u);
  EXPECT_EQ(dump->lines_of(dump->codes()[0])[0].address, 0x1000u);
}

// What libsonde-jvmti.so appends to the lines; readers that don't know it see only the lines.
TEST(JitDump, InlinedFunctions) {
  ByteBuilder extra;
  extra.text("SondeInl");
  extra.u32(3);
  for (std::string_view text : {"inner", "outer", "Hot.java"}) {
    extra.text(text);
    extra.u8(0);
  }
  extra.u32(1);  // lines
  extra.u32(2);  // frames
  for (uint32_t number : {0u, 2u, 3u, 1u, 2u, 5u}) extra.u32(number);
  auto read = [&](std::string_view behind) {
    JitDumpBuilder builder;
    builder.lines(0x1000, {{0x1000, 3, "Hot.java"}}, behind);
    builder.code(1, 0x1000, 1, "outer", "\x90\xc3");
    return JitObject(*JitDump::parse(builder.bytes()));
  };
  JitObject whole = read(as_text(extra.view()));
  uint64_t offset = whole.dump().codes()[0].offset;
  std::vector<std::string_view> names;
  whole.inlined_at(offset + 1, names);
  EXPECT_EQ(names, std::vector<std::string_view>{"inner"});
  auto frames = whole.dump().frames_of(whole.dump().lines_of(whole.dump().codes()[0])[0]);
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[1].function, "outer");
  EXPECT_EQ(frames[1].line, 5u);
  for (size_t size = 1; size < extra.size(); ++size) {
    JitObject cut = read(as_text(extra.view()).substr(0, size));
    names.clear();
    cut.inlined_at(cut.dump().codes()[0].offset, names);
    EXPECT_TRUE(names.empty());
    EXPECT_EQ(cut.line_at(cut.dump().codes()[0].offset)->line, 3u);
  }
}

TEST(JitDump, Names) {
  EXPECT_TRUE(is_jit_dump_name("/tmp/.debug/jit/x/jit-12.dump"));
  EXPECT_TRUE(is_jit_dump_name("jit-1.dump"));
  EXPECT_FALSE(is_jit_dump_name("/tmp/jit-.dump"));
  EXPECT_FALSE(is_jit_dump_name("/tmp/jit-1x.dump"));
  EXPECT_FALSE(is_jit_dump_name("/tmp/core.dump"));
}

TEST(JitObject, AddressesArePlacesInTheDump) {
  JitDumpBuilder builder;
  builder.code(10, 0x1000, 1, "old", std::string(16, '\x90'));
  builder.lines(0x1000, {{0x1000, 5, "new.py"}, {0x1008, 6, "new.py"}});
  builder.code(20, 0x1000, 2, "new", std::string(16, '\x90'));  // in the same memory
  auto dump = JitDump::parse(builder.bytes());
  ASSERT_TRUE(dump);
  uint64_t before = dump->codes()[0].offset, after = dump->codes()[1].offset;
  JitObject object(std::move(*dump));
  SymbolTable table = object.symbols();
  EXPECT_EQ(table.find(before + 15)->name(), "old");
  EXPECT_EQ(table.find(after)->name(), "new");
  EXPECT_EQ(table.find(after + 16), nullptr);
  EXPECT_FALSE(object.line_at(before));
  EXPECT_EQ(object.line_at(after + 7)->line, 5u);
  EXPECT_EQ(object.line_at(after + 8)->line, 6u);
}

}  // namespace
}  // namespace sonde
