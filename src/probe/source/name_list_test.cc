#include "probe/source/name_list.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace sonde {
namespace {

constexpr NamedFile kFile{1000, 5'000'000'000};

std::string text_of(const NameList& list, std::string_view filter) {
  std::string text;
  for (std::string_view piece : list.matching(NameFilter::parse(filter).value())) text += piece;
  return text;
}

class NameListTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "name_list_XXXXXX";
    directory_ = ::mkdtemp(name.data());
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  /// As it comes from the disk; nullopt if it was not stored, or is no list of that file.
  [[nodiscard]] std::optional<NameList> kept(std::string_view packed, const NamedFile& file) const {
    ObjectCache cache(directory_);
    cache.keep("\xab", "names", 1, as_bytes(packed));
    auto found = cache.find("\xab", "names", 1);
    return found ? NameList::unpack(std::move(*found), file) : std::nullopt;
  }
  std::string directory_;
};

TEST_F(NameListTest, ShowsSortedNames) {
  NameList list = NameList::of({"puts", "_ZN4bank7depositEi", "main", "_start", "a@plt"}, false);
  EXPECT_EQ(text_of(list, "*"), "_start\na@plt\nbank::deposit\nmain\nputs\n");
  EXPECT_EQ(text_of(list, "!_* & !*@plt"), "bank::deposit\nmain\nputs\n");
  EXPECT_EQ(text_of(list, "bank::*|puts"), "bank::deposit\nputs\n");
  EXPECT_EQ(text_of(list, "nothing"), "");
  EXPECT_TRUE(NameList().matching(NameFilter()).empty());
  EXPECT_EQ(text_of(NameList::of({"_ZN4bank7depositEi"}, true), "*"), "_ZN4bank7depositEi\n");
}

/// What is made on several cores is what one would make of it.
TEST_F(NameListTest, HasAllOfMany) {
  std::vector<std::string> names;
  for (int i = 0; i < 50'000; ++i) names.push_back("name_" + std::to_string(i * 7919 % 50'000));
  NameList list = NameList::of({names.begin(), names.end()}, false);
  std::ranges::sort(names);
  std::string all, some;
  for (const std::string& name : names) {
    all += name + "\n";
    if (name.ends_with("7")) some += name + "\n";
  }
  EXPECT_EQ(text_of(list, "*"), all);
  EXPECT_EQ(text_of(list, "*7"), some);
}

TEST_F(NameListTest, IsTheSameFromTheDisk) {
  NameList list = NameList::of({"main", "_ZN4bank7depositEi"}, false);
  auto same = kept(list.pack(kFile), kFile);
  ASSERT_TRUE(same);
  EXPECT_EQ(text_of(*same, "*"), text_of(list, "*"));
  EXPECT_TRUE(kept(NameList().pack(kFile), kFile));
}

TEST_F(NameListTest, IsOfOneFile) {
  std::string packed = NameList::of({"main"}, false).pack(kFile);
  EXPECT_FALSE(kept(packed, {kFile.bytes + 1, kFile.changed_ns}));
  EXPECT_FALSE(kept(packed, {kFile.bytes, kFile.changed_ns + 1}));
}

/// Whatever the bytes are, and if the checksum is right: names end, and are lines.
TEST_F(NameListTest, UnpacksNothingThatIsCut) {
  std::string packed = NameList::of({"main", "puts"}, false).pack(kFile);
  for (size_t size = 0; size < packed.size(); ++size) {
    auto list = kept(packed.substr(0, size), kFile);
    bool ends_a_line = size == 16 || (size > 16 && packed[size - 1] == '\n');
    ASSERT_EQ(list.has_value(), ends_a_line) << size;
    if (!list) continue;
    EXPECT_EQ(text_of(*list, "*").size(), size - 16) << size;
  }
}

/// Bytes that were forged together with their checksum: of another file, or still lines.
TEST_F(NameListTest, SurvivesAnyBytes) {
  std::string packed = NameList::of({"main", "puts"}, false).pack(kFile);
  for (size_t bit = 0; bit < packed.size() * 8; ++bit) {
    std::string forged = packed;
    forged[bit / 8] = static_cast<char>(forged[bit / 8] ^ (1 << (bit % 8)));
    auto list = kept(forged, kFile);
    ASSERT_EQ(list.has_value(), bit / 8 >= 16 && forged.ends_with('\n')) << bit;
    if (!list) continue;
    ASSERT_EQ(text_of(*list, "*"), forged.substr(16)) << bit;
  }
}

}  // namespace
}  // namespace sonde
