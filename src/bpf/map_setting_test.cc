#include "bpf/map_setting.h"

#include <gmock/gmock.h>

namespace sonde {
namespace {

using testing::HasSubstr;

TEST(MapSetting, NamesAnEventOrAValue) {
  EXPECT_EQ(*parse_map_setting("map:channel.event", "evt"),
            (MapSetting{.map = "channel", .event = "evt"}));
  EXPECT_EQ(*parse_map_setting("map:limits.value", "0x10"),
            (MapSetting{.map = "limits", .value = 16}));
}

TEST(MapSetting, ReachesTheIndexesThatItNames) {
  MapSetting some = *parse_map_setting("map:limits.value[0,2-4,7...8]", "1");
  for (uint32_t index : {0u, 2u, 3u, 4u, 7u, 8u}) EXPECT_TRUE(some.covers(index)) << index;
  for (uint32_t index : {1u, 5u, 6u, 9u}) EXPECT_FALSE(some.covers(index)) << index;
  EXPECT_TRUE(parse_map_setting("map:limits.value", "1")->covers(12345));
}

TEST(MapSetting, SaysWhatIsWrong) {
  auto message = [](std::string_view name, std::string_view value) {
    Result<MapSetting> setting = parse_map_setting(name, value);
    EXPECT_FALSE(setting) << name;
    return setting ? std::string() : setting.error().message;
  };
  EXPECT_THAT(message("map:limits", "1"), HasSubstr("map:NAME.value"));
  EXPECT_THAT(message("map:.value", "1"), HasSubstr("map:NAME.value"));
  EXPECT_THAT(message("map:limits.foo", "1"), HasSubstr("map:NAME.value"));
  EXPECT_THAT(message("map:limits.value", "x"), HasSubstr("no number"));
  EXPECT_THAT(message("map:limits.value", ""), HasSubstr("needs a value"));
  for (const char* name : {"map:a.value[x]", "map:a.value[3-1]", "map:a.value[]", "map:a.value[1,]",
                           "map:a.value[4294967296]"})
    EXPECT_THAT(message(name, "1"), HasSubstr("no index")) << name;
  EXPECT_THAT(message("map:a.value[1", "1"), HasSubstr("']'"));
}

}  // namespace
}  // namespace sonde
