#include "symbol/debug_package.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace sonde {
namespace {

namespace fs = std::filesystem;

class DebugPackage : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string path = ::testing::TempDir() + "debug_package.XXXXXX";
    ASSERT_NE(::mkdtemp(path.data()), nullptr);
    root_ = path;
  }
  void TearDown() override { fs::remove_all(root_); }

  void put(const std::string& path, const std::string& text) const {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  [[nodiscard]] std::string command_for(const std::vector<std::string>& paths) const {
    return debug_install_command(paths, root_);
  }

  std::string root_;
};

TEST_F(DebugPackage, IsNamedByDpkgsLists) {
  put("/var/lib/dpkg/info/g++-12.list", "/.\n/usr/lib/gcc/12\n/usr/lib/gcc/12/cc1plus\n");
  put("/var/lib/dpkg/info/libc6:amd64.list", "/lib/x86_64-linux-gnu/libc.so.6\n");
  put("/var/lib/dpkg/info/other.list", "/usr/lib/gcc/12/cc1plus.old\n/opt/usr/bin/prog");
  put("/var/lib/dpkg/info/other.md5sums", "/usr/bin/prog\n");
  EXPECT_EQ(command_for({"/usr/lib/gcc/12/cc1plus"}), "apt install g++-12-dbgsym");
  EXPECT_EQ(command_for({"/usr/lib/gcc/12/cc1plus", "/usr/lib/x86_64-linux-gnu/libc.so.6"}),
            "apt install g++-12-dbgsym libc6-dbg");
  EXPECT_EQ(command_for({"/opt/usr/bin/prog"}), "apt install other-dbgsym");
  EXPECT_EQ(command_for({"/usr/bin/prog", "/usr/lib/gcc"}), "");
}

TEST_F(DebugPackage, IsLeftToRpmWhereThatIsUsed) {
  EXPECT_EQ(command_for({"/usr/bin/prog"}), "");
  put("/usr/lib/sysimage/rpm/rpmdb.sqlite", "");
  EXPECT_EQ(command_for({"/usr/bin/prog"}), "dnf debuginfo-install $(rpm -qf /usr/bin/prog)");
}

TEST_F(DebugPackage, AdviceIsWhatThisSystemHas) {
  put("/var/lib/dpkg/info/g++-12.list", "/usr/lib/gcc/12/cc1plus\n");
  put("/var/lib/dpkg/info/libc6:amd64.list", "/lib/x86_64-linux-gnu/libc.so.6\n");
  EXPECT_EQ(debug_symbols_advice({"/usr/lib/gcc/12/cc1plus"}, root_),
            "apt install g++-12-dbgsym, or --debuginfod=https://debuginfod.elfutils.org");
  put("/etc/os-release", "NAME=\"Debian\"\nVERSION_CODENAME=bookworm\nID=debian\n");
  put("/etc/apt/sources.list.d/debian.sources",
      "# URIs: http://deb.debian.org/debian-debug\nURIs: http://deb.debian.org/debian\n");
  EXPECT_EQ(debug_symbols_advice({"/usr/lib/gcc/12/cc1plus"}, root_),
            "apt install g++-12-dbgsym from deb http://deb.debian.org/debian-debug bookworm-debug "
            "main, or --debuginfod=https://debuginfod.debian.net");
  EXPECT_EQ(debug_symbols_advice({"/usr/lib/x86_64-linux-gnu/libc.so.6"}, root_),
            "apt install libc6-dbg, or --debuginfod=https://debuginfod.debian.net");
  put("/etc/apt/sources.list", "deb http://mirror/debian-debug bookworm-debug main\n");
  EXPECT_EQ(debug_symbols_advice({"/usr/lib/gcc/12/cc1plus"}, root_),
            "apt install g++-12-dbgsym, or --debuginfod=https://debuginfod.debian.net");
  EXPECT_EQ(debug_symbols_advice({"/srv/stripped"}, root_),
            "--debuginfod=https://debuginfod.debian.net");
}

}  // namespace
}  // namespace sonde
