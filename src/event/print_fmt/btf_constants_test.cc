#include "event/print_fmt/btf_constants.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

namespace sonde {
namespace {

/// An int, a struct with a member, and "enum { RED = 1, BLUE = -2 }", enum64 { BIG = 1 << 40 }.
std::string sample_btf(ByteOrder order) {
  const std::string strings("\0int\0RED\0BLUE\0BIG\0INRED\0", 24);
  ByteBuilder types(order);
  auto type = [&](uint32_t name, uint32_t kind, uint32_t count, bool flag) {
    types.u32(name);
    types.u32(kind << 24 | count | static_cast<uint32_t>(flag) << 31);
    types.u32(4);
  };
  type(1, 1, 0, false);
  types.u32(32);
  type(0, 4, 1, false);
  types.zeros(12);
  type(0, 6, 2, true);
  types.u32(5);
  types.u32(1);
  types.u32(9);
  types.u32(static_cast<uint32_t>(-2));
  type(0, 19, 1, false);
  types.u32(14);
  types.u32(0);
  types.u32(1 << 8);
  ByteBuilder btf(order);
  btf.u16(0xeb9f);
  btf.u16(1);
  btf.u32(24);
  btf.u32(0);
  btf.u32(static_cast<uint32_t>(types.size()));
  btf.u32(static_cast<uint32_t>(types.size()));
  btf.u32(static_cast<uint32_t>(strings.size()));
  btf.bytes(types.view());
  btf.text(strings);
  return std::string(as_text(btf.view()));
}

TEST(BtfConstants, FindsEnumeratorsInBothByteOrders) {
  const std::vector<std::string> names{"RED", "BLUE", "BIG", "GREEN", "int"};
  for (ByteOrder order : {ByteOrder::kLittle, ByteOrder::kBig}) {
    std::string btf = sample_btf(order);
    auto found = btf_constants(as_bytes(btf), names);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(*found, (Constants{{"RED", 1}, {"BLUE", -2}, {"BIG", int64_t{1} << 40}}));
  }
}

TEST(BtfConstants, SurvivesTruncation) {
  const std::vector<std::string> names{"RED", "BIG"};
  std::string btf = sample_btf(kHostOrder);
  EXPECT_FALSE(btf_constants(as_bytes("no"), names).has_value());
  for (size_t size = 0; size < btf.size(); ++size)
    EXPECT_FALSE(btf_constants(as_bytes(btf.substr(0, size)), names).has_value()) << size;
}

TEST(BtfConstants, CompilesWithThem) {
  auto format = TracepointFormat::parse(
      "name: e\nID: 1\nformat:\n\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n\n"
      "print fmt: \"%s\", __print_symbolic(REC->a, { RED, \"red\" }, { UNKNOWN, \"?\" })\n",
      "sys");
  ASSERT_TRUE(format.has_value());
  std::string path = testing::TempDir() + "btf_constants_test";
  std::ofstream(path, std::ios::binary) << sample_btf(kHostOrder);
  const std::string raw("\0\0\0\0\0\0\0\0\1\0\0\0", 12);
  auto print = [&](const PrintProgram& program) {
    std::string out;
    program.print(as_bytes(raw), {}, out);
    return out;
  };
  EXPECT_EQ(print(compile_with_btf(*format, {}, path)), "red");
  EXPECT_EQ(print(compile_with_btf(*format, {}, path + ".missing")), "0x1");
  std::remove(path.c_str());
}

}  // namespace
}  // namespace sonde
