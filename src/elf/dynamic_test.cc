#include "elf/dynamic.h"

#include <gmock/gmock.h>

#include "elf/elf_builder.h"

namespace sonde {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Entries = std::vector<std::pair<uint64_t, uint64_t>>;

ElfFile object(bool is_64bit, ByteOrder order, const Entries& entries, std::string strings) {
  ByteBuilder content(order);
  for (auto [tag, value] : entries)
    for (uint64_t word : {tag, value}) {
      if (is_64bit)
        content.u64(word);
      else
        content.u32(static_cast<uint32_t>(word));
    }
  ElfBuilder elf(is_64bit, order);
  uint32_t table = elf.section(".dynstr", SHT_STRTAB, SHF_ALLOC, 0, std::move(strings));
  elf.section(".dynamic", SHT_DYNAMIC, SHF_ALLOC, 0, std::string(as_text(content.view())), table,
              is_64bit ? 16 : 8);
  return std::move(*ElfFile::own(elf.build(), "test"));
}

const std::string kStrings("\0libc.so.6\0libm.so.6\0$ORIGIN/../lib\0/old\0cut", 43);

TEST(DynamicInfo, ListsNeededLibraries) {
  for (auto [is_64bit, order] :
       {std::pair(true, ByteOrder::kLittle), std::pair(true, ByteOrder::kBig),
        std::pair(false, ByteOrder::kLittle)}) {
    ElfFile file = object(is_64bit, order,
                          {{DT_NEEDED, 1},
                           {DT_RPATH, 36},
                           {DT_NEEDED, 11},
                           {DT_RUNPATH, 21},
                           {DT_NULL, 0},
                           {DT_NEEDED, 1}},
                          kStrings);
    DynamicInfo info = dynamic_info(file);
    EXPECT_THAT(info.needed, ElementsAre("libc.so.6", "libm.so.6"));
    EXPECT_EQ(info.run_path, "$ORIGIN/../lib");
  }
}

TEST(DynamicInfo, LeavesOutWhatLiesOutside) {
  ElfFile file =
      object(true, ByteOrder::kLittle, {{DT_NEEDED, 1 << 30}, {DT_NEEDED, 41}}, kStrings);
  EXPECT_THAT(dynamic_info(file).needed, IsEmpty());
  ElfFile none = std::move(*ElfFile::own(ElfBuilder().build(), "test"));
  EXPECT_THAT(dynamic_info(none).needed, IsEmpty());
}

}  // namespace
}  // namespace sonde
