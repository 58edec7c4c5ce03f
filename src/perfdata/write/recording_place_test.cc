#include "perfdata/write/recording_place.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "perfdata/write/writer.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;

class RecordingPlaceTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "sonde_place_XXXXXX";
    ASSERT_NE(::mkdtemp(root_.data()), nullptr);
    path_ = root_ + "/x";
    old_ = path_ + ".old";
  }
  void TearDown() override { fs::remove_all(root_); }

  static void put(const std::string& file, const std::string& text) {
    fs::create_directories(fs::path(file).parent_path());
    std::ofstream(file) << text;
  }
  static void put_recording(const std::string& file, const std::string& rest = "") {
    put(file, "PERFILE2" + rest);
  }
  static void put_directory(const std::string& directory) {
    put_recording(directory + "/data");
    put(directory + "/data.0", "records");
    put(directory + "/data.17", "records");
    for (const char* name : {"kallsyms", "modules", "kcore"}) {
      put(directory + "/kcore_dir/" + name, "of the host");
      put(directory + "/kcore_dir__123/" + name, "of a guest");
    }
  }

  /// All names below `root_` with their contents, and what links lead to.
  [[nodiscard]] std::map<std::string, std::string> all() const {
    std::map<std::string, std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(root_)) {
      std::string& content = found[entry.path()];
      if (entry.is_symlink())
        content = fs::read_symlink(entry.path());
      else if (entry.is_regular_file())
        content = read_file(entry.path()).value();
    }
    return found;
  }

  std::string root_, path_, old_;
};

/// Each makes something that is no recording.
struct Foreign {
  const char* what;
  std::function<void(const std::string& at)> make;
};

const std::vector<Foreign>& foreigners() {
  using Text = const std::string&;
  static auto put = [](Text file, Text text) {
    fs::create_directories(fs::path(file).parent_path());
    std::ofstream(file) << text;
  };
  static const std::vector<Foreign> all = {
      {"a file", [](Text at) { put(at, "notes"); }},
      {"a file shorter than the magic", [](Text at) { put(at, "PERFIL"); }},
      {"a directory", [](Text at) { put(at + "/notes", "mine"); }},
      {"an empty directory", [](Text at) { fs::create_directory(at); }},
      {"a directory with a foreign `data`", [](Text at) { put(at + "/data", "notes"); }},
      {"a recording's directory with more in it",
       [](Text at) {
         put(at + "/data", "PERFILE2");
         put(at + "/notes", "mine");
       }},
      {"the same, hidden",
       [](Text at) {
         put(at + "/data", "PERFILE2");
         put(at + "/.notes", "mine");
       }},
      {"the same, with a name like a stream's",
       [](Text at) {
         put(at + "/data", "PERFILE2");
         put(at + "/data.txt", "mine");
       }},
      {"a directory named like a stream",
       [](Text at) {
         put(at + "/data", "PERFILE2");
         put(at + "/data.1/notes", "mine");
       }},
      {"more in a kernel's copy",
       [](Text at) {
         put(at + "/data", "PERFILE2");
         put(at + "/kcore_dir/notes", "mine");
       }},
      {"a folder in a kernel's copy",
       [](Text at) {
         put(at + "/data", "PERFILE2");
         put(at + "/kcore_dir/kcore/notes", "mine");
       }},
      {"a link instead of a kernel's copy",
       [](Text at) {
         put(at + "/data", "PERFILE2");
         put(at + ".far/kcore", "mine");
         fs::create_symlink(at + ".far", at + "/kcore_dir");
       }},
      {"a link instead of `data`",
       [](Text at) {
         put(at + ".far", "PERFILE2");
         fs::create_directory(at);
         fs::create_symlink(at + ".far", at + "/data");
       }},
      {"a link to a foreign file",
       [](Text at) {
         put(at + ".far", "notes");
         fs::create_symlink(at + ".far", at);
       }},
      {"a link to a foreign directory",
       [](Text at) {
         put(at + ".far/notes", "notes");
         fs::create_symlink(at + ".far", at);
       }},
  };
  return all;
}

TEST_F(RecordingPlaceTest, WhatIsNoRecordingStaysAsItIs) {
  for (const Foreign& foreign : foreigners()) {
    fs::remove_all(root_);
    fs::create_directory(root_);
    foreign.make(path_);
    auto before = all();
    auto refused = [&](const Result<>& result) {
      EXPECT_FALSE(result) << foreign.what;
      if (result) return;
      EXPECT_TRUE(result.error().message.starts_with(path_ + ": ")) << result.error().message;
      EXPECT_EQ(result.error().message.find('\n'), std::string::npos);
    };
    refused(check_recording_place(path_));
    refused(check_recording_place(path_, false));
    refused(check_recording_place(path_ + "/"));
    refused(keep_previous(path_));
    refused(clear_recording_place(path_, false));
    refused(clear_recording_place(path_, true));
    refused(remove_recording(path_));
    for (uint32_t streams : {0u, 2u})
      EXPECT_FALSE(PerfDataWriter::create(path_, {.directory_streams = streams})) << foreign.what;
    EXPECT_EQ(all(), before) << foreign.what;
  }
}

