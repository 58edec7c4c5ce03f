#include "symbol/path_trust.h"

#include <gtest/gtest.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/bytes.h"
#include "machine/machine.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;

class PathTrustTest : public testing::Test {
 protected:
  PathTrustTest()
      : machine_(strings_), proc_(testing::TempDir() + "path_trust." + std::to_string(::getpid())) {
    ::uname(&here_);
    fs::create_directories(proc_);
  }
  ~PathTrustTest() override { fs::remove_all(proc_); }

  [[nodiscard]] RecordedHost here() const {
    return {.name = static_cast<const char*>(here_.nodename),
            .release = static_cast<const char*>(here_.release)};
  }
  void kernel_runs_at(std::string_view start) const {
    std::ofstream(proc_ + "/kallsyms") << "0000000000001000 A __per_cpu_start\n"
                                       << start << " T _stext\n"
                                       << start << " T _text\n";
  }
  /// Applies the mapping record (perf_event_open(2)) of a kernel whose _text was there.
  void kernel_was_recorded_at(uint64_t start) {
    ByteBuilder payload;
    payload.u32(UINT32_MAX);  // pid
    payload.u32(0);           // tid
    payload.u64(start);
    payload.u64(0x1000000);  // length
    payload.u64(start);      // offset: the address of the symbol in the name
    payload.padded_string("[kernel.kallsyms]_text", 8);
    RecordView record;
    record.type = abi::kRecordMmap;
    record.misc = abi::kMiscKernel;
    record.payload = payload.view();
    LossLedger losses;
    machine_.apply(record, SampleLayout(), 0, losses);
    machine_.freeze();
    ASSERT_EQ(losses.total(), 0U);
  }
  [[nodiscard]] bool is_ours(const RecordedHost& host) const {
    return is_this_boot(host, machine_, proc_);
  }

  utsname here_{};
  StringPool strings_;
  Machine machine_;
  std::string proc_;
};

TEST_F(PathTrustTest, HostAndReleaseMustAgree) {
  EXPECT_TRUE(is_ours(here()));
  EXPECT_FALSE(is_ours({.name = "elsewhere", .release = here().release}));
  EXPECT_FALSE(is_ours({.name = here().name, .release = "2.6.32"}));
  EXPECT_FALSE(is_ours({}));
}

TEST_F(PathTrustTest, AnotherBootHasItsKernelElsewhere) {
  kernel_runs_at("ffffffff9a000000");
  kernel_was_recorded_at(0xffffffff9a000000);
  EXPECT_TRUE(is_ours(here()));
  kernel_runs_at("ffffffff81000000");
  EXPECT_FALSE(is_ours(here()));
}

TEST_F(PathTrustTest, WithoutAHostTheAddressDecides) {
  kernel_runs_at("ffffffff9a000000");
  EXPECT_FALSE(is_ours({}));
  kernel_was_recorded_at(0xffffffff9a000000);
  EXPECT_TRUE(is_ours({}));
  kernel_runs_at("ffffffff9b000000");
  EXPECT_FALSE(is_ours({}));
}

TEST_F(PathTrustTest, TheAddressThatKernelsAreLinkedAtIsNobodysOwn) {
  kernel_runs_at("ffffffff81000000");
  kernel_was_recorded_at(0xffffffff81000000);
  EXPECT_FALSE(is_ours({}));
  EXPECT_TRUE(is_ours(here()));
}

TEST_F(PathTrustTest, WithoutAnAddressTheHostDecides) {
  kernel_was_recorded_at(0xffffffff9a000000);
  EXPECT_TRUE(is_ours(here()));  // no list of symbols
  kernel_runs_at("0000000000000000");
  EXPECT_TRUE(is_ours(here()));
}

}  // namespace
}  // namespace sonde
