#include "store/file_copy.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/file.h"

namespace sonde {
namespace {

TEST(FileCopy, HolesStayHoles) {
  // Beside the build: other file systems may not tell of holes.
  char name[] = "/tmp/copy-XXXXXX";
  ASSERT_NE(::mkdtemp(name), nullptr);
  std::string from = std::string(name) + "/from", to = std::string(name) + "/to";
  constexpr off_t kHole = off_t{1} << 30;
  std::ofstream(from) << "begin";
  {
    Fd file(::open(from.c_str(), O_WRONLY | O_CLOEXEC));
    ASSERT_EQ(::pwrite(file.get(), "middle", 6, kHole), 6);
    ASSERT_EQ(::ftruncate(file.get(), 2 * kHole), 0);
  }
  // Not ours to link, so that it is copied.
  bool is_root = ::geteuid() == 0;
  ASSERT_EQ(is_root ? ::chown(from.c_str(), 4242, 4242) : 0, 0);
  ASSERT_TRUE(link_or_copy(from, to));
  struct stat source{}, copy{};
  ASSERT_EQ(::stat(from.c_str(), &source), 0);
  ASSERT_EQ(::stat(to.c_str(), &copy), 0);
  EXPECT_EQ(is_root, source.st_ino != copy.st_ino);
  EXPECT_EQ(copy.st_size, 2 * kHole);
  EXPECT_LE(copy.st_blocks, source.st_blocks + 16);
  char text[8] = {};
  Fd file(::open(to.c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(::pread(file.get(), text, 5, 0), 5);
  EXPECT_STREQ(text, "begin");
  EXPECT_EQ(::pread(file.get(), text, 7, kHole), 7);
  EXPECT_STREQ(text, "middle");
  std::filesystem::remove_all(name);
}

}  // namespace
}  // namespace sonde
