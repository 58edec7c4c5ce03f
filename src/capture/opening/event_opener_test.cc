#include "capture/opening/event_opener.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <functional>
#include <optional>
#include <string>
#include <thread>

namespace sonde {
namespace {

/// Answers perf_event_open instead of the kernel.
class FakeKernel final : public Sys {
 public:
  using Judge = std::function<int(const abi::EventAttr&, pid_t tid)>;
  explicit FakeKernel(Judge judge) : judge_(std::move(judge)) {}

  SysResult<int> perf_event_open(perf_event_attr* attr, pid_t pid, int, int,
                                 unsigned long) override {
    ++opens;
    if (int error = judge_(*reinterpret_cast<abi::EventAttr*>(attr), pid))
      return std::unexpected(error);
    return next_fd_++;
  }
  SysResult<int> ioctl(int, unsigned long, uint64_t) override { return 0; }
  SysResult<void*> mmap(size_t, int, int, int, off_t) override { return std::unexpected(EPERM); }
  SysResult<int> munmap(void*, size_t) override { return 0; }
  SysResult<int> open(const std::string&, int, mode_t) override { return std::unexpected(ENOENT); }
  SysResult<size_t> read(int, void*, size_t) override { return size_t{0}; }
  SysResult<size_t> write(int, const void*, size_t size) override { return size; }
  SysResult<int> close(int) override {
    ++closes;
    return 0;
  }
  uid_t geteuid() override { return 1000; }

  int opens = 0;
  int closes = 0;

