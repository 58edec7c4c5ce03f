#include "symbol/source/source_lines.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace sonde {
namespace {

constexpr uint32_t kStranger = 4242;

class Source : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/source-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    directory_ = name;
    ASSERT_EQ(::chmod(name, 0755), 0);
    std::filesystem::create_directory(directory_ + "/build");
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string put(const std::string& name, mode_t mode = 0644) {
    std::string path = directory_ + "/" + name;
    std::ofstream(path) << "text\n";
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }
  [[nodiscard]] bool reads(const std::string& path, uint32_t owner = ::geteuid()) const {
    return read_source(path, {directory_ + "/build", {owner}}).has_value();
  }

  std::string directory_;
};

TEST_F(Source, EndsLikeSource) {
  for (const char* name : {"/a/list.h", "x.S", "X.CPP", "lib.rs", "a.b.c", "dir.d/gen.y"})
    EXPECT_TRUE(has_source_ending(name)) << name;
  for (const char* name :
       {"/etc/shadow", "id_rsa", "key.pem", ".c", "x.c/key", "a.", "x.c.bak", ""})
    EXPECT_FALSE(has_source_ending(name)) << name;
}

TEST_F(Source, AnEndingOrTheCompilationsDirectoryMakesIt) {
  EXPECT_TRUE(reads(put("a.c")));
  EXPECT_FALSE(reads(put("secret")));
  EXPECT_TRUE(reads(put("build/generated")));
  EXPECT_FALSE(reads(put("build/private", 0600)));  // what everybody may read is no secret
  EXPECT_FALSE(reads(directory_ + "/build/../secret"));
  EXPECT_FALSE(reads(put("build2")));
}

TEST_F(Source, DirectoriesOfTheSystemAreNoSourceTrees) {
  for (const char* root : {"/", "/etc", "/etc/", "/proc/self", "", "etc", "/etc/../etc"}) {
    EXPECT_FALSE(read_source("/etc/passwd", {root, {}}).has_value()) << root;
    EXPECT_FALSE(read_source("/proc/self/environ", {root, {}}).has_value()) << root;
  }
}

TEST_F(Source, LinksLeadToNothingElse) {
  std::string secret = put("secret");
  ASSERT_EQ(::symlink(secret.c_str(), (directory_ + "/link.c").c_str()), 0);
  ASSERT_EQ(::symlink(secret.c_str(), (directory_ + "/build/link").c_str()), 0);
  EXPECT_FALSE(reads(directory_ + "/link.c"));
  EXPECT_FALSE(reads(directory_ + "/build/link"));
  std::string source = put("real.c");
  ASSERT_EQ(::symlink(source.c_str(), (directory_ + "/other.c").c_str()), 0);
  EXPECT_TRUE(reads(directory_ + "/other.c"));
}

TEST_F(Source, OnlyRegularFilesAndNothingWaits) {
  std::string fifo = directory_ + "/fifo.c";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0666), 0);
  EXPECT_FALSE(reads(fifo));
  std::filesystem::create_directory(directory_ + "/directory.c");
  EXPECT_FALSE(reads(directory_ + "/directory.c"));
  ASSERT_EQ(::symlink("/dev/zero", (directory_ + "/zero.c").c_str()), 0);
  EXPECT_FALSE(reads(directory_ + "/zero.c"));
  EXPECT_FALSE(read_source(put("large.c"), {}, 3).has_value());
}

TEST_F(Source, WhoeverOwnsTheWayToAFileDecidesWhatItIs) {
  auto owners = [this](const std::string& name) {
    return owners_on_the_way_to(directory_ + "/" + name);
  };
  std::vector<uint32_t> ours = owners_on_the_way_to(put("object"));
  EXPECT_EQ(ours.back(), ::geteuid());
  std::filesystem::create_directory(directory_ + "/open");
  ASSERT_EQ(::chmod((directory_ + "/open").c_str(), 0777), 0);
  put("open/object");
  EXPECT_EQ(std::ranges::count(owners("open/object"), Symbolizer::kUnknownOwner), 1);
  ASSERT_EQ(::chmod((directory_ + "/open").c_str(), 01777), 0);
  EXPECT_EQ(owners("open/object"), ours);
  EXPECT_TRUE(owners("nothing").empty());
  ASSERT_EQ(::symlink("loop", (directory_ + "/loop").c_str()), 0);
  EXPECT_TRUE(owners("loop").empty());
  ASSERT_EQ(::symlink("../object", (directory_ + "/open/link").c_str()), 0);
  EXPECT_EQ(owners("open/link"), ours);
  ASSERT_EQ(::symlink("open", (directory_ + "/way").c_str()), 0);
  EXPECT_EQ(owners("way/link"), ours);
  if (::geteuid() != 0) return;
  for (const char* link : {"/open/link", "/way"}) {
    ASSERT_EQ(::lchown((directory_ + link).c_str(), kStranger, 0), 0);
    EXPECT_EQ(std::ranges::count(owners("way/link"), kStranger), 1) << link;
  }
  ASSERT_EQ(::chown((directory_ + "/open").c_str(), kStranger, 0), 0);
  EXPECT_EQ(std::ranges::count(owners("open/object"), kStranger), 1);
}

TEST_F(Source, TheObjectsOwnerMustBeAbleToRead) {
  EXPECT_TRUE(reads(put("public.c"), kStranger));
  std::string path = put("private.c", 0600);
  EXPECT_TRUE(reads(path));
  EXPECT_FALSE(reads(path, kStranger));
  EXPECT_FALSE(reads(path, Symbolizer::kUnknownOwner));
  std::filesystem::create_directory(directory_ + "/closed");
  std::string closed = put("closed/public.c");
  EXPECT_TRUE(reads(closed, kStranger));
  ASSERT_EQ(::chmod((directory_ + "/closed").c_str(), 0700), 0);
  EXPECT_FALSE(reads(closed, kStranger));
  if (::geteuid() != 0) return;
  ASSERT_EQ(::chown(path.c_str(), kStranger, 0), 0);
  EXPECT_TRUE(reads(path, kStranger));
}

TEST_F(Source, ErrorsSayWhy) {
  std::string path = put("secret");
  Result<std::string> refused = read_source(path, {});
  ASSERT_FALSE(refused.has_value());
  EXPECT_TRUE(refused.error().message.starts_with(path + " is not read as source: its name"))
      << refused.error().message;
}

}  // namespace
}  // namespace sonde
