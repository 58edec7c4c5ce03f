#include "symbol/demangle.h"

#include <gtest/gtest.h>

#include <ctime>

namespace sonde {
namespace {

std::string repeated(std::string_view text, size_t count) {
  std::string all;
  for (size_t i = 0; i < count; ++i) all += text;
  return all;
}

/// "Qba": so many characters back.
std::string back_reference(size_t distance) {
  std::string digits(1, static_cast<char>('a' + distance % 26));
  for (distance /= 26; distance > 0; distance /= 26)
    digits.insert(digits.begin(), static_cast<char>('A' + distance % 26));
  return "Q" + digits;
}

TEST(Demangle, KnowsTheLanguages) {
  EXPECT_EQ(demangle("_ZN2ns3fooEi", true), "ns::foo(int)");
  EXPECT_EQ(demangle("_ZN2ns3fooEi", false), "ns::foo");
  EXPECT_EQ(demangle("_RNvC6_123foo3bar", false), "123foo::bar");
  EXPECT_EQ(demangle("_D8demangle4testFZv", true), "demangle.test()");
  EXPECT_EQ(demangle("camlStdlib__List__map_123", true), "Stdlib.List.map_123");
}

TEST(Demangle, BackReferencesOfDAreFollowed) {
  EXPECT_EQ(demangle("_D8demangle4testFHiiQdZv", true), "demangle.test(int[int], int[int])");
}

/// Each type has the one before it twice: 120 characters would be 20 MB, 150 would be 700 MB.
TEST(Demangle, BackReferencesThatDoubleAreRefused) {
  std::string name = "_D1a1bF";
  size_t previous = name.size();
  name += "Hii";
  for (int i = 0; i < 200; ++i) {
    size_t here = name.size();
    name += 'H';
    name += back_reference(name.size() - previous);
    name += back_reference(name.size() - previous);
    previous = here;
  }
  EXPECT_EQ(demangle(name + "Zv", true), "");
}

/// Whatever repeats, in any language: it ends soon, and shows at most 64 KiB. (What recursed
/// without end died here.)
TEST(Demangle, LongNamesAreBounded) {
  constexpr size_t kLong = 65536;
  constexpr std::string_view kBegins[] = {"_Z",     "_Z1f",      "_ZN",        "_Z1fI", "_R",
                                          "_RI",    "_RNvC1a1b", "_D",         "_D1a",  "_D1aF",
                                          "_D1aFP", "caml",      "_GLOBAL__I_"};
  constexpr std::string_view kRepeated[] = {
      "F",    "P",  "A",  "N",  "Z",        "I",  "T",   "H",       "D",      "G",
      "X",    "B",  "Q",  "Qb", "1a",       "Nv", "St",  "S_",      "Z1f",    "__T1aT",
      "__S1", "pl", "cl", "Dp", "NvC1a1bI", "9",  "$20", "::_Z1fv", "::_D1aF"};
  std::clock_t begin = std::clock();
  for (std::string_view start : kBegins)
    for (std::string_view part : kRepeated)
      for (size_t size : {size_t{1000}, size_t{8000}, kLong}) {
        std::string name = std::string(start) + repeated(part, size / part.size());
        EXPECT_LE(demangle(name, true).size(), kLong + name.size()) << start << part << size;
      }
  EXPECT_LT((std::clock() - begin) / CLOCKS_PER_SEC, 30);
}

}  // namespace
}  // namespace sonde
