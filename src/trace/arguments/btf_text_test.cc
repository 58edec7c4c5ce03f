#include "trace/arguments/btf_text.h"

#include <bpf/btf.h>
#include <gtest/gtest.h>

#include <memory>

namespace sonde {
namespace {

/// enum colour { RED = 0, DARK = -1 }; enum wide : 64 bits { FAR = 2^40 };
/// struct point { int x; int y; };
BtfText some_types() {
  std::unique_ptr<btf, decltype(&btf__free)> made(btf__new_empty(), &btf__free);
  int number = btf__add_int(made.get(), "int", 4, BTF_INT_SIGNED);
  btf__add_enum(made.get(), "colour", 4);
  btf__add_enum_value(made.get(), "RED", 0);
  btf__add_enum_value(made.get(), "DARK", -1);
  btf__add_enum64(made.get(), "wide", 8, false);
  btf__add_enum64_value(made.get(), "FAR", uint64_t{1} << 40);
  btf__add_struct(made.get(), "point", 8);
  btf__add_field(made.get(), "x", number, 0, 0);
  btf__add_field(made.get(), "y", number, 32, 0);
  uint32_t size = 0;
  const void* data = btf__raw_data(made.get(), &size);
  return *BtfText::parse({static_cast<const std::byte*>(data), size});
}

TEST(BtfText, EnumeratorsHaveNames) {
  BtfText types = some_types();
  EXPECT_EQ(types.enumerator("enum colour", 0), "RED");
  EXPECT_EQ(types.enumerator("const enum colour", uint64_t(int64_t{-1})), "DARK");
  EXPECT_EQ(types.enumerator("enum colour", UINT32_MAX), "DARK");
  EXPECT_EQ(types.enumerator("enum wide", uint64_t{1} << 40), "FAR");
  EXPECT_EQ(types.enumerator("enum colour", 7), "");
  for (const char* other : {"enum taste", "struct point", "colour", "int", "enum ", ""})
    EXPECT_EQ(types.enumerator(other, 0), "") << other;
}

TEST(BtfText, StructuresBehindPointers) {
  BtfText types = some_types();
  const int32_t point[] = {3, 0};
  Bytes bytes = std::as_bytes(std::span(point));
  auto shown = [&](const char* type, Bytes of, const BtfText::Style& style) {
    std::string out;
    return types.append_pointed(type, of, style, out) ? out : "no";
  };
  EXPECT_EQ(shown("struct point *", bytes, {}), "(struct point){.x = (int)3,}");
  EXPECT_EQ(shown("const struct point *", bytes, {.names = false, .zeros = true}), "{3,0,}");
  EXPECT_EQ(shown("struct point *", bytes.first(7), {}), "no");
  for (const char* other : {"struct point", "struct point **", "struct line *", "int *", "*", ""})
    EXPECT_EQ(shown(other, bytes, {}), "no") << other;
}

TEST(BtfText, WithoutTypesNothingHasAName) {
  BtfText types = BtfText::none();
  EXPECT_EQ(types.enumerator("enum colour", 0), "");
  EXPECT_FALSE(types.check());
  const uint32_t noise[] = {1, 2, 3};
  EXPECT_FALSE(BtfText::parse(std::as_bytes(std::span(noise))));
}

}  // namespace
}  // namespace sonde
