#include "base/output/overwriting.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/output_file.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;

class OverwritingTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "sonde_overwriting_XXXXXX";
    ASSERT_NE(::mkdtemp(root_.data()), nullptr);
    path_ = root_ + "/file";
  }
  void TearDown() override { fs::remove_all(root_); }
  void put(const std::string& text) const { std::ofstream(path_) << text; }
  [[nodiscard]] std::string content() const { return read_file(path_).value(); }

  std::string root_, path_;
};

TEST_F(OverwritingTest, AFileIsEmptied) {
  for (const char* before : {"", "text", "PERF"}) {
    put(before);
    auto file = overwrite(path_, 0600);
    ASSERT_TRUE(file);
    EXPECT_EQ(content(), "");
    ASSERT_TRUE(write_all(file->get(), path_, as_bytes(std::string_view("new"))));
    EXPECT_EQ(content(), "new");
  }
}

TEST_F(OverwritingTest, TextIsAppended) {
  for (const char* text : {"one", "two"}) {
    auto file = append_to(path_, 0600);
    ASSERT_TRUE(file);
    ASSERT_TRUE(write_all(file->get(), path_, as_bytes(std::string_view(text))));
  }
  EXPECT_EQ(content(), "onetwo");
}

TEST_F(OverwritingTest, ARecordingIsNot) {
  for (const char* magic : {"PERFILE2", "2ELIFREP", "PERFFILE"}) {
    put(std::string(magic) + "…");
    auto file = overwrite(path_, 0600);
    ASSERT_FALSE(file);
    EXPECT_NE(file.error().find("recording"), std::string::npos);
    EXPECT_FALSE(append_to(path_, 0600)) << "that would spoil it as well";
    EXPECT_EQ(content(), std::string(magic) + "…");
  }
}

TEST_F(OverwritingTest, OthersLinksAreNotFollowed) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to make a link of another user";
  put("root's");
  std::string link = root_ + "/link";
  fs::create_symlink("file", link);
  EXPECT_TRUE(overwrite(link, 0600)) << "one's own are";
  put("root's");
  constexpr uid_t kNobody = 65534;
  ASSERT_EQ(::lchown(link.c_str(), kNobody, kNobody), 0);
  EXPECT_FALSE(overwrite(link, 0600));
  EXPECT_EQ(content(), "root's");
}

TEST_F(OverwritingTest, DevicesAreWrittenTo) {
  auto file = overwrite("/dev/null", 0600);
  ASSERT_TRUE(file);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(OverwritingTest, AMadeFileIsNeverSomebodyElses) {
  put("kept");
  std::string link = root_ + "/link";
  fs::create_symlink("file", link);
  Fd file = make_file(link, 0600);
  ASSERT_TRUE(file.valid());
  ASSERT_TRUE(write_all(file.get(), link, as_bytes(std::string_view("new"))));
  EXPECT_EQ(content(), "kept");
  EXPECT_FALSE(fs::is_symlink(link));
}

}  // namespace
}  // namespace sonde