 private:
  Judge judge_;
  int next_fd_ = 100;
};

CaptureEvent cycles() {
  CaptureEvent event;
  event.parsed.name = "cycles";
  event.parsed.attr.read_format = abi::kFormatId | abi::kFormatLost;
  return event;
}

Target two_threads() {
  Target target;
  target.kind = Target::Kind::kTasks;
  target.cpus = {0};
  target.threads = {{10, "a"}, {11, "b"}};
  return target;
}

TEST(EventOpener, CyclesBecomeCpuClockWithoutPmu) {
  FakeKernel kernel([](const abi::EventAttr& attr, pid_t) {
    return attr.type == abi::kTypeHardware ? ENOENT : 0;
  });
  Target target = two_threads();
  std::string note;
  EventOpener opener(kernel, target, {.note = [&](std::string_view text) { note = text; }});
  std::vector<CaptureEvent> events{cycles()};
  ASSERT_TRUE(opener.open(events));
  EXPECT_EQ(events[0].attr().type, abi::kTypeSoftware);
  EXPECT_EQ(events[0].opened.size(), 2u);
  EXPECT_EQ(note,
            "there are no hardware counters here: the clock of the CPU (cpu-clock) is recorded in "
            "place of cycles");
}

TEST(EventOpener, PrecisionIsLoweredStepByStep) {
  FakeKernel kernel(
      [](const abi::EventAttr& attr, pid_t) { return attr.precise_ip > 1 ? EOPNOTSUPP : 0; });
  Target target = two_threads();
  EventOpener opener(kernel, target, {});
  std::vector<CaptureEvent> events{cycles()};
  events[0].parsed.precise_max = true;
  events[0].attr().precise_ip = 3;
  ASSERT_TRUE(opener.open(events));
  EXPECT_EQ(events[0].attr().precise_ip, 1u);
}

TEST(EventOpener, AnOlderKernelIsAskedForLess) {
  FakeKernel kernel([](const abi::EventAttr& attr, pid_t) {
    return (attr.read_format & abi::kFormatLost) != 0 || attr.bpf_event || attr.ksymbol ? EINVAL
                                                                                        : 0;
  });
  Target target = two_threads();
  EventOpener opener(kernel, target, {});
  std::vector<CaptureEvent> events{cycles()};
  events[0].attr().bpf_event = events[0].attr().ksymbol = 1;
  ASSERT_TRUE(opener.open(events));
  EXPECT_TRUE(opener.missing().read_lost && opener.missing().bpf_event && opener.missing().ksymbol);
  EXPECT_FALSE(opener.missing().cloexec);
  EXPECT_EQ(events[0].attr().read_format, abi::kFormatId);
}

TEST(EventOpener, AThreadThatEndedIsLeftOutOfAllEvents) {
  bool gone = false;
  FakeKernel kernel([&](const abi::EventAttr& attr, pid_t tid) {
    if (attr.type == abi::kTypeSoftware) gone = true;
    return gone && tid == 11 ? ESRCH : 0;
  });
  Target target = two_threads();
  pid_t vanished = 0;
  EventOpener opener(kernel, target, {.thread_vanished = [&](pid_t tid) { vanished = tid; }});
  std::vector<CaptureEvent> events{cycles(), cycles()};
  events[1].parsed.leader = 1;
  events[1].attr().type = abi::kTypeSoftware;
  ASSERT_TRUE(opener.open(events));
  EXPECT_EQ(vanished, 11);
  EXPECT_EQ(events[0].opened.size(), 1u);
  EXPECT_EQ(events[1].opened.size(), 1u);
}

TEST(EventOpener, AThreadThatBeginsMeanwhileIsOpenedOnceInEachEvent) {
  std::atomic<bool> over = false;
  std::optional<std::jthread> late;
  FakeKernel kernel([&](const abi::EventAttr& attr, pid_t) {
    if (attr.type == abi::kTypeSoftware && !late) late.emplace([&] { over.wait(false); });
    return 0;
  });
  Target target;
  target.kind = Target::Kind::kTasks;
  target.cpus = {0, 1};
  target.pids = std::to_string(::getpid());
  target.threads = *threads_of_processes(target.pids);
  size_t before = target.threads.size();
  EventOpener opener(kernel, target, {});
  std::vector<CaptureEvent> events{cycles(), cycles()};
  events[1].parsed.leader = 1;
  events[1].attr().type = abi::kTypeSoftware;
  ASSERT_TRUE(opener.open(events));
  over = true;
  over.notify_all();
  EXPECT_EQ(target.threads.size(), before + 1);
  for (const CaptureEvent& event : events) EXPECT_EQ(event.opened.size(), 2 * (before + 1));
  EXPECT_EQ(kernel.closes, static_cast<int>(2 * 2 * before));
}

TEST(EventOpener, AProcessThatKeepsStartingThreadsIsSaid) {
  std::atomic<bool> over = false;
  std::vector<std::jthread> threads;
  FakeKernel kernel([&](const abi::EventAttr&, pid_t) {
    threads.emplace_back([&] { over.wait(false); });
    return 0;
  });
  Target target;
  target.kind = Target::Kind::kTasks;
  target.cpus = {0};
  target.pids = std::to_string(::getpid());
  target.threads = {{::getpid(), {}}};
  size_t missed = 0;
  EventOpener opener(kernel, target, {.threads_missed = [&](size_t count) { missed = count; }});
  std::vector<CaptureEvent> events{cycles()};
  ASSERT_TRUE(opener.open(events));
  over = true;
  over.notify_all();
  EXPECT_GT(missed, 0u);
}

TEST(EventOpener, RefusalsNameWhatForbids) {
  FakeKernel kernel([](const abi::EventAttr&, pid_t) { return EPERM; });
  Target target = two_threads();
  EventOpener opener(kernel, target, {});
  std::vector<CaptureEvent> events{cycles()};
  Result<> opened = opener.open(events);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kPermission);
  EXPECT_NE(opened.error().message.find("takes root or CAP_PERFMON"), std::string::npos);
}

TEST(EventOpener, BranchStacksWithoutHardware) {
  FakeKernel kernel([](const abi::EventAttr&, pid_t) { return EOPNOTSUPP; });
  Target target = two_threads();
  EventOpener opener(kernel, target, {});
  std::vector<CaptureEvent> events{cycles()};
  events[0].attr().sample_type |= abi::kSampleBranchStack;
  Result<> opened = opener.open(events);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().message,
            "Error:\ncycles: PMU Hardware or event type doesn't support branch stack sampling.");
}

