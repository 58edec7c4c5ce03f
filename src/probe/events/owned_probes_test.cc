// Tests against a directory that looks like tracefs; tests/live checks against the kernel.
#include "probe/events/owned_probes.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "event/parser/owned_group.h"

namespace sonde {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class OwnedProbesTest : public testing::Test {
 protected:
  OwnedProbesTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "sonde_probe_XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    std::ofstream(directory_ + "/uprobe_events");
  }
  ~OwnedProbesTest() override { std::filesystem::remove_all(directory_); }
  [[nodiscard]] std::string written() const {
    return read_file(directory_ + "/uprobe_events").value_or("");
  }
  std::string directory_;
};

ProbePlace at(uint64_t offset, std::vector<std::string> arguments = {}) {
  return {.object = "/bin/x", .offset = FileOffset(offset), .arguments = std::move(arguments)};
}

std::vector<std::string> names(const std::vector<TracepointName>& events) {
  std::vector<std::string> all;
  for (const TracepointName& event : events) all.push_back(event.name);
  return all;
}

TEST_F(OwnedProbesTest, AreMadeInOurGroupAndRemoved) {
  std::string group = own_group("sdt_app");
  std::string made = "p:" + group + "/start /bin/x:0x10\n";
  {
    OwnedProbes probes(directory_);
    Result<std::vector<TracepointName>> events = probes.add("sdt_app", "start", {at(0x10)});
    ASSERT_TRUE(events) << events.error().message;
    EXPECT_THAT(*events, ElementsAre(TracepointName{group, "start"}));
    EXPECT_EQ(written(), made);
  }
  EXPECT_THAT(written(), StartsWith(made + "-:" + group + "/start\n"));
}

TEST_F(OwnedProbesTest, ShareAnEventWhereTheirFieldsAgree) {
  OwnedProbes probes(directory_);
  Result<std::vector<TracepointName>> events =
      probes.add("sdt_app", "step",
                 {at(0x10, {"arg1=%bx:s32"}), at(0x20, {"arg1=%di:s32"}),
                  at(0x30, {"arg1=%di:s64"}), at(0x40, {"arg1=%si:s64"})});
  ASSERT_TRUE(events) << events.error().message;
  EXPECT_THAT(names(*events), ElementsAre("step", "step_1"));
  Result<std::vector<TracepointName>> again = probes.add("sdt_app", "step", {at(0x50)});
  ASSERT_TRUE(again);
  EXPECT_THAT(names(*again), ElementsAre("step_2"));
  std::string lines = written();
  EXPECT_EQ(std::ranges::count(lines, '\n'), 5);
  EXPECT_THAT(lines, HasSubstr("/step /bin/x:0x20 arg1=%di:s32\n"));
  EXPECT_THAT(lines, HasSubstr("/step_1 /bin/x:0x40 arg1=%si:s64\n"));
}

TEST_F(OwnedProbesTest, OfProcessesThatAreGoneAreRemoved) {
  // No process has this pid: it exceeds the kernel's limit.
  std::ofstream(directory_ + "/uprobe_events") << "p:sonde_2000000000_sdt_app/start /bin/x:0x10\n"
                                               << "p:sonde_2000000000_sdt_app/start /bin/x:0x20\n"
                                               << "p:probe_x/main /bin/x:0x30\n"
                                               << "p:" << own_group("mine") << "/main /bin/x:0x30\n"
                                               << "nonsense\n";
  std::string before = written();
  remove_orphaned_probes(directory_);
  EXPECT_EQ(written(), before + "-:sonde_2000000000_sdt_app/start\n");
}

TEST_F(OwnedProbesTest, WithoutTracefsSayWhatIsMissing) {
  OwnedProbes probes(directory_);
  Result<std::vector<TracepointName>> events = probes.add("g", "e", {{.symbol = "tcp_sendmsg"}});
  ASSERT_FALSE(events);
  EXPECT_EQ(events.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(events.error().message, HasSubstr("CONFIG_KPROBE_EVENTS"));
}

}  // namespace
}  // namespace sonde
