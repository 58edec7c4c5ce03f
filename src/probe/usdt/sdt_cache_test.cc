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

TEST(SdtCache, HostileNamesThatAreInAFileAreNotRead) {
  EXPECT_THAT(sdt_cache_names("%sdt_a:go=go\np:sdt_a/go /a:0x1\n%sdt_pro$(touch X):na=na\n"
                              "%sdt_a:`id`=x\n%sdt_a:*=x\n%sdt_a:b c=x\n%\n%=\n%sdt_a:e\x1b[2J=x\n"
                              "#sdt_a:f=f\n%sdt_a:=zz()=x\n%sdt_a:g"),
              ElementsAre("sdt_a:go", "sdt_a:g"));
}

TEST(SdtCache, NoCacheHasNoProbes) {
  EXPECT_THAT(read_sdt_cache("/nowhere"), IsEmpty());
}

TEST(SdtCache, WhatIsGoneIsNotThere) {
  EXPECT_FALSE(is_still_there({"sdt_x:go", "1122334455667788", "/nowhere/liba.so"}));
}

}  // namespace
}  // namespace sonde