/// The error for an event that the kernel always refuses with this errno, whatever less is tried.
Error refusal(int error, const Target& target,
              const std::function<void(abi::EventAttr&)>& ask = {}) {
  FakeKernel kernel([error](const abi::EventAttr&, pid_t) { return error; });
  Target mine = target;
  EventOpener opener(kernel, mine, {});
  std::vector<CaptureEvent> events{cycles()};
  events[0].parsed.name = "ev";
  events[0].attr().type = abi::kTypeRaw;  // nothing else can stand in for it
  if (ask) ask(events[0].attr());
  Result<> opened = opener.open(events);
  EXPECT_FALSE(opened) << error;
  return opened ? Error{} : opened.error();
}

TEST(EventOpener, EveryRefusalHasItsWordsAndItsCode) {
  Target threads = two_threads();
  threads.cpus = {-1};
  Target cpus;
  cpus.kind = Target::Kind::kCpus;
  cpus.cpus = {0, 1};
  cpus.threads = {{-1, ""}};
  const struct {
    int error;
    const Target& target;
    std::function<void(abi::EventAttr&)> ask;
    ErrorCode code;
    std::string words;
  } kCases[] = {
      {ENOENT, cpus, {}, ErrorCode::kUnsupported, "The ev event is not supported."},
      {EACCES, cpus, {}, ErrorCode::kPermission, "ev:"},  // open_error_test.cc has its words
      {EPERM, cpus, {}, ErrorCode::kPermission, "ev:"},
      {EINVAL,
       threads,
       {},
       ErrorCode::kUnsupported,
       "Invalid event (ev) in per-thread mode, enable system wide with '-a'."},
      {EINVAL,
       cpus,
       {},
       ErrorCode::kUnsupported,
       "The sys_perf_event_open() syscall returned with 22 (Invalid argument) for event (ev)."},
      {EINVAL, cpus, [](abi::EventAttr& attr) { attr.sample_type |= abi::kSampleCodePageSize; },
       ErrorCode::kUnsupported, "--code-page-size: the kernel is older than Linux 5.11"},
      {EINVAL, cpus, [](abi::EventAttr& attr) { attr.sample_type |= abi::kSampleDataPageSize; },
       ErrorCode::kUnsupported, "--data-page-size: the kernel is older than Linux 5.11"},
      {EINVAL, cpus, [](abi::EventAttr& attr) { attr.write_backward = 1; }, ErrorCode::kUnsupported,
       "--overwrite: the kernel is older than Linux 4.7"},
      {EOPNOTSUPP, cpus, {}, ErrorCode::kUnsupported, "The ev event is not supported."},
      {EOPNOTSUPP, cpus, [](abi::EventAttr& attr) { attr.sample_period = 1000; },
       ErrorCode::kUnsupported,
       "ev: PMU Hardware doesn't support sampling/overflow-interrupts. Try 'perf stat'"},
      {EOPNOTSUPP, cpus, [](abi::EventAttr& attr) { attr.precise_ip = 1; }, ErrorCode::kUnsupported,
       "ev: it cannot be sampled that precisely here: fewer p, or none"},
      {EOPNOTSUPP, cpus, [](abi::EventAttr& attr) { attr.aux_output = 1; }, ErrorCode::kUnsupported,
       "ev: PMU Hardware doesn't support 'aux_output' feature"},
      {EMFILE,
       cpus,
       {},
       ErrorCode::kFailed,
       "there are more events, CPUs and threads than file descriptors allowed"},
      {ENODEV,
       cpus,
       {},
       ErrorCode::kFailed,
       "the event cannot be opened on one of the CPUs: does it exist?"},
      {ENODEV,
       threads,
       {},
       ErrorCode::kFailed,
       "The sys_perf_event_open() syscall returned with 19 (No such device) for event (ev)."},
      {EBUSY, cpus, {}, ErrorCode::kFailed, "The PMU counters are busy/taken by another profiler."},
  };
  for (const auto& each : kCases) {
    Error error = refusal(each.error, each.target, each.ask);
    EXPECT_EQ(error.message.substr(0, 7 + each.words.size()), "Error:\n" + each.words)
        << each.error;
    EXPECT_EQ(error.code, each.code) << each.words;
  }
}

