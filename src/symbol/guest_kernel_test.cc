#include "symbol/guest_kernel.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "machine/machine.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;

class GuestKernel : public testing::Test {
 protected:
  GuestKernel() {
    std::string pattern = fs::temp_directory_path() / "guestXXXXXX";
    root_ = ::mkdtemp(pattern.data());
  }
  ~GuestKernel() override { fs::remove_all(root_); }

  std::string write(const std::string& name, std::string_view text) {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
    return root_ / name;
  }
  std::string path(const std::string& name) { return root_ / name; }

  static constexpr std::string_view kList =
      "0000000000000000 A fixed_percpu_data\nffffffff81000000 T _text\nffffffff81000000 T _stext\n"
      "ffffffff81000300 T idle\nffffffff81001000 T _etext\nffffffffa0000000 t ext4_read\t[ext4]\n";
  fs::path root_;
};

TEST_F(GuestKernel, ModulesAreReadFromLinesOfTheUsualFormOnly) {
  auto modules = parse_guest_modules(
      "ext4 65536 1 - Live 0xffffffffa0000000\nhidden 4096 0 - Live 0x0000000000000000\n"
      "short 1\n\nwide 18446744073709551615 0 - Live 0xffffffffa0000000\nempty 0 0 - Live 0x10\n"
      "x 16 0 a,b, Live 0x20 (OE)");
  ASSERT_EQ(modules.size(), 2u);
  EXPECT_EQ(modules[0].name, "[ext4]");
  EXPECT_EQ(modules[0].end - modules[0].start, 65536u);
  EXPECT_EQ(modules[1].start.value, 0x20u);
}

TEST_F(GuestKernel, ListsSayWhereTheKernelIs) {
  auto layouts = guest_layouts({.kallsyms = write("list", kList)});
  ASSERT_TRUE(layouts) << layouts.error().message;
  ASSERT_EQ(layouts->size(), 1u);
  const GuestLayout& guest = layouts->front();
  EXPECT_EQ(guest.pid, kAnyGuest);
  EXPECT_EQ(guest.path, "[guest.kernel.kallsyms]_text");
  EXPECT_EQ(guest.start.value, 0xffffffff81000000u);
  EXPECT_EQ(guest.end.value, 0xffffffff81001000u);
}

TEST_F(GuestKernel, EachDirectoryOfAMountIsAGuest) {
  write("mount/4711/proc/kallsyms", kList);
  write("mount/4711/proc/modules", "ext4 65536 1 - Live 0xffffffffa0000000\n");
  write("mount/12/proc/kallsyms", "ffffffff82000000 T _stext\nffffffff82001000 T _etext\n");
  write("mount/notes/proc/kallsyms", kList);
  write("mount/13/etc/passwd", "no kernel here");
  auto layouts = guest_layouts({.mount = path("mount")});
  ASSERT_TRUE(layouts) << layouts.error().message;
  ASSERT_EQ(layouts->size(), 2u);
  EXPECT_EQ((*layouts)[0].path, "[guest.kernel.kallsyms.12]_stext");
  EXPECT_EQ((*layouts)[1].path, "[guest.kernel.kallsyms.4711]_text");
  EXPECT_EQ((*layouts)[1].modules.size(), 1u);
}

TEST_F(GuestKernel, LinksOfAGuestStayBelowItsRoot) {
  write("outside", kList);
  write("mount/7/copy", kList);
  fs::create_directories(root_ / "mount/7/proc");
  fs::create_symlink(root_ / "outside", root_ / "mount/7/proc/kallsyms");
  EXPECT_EQ(guest_layouts({.mount = path("mount")})->size(), 0u);
  fs::remove(root_ / "mount/7/proc/kallsyms");
  fs::create_symlink("../../../outside", root_ / "mount/7/proc/kallsyms");
  EXPECT_EQ(guest_layouts({.mount = path("mount")})->size(), 0u);
  fs::remove(root_ / "mount/7/proc/kallsyms");
  fs::create_symlink("/copy", root_ / "mount/7/proc/kallsyms");
  EXPECT_EQ(guest_layouts({.mount = path("mount")})->size(), 1u);
}

TEST_F(GuestKernel, NothingIsReadThatIsNoFile) {
  fs::create_directories(root_ / "mount/7/proc");
  ASSERT_EQ(::mkfifo(path("mount/7/proc/kallsyms").c_str(), 0600), 0);  // nobody writes to it
  EXPECT_EQ(guest_layouts({.mount = path("mount")})->size(), 0u);
  EXPECT_FALSE(guest_layouts({.kallsyms = path("mount/7/proc/kallsyms")}));
  EXPECT_FALSE(guest_layouts({.kallsyms = "/dev/zero"}));
  EXPECT_FALSE(guest_layouts({.kallsyms = path("missing")}));
  EXPECT_FALSE(guest_layouts({.mount = path("missing")}));
}

TEST_F(GuestKernel, SymbolsAreThoseOfTheGuestThatProcessRuns) {
  write("mount/4711/proc/kallsyms", kList);
  GuestKernels guests(
      {.mount = path("mount"), .kallsyms = write("list", "10 T other\n20 T end\n")});
  const GuestSymbols& known = guests.of(4711, "_text");
  ASSERT_NE(known.table, nullptr);
  EXPECT_EQ(known.table->find(uint64_t{0xffffffff81000310})->name(), "idle");
  EXPECT_EQ(known.text, 0xffffffff81000000u);
  EXPECT_EQ(guests.of(kAnyGuest, "_text").table->find(uint64_t{0x11})->name(), "other");
  EXPECT_EQ(guests.of(13, "_text").table, nullptr);
  EXPECT_EQ(&guests.of(4711, "_text"), &known);
}

TEST_F(GuestKernel, WithoutAMountTheListIsOfAnyGuest) {
  GuestKernels guests({.kallsyms = write("list", kList)});
  ASSERT_NE(guests.of(13, "_text").table, nullptr);
  EXPECT_EQ(guests.of(13, "_text").table->find(uint64_t{0xffffffff81000310})->name(), "idle");
  EXPECT_EQ(GuestKernels(GuestFiles{}).of(13, "_text").table, nullptr);
}

TEST_F(GuestKernel, ACopyBesideTheRecordingComesFirst) {
  write("mount/4711/proc/kallsyms", "10 T other\n20 T end\n");
  write("recording/kcore_dir__4711/kallsyms", kList);
  GuestKernels guests({.mount = path("mount"), .recording = path("recording")});
  EXPECT_EQ(guests.of(4711, "_text").table->find(uint64_t{0xffffffff81000310})->name(), "idle");
}

}  // namespace
}  // namespace sonde
