#include "store/object_cache.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/sys.h"

namespace sonde {
namespace {

class ObjectCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "object_cache_XXXXXX";
    directory_ = ::mkdtemp(name.data());
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  [[nodiscard]] std::string path_of(const std::string& file) const {
    return directory_ + "/" + file;
  }
  static std::string text_of(const std::optional<RetainedObject>& kept) {
    return kept ? std::string(as_text(kept->bytes())) : "none";
  }
  std::string directory_;
};

constexpr uint32_t kVersion = 3;

TEST_F(ObjectCacheTest, GivesBackWhatWasKept) {
  ObjectCache cache(path_of("new/one"));
  EXPECT_FALSE(cache.find("\xab\xcd", "lines", kVersion));
  cache.keep("\xab\xcd", "lines", kVersion, as_bytes("the lines"));
  EXPECT_EQ(text_of(cache.find("\xab\xcd", "lines", kVersion)), "the lines");
  EXPECT_FALSE(cache.find("\xab\xcd", "cfi", kVersion));
  EXPECT_FALSE(cache.find("\xab\xce", "lines", kVersion));
  EXPECT_FALSE(cache.find("\xab\xcd", "lines", kVersion + 1));
  cache.keep("\xab\xcd", "lines", kVersion, as_bytes("more"));
  EXPECT_EQ(text_of(cache.find("\xab\xcd", "lines", kVersion)), "more");
}

TEST_F(ObjectCacheTest, KeepsNothingWithoutBuildIdOrDirectory) {
  ObjectCache cache(directory_);
  cache.keep("", "lines", kVersion, as_bytes("x"));
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
  ObjectCache none("");
  none.keep("\xab", "lines", kVersion, as_bytes("x"));
  EXPECT_FALSE(none.find("\xab", "lines", kVersion));
}

/// Each bit of each byte, and each length.
TEST_F(ObjectCacheTest, NeverGivesDamagedBytes) {
  ObjectCache cache(directory_);
  cache.keep("\xab", "cfi", kVersion, as_bytes("some rows"));
  std::string path = path_of("ab.cfi");
  std::ifstream in(path, std::ios::binary);
  std::string whole((std::istreambuf_iterator<char>(in)), {});
  auto write = [&path](const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  };
  for (size_t i = 0; i < whole.size(); ++i) {
    if (i >= 12 && i < 16) continue;  // reserved
    std::string bad = whole;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    write(bad);
    EXPECT_FALSE(cache.find("\xab", "cfi", kVersion)) << "byte " << i;
    write(whole.substr(0, i));
    EXPECT_FALSE(cache.find("\xab", "cfi", kVersion)) << "length " << i;
  }
  write(whole + "x");
  EXPECT_FALSE(cache.find("\xab", "cfi", kVersion));
  write(whole);
  EXPECT_EQ(text_of(cache.find("\xab", "cfi", kVersion)), "some rows");
}

TEST_F(ObjectCacheTest, TheOldestGoWhereItIsFull) {
  ObjectCache cache(directory_, 900);
  std::string bytes(300, 'x');
  auto age = [this](const std::string& file, int hours) {
    std::filesystem::last_write_time(
        path_of(file), std::filesystem::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  cache.keep("\x01", "k", kVersion, as_bytes(bytes));
  cache.keep("\x02", "k", kVersion, as_bytes(bytes));
  age("01.k", 2);
  age("02.k", 1);
  cache.keep("\x03", "k", kVersion, as_bytes(bytes));
  EXPECT_FALSE(cache.find("\x01", "k", kVersion));
  EXPECT_TRUE(cache.find("\x02", "k", kVersion));
  EXPECT_TRUE(cache.find("\x03", "k", kVersion));
  // What has been used is not old.
  age("03.k", 1);
  cache.keep("\x04", "k", kVersion, as_bytes(bytes));
  EXPECT_TRUE(cache.find("\x02", "k", kVersion));
  EXPECT_FALSE(cache.find("\x03", "k", kVersion));
  cache.keep("\x05", "k", kVersion, as_bytes(std::string(600, 'y')));
  EXPECT_FALSE(cache.find("\x05", "k", kVersion));  // more than half of the limit
}

TEST_F(ObjectCacheTest, WhatIsNoneOfItsFilesStays) {
  std::vector<std::string> names = {"notes.txt", "ab", "ab.cfi", ".hidden", "0f.tar.gz"};
  for (const std::string& name : names) {
    std::ofstream(path_of(name)) << std::string(500, 'm');
    std::filesystem::last_write_time(path_of(name), std::filesystem::file_time_type::min());
  }
  std::filesystem::create_symlink("notes.txt", path_of("cd.cfi"));
  ObjectCache cache(directory_, 900);
  cache.keep("\x01", "k", kVersion, as_bytes(std::string(300, 'x')));
  cache.keep("\x02", "k", kVersion, as_bytes(std::string(300, 'x')));
  EXPECT_FALSE(cache.find("\x01", "k", kVersion)) << "its own are removed";
  for (const std::string& name : names)
    EXPECT_EQ(std::filesystem::file_size(path_of(name)), 500u) << name;
  EXPECT_TRUE(std::filesystem::is_symlink(path_of("cd.cfi")));
}

TEST(ObjectCacheDirectory, IsWhatIsSaidFirst) {
  StringSink out, err;
  LossLedger losses;
  Env env{.out = out, .err = err, .sys = Sys::host(), .losses = losses};
  EXPECT_EQ(object_cache_directory(env), "");
  env.variables["HOME"] = "/me";
  EXPECT_EQ(object_cache_directory(env), "/me/.cache/sonde");
  env.variables["XDG_CACHE_HOME"] = "/caches";
  EXPECT_EQ(object_cache_directory(env), "/caches/sonde");
  env.config.set("sonde.cache", "/configured");
  EXPECT_EQ(object_cache_directory(env), "/configured");
  env.variables["SONDE_CACHE"] = "/mine";
  EXPECT_EQ(object_cache_directory(env), "/mine");
  env.variables["SONDE_CACHE"] = "off";
  EXPECT_EQ(object_cache_directory(env), "");
}

}  // namespace
}  // namespace sonde