TEST_F(RecordingPlaceTest, WhatIsNoRecordingIsNotReplacedByOneThatIsKept) {
  for (const Foreign& foreign : foreigners()) {
    fs::remove_all(root_);
    put_recording(path_);
    foreign.make(old_);
    auto before = all();
    EXPECT_FALSE(check_recording_place(path_)) << foreign.what;
    Result<> kept = keep_previous(path_);
    ASSERT_FALSE(kept) << foreign.what;
    EXPECT_TRUE(kept.error().message.starts_with(old_ + ": ")) << kept.error().message;
    EXPECT_EQ(all(), before) << foreign.what;
    // Who keeps nothing does not mind.
    EXPECT_TRUE(check_recording_place(path_, false));
  }
}

TEST_F(RecordingPlaceTest, RecordingsAreKeptAndReplaceEachOther) {
  std::vector<std::function<void()>> kinds = {
      [&] { put_recording(path_, "a file"); },
      [&] { put(path_, "2ELIFREP of the other byte order"); }, [&] { put_directory(path_); },
      [&] { put(path_ + "/data", ""); },  // from a run that ended at once
  };
  for (auto& former : kinds)
    for (auto& latter : kinds) {
      fs::remove_all(root_);
      former();
      ASSERT_TRUE(keep_previous(path_));
      latter();
      auto before = all();
      ASSERT_TRUE(keep_previous(path_ + "/"));
      EXPECT_FALSE(fs::exists(path_));
      std::map<std::string, std::string> expected;
      for (const auto& [name, content] : before)
        if (!name.starts_with(old_)) expected[old_ + name.substr(path_.size())] = content;
      EXPECT_EQ(all(), expected);
      ASSERT_TRUE(remove_recording(old_));
      EXPECT_TRUE(all().empty());
    }
}

TEST_F(RecordingPlaceTest, NothingAndEmptyFilesAreNoReasonToKeepAnything) {
  EXPECT_TRUE(keep_previous(path_));
  EXPECT_TRUE(remove_recording(path_));
  put(path_, "");
  EXPECT_TRUE(keep_previous(path_));
  EXPECT_TRUE(fs::exists(path_));
  EXPECT_FALSE(fs::exists(old_));
}

TEST_F(RecordingPlaceTest, LinksGoAndWhatTheyLeadToStays) {
  put_directory(root_ + "/far");
  auto far = all();
  fs::create_symlink("far", path_);
  ASSERT_TRUE(keep_previous(path_));
  EXPECT_EQ(fs::read_symlink(old_), "far");
  put_recording(path_);
  ASSERT_TRUE(keep_previous(path_));
  ASSERT_TRUE(remove_recording(old_));
  EXPECT_EQ(all(), far);
}

TEST_F(RecordingPlaceTest, OthersLinksAndEmptyFilesAreNotUsed) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to make files of another user";
  constexpr uid_t kNobody = 65534;
  fs::create_symlink(root_ + "/far", path_);
  ASSERT_EQ(::lchown(path_.c_str(), kNobody, kNobody), 0);
  EXPECT_FALSE(check_recording_place(path_));
  EXPECT_FALSE(PerfDataWriter::create(path_, {}));
  EXPECT_FALSE(fs::exists(root_ + "/far"));
  fs::remove(path_);
  put(path_, "");
  ASSERT_EQ(::chown(path_.c_str(), kNobody, kNobody), 0);
  ASSERT_TRUE(PerfDataWriter::create(path_, {}));
  struct stat status{};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, 0u) << "nobody could read what is recorded";
}

TEST_F(RecordingPlaceTest, DevicesAreWrittenTo) {
  EXPECT_TRUE(check_recording_place("/dev/null"));
  EXPECT_TRUE(keep_previous("/dev/null"));
  for (int i = 0; i < 2; ++i) {
    auto writer = PerfDataWriter::create("/dev/null", {});
    ASSERT_TRUE(writer);
    auto another = PerfDataWriter::create("/dev/null", {});
    EXPECT_TRUE(another) << "a device is not locked";
  }
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(RecordingPlaceTest, OneRecorderAtATime) {
  for (uint32_t streams : {0u, 2u}) {
    auto first = PerfDataWriter::create(path_, {.directory_streams = streams});
    ASSERT_TRUE(first);
    auto before = all();
    for (auto attempt : {check_recording_place(path_), keep_previous(path_),
                         clear_recording_place(path_, false), remove_recording(path_)}) {
      ASSERT_FALSE(attempt);
      EXPECT_NE(attempt.error().message.find(path_ + ": another recorder (pid " +
                                             std::to_string(::getpid()) + ")"),
                std::string::npos)
          << attempt.error().message;
    }
    for (uint32_t wanted : {0u, 2u})
      EXPECT_FALSE(PerfDataWriter::create(path_, {.directory_streams = wanted}));
    EXPECT_EQ(all(), before);
    first = std::unexpected(Error{});
    EXPECT_TRUE(remove_recording(path_));
  }
}

TEST_F(RecordingPlaceTest, TheOldOneMayBeInUseToo) {
  auto first = PerfDataWriter::create(old_, {});
  ASSERT_TRUE(first);
  put_recording(path_);
  EXPECT_FALSE(keep_previous(path_));
  EXPECT_TRUE(fs::exists(path_));
  EXPECT_TRUE(fs::exists(old_));
}

TEST_F(RecordingPlaceTest, TheLockEndsWithItsProcess) {
  pid_t child = ::fork();
  if (child == 0) {
    auto writer = PerfDataWriter::create(path_, {});
    ::_exit(writer ? 0 : 1);  // without any end of the writer
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_TRUE(PerfDataWriter::create(path_, {}));
}

}  // namespace
}  // namespace sonde
