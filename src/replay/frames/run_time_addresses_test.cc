#include "replay/frames/run_time_addresses.h"

#include <gtest/gtest.h>

#include "perfdata/records/record_encoder.h"
#include "replay/frames/address_resolver.h"

namespace sonde {
namespace {

/// Frames are made by an AddressResolver, whose answers are taken back to the addresses.
class RunTimeAddressesTest : public testing::Test {
 protected:
  static constexpr uint64_t kSize = 0x10000;

  RunTimeAddressesTest() : machine(strings) {}

  template <typename Record>
  void apply(const Record& record, uint64_t time) {
    ByteBuilder bytes;
    RecordFrame frame;
    frame.type = 0;
    frame.misc = abi::kMiscUser;
    ASSERT_TRUE(encode(record, frame, bytes));
    RecordBlock block;
    block.bytes = bytes.view();
    RecordView view;
    ASSERT_TRUE(RecordRange(block, kHostOrder).next(view));
    machine.apply(view, SampleLayout(), time, losses);
  }
  void map(uint32_t pid, uint64_t time, uint64_t start, std::string_view path, uint64_t offset = 0,
           uint32_t protection = 5) {
    MmapRecord record{};
    record.pid = record.tid = pid;
    record.start = RuntimeAddr(start);
    record.length = kSize;
    record.offset = FileOffset(offset);
    record.path = path;
    record.protection = protection;
    record.is_v2 = true;
    apply(record, time);
  }

  /// Of the frame that a sample has for `ip`, in a chain of the program's.
  std::optional<uint64_t> there_and_back(uint32_t pid, uint64_t time, uint64_t ip,
                                         uint16_t sampled_in = abi::kMiscUser) {
    machine.freeze();
    FrameTable frames;
    AddressResolver resolver(machine, frames);
    resolver.enter(pid, time, sampled_in);
    FrameId frame = resolver.resolve(ip, abi::kMiscUser);
    RunTimeAddresses addresses(machine);
    return addresses.of(frames[frame], addresses.enter(pid, time, sampled_in));
  }

  StringPool strings;
  Machine machine;
  LossLedger losses;
};

TEST_F(RunTimeAddressesTest, AnObjectIsElsewhereInEachProcess) {
  map(1, 1, 0x400000, "/lib/a.so");
  map(2, 1, 0x700000, "/lib/a.so");
  map(2, 1, 0x500000, "/lib/b.so", 0x3000);
  EXPECT_EQ(there_and_back(1, 5, 0x400123), 0x400123);
  EXPECT_EQ(there_and_back(2, 5, 0x700123), 0x700123);
  EXPECT_EQ(there_and_back(2, 5, 0x500123), 0x500123);
  EXPECT_EQ(there_and_back(2, 5, 0x123), 0x123);  // nothing is mapped there
  EXPECT_EQ(there_and_back(3, 5, 0x123), 0x123);  // nor is anything known of the process
}

TEST_F(RunTimeAddressesTest, PartsOfAFileMayBeApart) {
  map(1, 1, 0x400000, "/lib/a.so");
  map(1, 1, 0x400000 + kSize, "/lib/a.so", kSize);
  EXPECT_EQ(there_and_back(1, 5, 0x400123 + kSize), 0x400123 + kSize);
}

TEST_F(RunTimeAddressesTest, CodeIsWhereTheFileIsExecutable) {
  constexpr uint32_t kRead = 1, kWrite = 2;
  map(1, 1, 0x400000, "/lib/a.so", 0, kRead);
  map(1, 2, 0x401000 + kSize, "/lib/a.so", kSize);
  map(1, 3, 0x402000 + 2 * kSize, "/lib/a.so", 2 * kSize, kRead | kWrite);
  EXPECT_EQ(there_and_back(1, 5, 0x401123 + kSize), 0x401123 + kSize);
  EXPECT_EQ(there_and_back(1, 5, 0x400123), std::nullopt);  // no code
}

TEST_F(RunTimeAddressesTest, AnObjectAtTwoPlacesGivesNoAnswer) {
  map(1, 1, 0x400000, "/lib/a.so");
  map(1, 1, 0x500000, "/lib/b.so");
  map(1, 9, 0x600000, "/lib/a.so");  // later, but before and after are not told apart
  EXPECT_EQ(there_and_back(1, 5, 0x400123), std::nullopt);
  EXPECT_EQ(there_and_back(1, 5, 0x500123), 0x500123);
}

TEST_F(RunTimeAddressesTest, InExecveTheImageBeforeCountsToo) {
  apply(CommRecord{1, 1, "sh", true}, 1);
  map(1, 2, 0x400000, "/lib/c.so");
  map(1, 2, 0x500000, "/bin/sh");
  apply(CommRecord{1, 1, "ls", true}, 10);
  map(1, 11, 0x600000, "/lib/c.so");
  EXPECT_EQ(there_and_back(1, 12, 0x600123), 0x600123);
  EXPECT_EQ(there_and_back(1, 12, 0x600123, abi::kMiscKernel), std::nullopt);
  EXPECT_EQ(there_and_back(1, 12, 0x500123, abi::kMiscKernel), 0x500123);  // the shell's
}

TEST_F(RunTimeAddressesTest, OwnersAreTheSameAsLongAsTheImageIs) {
  apply(CommRecord{1, 1, "sh", true}, 1);
  map(1, 2, 0x400000, "/bin/sh");
  apply(CommRecord{1, 1, "ls", true}, 10);
  map(1, 11, 0x400000, "/bin/ls");
  machine.freeze();
  RunTimeAddresses addresses(machine);
  uint32_t shell = addresses.enter(1, 3, abi::kMiscUser);
  EXPECT_EQ(addresses.enter(1, 9, abi::kMiscUser), shell);
  EXPECT_NE(addresses.enter(1, 12, abi::kMiscUser), shell);
  EXPECT_EQ(addresses.enter(1, 3, abi::kMiscGuestUser), RunTimeAddresses::kNobody);
}

}  // namespace
}  // namespace sonde
