#include "doctor/program_findings.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace sonde::doctor {
namespace {

/// Three functions that call others, with loops that keep them from being inlined or short.
constexpr const char* kSource = R"(
extern "C" int printf(const char*, ...);
#define FUNCTION(name)                                                     \
  __attribute__((noinline)) int name(int n) {                              \
    int sum = 0;                                                           \
    for (int i = 0; i < n; ++i) sum += printf("%d %d\\n", i, sum) + i * n; \
    return sum;                                                            \
  }
FUNCTION(one) FUNCTION(two) FUNCTION(three)
int main() { return one(1) + two(2) + three(3); }
)";

class ProgramFindings : public ::testing::Test {
 protected:
  ProgramFindings() {
    std::string name = ::testing::TempDir() + "program-findings-XXXXXX";
    directory_ = ::mkdtemp(name.data());
    std::ofstream(directory_ + "/program.cc") << kSource;
  }
  ~ProgramFindings() override { std::filesystem::remove_all(directory_); }

  std::string build(const std::string& flags) {
    std::string path = directory_ + "/program";
    std::string command = "g++ " + flags + " -o " + path + " " + directory_ + "/program.cc";
    EXPECT_EQ(std::system(command.c_str()), 0);
    return path;
  }
  static Finding of(const std::string& path, const std::string& subject) {
    auto findings = examine_program(path);
    if (findings)
      for (const Finding& finding : *findings)
        if (finding.subject == subject) return finding;
    return {"none"};
  }

  std::string directory_;
};

TEST_F(ProgramFindings, FramePointersAreCounted) {
  Result<FrameSetups> with = count_frame_setups(build("-O2 -fno-omit-frame-pointer"));
  Result<FrameSetups> without = count_frame_setups(build("-O2 -fomit-frame-pointer"));
  ASSERT_TRUE(with && without);
  EXPECT_GE(with->with_frame, 3u);
  EXPECT_GE(without->functions, 3u);
  EXPECT_EQ(without->with_frame, 0u);
}

TEST_F(ProgramFindings, WhatAStrippedProgramLacksIsSaid) {
  std::string path = build("-g -O2 -fomit-frame-pointer");
  EXPECT_EQ(of(path, "symbols").state, Finding::State::kGood);
  EXPECT_EQ(of(path, "lines and variables").what, "its own");
  EXPECT_EQ(of(path, "frame pointers").remedy, "record --call-graph dwarf -- " + path);
  build("-s -O2");
  EXPECT_EQ(of(path, "symbols").state, Finding::State::kPart);
  EXPECT_EQ(of(path, "lines and variables").state, Finding::State::kPart);
  EXPECT_EQ(of(path, "call frame information").state, Finding::State::kGood);
}

TEST_F(ProgramFindings, OtherFilesAreErrors) {
  EXPECT_FALSE(examine_program(directory_ + "/program.cc"));
  EXPECT_FALSE(examine_program(directory_ + "/nothing"));
}

}  // namespace
}  // namespace sonde::doctor
