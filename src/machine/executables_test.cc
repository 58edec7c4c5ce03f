#include "machine/executables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "perfdata/records/record_encoder.h"

namespace sonde {
namespace {

using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class ExecutablesTest : public testing::Test {
 protected:
  ExecutablesTest() : machine(strings) {}

  template <typename Record>
  void apply(const Record& record, uint64_t time, uint32_t type = 0) {
    ByteBuilder bytes;
    RecordFrame frame;
    frame.type = type;
    frame.misc = abi::kMiscUser;
    ASSERT_TRUE(encode(record, frame, bytes));
    RecordView view;
    RecordBlock block;
    block.bytes = bytes.view();
    ASSERT_TRUE(RecordRange(block, kHostOrder).next(view));
    machine.apply(view, SampleLayout(), time, losses);
  }
  void map(uint32_t pid, uint64_t time, uint64_t start, std::string_view path,
           uint32_t protection = 5) {
    MmapRecord record{};
    record.pid = record.tid = pid;
    record.start = RuntimeAddr(start);
    record.length = 0x1000;
    record.path = path;
    record.protection = protection;
    record.is_v2 = true;
    apply(record, time);
  }
  /// "comm runs /path" of each.
  std::vector<std::string> all() {
    machine.freeze();
    std::vector<std::string> found;
    for (const NamedExecutable& each : executables_of(machine))
      found.push_back(std::string(strings.view(each.comm)) + " runs " +
                      machine.dsos()[each.object].path);
    return found;
  }

  StringPool strings;
  Machine machine;
  LossLedger losses;
};

TEST_F(ExecutablesTest, TheLowestFileWithCodeIsTheExecutable) {
  apply(CommRecord{7, 7, "old", true}, 10);
  map(7, 11, 0x7f0000000000, "/lib/libc.so.6");
  map(7, 12, 0x550000000000, "/build/old");
  map(7, 13, 0x540000000000, "/build/data", 1);  // no code
  map(7, 14, 0x530000000000, "//anon");
  map(7, 15, 0x520000000000, "/lib/libfoo.so");
  EXPECT_THAT(all(), UnorderedElementsAre("old runs /build/old"));
}

TEST_F(ExecutablesTest, AnExecAndAThreadHaveTheirOwnNames) {
  apply(CommRecord{7, 7, "sh", true}, 10);
  map(7, 11, 0x5000, "/bin/dash");
  apply(CommRecord{7, 7, "new", true}, 20);
  map(7, 21, 0x9000, "/build/new");
  apply(TaskRecord{7, 7, 8, 7, 30}, 30, abi::kRecordFork);
  apply(CommRecord{7, 8, "worker", false}, 31);
  EXPECT_THAT(all(), UnorderedElementsAre("sh runs /bin/dash", "new runs /build/new",
                                          "worker runs /build/new"));
}

TEST_F(ExecutablesTest, NamesMayBeOlderThanWhatIsKnownOfTheMemory) {
  apply(CommRecord{7, 7, "old", false}, 0);
  map(7, 5, 0x5000, "/build/old");
  EXPECT_THAT(all(), UnorderedElementsAre("old runs /build/old"));
}

TEST_F(ExecutablesTest, NothingIsSaidOfTasksWithoutMappings) {
  apply(CommRecord{7, 7, "kworker/0:1", false}, 0);
  EXPECT_THAT(all(), IsEmpty());
}

}  // namespace
}  // namespace sonde
