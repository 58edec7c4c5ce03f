#include "perfdata/header/bpf_code.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace sonde {
namespace {

template <typename T>
void put(std::vector<std::byte>& bytes, size_t at, T value) {
  if (bytes.size() < at + sizeof value) bytes.resize(at + sizeof value);
  std::memcpy(&bytes[at], &value, sizeof value);
}

/// Two functions of 8 and 4 bytes, at 0x1000 and 0x2000.
std::vector<std::byte> program() {
  constexpr size_t kInfo = 16, kInfoSize = 200, kData = kInfo + kInfoSize;
  std::vector<std::byte> bytes(kData);
  put<uint32_t>(bytes, 0, kInfoSize);
  put<uint32_t>(bytes, kInfo + 16, 12);   // jited_prog_len
  put<uint64_t>(bytes, kInfo + 24, 0);    // jited_prog_insns
  put<uint32_t>(bytes, kInfo + 104, 2);   // nr_jited_ksyms
  put<uint32_t>(bytes, kInfo + 108, 2);   // nr_jited_func_lens
  put<uint64_t>(bytes, kInfo + 112, 16);  // jited_ksyms
  put<uint64_t>(bytes, kInfo + 120, 32);  // jited_func_lens
  for (size_t i = 0; i < 12; ++i) put<uint8_t>(bytes, kData + i, static_cast<uint8_t>(i));
  put<uint64_t>(bytes, kData + 16, 0x1000);
  put<uint64_t>(bytes, kData + 24, 0x2000);
  put<uint32_t>(bytes, kData + 32, 8);
  put<uint32_t>(bytes, kData + 36, 4);
  return bytes;
}

TEST(BpfCode, FunctionsFollowOneAnother) {
  std::vector<std::byte> bytes = program();
  Bytes first = bpf_code(bytes, kHostOrder, 0x1000, 8);
  ASSERT_EQ(first.size(), 8u);
  EXPECT_EQ(first[0], std::byte{0});
  Bytes second = bpf_code(bytes, kHostOrder, 0x2000, 100);
  ASSERT_EQ(second.size(), 4u);
  EXPECT_EQ(second[0], std::byte{8});
  EXPECT_TRUE(bpf_code(bytes, kHostOrder, 0x3000, 8).empty());
}

TEST(BpfCode, CutShortItHasNothing) {
  std::vector<std::byte> bytes = program();
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_LE(bpf_code(Bytes(bytes).first(size), kHostOrder, 0x2000, 4).size(), 4u);
  EXPECT_TRUE(bpf_code(Bytes(bytes).first(100), kHostOrder, 0x1000, 8).empty());
}

}  // namespace
}  // namespace sonde
