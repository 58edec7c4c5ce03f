#include "objects/cache_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/sys.h"
#include "objects/injected_build_ids.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// This program's own file, which has a build id, in a cache of its own.
class CacheChangesTest : public testing::Test {
 protected:
  ~CacheChangesTest() override { fs::remove_all(root_); }

  std::string root_ = testing::TempDir() + "cache-" + std::to_string(::getpid());
  std::string program_ = fs::read_symlink("/proc/self/exe");
  BuildIdCache cache_{root_};
  StringSink out_, err_;
  LossLedger losses_;
  Env env_{.out = out_, .err = err_, .sys = Sys::host(), .losses = losses_};
};

TEST_F(CacheChangesTest, WhatIsAddedIsHeldUntilItIsRemoved) {
  CacheChanges changes(cache_, env_, {});
  changes.add(program_);
  ASSERT_EQ(cache_.entries().size(), 1u) << err_.text();
  EXPECT_EQ(cache_.entries()[0].path, program_);
  EXPECT_TRUE(cache_.holds(cache_.entries()[0].build_id));
  changes.remove(program_);
  EXPECT_TRUE(cache_.entries().empty());
  EXPECT_TRUE(changes.all_done()) << err_.text();
}

TEST_F(CacheChangesTest, AFileThatCannotBeAddedStopsNoOther) {
  CacheChanges changes(cache_, env_, {});
  changes.add(root_ + "/nothing");
  changes.add(program_);
  EXPECT_FALSE(changes.all_done());
  EXPECT_THAT(err_.text(), HasSubstr("/nothing"));
  EXPECT_EQ(cache_.entries().size(), 1u);
  changes.purge(program_);
  EXPECT_TRUE(cache_.entries().empty());
}

TEST(KnownBuildIds, PairsAreDividedByCommas) {
  Result<KnownBuildIds> known =
      parse_known_build_ids("0123456789abcdef /bin/a,fedcba9876543210 /bin/b c");
  ASSERT_TRUE(known) << known.error().message;
  ASSERT_EQ(known->size(), 2u);
  EXPECT_EQ(known->at("/bin/a"), "\x01\x23\x45\x67\x89\xab\xcd\xef");
  EXPECT_TRUE(known->contains("/bin/b c"));
  EXPECT_FALSE(parse_known_build_ids("nonsense"));
}

}  // namespace
}  // namespace sonde
