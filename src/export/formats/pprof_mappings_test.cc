#include "export/formats/pprof_mappings.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(PprofMappings, FilesStandInARowAndTheKernelWhereItRan) {
  StackProfile profile;
  StringId app = profile.strings->intern("/bin/app"), libc = profile.strings->intern("/lib/libc"),
           kernel = profile.strings->intern("[kernel.kallsyms]");
  profile.frames = {{.object = app, .address = 0x1234},
                    {.object = libc, .address = 0x28500},
                    {.object = app, .address = 0x5000},
                    {.object = kernel, .address = 0xffffffff81000410}};
  PprofMappings mappings(profile);
  ASSERT_EQ(mappings.all().size(), 3u);
  const PprofMapping &of_app = mappings.all()[0], &of_libc = mappings.all()[1],
                     &of_kernel = mappings.all()[2];
  EXPECT_EQ(of_app.start, 0x10000u);
  EXPECT_EQ(of_app.limit, 0x16000u);
  EXPECT_GE(of_libc.start, of_app.limit);
  EXPECT_EQ(of_libc.limit - of_libc.start, 0x29000u);
  EXPECT_EQ(of_kernel.start, 0xffffffff81000000);
  EXPECT_EQ(mappings.place_of(profile.frames[0]).address, 0x11234u);
  EXPECT_EQ(mappings.place_of(profile.frames[1]).address, of_libc.start + 0x28500);
  EXPECT_EQ(mappings.place_of(profile.frames[3]).address, 0xffffffff81000410);
  EXPECT_EQ(mappings.place_of(profile.frames[3]).mapping, 3u);
}

TEST(PprofMappings, WithoutAddressesThereAreNames) {
  StackProfile profile;
  profile.frames = {{.object = profile.strings->intern("/bin/app")}, {}};
  PprofMappings mappings(profile);
  ASSERT_EQ(mappings.all().size(), 1u);
  EXPECT_EQ(mappings.all()[0].limit, 0u);
  EXPECT_EQ(mappings.all()[0].start, 0u);
  EXPECT_EQ(mappings.place_of(profile.frames[0]).mapping, 1u);
  EXPECT_EQ(mappings.place_of(profile.frames[1]).mapping, 0u);
}

}  // namespace
}  // namespace sonde