TEST(EventOpener, CountingPassesOverWhatTheMachineHasNot) {
  for (int error : {ENOENT, EINVAL, EOPNOTSUPP, ENXIO, ENOSYS}) {
    FakeKernel kernel([error](const abi::EventAttr& attr, pid_t) {
      return attr.type == abi::kTypeHardware ? error : 0;
    });
    Target target = two_threads();
    EventOpener opener(kernel, target, {}, {.counting = true});
    std::vector<CaptureEvent> events{cycles(), cycles()};
    events[1].parsed.leader = 1;
    events[1].attr().type = abi::kTypeSoftware;
    ASSERT_TRUE(opener.open(events)) << error;
    EXPECT_TRUE(events[0].is_unsupported) << error;
    EXPECT_TRUE(events[0].opened.empty());
    EXPECT_EQ(events[0].attr().type, abi::kTypeHardware) << "no other event in its place";
    EXPECT_FALSE(events[1].is_unsupported);
    EXPECT_EQ(events[1].opened.size(), 2u);
    EXPECT_FALSE(opener.missing().cloexec) << "an event that is not there says nothing of features";
  }
}

TEST(EventOpener, CountingFailsWhereThePrivilegeOrTheThingIsMissing) {
  const std::pair<int, std::string> kRefusals[] = {
      {EPERM, "takes root or CAP_PERFMON"},
      {EACCES, "takes root or CAP_PERFMON"},
      {EMFILE, "there are more events, CPUs and threads than file descriptors allowed"},
      {EBUSY, "The PMU counters are busy/taken by another profiler."},
      {ENODEV, "The sys_perf_event_open() syscall returned with 19"},
  };
  for (const auto& [error, words] : kRefusals) {
    FakeKernel kernel([refusal = error](const abi::EventAttr&, pid_t) { return refusal; });
    Target target = two_threads();
    EventOpener opener(kernel, target, {}, {.counting = true});
    std::vector<CaptureEvent> events{cycles()};
    events[0].attr().exclude_kernel = 1;
    Result<> opened = opener.open(events);
    ASSERT_FALSE(opened) << error;
    EXPECT_NE(opened.error().message.find(words), std::string::npos) << opened.error().message;
  }
}

TEST(EventOpener, TheToolsOwnTimesHaveACounterWhereSomethingDependsOnIt) {
  FakeKernel kernel([](const abi::EventAttr&, pid_t) { return 0; });
  CaptureEvent own_time = cycles();
  own_time.parsed.tool = ToolEvent::kDurationTime;
  own_time.attr().type = abi::kTypeSoftware;
  own_time.attr().config = abi::kSwDummy;
  for (bool needs_ids : {false, true}) {
    Target target = two_threads();
    EventOpener opener(kernel, target, {}, {.counting = true, .needs_ids = needs_ids});
    std::vector<CaptureEvent> alone{own_time};
    ASSERT_TRUE(opener.open(alone));
    EXPECT_EQ(alone[0].opened.size(), needs_ids ? 2u : 0u);
  }
  Target target = two_threads();
  EventOpener opener(kernel, target, {}, {.counting = true});
  std::vector<CaptureEvent> group{own_time, cycles()};
  ASSERT_TRUE(opener.open(group));
  EXPECT_EQ(group[0].opened.size(), 2u) << "it leads";
  EXPECT_EQ(group[1].opened.size(), 2u);
}

TEST(EventOpener, ALeaderThatIsMissingFailsItsGroupUnlessItIsWeak) {
  FakeKernel kernel([](const abi::EventAttr& attr, pid_t) {
    return attr.type == abi::kTypeHardware ? ENOENT : 0;
  });
  for (bool weak : {false, true}) {
    Target target = two_threads();
    EventOpener opener(kernel, target, {}, {.counting = true});
    std::vector<CaptureEvent> events{cycles(), cycles()};
    events[1].attr().type = abi::kTypeSoftware;
    events[0].parsed.weak_group = events[1].parsed.weak_group = weak;
    Result<> opened = opener.open(events);
    EXPECT_EQ(opened.has_value(), weak);
    if (!weak) {
      EXPECT_EQ(opened.error().message, "Error:\nThe cycles event is not supported.");
      continue;
    }
    EXPECT_TRUE(events[0].is_unsupported);
    EXPECT_EQ(events[1].opened.size(), 2u);
    EXPECT_EQ(events[1].parsed.leader, 1u);
  }
}

}  // namespace
}  // namespace sonde
