#include "capture/synthesis/kernel_copy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "elf/core_builder.h"
#include "elf/elf_file.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;
constexpr uint64_t kText = 0xffffffff81000000;
constexpr uint64_t kModules = 0xffffffffc0200000;

/// A /proc of a kernel with two pages of code and a module of one page.
class KernelCopy : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) /
            testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(root_);
    fs::create_directories(root_);
    write("kallsyms",
          "ffffffff81000000 T _text\nffffffff81000000 T _stext\nffffffff81001800 T _etext\n"
          "ffffffffc0201010 t nfs_init\t[nfs]\n");
    write("modules", "nfs 4096 0 - Live 0xffffffffc0201000\n");
    write("kcore", kcore());
  }
  void TearDown() override { fs::remove_all(root_); }

  /// The text, starting one page before it, and the module area.
  static std::string kcore() {
    std::string modules, text;
    for (char page : {'m', 'n', 'o'}) modules.append(0x1000, page);
    for (char page : {'a', 'b', 'c', 'd'}) text.append(0x1000, page);
    return core_file({{kModules, modules}, {kText - 0x1000, text}});
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(root_ / name) << text;
  }
  [[nodiscard]] std::string proc() const { return root_; }
  [[nodiscard]] std::string target() const { return root_ / "kcore_dir"; }

  fs::path root_;
};

template <typename T>
T read_struct(const ElfFile& file, size_t at) {
  T value{};
  std::memcpy(&value, file.bytes().data() + at, sizeof value);
  return value;
}

std::string code(const ElfFile& file, uint64_t offset, size_t size) {
  return std::string(as_text(file.bytes().subspan(offset, size)));
}

TEST_F(KernelCopy, HoldsCodeOfKernelAndModulesAtTheirAddresses) {
  Result<> copied = copy_kernel(target(), proc());
  ASSERT_TRUE(copied) << copied.error().message;
  EXPECT_EQ(read_file(target() + "/kallsyms").value(), read_file(proc() + "/kallsyms").value());
  EXPECT_EQ(read_file(target() + "/modules").value(), read_file(proc() + "/modules").value());

  ElfFile file = ElfFile::open(target() + "/kcore").value();
  EXPECT_EQ(file.type(), ET_CORE);
  auto header = read_struct<ElfW(Ehdr)>(file, 0);
  ASSERT_EQ(header.e_phnum, 2);
  auto text = read_struct<ElfW(Phdr)>(file, sizeof header);
  auto module = read_struct<ElfW(Phdr)>(file, sizeof header + sizeof text);
  EXPECT_EQ(text.p_vaddr, kText);
  EXPECT_EQ(text.p_filesz, 0x2000u);  // up to the end of the page that contains _etext
  EXPECT_EQ(code(file, text.p_offset, 0x2000), std::string(0x1000, 'b') + std::string(0x1000, 'c'));
  EXPECT_EQ(module.p_vaddr, kModules + 0x1000);
  EXPECT_EQ(code(file, module.p_offset, 0x1000), std::string(0x1000, 'n'));
}

TEST_F(KernelCopy, OnlyTheUserMayLookAtIt) {
  ASSERT_TRUE(copy_kernel(target(), proc()));
  struct stat status{};
  ASSERT_EQ(::stat(target().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  ASSERT_EQ(::stat((target() + "/kcore").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(KernelCopy, AKernelWithoutModules) {
  fs::remove(root_ / "modules");
  write("kallsyms", "ffffffff81000000 T _text\nffffffff81001000 T _etext\n");
  ASSERT_TRUE(copy_kernel(target(), proc()));
  EXPECT_EQ(read_file(target() + "/modules").value(), "");
  ElfFile file = ElfFile::open(target() + "/kcore").value();
  EXPECT_EQ(read_struct<ElfW(Ehdr)>(file, 0).e_phnum, 1);
}

TEST_F(KernelCopy, SaysWhyItCannotBeMade) {
  write("kallsyms", "0000000000000000 T _text\n0000000000000000 T _etext\n");
  EXPECT_THAT(copy_kernel(target(), proc()).error().message, testing::HasSubstr("kptr_restrict"));
  write("kallsyms", "1000 T _text\n2000 T _etext\n");
  EXPECT_THAT(copy_kernel(target(), proc()).error().message,
              testing::HasSubstr("does not hold the kernel's text"));
  write("kcore", kcore().substr(0, 100));
  EXPECT_THAT(copy_kernel(target(), proc()).error().message, testing::HasSubstr("segments"));
  write("kcore", "no core");
  EXPECT_THAT(copy_kernel(target(), proc()).error().message, testing::HasSubstr("no core file"));
  fs::remove(root_ / "kcore");
  EXPECT_THAT(copy_kernel(target(), proc()).error().message,
              testing::HasSubstr("ERROR: kcore is not readable: "));
}

}  // namespace
}  // namespace sonde
