#include "trace/sources/bpf_records.h"

#include <gtest/gtest.h>

#include <cstring>

#include "bpf/programs/syscall_trace.h"

namespace sonde {
namespace {

constexpr SyscallAbis kAbis = {SyscallAbi::kX86_64, SyscallAbi::kI386};

/// Builds a record as the BPF program lays it out.
class RecordBuilder {
 public:
  explicit RecordBuilder(uint8_t flags) {
    head_.flags = flags;
    head_.number = 257;
    head_.cpu = 3;
    head_.pid = 10;
    head_.tid = 11;
    head_.time_ns = 2000;
    head_.entry_ns = 1000;
    head_.result = -2;
    for (uint64_t i = 0; i < 6; ++i) head_.args[i] = i + 100;
    std::memcpy(head_.comm, "cat", 4);
  }
  trace_record& head() { return head_; }
  RecordBuilder& piece(uint8_t arg, uint8_t part, uint32_t wanted, std::string_view bytes) {
    pieces_.u64(0x1000);
    pieces_.u32(wanted);
    pieces_.u16(static_cast<uint16_t>(bytes.size()));
    pieces_.u8(part);
    pieces_.u8(arg);
    pieces_.text(bytes);
    pieces_.zeros((8 - bytes.size() % 8) % 8);
    return *this;
  }
  [[nodiscard]] std::vector<std::byte> build() const {
    std::vector<std::byte> all(sizeof head_);
    std::memcpy(all.data(), &head_, sizeof head_);
    all.insert(all.end(), pieces_.view().begin(), pieces_.view().end());
    return all;
  }

 private:
  trace_record head_ = {};
  ByteBuilder pieces_;
};

TEST(BpfRecords, ACallWithWhatItsArgumentsLeadTo) {
  auto bytes = RecordBuilder(TRACE_HAS_ENTRY | TRACE_HAS_EXIT)
                   .piece(1, 0, 11, "/etc/passwd")
                   .piece(2 | TRACE_AT_EXIT, 4, 100, "12345678")
                   .piece(3 | TRACE_FAULT, 0, 1, "")
                   .build();
  SyscallEvent call;
  std::vector<ArgMemory> memory;
  ASSERT_TRUE(decode_call_record(bytes, kAbis, call, memory));
  EXPECT_EQ(call.abi, SyscallAbi::kX86_64);
  EXPECT_EQ(call.number, 257U);
  EXPECT_EQ(call.pid, 10);
  EXPECT_EQ(call.tid, 11);
  EXPECT_EQ(call.cpu, 3);
  EXPECT_TRUE(call.has_entry);
  EXPECT_TRUE(call.has_exit);
  EXPECT_EQ(call.entry_ns, 1000U);
  EXPECT_EQ(call.exit_ns, 2000U);
  EXPECT_EQ(call.result, -2);
  EXPECT_EQ(call.args[5], 105U);
  EXPECT_EQ(call.comm, "cat");
  ASSERT_EQ(call.memory.size(), 3U);
  EXPECT_EQ(as_text(call.memory[0].bytes), "/etc/passwd");
  EXPECT_EQ(call.memory[0].arg, 1);
  EXPECT_EQ(call.memory[0].wanted_bytes, 11U);
  EXPECT_FALSE(call.memory[0].at_exit);
  EXPECT_EQ(as_text(call.memory[1].bytes), "12345678");
  EXPECT_EQ(call.memory[1].part, 4);
  EXPECT_EQ(call.memory[1].wanted_bytes, 100U);
  EXPECT_TRUE(call.memory[1].at_exit);
  EXPECT_TRUE(call.memory[2].is_fault);
  EXPECT_EQ(call.memory[2].arg, 3);
}

TEST(BpfRecords, AnEntryAloneHasNoResult) {
  auto bytes = RecordBuilder(TRACE_HAS_ENTRY).build();
  SyscallEvent call;
  std::vector<ArgMemory> memory(3);
  ASSERT_TRUE(decode_call_record(bytes, kAbis, call, memory));
  EXPECT_FALSE(call.has_exit);
  EXPECT_EQ(call.exit_ns, 0U);
  EXPECT_EQ(call.result, 0);
  EXPECT_TRUE(call.memory.empty()) << "what was there before is gone";
  uint64_t written = 0;
  ASSERT_TRUE(time_of_record(bytes, written));
  EXPECT_EQ(written, 2000U) << "it is in the stream where it was written, not where the call began";
}

TEST(BpfRecords, A32BitProgramsCallIsOfItsOwnTable) {
  RecordBuilder record(TRACE_HAS_ENTRY | TRACE_HAS_EXIT);
  record.head().compat = 1;
  SyscallEvent call;
  std::vector<ArgMemory> memory;
  ASSERT_TRUE(decode_call_record(record.build(), kAbis, call, memory));
  EXPECT_EQ(call.abi, SyscallAbi::kI386);
}

TEST(BpfRecords, ACommWithoutItsNulEndsWithItsField) {
  RecordBuilder record(TRACE_HAS_EXIT);
  std::memset(record.head().comm, 'x', sizeof record.head().comm);
  auto bytes = record.build();
  SyscallEvent call;
  std::vector<ArgMemory> memory;
  ASSERT_TRUE(decode_call_record(bytes, kAbis, call, memory));
  EXPECT_EQ(call.comm, std::string(16, 'x'));
}

TEST(BpfRecords, WhatIsNotWholeIsRefused) {
  auto whole = RecordBuilder(TRACE_HAS_EXIT).piece(1, 0, 5, "hello").build();
  SyscallEvent call;
  std::vector<ArgMemory> memory;
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_EQ(decode_call_record(Bytes(whole).first(size), kAbis, call, memory),
              size == sizeof(trace_record))
        << size;
  auto neither = RecordBuilder(0).build();
  EXPECT_FALSE(decode_call_record(neither, kAbis, call, memory)) << "no entry and no exit";
  auto seventh = RecordBuilder(TRACE_HAS_EXIT).piece(6, 0, 5, "hello").build();
  EXPECT_FALSE(decode_call_record(seventh, kAbis, call, memory)) << "there are six arguments";
}

}  // namespace
}  // namespace sonde
