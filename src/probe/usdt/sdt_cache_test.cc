#include "probe/usdt/sdt_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> names(const std::vector<CatalogEvent>& events) {
  std::vector<std::string> out;
  for (const CatalogEvent& event : events) out.push_back(event.name);
  return out;
}

TEST(SdtCache, ProbesOfOneNameAreToldApartByTheirObjects) {
  std::vector<SdtCacheEntry> entries = {{"sdt_x:go", "1122334455667788", "/usr/lib/liba.so"},
                                        {"sdt_x:go", "99aabbccddeeff00", "/usr/lib/libb.so"},
                                        {"sdt_x:stop", "99aabbccddeeff00", "/usr/lib/libb.so"}};
  EXPECT_THAT(names(sdt_catalog(entries)),
              ElementsAre("sdt_x:go@/usr/lib/liba.so(112233445566)",
                          "sdt_x:go@/usr/lib/libb.so(99aabbccddee)", "sdt_x:stop"));
}

TEST(SdtCache, NoCacheHasNoProbes) {
  EXPECT_THAT(read_sdt_cache("/nowhere"), IsEmpty());
}

TEST(SdtCache, WhatIsGoneIsNotThere) {
  EXPECT_FALSE(is_still_there({"sdt_x:go", "1122334455667788", "/nowhere/liba.so"}));
}

}  // namespace
}  // namespace sonde
