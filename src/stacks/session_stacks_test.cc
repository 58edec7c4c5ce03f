#include "stacks/session_stacks.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/sys.h"
#include "perfdata/records/record_encoder.h"
#include "perfdata/text/file_builder.h"
#include "stacks/profile_lines.h"

namespace sonde {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

/// A recording in memory. There are no symbols, so each function is an object without a file: 'a'
/// is /nowhere/a at 0x1000000, and appears as [a] in stacks.
class Recorded {
 public:
  explicit Recorded(const std::vector<std::string>& events = {"cycles"}) {
    for (const std::string& name : events) {
      EventDesc event;
      event.attr.type = abi::kTypeHardware;
      event.attr.config = file_.events.size();
      event.attr.sample_type = abi::kSampleIdentifier | abi::kSampleIp | abi::kSampleTid |
                               abi::kSampleTime | abi::kSamplePeriod | abi::kSampleCallchain;
      event.attr.sample_id_all = 1;
      event.ids = {file_.events.size() + 1};
      event.name = name;
      file_.events.push_back(event);
    }
    file_.features.present = {abi::kFeatureEventDesc};
  }

  void rename(uint32_t pid, uint32_t tid, std::string_view comm, bool exec = false) {
    CommRecord record{};
    record.pid = pid;
    record.tid = tid;
    record.comm = comm;
    record.exec = exec;
    encode(record, frame_of(pid, tid), file_.data);
  }
  void task(uint32_t pid, uint32_t tid, std::string_view comm, bool exec = false) {
    rename(pid, tid, comm, exec);
    if (pid != tid) return;
    for (char object : std::string_view("abcde")) {
      std::string path = std::string("/nowhere/") + object;
      MmapRecord mmap{};
      mmap.pid = mmap.tid = pid;
      mmap.start = RuntimeAddr(address_of(object));
      mmap.length = 0x1000;
      mmap.path = path;
      mmap.protection = PROT_READ | PROT_EXEC;
      mmap.is_v2 = true;
      encode(mmap, frame_of(pid, tid), file_.data);
    }
  }

  /// `path`: from the root, "abc". `at` varies the address inside the last function.
  void sample(uint32_t pid, uint32_t tid, std::string_view path, uint64_t period,
              uint64_t event = 0, uint64_t at = 0) {
    ByteBuilder chain;
    chain.u64(abi::kContextUser);
    for (size_t i = path.size(); i-- > 0;)
      chain.u64(address_of(path[i]) + (i + 1 == path.size() ? at : 0x80));
    Sample sample;
    sample.misc = sample.cpu_mode = abi::kMiscUser;
    sample.id.pid = pid;
    sample.id.tid = tid;
    sample.id.time = ++now_;
    sample.id.id = event + 1;
    sample.ip = address_of(path.back()) + at;
    sample.period = period;
    sample.callchain = WordView(chain.view(), kHostOrder);
    ASSERT_TRUE(encode_sample(sample, file_.events[event].attr, file_.data));
  }

  Result<StackProfile> stacks(const SessionStacksOptions& options) {
    Fd memory(::memfd_create("recording", MFD_CLOEXEC));
    EXPECT_TRUE(write_all(memory.get(), "memory", file_.file()));
    ::lseek(memory.get(), 0, SEEK_SET);
    StringSink out, err;
    LossLedger losses;
    Env env{.out = out, .err = err, .sys = Sys::host(), .losses = losses};
    SessionOptions how;
    how.open.stdin_fd = memory.get();
    Session session = TRY(Session::open("-", how, env));
    return stacks_of(session, options);
  }

 private:
  static uint64_t address_of(char object) { return static_cast<uint64_t>(object - 'a' + 1) << 24; }
  RecordFrame frame_of(uint32_t pid, uint32_t tid) {
    return {.misc = abi::kMiscUser,
            .attr = &file_.events[0].attr,
            .id = {.pid = pid, .tid = tid, .time = ++now_, .id = 1}};
  }

