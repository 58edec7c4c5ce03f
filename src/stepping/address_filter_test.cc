#include "stepping/address_filter.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

/// What is wrong with a filter for this test's own program.
std::string error_of(std::string_view text) {
  auto filters = parse_address_filters(text, "/proc/self/exe", "/bin");
  return filters ? "" : filters.error().message;
}

TEST(AddressFilter, NamesFunctionsOfTheProgram) {
  auto filters = parse_address_filters("filter main , stop main@/proc/self/exe,start main",
                                       "/proc/self/exe", "");
  ASSERT_TRUE(filters);
  ASSERT_EQ(filters->size(), 3u);
  EXPECT_EQ((*filters)[0].kind, AddressFilter::Kind::kFilter);
  EXPECT_EQ((*filters)[1].kind, AddressFilter::Kind::kStop);
  EXPECT_EQ((*filters)[2].kind, AddressFilter::Kind::kStart);
  EXPECT_TRUE((*filters)[0].object.ends_with("stepping_test"));  // the link is followed
  EXPECT_GT((*filters)[0].offset, 0u);
  EXPECT_GT((*filters)[0].size, 0u);
  EXPECT_EQ((*filters)[0].offset, (*filters)[1].offset);
}

TEST(AddressFilter, NothingIsNoFilter) {
  auto filters = parse_address_filters(" ", "/nowhere", "");
  ASSERT_TRUE(filters);
  EXPECT_TRUE(filters->empty());
}

TEST(AddressFilter, SaysWhatIsWrong) {
  for (std::string_view text : {"main", "filter", "filter 0x1234/0x10", "filter main#2",
                                "watch main", "filter main,", "uid == 0", "filter @ /bin/true"})
    EXPECT_TRUE(error_of(text).contains("is not filter, start or stop")) << text;
  EXPECT_TRUE(error_of("filter no_such_function").contains("has no function no_such_function"));
  EXPECT_EQ(error_of("filter main @ /no/such/file"), "--filter: there is no file /no/such/file");
  EXPECT_TRUE(error_of("stop main").contains("nothing would be traced"));
  EXPECT_TRUE(error_of("start main,start main,start main,start main").contains("more than 3"));
}

}  // namespace
}  // namespace sonde
