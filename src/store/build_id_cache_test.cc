#include "store/build_id_cache.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "base/sys.h"
#include "elf/elf_builder.h"
#include "store/target_file.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;

class BuildIdCacheTest : public testing::Test {
 protected:
  BuildIdCacheTest() {
    std::string pattern = (fs::temp_directory_path() / "sonde-store-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    cache_ = BuildIdCache(root_ + "/cache");
  }
  ~BuildIdCacheTest() override { fs::remove_all(root_); }

  std::string put(const std::string& name, std::string_view build_id) {
    ElfBuilder builder;
    builder.build_id(build_id);
    std::vector<std::byte> bytes = builder.build();
    std::string path = root_ + "/" + name;
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    return path;
  }

  std::string root_;
  BuildIdCache cache_{""};
};

const std::string kId = "\xab\xcd\xef\x01";
const std::string kOther = "\x12\x34\x56\x78";

TEST_F(BuildIdCacheTest, AddsAsPerfLaysItOut) {
  std::string file = put("prog", kId);
  auto added = cache_.add(
      {.path = "/usr/bin/prog", .build_id = kId, .file = file, .probes = "%sdt_a:b=b\n"});
  ASSERT_TRUE(added);
  EXPECT_EQ(*added, BuildIdCache::Added::kNew);
  std::string link = root_ + "/cache/.build-id/ab/cdef01";
  EXPECT_EQ(fs::read_symlink(link), "../../usr/bin/prog/abcdef01");
  EXPECT_TRUE(fs::is_regular_file(root_ + "/cache/usr/bin/prog/abcdef01/elf"));
  EXPECT_EQ(read_file(link + "/probes").value_or(""), "%sdt_a:b=b\n");
  EXPECT_EQ(cache_.file(kId, "elf"), link + "/elf");
  EXPECT_TRUE(cache_.holds(kId));
  EXPECT_FALSE(cache_.holds(kOther));
  EXPECT_EQ(cache_.add({.path = "/other", .build_id = kId, .file = file}).value(),
            BuildIdCache::Added::kWasThere);
}

TEST_F(BuildIdCacheTest, KeepsWhatHasNoFile) {
  std::string text = "ffffffff81000000 T _text\n";
  ASSERT_TRUE(cache_.add(
      {.path = "[kernel.kallsyms]", .build_id = kId, .content = as_bytes(std::string_view(text))}));
  EXPECT_EQ(read_file(root_ + "/cache/[kernel.kallsyms]/abcdef01/kallsyms").value_or(""), text);
  EXPECT_TRUE(cache_.holds(kId));
  ASSERT_EQ(cache_.entries().size(), 1U);
  EXPECT_EQ(cache_.entries()[0].path, "[kernel.kallsyms]");
}

TEST_F(BuildIdCacheTest, ListsAndRemovesByBuildIdAndPath) {
  std::string first = put("first", kId);
  std::string second = put("second", kOther);
  ASSERT_TRUE(cache_.add({.path = "/opt/prog", .build_id = kId, .file = first}));
  ASSERT_TRUE(cache_.add({.path = "/opt/prog", .build_id = kOther, .file = second}));
  auto entries = cache_.entries();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].build_id, kOther);
  EXPECT_EQ(entries[1].path, "/opt/prog");
  EXPECT_EQ(cache_.build_ids_of("/opt/prog"), (std::vector{kOther, kId}));
  EXPECT_TRUE(cache_.build_ids_of("/opt").empty());
  EXPECT_TRUE(cache_.remove(kId).value());
  EXPECT_FALSE(cache_.remove(kId).value());
  EXPECT_FALSE(fs::exists(root_ + "/cache/opt/prog/abcdef01"));
  EXPECT_EQ(cache_.entries().size(), 1U);
  EXPECT_TRUE(fs::exists(first)) << "the original stays";
}

TEST_F(BuildIdCacheTest, ACopyOfAnotherBuildIsNotHeld) {
  ASSERT_TRUE(cache_.add({.path = "/opt/prog", .build_id = kId, .file = put("a", kOther)}));
  EXPECT_FALSE(cache_.holds(kId));
}

TEST_F(BuildIdCacheTest, ALostCopyIsMadeAgain) {
  std::string file = put("prog", kId);
  ASSERT_TRUE(cache_.add({.path = "/opt/prog", .build_id = kId, .file = file}));
  fs::remove_all(root_ + "/cache/opt");
  EXPECT_FALSE(cache_.holds(kId));
  EXPECT_EQ(cache_.add({.path = "/opt/prog", .build_id = kId, .file = file}).value(),
            BuildIdCache::Added::kNew);
  EXPECT_TRUE(cache_.holds(kId));
}

