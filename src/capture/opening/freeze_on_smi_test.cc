#include "capture/opening/freeze_on_smi.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace sonde {
namespace {

class Setting {
 public:
  explicit Setting(const char* value) { std::ofstream(path_) << value; }
  ~Setting() { (void)std::remove(path_.c_str()); }
  [[nodiscard]] std::string value() const {
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }
  std::string path_ = ::testing::TempDir() + "freeze_on_smi." + std::to_string(::getpid());
};

TEST(FreezeOnSmi, ComesBackAsItWas) {
  Setting off("0\n");
  {
    Result<FreezeOnSmi> frozen = FreezeOnSmi::set(off.path_);
    ASSERT_TRUE(frozen);
    EXPECT_EQ(off.value().front(), '1');
    FreezeOnSmi moved = std::move(*frozen);
    EXPECT_EQ(off.value().front(), '1');
  }
  EXPECT_EQ(off.value().front(), '0');
  Setting on("1\n");
  {
    ASSERT_TRUE(FreezeOnSmi::set(on.path_));
  }
  EXPECT_EQ(on.value(), "1\n") << "somebody else wants it so";
}

TEST(FreezeOnSmi, MachinesWithoutItSaySo) {
  EXPECT_EQ(FreezeOnSmi::set("/nonexistent").error().message,
            "--smi-cost: this machine's counters cannot be stopped in system management mode");
}

}  // namespace
}  // namespace sonde
