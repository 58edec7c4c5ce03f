#include "symbol/object_finder.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "elf/elf_builder.h"
#include "symbol/own_vdso.h"
#include "symbol/perf_map.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kId = "0123456789abcdefghij";
constexpr std::string_view kOtherId = "abcdefghij0123456789";

struct ObjectKind {
  std::string_view build_id = kId;
  const char* symbol = nullptr;  // in .symtab; null: stripped
  bool debug_only = false;
  std::string link = {};
};

/// A directory tree that represents a machine's files.
class ObjectFinderTest : public testing::Test {
 protected:
  ObjectFinderTest() : root_(testing::TempDir() + "object_finder." + std::to_string(::getpid())) {
    fs::remove_all(root_);
    options_.symfs = root_ + "/root";
    options_.buildid_dir = root_ + "/cache";
    options_.proc = root_ + "/proc";
  }
  ~ObjectFinderTest() override { fs::remove_all(root_); }

  void put(const std::string& path, const ObjectKind& kind) const {
    ElfBuilder elf;
    uint64_t flags = SHF_ALLOC | SHF_EXECINSTR;
    uint32_t text = kind.debug_only ? elf.section(".text", SHT_NOBITS, flags, 0x1000, "", 0, 0, 64)
                                    : elf.section(".text", SHT_PROGBITS, flags, 0x1000,
                                                  std::string(64, '\x90'));
    if (!kind.debug_only) elf.load(text, true);
    if (!kind.build_id.empty()) elf.build_id(kind.build_id);
    if (!kind.link.empty()) {
      std::string link = kind.link;
      link.resize((link.size() + 4) & ~size_t{3});
      elf.section(".gnu_debuglink", SHT_PROGBITS, 0, 0, link + "\x01\x02\x03\x04");
    }
    if (kind.debug_only) elf.section(".debug_info", SHT_PROGBITS, 0, 0, "x");
    if (kind.symbol != nullptr) elf.symbols({{kind.symbol, 0x1000, 16, text}});
    std::vector<std::byte> bytes = elf.build();
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  [[nodiscard]] FoundObject find(const std::string& path, std::string_view build_id) const {
    return ObjectFinder(options_).find({.path = path, .build_id = std::string(build_id)});
  }
  static std::string symbol_of(FoundObject& found) {
    SymbolTable table = found.load_symbols();
    const Symbol* symbol = table.find(uint64_t{0x1008});
    return symbol == nullptr ? "" : std::string(symbol->name());
  }
  static std::string cache_entry(std::string_view name) {
    std::string hex = to_hex(kId);
    return "/cache/.build-id/" + hex.substr(0, 2) + "/" + hex.substr(2) + "/" + std::string(name);
  }

  std::string root_;
  FinderOptions options_;
};

TEST_F(ObjectFinderTest, TakesTheObjectItself) {
  put("/root/usr/lib/a.so", {.symbol = "own"});
  FoundObject found = find("/usr/lib/a.so", kId);
  ASSERT_TRUE(found.usable());
  EXPECT_EQ(found.source, ObjectSource::kSystemPath);
  EXPECT_EQ(found.segments().addr_of(found.segments().segments()[0].offset + 4), ElfAddr(0x1004));
  EXPECT_EQ(symbol_of(found), "own");
}

TEST_F(ObjectFinderTest, RefusesAnotherBuild) {
  put("/root/usr/lib/a.so", {.build_id = kOtherId, .symbol = "own"});
  FoundObject found = find("/usr/lib/a.so", kId);
  EXPECT_FALSE(found.usable());
  EXPECT_TRUE(found.is_replaced());
  EXPECT_NE(found.explain().find("refused: its build id is not the recorded one"),
            std::string::npos);

  put("/root/usr/lib/b.so", {.build_id = "", .symbol = "own"});
  EXPECT_FALSE(find("/usr/lib/b.so", kId).usable());
  EXPECT_TRUE(find("/usr/lib/b.so", "").usable());
}

TEST_F(ObjectFinderTest, PrefersTheCacheForAnotherBuild) {
  put("/root/usr/lib/a.so", {.build_id = kOtherId, .symbol = "newer"});
  put(cache_entry("elf"), {.symbol = "cached"});
  FoundObject found = find("/usr/lib/a.so", kId);
  EXPECT_EQ(found.source, ObjectSource::kBuildIdCache);
  EXPECT_EQ(symbol_of(found), "cached");
}

TEST_F(ObjectFinderTest, JoinsStrippedObjectAndDebugFile) {
  std::string hex = to_hex(kId);
  put("/root/usr/lib/a.so", {});
  put("/root/usr/lib/debug/.build-id/" + hex.substr(0, 2) + "/" + hex.substr(2) + ".debug",
      {.symbol = "debug", .debug_only = true});
  for (std::string_view id : {kId, std::string_view()}) {
    FoundObject found = find("/usr/lib/a.so", id);
    EXPECT_EQ(found.source, ObjectSource::kBuildIdDebug);
    ASSERT_TRUE(found.runtime);
    EXPECT_TRUE(found.runtime_path.ends_with("/usr/lib/a.so"));
    EXPECT_TRUE(found.segments().offset_of(ElfAddr(0x1000)));
    EXPECT_EQ(symbol_of(found), "debug");
  }
  EXPECT_TRUE(ObjectFinder(options_)
                  .find_debug_info({.path = "/usr/lib/a.so", .build_id = std::string(kId)})
                  .ends_with(".debug"));
}

TEST_F(ObjectFinderTest, FollowsDebugLinks) {
  for (const char* place :
       {"/root/opt/a.debug", "/root/opt/.debug/a.debug", "/root/usr/lib/debug/opt/a.debug"}) {
    put("/root/opt/a", {.link = "a.debug"});
    put(place, {.symbol = "linked", .debug_only = true});
    FoundObject found = find("/opt/a", kId);
    EXPECT_EQ(found.source, ObjectSource::kDebugLink) << place;
    EXPECT_EQ(symbol_of(found), "linked");
    put(place, {.build_id = kOtherId, .symbol = "stale", .debug_only = true});
    FoundObject without = find("/opt/a", kId);
    EXPECT_EQ(symbol_of(without), "") << place;
    fs::remove_all(root_);
  }
}

TEST_F(ObjectFinderTest, DeletedFilesNeedABuildId) {
  put("/root/tmp/a", {.symbol = "replaced"});
  EXPECT_TRUE(find("/tmp/a (deleted)", kId).usable());
  EXPECT_FALSE(find("/tmp/a (deleted)", kOtherId).usable());
  options_.symfs.clear();
  put("/b", {.symbol = "gone"});
  EXPECT_TRUE(find(root_ + "/b (deleted)", kId).usable());
  EXPECT_FALSE(find(root_ + "/b (deleted)", "").usable());
}

TEST_F(ObjectFinderTest, LooksIntoOtherMountNamespaces) {
  options_.symfs.clear();
  fs::create_directories(root_ + "/proc/7/ns");
  fs::create_directories(root_ + "/proc/self/ns");
  fs::create_symlink("mnt:[1]", root_ + "/proc/self/ns/mnt");
  fs::create_symlink("mnt:[2]", root_ + "/proc/7/ns/mnt");
  fs::create_symlink("/", root_ + "/proc/self/root");
  fs::create_symlink("../../container", root_ + "/proc/7/root");
  put("/container/app/a", {.symbol = "contained"});
  FoundObject found = ObjectFinder(options_).find({.path = "/app/a", .build_id = {}, .pids = {7}});
  ASSERT_TRUE(found.usable());
  EXPECT_EQ(symbol_of(found), "contained");
  // Who has that number here is not who was recorded elsewhere.
  options_.path_trust = PathTrust::kAnyElsewhere;
  EXPECT_FALSE(
      ObjectFinder(options_).find({.path = "/app/a", .build_id = {}, .pids = {7}}).usable());
}

TEST_F(ObjectFinderTest, FindsItsOwnVdso) {
  auto vdso = own_vdso();
  if (!vdso) GTEST_SKIP() << vdso.error().message;
  FoundObject found = find("[vdso]", vdso->build_id());
  ASSERT_TRUE(found.usable());
  EXPECT_EQ(found.source, ObjectSource::kProcessMemory);
  EXPECT_FALSE(found.load_symbols().find_by_name("__vdso_clock_gettime").empty());
  EXPECT_FALSE(find("[vdso]", kOtherId).usable());
}

TEST_F(ObjectFinderTest, FindsKernelImageAndKallsyms) {
  put("/root/boot/vmlinux-6.1.0", {.symbol = "schedule"});
  ObjectFinder finder(options_);
  EXPECT_TRUE(finder.find_vmlinux(kId, "6.1.0").usable());
  EXPECT_FALSE(finder.find_vmlinux(kOtherId, "6.1.0").usable());
  EXPECT_FALSE(finder.find_vmlinux("", "6.1.0").usable());
  EXPECT_EQ(finder.find_cached_kallsyms(kId), "");
  put(cache_entry("kallsyms"), {});
  EXPECT_EQ(finder.find_cached_kallsyms(kId), root_ + cache_entry("kallsyms"));
}

TEST_F(ObjectFinderTest, PerfMapPathsKnowThePidInside) {
  fs::create_directories(root_ + "/proc/4711");
  std::ofstream(root_ + "/proc/4711/status") << "Name:\tnode\nNSpid:\t4711\t12\nVmPeak:\t1 kB\n";
  std::vector<std::string> paths = perf_map_paths(4711, options_.proc, "/tmp");
  ASSERT_EQ(paths.size(), 2U);
  EXPECT_EQ(paths[0], root_ + "/proc/4711/root/tmp/perf-12.map");
  EXPECT_EQ(paths[1], "/tmp/perf-4711.map");
  EXPECT_EQ(perf_map_paths(99, options_.proc, "/tmp").size(), 1U);
  EXPECT_EQ(perf_map_paths(4711, "", "/tmp"), std::vector<std::string>{"/tmp/perf-4711.map"});
}

}  // namespace
}  // namespace sonde
