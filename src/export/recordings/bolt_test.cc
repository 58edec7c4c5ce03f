#include "export/recordings/bolt.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(Bolt, WritesAddressesOfTheObject) {
  SegmentMap segments;
  segments.add({.offset = FileOffset(0x1000),
                .addr = ElfAddr(0x401000),
                .file_size = 0x1000,
                .memory_size = 0x1000,
                .executable = true});
  BranchProfile profile;
  DsoId dso(size_t{3});
  profile.add_branch(dso, 0x1010, 0x1040, false);
  profile.add_branch(dso, 0x1010, 0x1040, true);
  profile.add_branch(dso, 0x1050, 0, false);
  profile.add_range(dso, 0x1040, 0x1050);
  profile.add_range(dso, 0x9000000, 0x9000010);
  StringSink out;
  EXPECT_EQ(write_bolt(out, profile.by_object().front(), segments), 1u);
  EXPECT_EQ(out.text(), "B 401010 401040 2 1\nB 401050 X:0 1 0\nF 401040 401050 1\n");
}

}  // namespace
}  // namespace sonde