  FileBuilder file_;
  uint64_t now_ = 1000;
};

/// Two processes; "server" has a second thread.
Recorded two_processes() {
  Recorded recorded;
  recorded.task(10, 10, "server");
  recorded.task(10, 11, "worker");
  recorded.task(20, 20, "client");
  recorded.sample(10, 10, "abc", 3);
  recorded.sample(20, 20, "ab", 5);
  recorded.sample(10, 11, "abc", 4, 0, 0x10);
  recorded.sample(10, 10, "ad", 1);
  return recorded;
}

TEST(SessionStacks, AlikeChainsOfATaskAreOneStack) {
  StackProfile profile = two_processes().stacks({}).value();
  ASSERT_EQ(profile.columns.size(), 1u);
  EXPECT_EQ(profile.columns[0].samples, 4u);
  EXPECT_EQ(total_of(profile.columns[0]), 13);
  EXPECT_THAT(lines_of(profile), ElementsAre("client;[a];[b] 5", "server;[a];[b];[c] 3",
                                             "server;[a];[d] 1", "worker;[a];[b];[c] 4"));
  EXPECT_EQ(profile.samples.size(), 0u);
}

TEST(SessionStacks, WithoutTasksStacksOfAllAreOne) {
  StackProfile profile =
      two_processes().stacks({.value = StackValue::kSamples, .task_root = false}).value();
  EXPECT_THAT(lines_of(profile), ElementsAre("[a];[b] 1", "[a];[b];[c] 2", "[a];[d] 1"));
  EXPECT_EQ(profile.columns[0].unit, "samples");
}

TEST(SessionStacks, TasksMayBeToldApart) {
  StackProfile profile = two_processes().stacks({.spelling = {.tid = true}}).value();
  EXPECT_THAT(lines_of(profile),
              ElementsAre("client-20/20;[a];[b] 5", "server-10/10;[a];[b];[c] 3",
                          "server-10/10;[a];[d] 1", "worker-10/11;[a];[b];[c] 4"));
}

TEST(SessionStacks, SamplesOneByOne) {
  StackProfile profile = two_processes().stacks({.task_root = false, .want_samples = true}).value();
  ASSERT_EQ(profile.samples.size(), 4u);
  EXPECT_THAT(profile.samples.value, ElementsAre(3, 5, 4, 1));
  EXPECT_THAT(profile.samples.thread, ElementsAre(0, 1, 2, 0));
  EXPECT_EQ(path_of(profile, profile.samples.node[3]), "[a];[d]");
  EXPECT_EQ(profile.samples.node[0], profile.samples.node[2]);
  ASSERT_EQ(profile.threads.size(), 3u);
  EXPECT_EQ(profile.text(profile.threads[2].name), "worker");
  EXPECT_EQ(profile.text(profile.threads[2].process_name), "server");
}

/// The thread of each sample as "process/name pid/tid", in time order.
std::vector<std::string> threads_of(const StackProfile& profile) {
  std::vector<std::string> threads;
  for (uint32_t index : profile.samples.thread) {
    const StackThread& thread = profile.threads[index];
    threads.push_back(fmt::format("{}/{} {}/{}", profile.text(thread.process_name),
                                  profile.text(thread.name), thread.pid, thread.tid));
  }
  return threads;
}

TEST(SessionStacks, SamplesAreOfTheThreadUnderTheNameThatItHad) {
  Recorded recorded;
  recorded.task(10, 10, "sh", true);
  recorded.sample(10, 10, "a", 1);
  recorded.task(10, 10, "server", true);
  recorded.task(10, 11, "worker");
  recorded.sample(10, 10, "a", 1);
  recorded.sample(10, 11, "a", 1);
  recorded.rename(10, 10, "busy");  // the program stays
  recorded.sample(10, 10, "a", 1);
  recorded.sample(10, 11, "a", 1);
  recorded.task(10, 10, "cleanup", true);
  recorded.sample(10, 10, "a", 1);
  StackProfile profile = recorded.stacks({.want_samples = true}).value();
  EXPECT_THAT(threads_of(profile),
              ElementsAre("sh/sh 10/10", "server/server 10/10", "server/worker 10/11",
                          "server/busy 10/10", "server/worker 10/11", "cleanup/cleanup 10/10"));
  EXPECT_EQ(profile.threads.size(), 5u);
  EXPECT_THAT(lines_of(profile), ElementsAre("busy;[a] 1", "cleanup;[a] 1", "server;[a] 1",
                                             "sh;[a] 1", "worker;[a] 2"));
}

TEST(SessionStacks, ANumberThatIsUsedAgainIsAnotherThread) {
  Recorded recorded;
  recorded.task(10, 10, "first", true);
  recorded.sample(10, 10, "a", 1);
  recorded.task(10, 10, "second", true);
  recorded.sample(10, 10, "a", 1);
  recorded.task(10, 10, "first", true);
  recorded.sample(10, 10, "a", 1);
  StackProfile profile = recorded.stacks({.want_samples = true}).value();
  EXPECT_THAT(profile.samples.thread, ElementsAre(0, 1, 0)) << "one name is one thread";
}

TEST(SessionStacks, TasksOutsideOfThePidNamespaceBorrowNoName) {
  Recorded recorded;
  recorded.task(0, 0, "cron", true);
  recorded.sample(0, 0, "a", 1);
  recorded.task(0, 0, "sshd", true);
  recorded.sample(0, 0, "b", 1);
  StackProfile profile = recorded.stacks({.want_samples = true}).value();
  EXPECT_THAT(threads_of(profile),
              ElementsAre("[outside this PID namespace]/[outside this PID namespace] 0/0",
                          "[outside this PID namespace]/[outside this PID namespace] 0/0"));
  EXPECT_THAT(lines_of(profile), ElementsAre("[outside_this_PID_namespace];[unknown] 2"))
      << "the code of one is not that of the others";
}

TEST(SessionStacks, AFilterChooses) {
  StackProfile profile =
      two_processes().stacks({.filter = [](size_t sample) { return sample != 1; }}).value();
  EXPECT_EQ(total_of(profile.columns[0]), 8);
}

TEST(SessionStacks, WhatIsTooSmallEndsAtItsFirstFrame) {
  Recorded recorded = two_processes();
  recorded.sample(10, 10, "ade", 1);
  StackProfile profile = recorded.stacks({.task_root = false, .least_share = 0.3}).value();
  EXPECT_THAT(lines_of(profile), ElementsAre("[a];[b] 5", "[a];[b];[c] 7", "[a];[d] 2"));
}

TEST(SessionStacks, EventsAreColumns) {
  Recorded recorded({"cycles", "faults", "never"});
  recorded.task(10, 10, "app");
  recorded.sample(10, 10, "ab", 100);
  recorded.sample(10, 10, "ab", 1, 1);
  recorded.sample(10, 10, "a", 2, 1);
  StackProfile all = recorded.stacks({}).value();
  ASSERT_EQ(all.columns.size(), 2u);
  EXPECT_THAT(lines_of(all, 0), ElementsAre("app;[a];[b] 100"));
  EXPECT_THAT(lines_of(all, 1), ElementsAre("app;[a] 2", "app;[a];[b] 1"));
  StackProfile one = recorded.stacks({.events = {"faults"}}).value();
  ASSERT_EQ(one.columns.size(), 1u);
  EXPECT_EQ(one.columns[0].name, "faults");
  StackProfile none = recorded.stacks({.events = {"never"}}).value();
  EXPECT_THAT(lines_of(none), IsEmpty());
  auto wrong = recorded.stacks({.events = {"fault"}});
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("it has cycles, faults, never"));
}

TEST(SessionStacks, PlacesAreFramesWhereAddressesAreAskedFor) {
  StackProfile profile =
      two_processes().stacks({.task_root = false, .want_addresses = true}).value();
  EXPECT_THAT(lines_of(profile),
              UnorderedElementsAre("[a];[b] 5", "[a];[b];[c] 3", "[a];[b];[c] 4", "[a];[d] 1"));
  std::vector<uint64_t> addresses;
  for (const StackFrame& frame : profile.frames)
    if (profile.text(frame.name) == "[c]") addresses.push_back(frame.address);
  EXPECT_THAT(addresses, UnorderedElementsAre(0, 0x10));
}

TEST(SessionStacks, ObjectsAreKeptWhereTheyAreAskedFor) {
  StackProfile profile = two_processes().stacks({.want_objects = true}).value();
  std::vector<std::string> objects;
  for (const StackObject& object : profile.objects) objects.emplace_back(profile.text(object.path));
  EXPECT_THAT(objects,
              UnorderedElementsAre("/nowhere/a", "/nowhere/b", "/nowhere/c", "/nowhere/d"));
}

}  // namespace
}  // namespace sonde
