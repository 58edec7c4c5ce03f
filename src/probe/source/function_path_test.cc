#include "probe/source/function_path.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(FunctionPath, NamesRustsMethodsByTheirType) {
  EXPECT_EQ(plain_function_path("<app::shapes::Shape>::area"), "app::shapes::Shape::area");
  EXPECT_EQ(plain_function_path("<app::Shape as app::Named>::label"), "app::Shape::label");
  EXPECT_EQ(plain_function_path("<alloc::vec::Vec<u8> as app::Named<i32>>::label"),
            "alloc::vec::Vec<u8>::label");
  EXPECT_EQ(plain_function_path("<<a::B as c::D>::E>::f"), "a::B::E::f");
  EXPECT_EQ(plain_function_path("<fn(i32)->i32 as app::Named>::label"), "fn(i32)->i32::label");
}

TEST(FunctionPath, WritesTypeArgumentsWithoutColons) {
  EXPECT_EQ(plain_function_path("app::generic::<i32>"), "app::generic<i32>");
  EXPECT_EQ(plain_function_path("<a::Vec<u8>>::map::<b::C::<i8>>"), "a::Vec<u8>::map<b::C<i8>>");
}

TEST(FunctionPath, LeavesOthersAlone) {
  for (const char* path : {"main", "outer::Account::deposit", "twice<int>", "", "<", "<a", "<a>b",
                           "operator<", "Slot<(anonymous namespace)::K>::get"})
    EXPECT_EQ(plain_function_path(path), path);
}

TEST(FunctionPath, TakesAnyLength) {
  constexpr size_t kMany = 100'000;
  std::string open(kMany, '<'), close, colons;
  for (size_t i = 0; i < kMany; ++i) {
    close += ">::a";
    colons += "::<";
  }
  EXPECT_EQ(plain_function_path(open + "b" + close).size(), (kMany - 16) * 5 + 1 + 16 * 3);
  EXPECT_EQ(plain_function_path(colons), std::string(kMany, '<'));
}

TEST(FunctionPath, HasALastComponent) {
  EXPECT_EQ(last_of_path("main"), "main");
  EXPECT_EQ(last_of_path("outer::Account::deposit"), "deposit");
  EXPECT_EQ(last_of_path("ns::twice<std::pair<a::B, int>>"), "twice<std::pair<a::B, int>>");
  EXPECT_EQ(last_of_path("a::"), "");
  EXPECT_EQ(last_of_path(""), "");
}

}  // namespace
}  // namespace sonde
