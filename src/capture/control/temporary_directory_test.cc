#include "capture/control/temporary_directory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <optional>

namespace sonde {
namespace {

namespace fs = std::filesystem;

class TemporaryDirectoryTest : public testing::Test {
 protected:
  TemporaryDirectoryTest() : parent_(testing::TempDir() + "/recordings-XXXXXX") {
    EXPECT_NE(::mkdtemp(parent_.data()), nullptr);
  }
  ~TemporaryDirectoryTest() override { fs::remove_all(parent_); }

  std::string parent_;
};

TEST_F(TemporaryDirectoryTest, IsRemovedWithItsContents) {
  std::string path;
  {
    auto made = TemporaryDirectory::make_below(parent_);
    ASSERT_TRUE(made);
    path = made->path();
    std::ofstream(path + "/perf.data") << "data";
    TemporaryDirectory moved = std::move(*made);
    EXPECT_TRUE(fs::exists(path + "/perf.data"));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(TemporaryDirectoryTest, RemovesWhatAKilledProcessLeft) {
  std::string left = parent_ + "/sonde-recording-abcdef";
  fs::create_directory(left);
  fs::permissions(left, fs::perms::owner_all);
  // Others' names, and what has another mode than ours.
  for (const char* name : {"sonde-recording-abcdef-notes", "sonde-recording-public"}) {
    fs::create_directory(parent_ + "/" + name);
    fs::permissions(parent_ + "/" + name, fs::perms::owner_all);
  }
  fs::permissions(parent_ + "/sonde-recording-public", fs::perms::others_read,
                  fs::perm_options::add);
  std::ofstream(left + "/perf.data") << "data";
  fs::create_directory(parent_ + "/recording-abcdef");
  std::ofstream(parent_ + "/sonde-recording-file") << "data";
  fs::create_directory_symlink("recording-abcdef", parent_ + "/sonde-recording-link");
  auto made = TemporaryDirectory::make_below(parent_);
  ASSERT_TRUE(made);
  EXPECT_FALSE(fs::exists(left));
  for (const char* name : {"recording-abcdef", "sonde-recording-file", "sonde-recording-link",
                           "sonde-recording-abcdef-notes", "sonde-recording-public"})
    EXPECT_TRUE(fs::exists(parent_ + "/" + name)) << name;
}

TEST_F(TemporaryDirectoryTest, LeavesThoseInUse) {
  auto one = TemporaryDirectory::make_below(parent_);
  auto other = TemporaryDirectory::make_below(parent_);
  ASSERT_TRUE(one && other);
  EXPECT_NE(one->path(), other->path());
  EXPECT_TRUE(fs::exists(one->path()));
}

TEST_F(TemporaryDirectoryTest, SaysWhereItCannotBe) {
  auto made = TemporaryDirectory::make_below(parent_ + "/nowhere");
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("nowhere"), std::string::npos);
}

}  // namespace
}  // namespace sonde
