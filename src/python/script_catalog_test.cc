#include "python/script_catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace sonde::python {
namespace {

namespace fs = std::filesystem;

class Catalog : public testing::Test {
 protected:
  Catalog() {
    std::string pattern = testing::TempDir() + "catalogXXXXXX";
    root_ = ::mkdtemp(pattern.data());
    write("python/count.py", "");
    write("python/bin/count-record", "");
    write("python/bin/count-report",
          "#!/bin/sh\n# description: counts \n#args: [comm] <n>\nperf $@\n");
    write("python/bin/about-report", "#!/bin/sh\n");
    write("perl/old.pl", "");
  }
  ~Catalog() override { fs::remove_all(root_); }

  void write(const std::string& path, std::string_view text) const {
    fs::path file = fs::path(root_) / "scripts" / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  [[nodiscard]] ScriptCatalog catalog() const { return ScriptCatalog(root_); }

  std::string root_;
};

TEST_F(Catalog, ListsWhatReportsSayOfThemselves) {
  std::vector<ScriptCatalog::Entry> all = catalog().list();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].name, "about");
  EXPECT_EQ(all[1].name, "count");
  EXPECT_EQ(all[1].description, "counts");
  EXPECT_EQ(all[1].arguments, "[comm] <n>");
  EXPECT_EQ(required_arguments(all[1].arguments), 1U);
}

TEST_F(Catalog, FindsScriptsByNameAndPath) {
  std::string shipped = root_ + "/scripts/python/count.py";
  EXPECT_EQ(catalog().find("count").value(), shipped);
  EXPECT_EQ(catalog().find("count.py").value(), shipped);
  EXPECT_EQ(catalog().find("python:count").value(), shipped);
  EXPECT_EQ(catalog().find("py:" + shipped).value(), shipped);
  EXPECT_EQ(catalog().find("nothing").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(catalog().find("../python/count").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(catalog().find("ruby:count").error().code, ErrorCode::kUsage);
}

TEST_F(Catalog, RefusesPerl) {
  for (const char* name : {"old", "perl:old", "some.pl"})
    EXPECT_EQ(catalog().find(name).error().code, ErrorCode::kUnsupported) << name;
}

TEST_F(Catalog, FindsShellScriptsOnlyByTheirName) {
  EXPECT_THAT(catalog().wrapper("count", "record"), testing::EndsWith("/bin/count-record"));
  EXPECT_EQ(catalog().wrapper("about", "record"), "");
  EXPECT_EQ(catalog().wrapper("../bin/count", "record"), "");
}

}  // namespace
}  // namespace sonde::python