TEST_F(BuildIdCacheTest, PathsThatClimbOutAreRefused) {
  EXPECT_FALSE(cache_.add({.path = "/../../etc/x", .build_id = kId, .file = put("a", kId)}));
  // Where it would be found as the object of build id abcdef01….
  for (const char* path : {"/.build-id/ab", "/./.build-id/ab", ".//.build-id"})
    EXPECT_FALSE(cache_.add({.path = path, .build_id = kId, .file = put("a", kId)})) << path;
  EXPECT_FALSE(cache_.add({.path = "/x", .build_id = "\x01", .file = put("a", kId)}));
  EXPECT_FALSE(BuildIdCache("").add({.path = "/x", .build_id = kId, .file = put("a", kId)}));
  fs::create_directories(root_ + "/cache/.build-id/ab");
  fs::create_directories(root_ + "/precious");
  fs::create_directory_symlink("../../../precious", root_ + "/cache/.build-id/ab/cdef01");
  EXPECT_TRUE(cache_.remove(kId).value());
  EXPECT_TRUE(fs::exists(root_ + "/precious")) << "only what is inside the cache is removed";
}

TEST_F(BuildIdCacheTest, OnlyItsOwnFilesAreRemoved) {
  std::string file = put("prog", kId);
  ASSERT_TRUE(cache_.add({.path = "/opt/prog", .build_id = kId, .file = file}));
  std::string directory = root_ + "/cache/opt/prog/abcdef01";
  std::ofstream(directory + "/notes") << "mine";
  EXPECT_TRUE(cache_.remove(kId).value());
  EXPECT_FALSE(cache_.holds(kId));
  EXPECT_FALSE(fs::exists(directory + "/elf"));
  EXPECT_EQ(read_file(directory + "/notes").value_or(""), "mine");
  // A link to a directory of many, inside the cache.
  ASSERT_TRUE(cache_.add({.path = "/opt/prog", .build_id = kOther, .file = put("other", kOther)}));
  fs::create_directories(root_ + "/cache/.build-id/ab");
  fs::create_directory_symlink("../../opt", root_ + "/cache/.build-id/ab/cdef01");
  EXPECT_TRUE(cache_.remove(kId).value());
  EXPECT_TRUE(cache_.holds(kOther));
  EXPECT_EQ(read_file(directory + "/notes").value_or(""), "mine");
}

TEST_F(BuildIdCacheTest, NothingIsLeftOfAnObjectThatCannotBeRead) {
  EXPECT_FALSE(cache_.add({.path = "/opt/prog", .build_id = kId, .file = root_ + "/nothing"}));
  EXPECT_TRUE(cache_.entries().empty());
  EXPECT_FALSE(fs::exists(root_ + "/cache/opt/prog/abcdef01"));
}

TEST_F(BuildIdCacheTest, TargetFilesHaveTheirLinksFollowed) {
  std::string file = put("prog", kId);
  fs::create_symlink("prog", root_ + "/link");
  auto opened = open_target_file(root_ + "/link", 0);
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->path, fs::canonical(file));
  EXPECT_EQ(read_file(opened->file).value(), read_file(file).value());
  auto own = open_target_file(root_ + "/link", ::getpid());
  ASSERT_TRUE(own) << own.error().message;
  EXPECT_EQ(own->path, fs::canonical(file));
  EXPECT_FALSE(open_target_file(root_ + "/nothing", 0));
}

TEST(BuildIdDirectory, FlagEnvironmentConfigHome) {
  StringSink out, err;
  LossLedger losses;
  Env env{.out = out, .err = err, .sys = Sys::host(), .losses = losses};
  EXPECT_EQ(build_id_directory(env), "");
  env.variables["HOME"] = "/h";
  EXPECT_EQ(build_id_directory(env), "/h/.debug");
  env.config.set("buildid.dir", "~/cache");
  EXPECT_EQ(build_id_directory(env), "/h/cache");
  env.config.set("buildid.dir", "/c");
  EXPECT_EQ(build_id_directory(env), "/c");
  env.variables["PERF_BUILDID_DIR"] = "/b";
  EXPECT_EQ(build_id_directory(env), "/b");
  EXPECT_EQ(build_id_directory(env, "/a"), "/a");
}

}  // namespace
}  // namespace sonde
