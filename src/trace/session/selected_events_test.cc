#include "trace/session/selected_events.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/sys.h"
#include "event/parser/event_test_machine.h"
#include "trace/arguments/syscall_table.h"
#include "trace/session/view.h"

namespace sonde {
namespace {

#if defined(__aarch64__)
constexpr SyscallAbi kHere = SyscallAbi::kArm64, kNarrowHere = SyscallAbi::kArm;
#else
constexpr SyscallAbi kHere = SyscallAbi::kX86_64, kNarrowHere = SyscallAbi::kI386;
#endif

/// A kernel with tracepoints of all calls, and of one.
class SelectedEventsTest : public testing::Test {
 protected:
  SelectedEventsTest() {
    machine_.add_tracepoints();
    machine_.add_tracepoint("raw_syscalls", "sys_enter", 348);
    machine_.add_tracepoint("raw_syscalls", "sys_exit", 347);
    env_.variables["PERF_DEBUGFS_DIR"] = machine_.tracing_directory();
    // Somebody's task: otherwise the processes that show the trace are left out by filters.
    options_.record.target.pids = "1";
  }

  void choose(std::initializer_list<std::string_view> names) {
    options_.calls.all = false;
    for (std::string_view name : names)
      for (SyscallAbi abi : {kHere, kNarrowHere})
        if (int number = SyscallTable::get().find(name)->number(abi); number >= 0)
          options_.calls.calls.push_back({abi, static_cast<uint32_t>(number)});
    std::ranges::sort(options_.calls.calls);
  }

  /// "raw_syscalls:sys_enter id == 0", one for each event.
  std::vector<std::string> made() {
    auto events = make_trace_events(options_, true, env_);
    EXPECT_TRUE(events.has_value()) << events.error().message;
    std::vector<std::string> texts;
    if (!events) return texts;
    EXPECT_EQ(events->call_events, events->record.events.size());
    for (const ParsedEvent& event : events->record.events.events())
      texts.push_back(event.tracepoint.system + ":" + event.tracepoint.name + " " + event.filter);
    return texts;
  }

  static std::string id(std::string_view name) {
    return std::to_string(SyscallTable::get().find(name)->number(kHere));
  }
  using Texts = std::vector<std::string>;

  TestMachine machine_;
  TraceOptions options_;
  StringSink out_, err_;
  LossLedger losses_;
  Env env_{.out = out_, .err = err_, .sys = Sys::host(), .losses = losses_};
};

TEST_F(SelectedEventsTest, OneCallIsAFilterOnTheTracepointsOfAll) {
  choose({"openat"});
  std::string filter = "id == " + id("openat");
  EXPECT_EQ(made(), (Texts{"raw_syscalls:sys_enter " + filter, "raw_syscalls:sys_exit " + filter}))
      << "the kernel loses events of syscalls:sys_enter_openat";
}

TEST_F(SelectedEventsTest, SoAreSeveralAndAllButSome) {
  choose({"openat", "close"});
  std::string either = "id == " + id("close") + " || id == " + id("openat");
  if (SyscallTable::get().find("openat")->number(kHere) <
      SyscallTable::get().find("close")->number(kHere))
    either = "id == " + id("openat") + " || id == " + id("close");
  EXPECT_EQ(made(), (Texts{"raw_syscalls:sys_enter " + either, "raw_syscalls:sys_exit " + either}));
  options_.calls = {};
  choose({"openat"});
  options_.calls.invert = true;
  std::string but = "id != " + id("openat");
  EXPECT_EQ(made(), (Texts{"raw_syscalls:sys_enter " + but, "raw_syscalls:sys_exit " + but}));
}

TEST_F(SelectedEventsTest, AllCallsNeedNoFilter) {
  EXPECT_EQ(made(), (Texts{"raw_syscalls:sys_enter ", "raw_syscalls:sys_exit "}));
}

TEST_F(SelectedEventsTest, DescriptorsAreFollowedIfEachCallThatChangesThemIsSeen) {
  EXPECT_TRUE(follows_descriptors(options_));
  choose({"read"});
  EXPECT_FALSE(follows_descriptors(options_)) << "nothing is known of open and close";
  choose({"openat", "close"});
  EXPECT_FALSE(follows_descriptors(options_)) << "dup2 closes, too";
  options_.calls.invert = true;
  EXPECT_FALSE(follows_descriptors(options_));
  options_.calls = {};
  choose({"read", "futex"});
  options_.calls.invert = true;
  EXPECT_TRUE(follows_descriptors(options_));
  options_.calls = {};
  options_.calls.all = false;
  for (std::string_view name : calls_that_replace_descriptors()) choose({name});
  EXPECT_TRUE(follows_descriptors(options_));
}

TEST_F(SelectedEventsTest, DescriptorsAreNotFollowedIfCallsOrThreadsAreLeftOut) {
  auto follows = [](auto&& change) {
    TraceOptions options;
    options.record.target.pids = "1";
    change(options);
    return follows_descriptors(options);
  };
  EXPECT_TRUE(follows([](TraceOptions&) {}));
  EXPECT_FALSE(follows([](TraceOptions& options) { options.wants_calls = false; }));
  EXPECT_FALSE(follows([](TraceOptions& options) { options.failed_only = true; }));
  EXPECT_FALSE(follows([](TraceOptions& options) { options.min_duration_ns = 1; }));
  EXPECT_FALSE(follows([](TraceOptions& options) { options.record.delay.delay_ms = 1; }));
  EXPECT_FALSE(follows([](TraceOptions& options) { options.record.sampling.no_inherit = true; }));
  EXPECT_FALSE(follows([](TraceOptions& options) { options.record.target.tids = "1"; }));
  EXPECT_FALSE(follows([](TraceOptions& options) { options.record.target.cpus = "0"; }));
  EXPECT_FALSE(follows([](TraceOptions& options) { options.cgroup_of_all = "a"; }));
  EXPECT_FALSE(follows([](TraceOptions& options) { options.not_pids = {7}; }));
}

TEST(CallsThatReplaceDescriptors, AreInTheTable) {
  for (std::string_view name : calls_that_replace_descriptors())
    EXPECT_NE(SyscallTable::get().find(name), nullptr) << name;
}

}  // namespace
}  // namespace sonde
