#include "capture/unwinding/object_tables.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>

#include "base/clock.h"

namespace sonde {
namespace {

/// Copies of one program, so that all tables have one size.
class ObjectTablesTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "BPF maps need root";
    Result<StackWalker> opened = StackWalker::open();
    ASSERT_TRUE(opened) << opened.error().message;
    walker_.emplace(std::move(*opened));
    char name[] = "/tmp/object_tables.XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    directory_ = name;
    ObjectTables tables(*walker_, {.files = {}});
    tables.load_program(copy("first"));
    one_bytes_ = walker_->find_object(key("first"))->row_count * sizeof(walk_row);
    all_bytes_ = tables.figures().bytes;  // with its libraries
    ASSERT_GT(one_bytes_, 0u);
  }
  void TearDown() override {
    if (!directory_.empty()) std::filesystem::remove_all(directory_);
  }

  std::string copy(const std::string& name) {
    std::string path = directory_ / name;
    std::filesystem::copy_file("/bin/sh", path);
    return path;
  }
  walk_object_key key(const std::string& name) {
    struct stat found{};
    ::stat((directory_ / name).c_str(), &found);
    return {.inode = found.st_ino,
            .bytes = static_cast<uint64_t>(found.st_size),
            .device = gnu_dev_major(found.st_dev) << 20 | gnu_dev_minor(found.st_dev),
            .is_generated = 0};
  }
  uint32_t state(const std::string& name) {
    std::optional<walk_object> object = walker_->find_object(key(name));
    return object ? object->state : 0;
  }
  void use_now(const std::string& name) {
    std::optional<walk_object> object = walker_->find_object(key(name));
    ASSERT_TRUE(object);
    object->used_ns = monotonic_ns();
    walker_->put_object(key(name), *object);
  }

  std::optional<StackWalker> walker_;
  std::filesystem::path directory_;
  uint64_t one_bytes_ = 0, all_bytes_ = 0;
};

TEST_F(ObjectTablesTest, DropsWhatWasNotUsedForTheLongestTime) {
  // Room for the libraries and two programs.
  ObjectTables tables(*walker_, {.files = {}, .most_bytes = all_bytes_ + one_bytes_});
  tables.load_program((directory_ / "first").string());
  tables.load_program(copy("second"));
  EXPECT_EQ(tables.figures().dropped, 0u);
  EXPECT_EQ(tables.figures().bytes, all_bytes_ + one_bytes_);
  walker_->put_object(key("second"), [&] {
    walk_object object = *walker_->find_object(key("second"));
    object.used_ns = 1;
    return object;
  }());
  use_now("first");
  tables.load_program(copy("third"));
  EXPECT_EQ(state("first"), uint32_t{WALK_LOADED});
  EXPECT_EQ(state("second"), 0u);  // the walker will ask for it again
  EXPECT_EQ(state("third"), uint32_t{WALK_LOADED});
  EXPECT_EQ(tables.figures().dropped, 1u);
  EXPECT_LE(tables.figures().bytes, all_bytes_ + one_bytes_);
}

TEST_F(ObjectTablesTest, WhatDoesNotFitStaysRequested) {
  ObjectTables tables(*walker_, {.files = {}, .most_bytes = one_bytes_ - 1});
  tables.load_program((directory_ / "first").string());
  EXPECT_EQ(state("first"), uint32_t{WALK_REQUESTED});
  EXPECT_LT(tables.figures().bytes, one_bytes_);
}

}  // namespace
}  // namespace sonde
