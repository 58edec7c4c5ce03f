#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "dump_writer.h"
#include "dwarf/cfi_table.h"
#include "frame_layout.h"
#include "method_names.h"
#include "symbol/jit_objects.h"

namespace sonde_jvmti {
namespace {

TEST(MethodNames, AreAsPeopleWriteThem) {
  EXPECT_EQ(readable_method("LHot;", "inner", "(I)I"), "int Hot.inner(int)");
  EXPECT_EQ(readable_method("Lcom/example/Map;", "put", "([[JLjava/lang/String;Z)V"),
            "void com.example.Map.put(long[][], java.lang.String, boolean)");
  EXPECT_EQ(readable_method("LHot;", "<init>", "()V"), "void Hot.<init>()");
  EXPECT_EQ(readable_method("Lcom/example/Hot$$Lambda$14.0x0000000840066840;", "run", "()V"),
            "void com.example.Hot$$Lambda$14.run()");
}

#if defined(__x86_64__)
sonde::CfiTable table_of(const std::string& code, const std::string& frames) {
  sonde::CfiSection::Source source{
      .bytes = sonde::as_bytes(frames),
      .addr = 0x1000 + ((code.size() + 7) & ~size_t{7}),
      .kind = sonde::CfiSection::Kind::kEhFrame,
  };
  return sonde::CfiTable::build({&source, 1}, false);
}
int32_t cfa_at(const sonde::CfiTable& table, uint64_t offset) {
  const sonde::UnwindRule* rule = table.find(sonde::ElfAddr(0x1000 + offset));
  return rule == nullptr ? -1 : rule->cfa_value;
}

TEST(FrameLayout, PushedFrame) {
  std::string code("\x55\x48\x83\xec\x20\x90\x90\x48\x83\xc4\x20\x5d\xc3\x90", 14);
  sonde::CfiTable table = table_of(code, make_eh_frame(code));
  EXPECT_EQ(table.bad_entries(), 0u);
  EXPECT_EQ(cfa_at(table, 0), 8);
  EXPECT_EQ(cfa_at(table, 1), 16);
  EXPECT_EQ(cfa_at(table, 5), 48);
  EXPECT_EQ(cfa_at(table, 11), 16);  // before pop
  EXPECT_EQ(cfa_at(table, 12), 8);   // before ret
  EXPECT_EQ(cfa_at(table, 13), 48);  // what follows is inside the frame again
}

TEST(FrameLayout, FrameThatIsMadeAtOnce) {
  std::string code(
      "\x90\x90\x48\x81\xec\x28\x00\x00\x00\x48\x89\x6c\x24\x20\x90\x48\x83\xc4\x20\x5d\xc3", 21);
  sonde::CfiTable table = table_of(code, make_eh_frame(code));
  EXPECT_EQ(cfa_at(table, 8), 8);
  EXPECT_EQ(cfa_at(table, 9), 48);
  EXPECT_EQ(cfa_at(table, 14), 48);
  EXPECT_EQ(cfa_at(table, 19), 16);
  EXPECT_EQ(cfa_at(table, 20), 8);
}

TEST(FrameLayout, TheInterpretersFramesHangByTheFramePointer) {
  std::string code(64, '\x90');
  sonde::CfiTable table = table_of(code, make_stub_eh_frame("Interpreter", code));
  const sonde::UnwindRule* rule = table.find(sonde::ElfAddr(0x1000 + 63));
  ASSERT_NE(rule, nullptr);
  EXPECT_EQ(rule->cfa_from, sonde::CfaFrom::kExpression);
  EXPECT_EQ(table.saved(*rule).size(), 2u);
  EXPECT_EQ(cfa_at(table_of(code, make_stub_eh_frame("itable stub", code)), 5), 8);
  EXPECT_TRUE(make_stub_eh_frame("StubRoutines (1)", code).empty());
}

TEST(FrameLayout, NothingIsSaidOfOtherCode) {
  EXPECT_TRUE(make_eh_frame("").empty());
  EXPECT_TRUE(make_eh_frame(std::string(200, '\x90')).empty());
  EXPECT_TRUE(make_eh_frame("\x55\xc3").empty());
}
#endif

TEST(DumpWriter, WritesWhatSondeReads) {
  std::string directory = testing::TempDir() + "jvmti_XXXXXX";
  ASSERT_NE(::mkdtemp(directory.data()), nullptr);
  DumpWriter writer;
  ASSERT_TRUE(writer.open(directory));
  CodePiece piece;
  piece.name = "int Hot.outer(int)";
  piece.address = 0x7000;
  piece.bytes = "\x90\x90\x90\xc3";
  piece.lines = {{0x7000, {{"int Hot.inner(int)", "Hot.java", 3}, {piece.name, "Hot.java", 5}}},
                 {0x7002, {{piece.name, "Hot.java", 6}}}};
  piece.eh_frame = "12345678";
  writer.write(piece);
  writer.close();

  std::string path = directory + "/jit-" + std::to_string(::getpid()) + ".dump";
  std::ostringstream bytes;
  bytes << std::ifstream(path).rdbuf();
  auto dump = sonde::JitDump::parse(bytes.str());
  ASSERT_TRUE(dump) << dump.error().message;
  EXPECT_TRUE(dump->closed());
  EXPECT_EQ(dump->bad_records(), 0u);
  ASSERT_EQ(dump->codes().size(), 1u);
  sonde::JitObject object(std::move(*dump));
  const sonde::JitDump::Code& code = object.dump().codes()[0];
  EXPECT_EQ(code.name, piece.name);
  EXPECT_EQ(code.unwinding.size() - code.unwinding_header_size, 8u);
  std::vector<std::string_view> names;
  object.inlined_at(code.offset + 1, names);
  EXPECT_EQ(names, std::vector<std::string_view>{"int Hot.inner(int)"});
  EXPECT_EQ(object.line_at(code.offset + 3)->line, 6u);
  ::unlink(path.c_str());
  ::rmdir(directory.c_str());
}

}  // namespace
}  // namespace sonde_jvmti
