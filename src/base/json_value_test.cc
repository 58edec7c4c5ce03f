#include "base/json_value.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(JsonValue, IsATree) {
  Result<JsonValue> root = JsonValue::parse(
      R"( {"a":[1,-2.5,"x\n",true,null,{}],"b":{"c":18446744073709551615}} )", "f");
  ASSERT_TRUE(root);
  const JsonValue::Array& a = root->find("a")->array();
  ASSERT_EQ(a.size(), 6u);
  EXPECT_EQ(a[1].number(), -2.5);
  EXPECT_EQ(a[2].text(), "x\n");
  EXPECT_TRUE(a[3].boolean());
  EXPECT_FALSE(a[4].is_object());
  EXPECT_TRUE(a[5].is_object());
  EXPECT_EQ(root->find("b")->find("c")->number(), 18446744073709551615.0);
  EXPECT_EQ(JsonValue::parse("[666.00015250152666e-33]", "f")->array()[0].number(),
            666.00015250152666e-33);
  EXPECT_EQ(root->find("d"), nullptr);
  EXPECT_EQ(a[0].find("a"), nullptr);
}

TEST(JsonValue, WhatIsNoneIsAnError) {
  for (const char* text : {"", "{", "[1,]", "{\"a\" 1}", "1 2", "nul", "[1e999]", "\"\\x\""})
    EXPECT_FALSE(JsonValue::parse(text, "f")) << text;
  EXPECT_TRUE(JsonValue::parse("[1]", "f").value().is_array());
  EXPECT_EQ(JsonValue::parse("[1,", "f").error().message.substr(0, 18), "f: no JSON at byte");
}

TEST(JsonValue, NestingHasAnEnd) {
  EXPECT_TRUE(JsonValue::parse(std::string(60, '[') + std::string(60, ']'), "f"));
  EXPECT_FALSE(JsonValue::parse(std::string(1000000, '['), "f"));
}

}  // namespace
}  // namespace sonde
