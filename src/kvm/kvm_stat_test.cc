#include "kvm/kvm_stat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde {
namespace {

constexpr uint64_t kHlt = 12, kCpuid = 10;

/// An item of the event with this name.
TracepointItem item(std::string_view name, uint64_t time, uint64_t value, uint32_t tid = 101) {
  TracepointItem made;
  made.time = time;
  made.pid = 100;
  made.tid = tid;
  made.values[0] = value;
  for (const TracepointRequest& request : kvm_tracepoints())
    if (request.name == name) made.kind = request.kind;
  return made;
}

std::string text(const KvmStat& stat) {
  StringSink out;
  stat.write(out);
  return out.text();
}

TEST(KvmStat, EachScreenOfLiveStartsAnewAndKnowsItsVirtualCpus) {
  KvmStat stat({});
  stat.consume(item("kvm:kvm_entry", 1000, 0));
  stat.consume(item("kvm:kvm_exit", 2000, kCpuid));
  stat.consume(item("kvm:kvm_entry", 5000, 0));
  stat.consume(item("kvm:kvm_exit", 6000, kCpuid));
  EXPECT_THAT(text(stat), testing::HasSubstr("Total Samples:1, Total events handled time:3.00us."));
  stat.start_anew();
  EXPECT_THAT(text(stat), testing::HasSubstr("Total Samples:0,"));
  // What began on the previous screen ends on this one.
  stat.consume(item("kvm:kvm_entry", 8000, 0));
  EXPECT_THAT(text(stat), testing::HasSubstr("Total Samples:1, Total events handled time:2.00us."));
}

TEST(KvmStat, TellsOfEventsThatTookLonger) {
  std::vector<std::string> slow;
  KvmOptions options;
  options.slow_ns = 1000;
  options.on_slow = [&](const KvmSlowEvent& event) {
    slow.push_back(fmt::format("{} {} {} {}", event.pid, event.vcpu, event.name, event.length_ns));
  };
  KvmStat stat(std::move(options));
  uint64_t time = 0;
  auto leave = [&](uint64_t reason, uint64_t length) {
    stat.consume(item("kvm:kvm_exit", time += 10, reason));
    stat.consume(item("kvm:kvm_entry", time += length, 3));
  };
  stat.consume(item("kvm:kvm_entry", time += 10, 3));
  leave(kCpuid, 1000);
  leave(kCpuid, 1001);
  leave(kHlt, 50000);  // it was idle
  EXPECT_THAT(slow, testing::ElementsAre("100 3 CPUID 1001"));
  EXPECT_THAT(text(stat), testing::HasSubstr("Total Samples:3,"));
}

}  // namespace
}  // namespace sonde
