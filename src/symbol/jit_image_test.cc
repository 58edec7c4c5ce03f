#include "symbol/jit_image.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "dwarf/line_index.h"
#include "elf/elf_file.h"
#include "symbol/elf_symbols.h"
#include "symbol/jit_dump_builder.h"

namespace sonde {
namespace {

TEST(JitImage, HasSymbolLinesAndCallFrames) {
  JitDumpBuilder builder;
  builder.lines(0x7000, {{0x7000, 10, "a.js"}, {0x7004, 12, "b.js"}, {0x7008, 3, "a.js"}});
  builder.unwinding("12345678", "head");
  builder.code(1, 0x7000, 1, "render now", std::string(12, '\x90'));
  auto dump = JitDump::parse(builder.bytes());
  ASSERT_TRUE(dump);
  JitImage image = make_jit_image(*dump, dump->codes()[0]);

  auto elf = ElfFile::own(image.bytes, "image");
  ASSERT_TRUE(elf) << elf.error().message;
  EXPECT_EQ(elf->build_id(), image.build_id);
  const ElfSection* frames = elf->section(".eh_frame");
  ASSERT_NE(frames, nullptr);
  EXPECT_EQ(frames->addr, kJitImageText + 16);  // the next multiple of eight after the code
  EXPECT_EQ(as_text(elf->content(*frames)), "12345678");
  SymbolTable symbols = load_elf_symbols(std::move(*elf), std::nullopt);
  const Symbol* symbol = symbols.find(kJitImageText + 11);
  ASSERT_NE(symbol, nullptr);
  EXPECT_EQ(symbol->name(), "render now");
  EXPECT_EQ(symbols.find(kJitImageText + 12), nullptr);

  std::string path = testing::TempDir() + "jit_image_XXXXXX";
  ASSERT_GE(::mkstemp(path.data()), 0);
  std::ofstream(path).write(reinterpret_cast<const char*>(image.bytes.data()),
                            static_cast<std::streamsize>(image.bytes.size()));
  auto lines = LineIndex::open(path, {});
  ASSERT_TRUE(lines) << lines.error().message;
  auto line_at = [&](uint64_t offset) { return lines->find(ElfAddr(kJitImageText + offset)); };
  EXPECT_EQ(line_at(3)->line, 10u);
  EXPECT_EQ(line_at(4)->line, 12u);
  EXPECT_TRUE(line_at(4)->file.name.ends_with("b.js"));
  EXPECT_EQ(line_at(11)->line, 3u);
  EXPECT_TRUE(line_at(11)->file.name.ends_with("a.js"));
  std::remove(path.c_str());
}

TEST(JitImage, OtherContentIsAnotherBuild) {
  JitDumpBuilder builder;
  builder.code(1, 0x7000, 1, "a", "\x90\xc3");
  builder.code(1, 0x7000, 1, "b", "\x90\xc3");
  auto dump = JitDump::parse(builder.bytes());
  ASSERT_TRUE(dump);
  EXPECT_NE(make_jit_image(*dump, dump->codes()[0]).build_id,
            make_jit_image(*dump, dump->codes()[1]).build_id);
}

}  // namespace
}  // namespace sonde
