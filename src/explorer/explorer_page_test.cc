#include "explorer/explorer_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "base/sys.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class ExplorerPageTest : public testing::Test {
 protected:
  ExplorerPageTest() { fs::create_directories(root_); }
  ~ExplorerPageTest() override { fs::remove_all(root_); }
  std::string put(const std::string& name, std::string_view text) {
    std::string path = root_ + "/" + name;
    std::ofstream(path) << text;
    return path;
  }

  std::string root_ = testing::TempDir() + "explorer-" + std::to_string(::getpid());
  StringSink out_, err_;
  LossLedger losses_;
  Env env_{.out = out_, .err = err_, .sys = Sys::host(), .losses = losses_};
};

TEST_F(ExplorerPageTest, APageHoldsTheFunctionsOfItsProfile) {
  ExplorerOptions options;
  options.input = put("stacks.folded", "main;parse;read_config 3\nmain;run 5\n");
  options.output = root_ + "/page.html";
  Result<> written = write_explorer(options, env_);
  ASSERT_TRUE(written) << written.error().message;
  std::string page = read_file(options.output).value();
  EXPECT_THAT(page.substr(0, 100), HasSubstr("<!doctype html>"));
  EXPECT_THAT(page, HasSubstr("stacks.folded"));
  EXPECT_THAT(err_.text(), HasSubstr(options.output));
}

TEST_F(ExplorerPageTest, NothingIsWrittenWithoutAProfile) {
  ExplorerOptions options;
  options.input = root_ + "/missing.folded";
  options.output = root_ + "/page.html";
  Result<> written = write_explorer(options, env_);
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, HasSubstr("missing.folded"));
  EXPECT_FALSE(fs::exists(options.output));
}

}  // namespace
}  // namespace sonde
