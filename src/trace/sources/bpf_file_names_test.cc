#include "trace/sources/bpf_file_names.h"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>

namespace sonde {
namespace {

/// A struct trace_file and its names, from the file up.
std::string file_bytes(std::string_view type, std::initializer_list<std::string_view> names,
                       unsigned flags = 0, uint64_t inode = 12) {
  trace_file file{};
  file.inode = inode;
  file.flags = static_cast<uint8_t>(flags);
  std::memcpy(file.type, type.data(), type.size());
  std::string bytes(sizeof file, '\0');
  std::memcpy(bytes.data(), &file, sizeof file);
  for (std::string_view name : names) {
    bytes += name;
    bytes += '\0';
  }
  return bytes;
}
std::string name_of(std::string_view type, std::initializer_list<std::string_view> names,
                    unsigned flags = 0) {
  return name_of_file(as_bytes(file_bytes(type, names, flags)));
}

TEST(NameOfFile, AreProcsNames) {
  EXPECT_EQ(name_of("ext4", {"passwd", "etc"}), "/etc/passwd");
  EXPECT_EQ(name_of("ext4", {}), "/");
  EXPECT_EQ(name_of("tmpfs", {"x", "tmp"}, TRACE_FILE_DELETED), "/tmp/x (deleted)");
  EXPECT_EQ(name_of("ext4", {"c", "b"}, TRACE_FILE_CUT), ".../b/c");
  EXPECT_EQ(name_of("pipefs", {""}, TRACE_FILE_ALONE), "pipe:[12]");
  EXPECT_EQ(name_of("sockfs", {"TCP"}, TRACE_FILE_ALONE), "socket:[12]");
  EXPECT_EQ(name_of("anon_inodefs", {"[eventpoll]"}, TRACE_FILE_ALONE), "anon_inode:[eventpoll]");
  EXPECT_EQ(name_of("tmpfs", {"memfd:x"}, TRACE_FILE_ALONE), "/memfd:x (deleted)");
}

TEST(NameOfFile, WhatIsNowhereOrDamagedHasNone) {
  EXPECT_EQ(name_of("nsfs", {""}, TRACE_FILE_ALONE), "");
  EXPECT_EQ(name_of("nfs", {"/"}, TRACE_FILE_ALONE), "");
  EXPECT_EQ(name_of("nfs", {"b", "a"}, TRACE_FILE_ALONE), "") << "below what, is not known";
  EXPECT_EQ(name_of_file({}), "");
  std::string bytes = file_bytes("ext4", {"passwd", "etc"});
  EXPECT_EQ(name_of_file(as_bytes(std::string_view(bytes).substr(0, sizeof(trace_file) - 1))), "");
  bytes.resize(bytes.size() - 1);
  EXPECT_EQ(name_of_file(as_bytes(bytes)), "/etc/passwd") << "the last NUL is missing";
}

/// Calls with one descriptor or two, and what the kernel side says about them.
class BpfFileNamesTest : public testing::Test {
 public:
  /// `file`: empty: the label alone.
  BpfFileNamesTest& says(uint8_t arg, uint32_t fd, uint64_t label, std::string file = "") {
    call_.args[arg] = fd;
    const std::string& kept = texts_.emplace_back(std::move(file));
    memory_.push_back({.arg = arg,
                       .part = TRACE_FILE_PART,
                       .address = label,
                       .wanted_bytes = static_cast<uint32_t>(kept.size()),
                       .bytes = as_bytes(kept)});
    return *this;
  }
  /// "0=/etc/passwd"
  std::string taken(int32_t tid = 7) {
    call_.tid = tid;
    call_.memory = memory_;
    std::string text;
    for (const ArgFile& file : names_.take(call_)) {
      if (!text.empty()) text += ' ';
      text += std::to_string(file.arg) + '=' + std::string(file.name);
    }
    memory_.clear();
    return text;
  }

 private:
  BpfFileNames names_;
  SyscallEvent call_;
  std::vector<ArgMemory> memory_;
  std::deque<std::string> texts_;
};

TEST_F(BpfFileNamesTest, AFileIsNamedOnceAndThenByItsLabel) {
  EXPECT_EQ(says(0, 3, 100, file_bytes("ext4", {"hosts", "etc"})).taken(), "0=/etc/hosts");
  EXPECT_EQ(says(0, 3, 100).taken(), "0=/etc/hosts");
  EXPECT_EQ(says(0, 3, 200, file_bytes("ext4", {"passwd", "etc"})).taken(), "0=/etc/passwd")
      << "closed, and the number used again";
  EXPECT_EQ(says(0, 3, 200).taken(), "0=/etc/passwd");
  EXPECT_EQ(taken(), "") << "a call without descriptors";
}

TEST_F(BpfFileNamesTest, ALabelThatWasNeverExplainedHasNoName) {
  EXPECT_EQ(says(0, 3, 100, file_bytes("ext4", {"hosts", "etc"})).taken(), "0=/etc/hosts");
  EXPECT_EQ(says(0, 3, 200).taken(), "0=") << "the record that explains it was lost";
  EXPECT_EQ(says(0, 3, 100).taken(8), "0=") << "another thread's";
  EXPECT_EQ(says(0, 4, 100).taken(), "0=") << "another descriptor's";
}

TEST_F(BpfFileNamesTest, DescriptorsOfOneSlotDoNotMix) {
  uint32_t far = 3 + TRACE_FILE_SLOTS;
  says(0, 3, 100, file_bytes("ext4", {"a"}));
  EXPECT_EQ(says(1, far, 100, file_bytes("ext4", {"b"})).taken(), "0=/a 1=/b");
  EXPECT_EQ(says(0, 3, 100).taken(), "0=") << "its slot is the other's now";
  EXPECT_EQ(says(0, far, 100).taken(), "0=/b");
}

TEST(BpfFileNames, ThreadsThatEndedAreForgotten) {
  BpfFileNames names([](int32_t tid) { return tid % 2 == 0; }, 10);
  std::string bytes = file_bytes("ext4", {"a"});
  ArgMemory piece{.part = TRACE_FILE_PART, .address = 1, .bytes = as_bytes(bytes)};
  SyscallEvent call;
  call.memory = std::span(&piece, 1);
  size_t most = 0;
  for (call.tid = 1; call.tid <= 100; call.tid += call.tid < 9 ? 1 : 2) {
    EXPECT_EQ(names.take(call).front().name, "/a");
    most = std::max(most, names.threads());
  }
  for (call.tid = 200; call.tid <= 2000; call.tid += 2) (void)names.take(call);
  EXPECT_LE(names.threads(), 2 * most + 2) << "half of those are gone";
}

}  // namespace
}  // namespace sonde
