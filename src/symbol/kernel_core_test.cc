#include "symbol/kernel_core.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/bytes.h"
#include "base/text.h"
#include "elf/build_id.h"
#include "elf/core_builder.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;
constexpr uint64_t kText = 0xffffffff81000000, kModule = 0xffffffffc0200000;

class KernelCoreTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) /
            testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(root_);
    kernel_.reference_symbol = "_text";
    kernel_.reference_address = RuntimeAddr(kText);
    kernel_.build_id = std::string(20, '\x01');
  }
  void TearDown() override { fs::remove_all(root_); }

  /// A kernel that is `slide` bytes above the recorded one.
  void add_core(const std::string& directory, uint64_t slide, char first) const {
    fs::create_directories(root_ / directory);
    std::ofstream(root_ / directory / "kallsyms")
        << fmt::format("{:x} T _text\n{:x} T _etext\n", kText + slide, kText + slide + 0x2000);
    std::ofstream(root_ / directory / "kcore")
        << core_file({{kText + slide, std::string(0x1000, first) + std::string(0x1000, 'z')},
                      {kModule, std::string(0x1000, 'm')}});
  }
  [[nodiscard]] Result<KernelCore> find(std::string kallsyms = {}, bool with_cache = false) const {
    return KernelCore::find(kernel_, {.kallsyms = std::move(kallsyms),
                                      .buildid_dir = with_cache ? root_ : fs::path(),
                                      .proc = root_ / "proc"});
  }
  static std::string text(const Result<std::vector<std::byte>>& bytes) {
    return bytes ? std::string(as_text(*bytes)) : bytes.error().message;
  }

  fs::path root_;
  Dso kernel_;
};

TEST_F(KernelCoreTest, TheCopyBesideTheRecording) {
  add_core("kcore_dir", 0, 'a');
  KernelCore core = find(root_ / "kcore_dir/kallsyms").value();
  EXPECT_EQ(text(core.code(kText + 0xffe, 4, false)), "aazz");
  EXPECT_EQ(text(core.code(kModule, 2, true)), "mm");
  EXPECT_THAT(text(core.code(kText + 0x1fff, 2, false)),
              testing::HasSubstr("does not have address"));
  EXPECT_FALSE(core.code(kText, UINT64_MAX, false));
}

TEST_F(KernelCoreTest, AKernelThatWasBootedAgain) {
  add_core("kcore_dir", 0x10000000, 'a');
  KernelCore core = find(root_ / "kcore_dir/kallsyms").value();
  EXPECT_EQ(text(core.code(kText, 2, false)), "aa");
  EXPECT_THAT(text(core.code(kModule, 2, true)), testing::HasSubstr("another boot"));
}

TEST_F(KernelCoreTest, TheNewestOfTheCache) {
  std::string cached = "[kernel.kcore]/" + to_hex(kernel_.build_id);
  add_core(cached + "/2026010112000000", 0, 'a');
  add_core(cached + "/2026020112000000", 0, 'b');
  EXPECT_EQ(text(find({}, true).value().code(kText, 1, false)), "b");
  EXPECT_FALSE(find());
}

TEST_F(KernelCoreTest, MemoryOfTheKernelThatRunsOnlyWhereItIsTheRecordedOne) {
  add_core("proc", 0, 'a');
  EXPECT_THAT(find().error().message, testing::HasSubstr("of another kernel"));
  kernel_.build_id = running_kernel_build_id();
  if (kernel_.build_id.empty()) GTEST_SKIP() << "this kernel does not tell its build id";
  EXPECT_EQ(text(find().value().code(kText, 1, false)), "a");
  fs::remove(root_ / "proc/kcore");
  EXPECT_THAT(find().error().message, testing::HasSubstr("proc/kcore: No such file"));
}

TEST_F(KernelCoreTest, WhatIsNone) {
  add_core("kcore_dir", 0, 'a');
  std::ofstream(root_ / "kcore_dir/kallsyms") << "ffffffff81000000 T other\n";
  EXPECT_THAT(find(root_ / "kcore_dir/kallsyms").error().message,
              testing::HasSubstr("does not tell where the kernel is"));
  std::ofstream(root_ / "kcore_dir/kcore") << "no core";
  EXPECT_THAT(find(root_ / "kcore_dir/kallsyms").error().message,
              testing::HasSubstr("no core file of this machine"));
}

}  // namespace
}  // namespace sonde
